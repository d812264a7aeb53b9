import { describe, expect, it } from 'vitest';
import { kindOf, NotYetError } from '../../../../src/app/intake/trouble.js';
import { Turns } from '../../../../src/app/intake/turns.js';
import { SluiceError } from '../../../../src/core/problem.js';

const away = () => Promise.reject(new SluiceError('UNAVAILABLE', 'not now'));
const refused = () => Promise.reject(new SluiceError('PLAN_REFUSED', 'never'));

function place() {
  let now = 0;
  const turns = new Turns({ now: () => now });
  return {
    turns,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('turns', () => {
  it('let the commands to one plan go one at a time, in order, and others meanwhile', async () => {
    const { turns } = place();
    const went: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const go = (plan: string, id: string, wait?: Promise<void>) =>
      turns.take(plan, id, async () => {
        await wait;
        went.push(id);
      });
    const all = [go('p', 'p1', held), go('p', 'p2'), go('p', 'p3'), go('q', 'q1')];
    await all[3];
    expect(went).toEqual(['q1']);
    release();
    await Promise.all(all);
    expect(went).toEqual(['q1', 'p1', 'p2', 'p3']);
  });

  it('make commands wait behind one that was put off, until it has gone', async () => {
    const { turns } = place();
    await expect(turns.take('p', 'a', away)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(turns.take('p', 'b', async () => 1)).rejects.toBeInstanceOf(NotYetError);
    await expect(turns.take('p', 'c', async () => 1)).rejects.toBeInstanceOf(NotYetError);
    expect(await turns.take('p', 'a', async () => 1)).toBe(1);
    await expect(turns.take('p', 'c', async () => 1)).rejects.toBeInstanceOf(NotYetError);
    expect(await turns.take('p', 'b', async () => 2)).toBe(2);
    expect(await turns.take('p', 'c', async () => 3)).toBe(3);
  });

  it('wait for nothing that was refused, and not for ever for what does not come again', async () => {
    const { turns, pass } = place();
    await expect(turns.take('p', 'a', away)).rejects.toThrow();
    await expect(turns.take('p', 'a', refused)).rejects.toMatchObject({ code: 'PLAN_REFUSED' });
    expect(await turns.take('p', 'b', async () => 1)).toBe(1);
    await expect(turns.take('p', 'a', away)).rejects.toThrow();
    pass(119_999);
    await expect(turns.take('p', 'b', async () => 1)).rejects.toBeInstanceOf(NotYetError);
    pass(1);
    expect(await turns.take('p', 'b', async () => 1)).toBe(1);
  });
});

describe('an error', () => {
  const coded = (code: string) => Object.assign(new Error('no'), { code });
  it.each<[string, unknown, ReturnType<typeof kindOf>]>([
    ['a refusal of Sluice', new SluiceError('INVALID_REQUEST', ''), 'refusal'],
    ['trouble of Sluice', new SluiceError('UNAVAILABLE', ''), 'passing'],
    ['a full outbox of a plan', new SluiceError('IO', ''), 'passing'],
    ['a command that waits for another', new NotYetError(''), 'passing'],
    ['no connection', coded('ECONNREFUSED'), 'passing'],
    ['a full Redis', new Error("OOM command not allowed when used memory > 'maxmemory'."), 'passing'],
    [
      'a full Redis, told by a script',
      new Error('ERR Error running script: -OOM command not allowed'),
      'passing',
    ],
    ['a Redis that writes nothing', new Error('MISCONF Redis is configured to save'), 'passing'],
    ['a Redis that became a replica', new Error('READONLY You can’t write'), 'passing'],
    ['a mistake in the program', new TypeError('x is not a function'), 'unexpected'],
    ['a word of a message', new Error('the value BUSYBODY is unknown'), 'unexpected'],
    ['no error at all', 'text', 'unexpected'],
  ])('is told by its kind: %s', (_what, error, kind) => {
    expect(kindOf(error)).toBe(kind);
  });
});
