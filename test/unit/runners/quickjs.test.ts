import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SluiceError } from '../../../src/core/problem.js';
import { QuickJsInterpreter } from '../../../src/runners/quickjs.js';

const interpreter = new QuickJsInterpreter(2);
// The first call of a thread compiles its program.
beforeAll(() => interpreter.check('() => 1'), 30_000);
afterAll(() => interpreter.close());

const call = (source: string, ...args: unknown[]) => interpreter.call(source, args, 5000);

describe('the interpreter', () => {
  it('calls functions, several at a time, and says how long each ran', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) => call('({ n }) => ({ twice: n * 2 })', { n })),
    );
    expect(answers).toEqual(
      [2, 4, 6, 8, 10, 12].map((twice) => ({ ok: true, value: { twice }, ms: expect.any(Number) })),
    );
  });

  it('goes on while a function holds its thread, and ends even what cannot be interrupted', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const endless = '() => [].indexOf.call({ length: 2 ** 53 - 1 }, 1)';
    const [stuck, fine] = await Promise.all([interpreter.call(endless, [], 60), call('() => 1')]);
    clearInterval(timer);
    expect(stuck).toMatchObject({ ok: false, reason: 'deadline' });
    expect(fine).toMatchObject({ ok: true, value: 1 });
    expect(turns).toBeGreaterThan(3);
    expect(await call('() => 2')).toMatchObject({ ok: true, value: 2 });
  });

  it('survives a thread that runs out of stack', async () => {
    expect(await call('() => eval("(".repeat(50000))')).toMatchObject({ ok: false, reason: 'stack' });
    expect(await call('() => 3')).toMatchObject({ ok: true, value: 3 });
  });

  it('makes objects of values that are what they say, and nothing more', async () => {
    const answer = await call('() => JSON.parse(\'{"__proto__": {"passed": true}, "constructor": 1}\')');
    const { value } = answer as { value: object };
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('refuses arguments that JSON does not carry, or that are too large or too deep', async () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    let deep: unknown = 1;
    for (let n = 0; n < 100_000; n += 1) deep = [deep];
    expect(await call('() => 1', cycle)).toMatchObject({ ok: false, reason: 'internal' });
    expect(await call('() => 1', 1n)).toMatchObject({ ok: false, reason: 'internal' });
    expect(await call('() => 1', deep)).toMatchObject({ ok: false, reason: 'stack' });
    expect(await call('() => 1', 'x'.repeat(9 * 1024 * 1024))).toMatchObject({ ok: false, reason: 'memory' });
  });

  it('starts nothing for which no time is left', async () => {
    for (const none of [0, -1, Number.NaN])
      expect(await interpreter.call('() => 1', [], none)).toMatchObject({ ok: false, reason: 'deadline' });
    expect(await interpreter.call('() => 1', [], Number.POSITIVE_INFINITY)).toMatchObject({ ok: true });
  });

  it('checks sources, and says why one is no function expression', async () => {
    expect(await interpreter.check('({ args }) => args')).toBeUndefined();
    expect(await interpreter.check('() => 1;')).toBe(
      'expecting its end (line 1); no expression ends with a semicolon',
    );
    expect(await interpreter.check('async () => 1')).toMatch(/^it is an async function/);
    expect(await call('1')).toMatchObject({
      reason: 'syntax',
      message: 'the source is no function expression: it is 1',
    });
  });

  it('answers what it has in hand when it is closed', async () => {
    const short = new QuickJsInterpreter(1);
    const calls = Array.from({ length: 2 }, () => short.call('() => { for (;;); }', [], 60_000));
    const check = short.check('() => 1');
    check.catch(() => {});
    await short.close();
    for (const answer of await Promise.all(calls))
      expect(answer).toMatchObject({ ok: false, reason: 'internal' });
    await expect(check).rejects.toBeInstanceOf(SluiceError);
  });
});
