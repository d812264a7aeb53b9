import { describe, expect, it } from 'vitest';
import { isOutage, outageListener } from '../../../src/app/outage.js';

const refused = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });

function listener() {
  const told: string[] = [];
  let time = 0;
  const hear = outageListener(
    {
      away: (reason) => told.push(`away: ${reason}`),
      back: () => told.push('back'),
      other: (error) => told.push(`other: ${error.message}`),
    },
    () => time,
  );
  return { hear, told, at: (now: number) => (time = now) };
}

describe('an outage', () => {
  it('has one beginning and one end, however many connections break', () => {
    const { hear, told } = listener();
    for (let n = 0; n < 5; n++) hear(refused());
    hear(new Error('could not renew lock for job 1'));
    hear.back();
    hear.back();
    expect(told).toEqual(['away: connect ECONNREFUSED 127.0.0.1:1', 'back']);
  });

  it('can come again', () => {
    const { hear, told } = listener();
    hear(refused());
    hear.back();
    hear.silent('it has not answered for 5 s');
    hear.back();
    expect(told.map((line) => line.split(':')[0])).toEqual(['away', 'back', 'away', 'back']);
  });

  it('is not begun again by a connection that comes back later than the others', () => {
    const { hear, told, at } = listener();
    hear(refused());
    at(1000);
    hear.back();
    at(5999);
    hear(refused());
    expect(told).toHaveLength(2);
    at(6000);
    hear(refused());
    expect(told.at(-1)).toMatch(/^away/);
  });

  it('does not end with an answer to what was asked before it began', () => {
    const { hear, told, at } = listener();
    at(10);
    hear(refused());
    hear.back(9);
    expect(told).toHaveLength(1);
    hear.back(11);
    expect(told).toHaveLength(2);
  });

  it('is no other trouble, and none ends before one began', () => {
    const { hear, told } = listener();
    hear.back();
    hear(new Error('OOM command not allowed'));
    expect(told).toEqual(['other: OOM command not allowed']);
  });

  it.each<[Error, boolean]>([
    [refused(), true],
    [Object.assign(new AggregateError([refused()]), { code: 'ECONNREFUSED' }), true],
    [new Error('Connection is closed.'), true],
    [new Error('LOADING Redis is loading the dataset in memory'), true],
    [new Error('OOM command not allowed when used memory > maxmemory'), false],
    [new Error('Missing lock for job 7'), false],
  ])('is told from other errors: %s', (error, outage) => {
    expect(isOutage(error)).toBe(outage);
  });

  it('has a reason also where Node gives no message', () => {
    const { hear, told } = listener();
    hear(Object.assign(new AggregateError([refused()]), { code: 'ECONNREFUSED' }));
    expect(told).toEqual(['away: ECONNREFUSED']);
  });
});
