import { describe, expect, it } from 'vitest';
import { openProjection } from '../../../queues/projection.js';
import { makeEvent } from '../../../src/core/events.js';
import type { SluiceError } from '../../../src/core/problem.js';

const event = (data: Record<string, unknown> = {}) =>
  makeEvent({
    fleet: 'f',
    name: 'plan.failed',
    subject: 'p1',
    revision: '1',
    sequence: 7,
    time: 0,
    data: { project: 'web', ...data },
  });

const project = async (text: string, data: Record<string, unknown> = {}) =>
  (await openProjection(text))(event(data));

describe('a projection', () => {
  it.each([
    ['{"text": "plan " & subject, "project": data.project}', '{"text":"plan p1","project":"web"}'],
    ['data.missing', undefined],
    ['data.project = "api" ? $', undefined],
    ['null', 'null'],
    ['[1..3]', '[1,2,3]'],
    ['$number(sequence)', '7'],
    ['$match(subject, /p(\\d)/).groups[0]', '"1"'],
    ['$replace("aXbX", /x/i, "-")', '"a-b-"'],
    ['$split("a1b2c", /\\d/)', '["a","b","c"]'],
    ['$contains(type, /plan\\.failed/)', 'true'],
    ['$pad(subject, 5, "*")', '"p1***"'],
    ['$pad(subject, -5)', '"   p1"'],
  ])('%s gives %s', async (text, expected) => {
    expect(await project(text)).toBe(expected);
  });

  it.each([
    ['{"a": ', /at character \d+/],
    ['data.(', /at character \d+/],
    ['$match(subject, /(?=p)/)', /RE2/],
    ['a b c', /at character \d+/],
  ])('%s is refused when it is opened', async (text, words) => {
    const error = (await openProjection(text).catch((caught) => caught)) as SluiceError;
    expect(error.code).toBe('USAGE');
    expect(error.message).toMatch(words);
    expect(error.problems).toEqual([expect.objectContaining({ path: 'projection', found: text })]);
  });

  it.each([
    ['an endless recursion', '($f := function($n) { $f($n + 1) }; $f(0))'],
    ['a deep recursion', '($f := function($n) { 1 + $f($n + 1) }; $f(0))'],
    ['a list of millions', '[1..9999999].($ * 2)'],
    ['a doubled text', '($f := function($t, $n) { $n = 0 ? $t : $f($t & $t, $n - 1) }; $f("x", 40))'],
    ['a wide padding', '$pad("x", 2000000000)'],
    ['a function as its result', 'function($x) { $x }'],
    ['an unknown function', '$nothing()'],
    ['a wrong type', '$number(subject)'],
  ])('%s fails the event, quickly', async (_, text) => {
    const begun = Date.now();
    await expect(project(text)).rejects.toThrow(/^The projection failed: /);
    expect(Date.now() - begun).toBeLessThan(10_000);
  });

  it('searches evil texts in linear time', async () => {
    const begun = Date.now();
    expect(await project('$contains(data.text, /(a+)+$/)', { text: `${'a'.repeat(50_000)}!` })).toBe('false');
    expect(Date.now() - begun).toBeLessThan(5_000);
  });

  it('that loops leaves half of the time to others', async () => {
    const projected = await openProjection('($f := function($n) { $f($n + 1) }; $f(0))');
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 10);
    try {
      for (let n = 0; n < 3; n++) await expect(projected(event())).rejects.toThrow('projection failed');
    } finally {
      clearInterval(timer);
    }
    expect(ticks).toBeGreaterThan(30);
  });

  it('shows no secret of the event in its error', async () => {
    const data = { text: 'password=hunter2hunter2' };
    await expect(project('$number(data.text)', data)).rejects.toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
  });
});
