import { describe, expect, it } from 'vitest';
import { eventLine, shortType } from '../../../src/cli/commands/events.js';
import { SCHEMAS } from '../../../src/cli/commands/schema.js';
import { LineFilter, progressLine } from '../../../src/cli/evaluate/progress.js';
import { resumeCommand } from '../../../src/cli/evaluate/resume.js';
import { isOfBatch } from '../../../src/cli/evaluate/sinks.js';
import { batchDocument, verdictOf } from '../../../src/cli/evaluate/verdict.js';
import { failureDocument, failureLines } from '../../../src/cli/failure.js';
import { sentenceOf } from '../../../src/cli/log.js';
import { createProgram } from '../../../src/cli/program.js';
import { restartDelay } from '../../../src/core/autoscale/crashes.js';
import type { BatchRecord } from '../../../src/core/batch.js';
import { makeEvent } from '../../../src/core/events.js';
import { SluiceError } from '../../../src/core/problem.js';
import { redisUrlProblem, withoutPassword } from '../../../src/core/redis-url.js';

const record: BatchRecord = {
  id: 'b',
  createdAt: 1000,
  options: { strict: false, from: 'direct', informationalErrors: 'ignore' },
  scenarios: {},
  retentionMs: 1,
  state: 'completed',
  total: 4,
  accepted: 4,
  decided: 4,
  passed: 2,
  failed: 1,
  errored: 1,
  vacuousPasses: 3,
  completedAt: 1500,
};

describe('the verdict', () => {
  it('is made of the record’s own counts', () => {
    expect(batchDocument(record, 'inline')).toEqual({
      id: 'b',
      total: 4,
      passed: 2,
      failed: 1,
      errored: 1,
      vacuous_passes: 3,
      duration_ms: 500,
      engine: 'inline',
    });
  });

  it.each([
    [4, 4, 0],
    [4, 3, 1],
    [0, 0, 1],
  ])('of %i evaluations with %i passed is exit %i', (total, passed, exit) => {
    expect(verdictOf({ total, passed })).toBe(exit);
  });

  it.each(['open', 'cancelled', 'stopped'] as const)('does not exist for a batch that is %s', (state) => {
    expect(() => batchDocument({ ...record, state }, 'fleet')).toThrow(/is (open|cancelled|stopped)/);
  });
});

describe('a failure', () => {
  const many = Array.from({ length: 53 }, (_, n) => ({ path: `p${n}`, message: 'is wrong' }));

  it('prints fifty problems, one a line, and counts the rest', () => {
    const lines = failureLines(new SluiceError('INVALID_RUNS', '53 problems', many));
    expect(lines).toHaveLength(52);
    expect(lines[1]).toBe('  p0: is wrong');
    expect(lines.at(-1)).toBe('  ... and 3 more');
  });

  it('has every problem in JSON', () => {
    const document = failureDocument(new SluiceError('USAGE', 'no', many)) as {
      error: { code: string; problems: unknown[] };
    };
    expect(document.error.code).toBe('USAGE');
    expect(document.error.problems).toHaveLength(53);
  });

  it('cannot steer a terminal', () => {
    const error = new SluiceError('USAGE', 'a\u001b[2Jb', [{ path: 'x\ny', message: '\u0007' }]);
    expect(failureLines(error).join('')).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe('how to resume', () => {
  it('is the same call with the batch’s id', () => {
    const args = ['evaluate', 'my scenario', '--runs', "it's.ndjson"];
    expect(resumeCommand(args, 'B1')).toBe(
      "sluice evaluate 'my scenario' --runs 'it'\\''s.ndjson' --batch B1",
    );
  });

  it('keeps a batch that was named, and hides passwords', () => {
    const args = ['evaluate', 's', '--batch=B1', '--redis', 'redis://:secret@host:1'];
    const command = resumeCommand(args, 'B1');
    expect(command.match(/--batch/g)).toHaveLength(1);
    expect(command).not.toContain('secret');
  });
});

describe('small words', () => {
  it('shows a Redis URL without its password', () => {
    expect(withoutPassword('redis://u:p@h:1/2')).toBe('redis://***@h:1/2');
    expect(withoutPassword('redis://h:1')).toBe('redis://h:1');
  });

  it.each([
    ['localhost:6379', 'redis://localhost:6379'],
    ['http://10.0.0.5:6379/1', 'redis://10.0.0.5:6379/1'],
    ['u:geheim@h:1', 'redis://***@h:1'],
  ])('shows an address that is no Redis URL as it was typed, and what was meant: %s', (typed, meant) => {
    const problem = redisUrlProblem({ path: '--redis' }, typed);
    expect(problem).toMatchObject({ path: '--redis', nearest: meant });
    expect(JSON.stringify(problem)).not.toContain('geheim');
    if (!typed.includes('@')) expect(problem?.found).toBe(JSON.stringify(typed));
  });

  it.each(['redis://h', 'rediss://u:p@h:1/2', 'redis://[::1]:6379'])('takes %s as a Redis', (url) => {
    expect(redisUrlProblem({ path: '--redis' }, url)).toBeUndefined();
  });

  it.each([
    ['redis://h:99999', 'is no Redis URL'],
    ['redis://h:0', 'port'],
    ['redis://h/abc', 'database'],
    ['redis://h/1/2', 'database'],
    ['redis:///2', 'host'],
  ])('says which part of %s is wrong', (url, message) => {
    expect(redisUrlProblem({ path: '--redis' }, url)?.message).toContain(message);
  });

  it('proposes nothing where nothing was typed', () => {
    expect(redisUrlProblem({ path: '--redis' }, '')).not.toHaveProperty('nearest');
  });

  it('says how far a batch is', () => {
    const standing = { done: 1200, total: 5000, already: 0, elapsedMs: 5000, away: false };
    expect(progressLine(standing)).toBe('judged 1200 of 5000 (240/s, 16 s left)');
    expect(progressLine({ ...standing, done: 2, elapsedMs: 5000 })).toContain('0.4/s');
    expect(progressLine({ ...standing, done: 0, elapsedMs: 0 })).toContain('nothing decided yet');
  });

  it('guesses no time while Redis is away, nor from what an earlier call has decided', () => {
    const standing = { done: 1200, total: 5000, already: 1000, elapsedMs: 5000, away: false };
    expect(progressLine(standing)).toBe('judged 1200 of 5000 (40/s, 95 s left)');
    expect(progressLine({ ...standing, done: 1000 })).toContain('nothing decided yet');
    expect(progressLine({ ...standing, away: true })).toBe('judged 1200 of 5000 (waiting for Redis)');
  });

  it('prints a line only when something was decided, and each half minute', () => {
    const filter = new LineFilter(0);
    const wants = (seconds: number, done: number, away = false) =>
      filter.wants(seconds * 1000, { done, away });
    expect([5, 10, 25, 30, 35, 60].map((s) => wants(s, 0))).toEqual([false, false, false, true, false, true]);
    expect([wants(65, 3), wants(70, 3), wants(75, 4), wants(80, 5, true)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('turns log entries into sentences', () => {
    const entry = { msg: 'a worker process has ended; starting another', reason: 'SIGKILL' };
    expect(sentenceOf(JSON.stringify(entry))).toBe(
      'sluice: a worker process has ended; starting another: SIGKILL',
    );
    expect(sentenceOf('{"msg":"trouble","err":{"message":"OOM\\nx"}}')).toBe('sluice: trouble: OOM x');
  });

  it('waits longer with each restart, half a minute at most', () => {
    expect([1, 2, 3, 20].map(restartDelay)).toEqual([500, 1000, 2000, 30_000]);
  });

  it('shows an event on one line and knows its batch', () => {
    const event = makeEvent({
      fleet: 'f',
      name: 'evaluation.failed',
      subject: 'E1',
      revision: '1',
      sequence: 1,
      correlation: 'B1',
      time: 0,
      data: {
        run: 'r\n1',
        decision: 'failed',
        score: { passed: 3, total: 4 },
        gates: {
          compliance: { passed: true, reason: 'x' },
          resolution: { passed: false, reason: 'too low' },
        },
      },
    });
    expect(eventLine(event)).toBe(
      '1970-01-01T00:00:00.000Z  evaluation.failed  E1  run=r 1 decision=failed score=3/4 resolution gate: too low',
    );
    expect(shortType(event.type)).toBe('evaluation.failed');
    expect(isOfBatch('B1')(event)).toBe(true);
    expect(isOfBatch('B')(event)).toBe(false);
  });

  it.each(Object.keys(SCHEMAS))('has a JSON Schema of %s with properties', async (name) => {
    expect(JSON.stringify(await SCHEMAS[name]?.create())).toContain('"properties"');
  });
});

describe('the help', () => {
  const all = (command: ReturnType<typeof createProgram>): ReturnType<typeof createProgram>[] => [
    command,
    ...command.commands.flatMap((inner) => all(inner as ReturnType<typeof createProgram>)),
  ];

  it.each(all(createProgram({ exitCode: 0 })).map((command) => [command.name(), command] as const))(
    'of %s ends with an example',
    (_name, command) => {
      let text = '';
      command.configureOutput({
        writeOut: (part) => {
          text += part;
        },
      });
      command.outputHelp();
      expect(text.trimEnd().split('\n').at(-1)).toMatch(/^ {2}\$ sluice /);
    },
  );

  it('leaves the folding of lines to the terminal’s width', () => {
    for (const command of all(createProgram({ exitCode: 0 })))
      for (const text of [command.description(), ...command.options.map(({ description }) => description)])
        expect(text).not.toContain('\n');
  });

  it.each(
    all(createProgram({ exitCode: 0 }))
      .filter((c) => c.commands.length === 0)
      .map((c) => [c.name(), c] as const),
  )('of %s has --json', (_name, command) => {
    expect(command.options.map((option) => option.long)).toContain('--json');
  });
});
