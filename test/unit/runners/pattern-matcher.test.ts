import { describe, expect, it } from 'vitest';
import type { MatchRequest } from '../../../src/core/validators/validator.js';
import { createMatcher, type MatcherOptions } from '../../../src/runners/pattern-matcher.js';

const MARGIN_MS = 400;

function request(pattern: string, ...texts: string[]): MatchRequest {
  return { kind: 'match', pattern, texts: texts.map((text) => ({ text })) };
}

async function outcomes(requests: MatchRequest[], options?: MatcherOptions) {
  return (await createMatcher(options).matchAll(requests)).map(({ outcome }) => outcome);
}

function line(part: string, length: number): string {
  return part.repeat(Math.ceil(length / part.length)).slice(0, length);
}

const EVIL: [string, string, string][] = [
  ['systemctl.*(restart|reload|start).*nginx', 'systemctl start ', ' nginx'],
  ['(a+)+$', 'a', '!a'],
  ['(x+x+)+y', 'x', 'y'],
];

describe('the matcher', () => {
  it('answers in the order of the requests, with the first text that matches and where', async () => {
    expect(
      await outcomes([
        request('b+', 'aaa', 'abbb', 'bb'),
        request('\\s*', ''),
        request('nothing', 'a', 'b'),
        request('a(?=b)', 'xab'),
        request('a(?=b)', 'x'),
        request('(', 'a'),
        request('a'),
      ]),
    ).toEqual([
      { kind: 'match', found: true, text: 1, start: 1, end: 4 },
      { kind: 'match', found: true, text: 0, start: 0, end: 0 },
      { kind: 'match', found: false },
      { kind: 'match', found: true, text: 0, start: 1, end: 2, engine: 'backtracking' },
      { kind: 'match', found: false, engine: 'backtracking' },
      { kind: 'failure', reason: 'invalid_pattern', message: expect.stringContaining('never closed') },
      { kind: 'match', found: false },
    ]);
  });

  it('answers an empty list with an empty list', async () => {
    expect(await createMatcher().matchAll([])).toEqual([]);
  });

  it.each(EVIL)('gives RE2’s verdict on %s in time, whichever engine ran', async (pattern, part, tail) => {
    const matcher = createMatcher({ nativeBudgetMs: 40, deadlineMs: 3000 });
    for (const size of [16_384, 102_400]) {
      const text = line(part, size);
      const started = performance.now();
      const requests = [
        request('fine', 'is fine'),
        request(pattern, `${text}!`),
        request(pattern, text + tail),
      ];
      const first = await matcher.matchAll(requests);
      expect(performance.now() - started).toBeLessThan(3000 + MARGIN_MS);
      expect(first.map(({ outcome }) => outcome)).toMatchObject([
        { found: true, start: 3, end: 7 },
        { found: false },
        { found: true, end: size + tail.length },
      ]);
      const again = await matcher.matchAll(requests);
      expect(again.map(({ outcome }) => outcome)).toEqual(first.map(({ outcome }) => outcome));
    }
  });

  it('sends a pattern that once ran out of time to RE2 straight away', async () => {
    const matcher = createMatcher({ nativeBudgetMs: 200 });
    const evil = request('(a+)+$', `${line('a', 4000)}!`);
    const [first] = await matcher.matchAll([evil]);
    const [second] = await matcher.matchAll([evil]);
    expect(first?.ms).toBeGreaterThan(100);
    expect(second?.ms).toBeLessThan(100);
  });

  it('ends a backtracking pattern at its deadline as a failure and finishes the others', async () => {
    const matcher = createMatcher({ nativeBudgetMs: 40, deadlineMs: 150 });
    const evil = request('(?=(a+)+$)a', `${line('a', 16_384)}!`);
    const started = performance.now();
    const answers = await matcher.matchAll([request('a', 'a'), evil, request('a{2}', 'baa')]);
    expect(performance.now() - started).toBeLessThan(150 + 40 + MARGIN_MS);
    expect(answers.map(({ outcome }) => outcome)).toMatchObject([
      { found: true },
      { kind: 'failure', reason: 'deadline' },
      { found: true, start: 1 },
    ]);
  });

  it('gives RE2 no more than the deadline either', async () => {
    const wide = request('(?:a|b|ab|ba|\\pL){900}c|^\\s*$', line('ab', 400_000));
    const [outcome] = await outcomes([wide], { nativeBudgetMs: 5, deadlineMs: 1 });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'deadline' });
    expect(await outcomes([request(wide.pattern, '')])).toMatchObject([{ found: true, start: 0, end: 0 }]);
  });

  it('lets timers fire during long lists', async () => {
    let fired = 0;
    const timer = setInterval(() => (fired += 1), 5);
    const requests = Array.from({ length: 6_000 }, (_, at) =>
      request(`x{${(at % 50) + 1}}y`, line('x', 300)),
    );
    const answers = await createMatcher({ nativeBudgetMs: 20 }).matchAll(requests);
    clearInterval(timer);
    expect(answers.every(({ outcome }) => outcome.kind === 'match' && !outcome.found)).toBe(true);
    expect(fired).toBeGreaterThan(1);
  });

  it('survives what is not a request', async () => {
    const broken = { kind: 'match', pattern: 'a', texts: undefined } as unknown as MatchRequest;
    const odd = { kind: 'match', pattern: 7, texts: [] } as unknown as MatchRequest;
    expect(await outcomes([broken, odd, request('a', 'a')])).toMatchObject([
      { kind: 'failure' },
      { kind: 'failure' },
      { found: true },
    ]);
  });
});
