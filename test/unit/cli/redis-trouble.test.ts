import { describe, expect, it } from 'vitest';
import { redisTrouble } from '../../../src/cli/redis-trouble.js';
import { SluiceError } from '../../../src/core/problem.js';

const withCode = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

describe('trouble with Redis', () => {
  it.each([
    ['MISCONF Errors writing to the AOF file: No space left on device', 'IO', 'disk is full'],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'IO', 'no memory left'],
    [
      'ERR Error running script (call to f_ab): @user_script:3: @user_script: 3: -OOM command not allowed',
      'IO',
      'no memory left',
    ],
    ['Failed to add repeatable job for next iteration: OOM command not allowed', 'IO', 'no memory left'],
    ["READONLY You can't write against a read only replica.", 'IO', 'replica'],
    ['NOAUTH Authentication required.', 'REDIS_UNREACHABLE', 'password'],
    ['WRONGPASS invalid username-password pair', 'REDIS_UNREACHABLE', 'password'],
    ["NOPERM User x has no permissions to run the 'xadd' command", 'REDIS_UNREACHABLE', 'password'],
    ['LOADING Redis is loading the dataset in memory', 'REDIS_UNREACHABLE', 'still loading'],
    ['Connection is closed.', 'REDIS_UNREACHABLE', 'does not answer'],
  ])('is told in words with what to do: %s', (message, code, words) => {
    const told = redisTrouble(new Error(message), 'sluice evaluate . --batch b');
    expect(told).toMatchObject({ code, exitCode: 3, message: expect.stringContaining(words) });
    expect(told?.message).toContain('Then finish the batch with: sluice evaluate . --batch b');
  });

  it('is found behind other errors', () => {
    const cause = new Error('MISCONF full');
    expect(redisTrouble(new Error('pipeline failed', { cause }))?.code).toBe('IO');
    expect(redisTrouble(new AggregateError([new Error('x'), cause]))?.code).toBe('IO');
    expect(redisTrouble(withCode('ECONNREFUSED'))?.code).toBe('REDIS_UNREACHABLE');
  });

  it.each([
    new Error('boom'),
    new Error('a report says OOM somewhere'),
    new SluiceError('USAGE', 'OOM'),
    'OOM',
    undefined,
  ])('is nothing that an error of another kind is taken for: %s', (error) => {
    expect(redisTrouble(error)).toBeUndefined();
  });
});
