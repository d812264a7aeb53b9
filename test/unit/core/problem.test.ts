import { describe, expect, it } from 'vitest';
import { nearestName } from '../../../src/core/problem.js';

describe('the nearest name', () => {
  it.each([
    ['cod', ['code', 'command'], 'code'],
    ['Descripton', ['kind', 'description'], 'description'],
    ['local/lnt', ['local/lint', 'local/size'], 'local/lint'],
    ['local/nope', ['local/frugal', 'local/bare'], undefined],
    ['builtin/nope', ['builtin/task_count', 'builtin/status'], undefined],
    ['builtn/task_cuont', ['builtin/task_count'], 'builtin/task_count'],
    ['local/task_count', ['builtin/task_count', 'local/disk_mount'], 'builtin/task_count'],
    ['acme/lint', ['other/list'], undefined],
    ['ab', ['cd'], undefined],
    ['', ['a'], undefined],
    ['a', [], undefined],
    ['FAIL', ['pass', 'Fail'], 'Fail'],
  ])('of %j among %j is %j', (found, allowed, nearest) => {
    expect(nearestName(found, allowed)).toBe(nearest);
  });
});
