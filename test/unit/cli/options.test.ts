import { describe, expect, it } from 'vitest';
import { checkOptions, type RawEvaluateOptions } from '../../../src/cli/evaluate/options.js';
import { ProblemList } from '../../../src/cli/options.js';
import {
  sinkProblems,
  sinksOfBoth,
  sinksOfLine,
  sinksOfSettings,
  stdoutProblems,
} from '../../../src/cli/sink-problem.js';
import { type SinkSetting, sinkObjectOf } from '../../../src/core/endpoints.js';
import { SluiceError } from '../../../src/core/problem.js';

async function check(raw: Partial<RawEvaluateOptions>) {
  const problems = new ProblemList();
  const settings = await checkOptions({ runs: ['runs.ndjson'], ...raw }, problems);
  return { settings, problems: problems.problems };
}

describe('the options of evaluate', () => {
  it('have the defaults of DESIGN 8', async () => {
    const { settings, problems } = await check({});
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({
      engine: 'auto',
      from: 'direct',
      packing: 'auto',
      sinks: [],
      reports: [],
    });
    expect(settings.workers).toBeUndefined();
  });

  it.each<[string, Partial<RawEvaluateOptions>, string]>([
    ['engine', { engine: 'flet' }, '--engine'],
    ['from', { from: 'mail' }, '--from'],
    ['packing', { packing: 'on' }, '--packing'],
    ['format', { format: 'inter-code' }, '--format'],
    ['workers that are no number', { workers: 'many' }, '--workers'],
    ['negative workers', { workers: '-1' }, '--workers'],
    ['a batch id with a colon', { batch: 'a:b' }, '--batch'],
    ['an empty batch id', { batch: '' }, '--batch'],
    ['a batch id of 129 characters', { batch: 'a'.repeat(129) }, '--batch'],
    ['a retention without a unit', { retention: '24' }, '--retention'],
    ['a retention of nothing', { retention: '0s' }, '--retention'],
    ['a retention of more than ten years', { retention: '3651d' }, '--retention'],
    ['inline with workers', { engine: 'inline', workers: '2' }, '--engine'],
    ['inline with no workers', { engine: 'inline', workers: '0' }, '--engine'],
    ['an unknown report', { report: ['xml=out.xml'] }, '--report'],
    ['inline with a Redis', { engine: 'inline', redis: 'redis://h' }, '--engine'],
    ['a report on the standard output of --json', { json: true, report: ['text=-'] }, '--report'],
    ['a log level', { logLevel: 'loud' }, '--log-level'],
    ['no runs', { runs: undefined as unknown as string[] }, '--runs'],
  ])('refuse %s', async (_name, raw, path) => {
    const { problems } = await check(raw);
    expect(problems.map((problem) => problem.path)).toEqual([path]);
  });

  it('say everything that is wrong at once, with the nearest value', async () => {
    const { problems } = await check({ engine: 'flet', packing: 'of', batch: ' ', report: ['txt=x'] });
    expect(problems).toHaveLength(4);
    expect(problems[0]).toMatchObject({ code: 'USAGE', found: 'flet', nearest: 'fleet' });
    expect(problems[3]).toMatchObject({ path: '--report', found: 'txt=x', nearest: 'text' });
  });

  it('take zero workers, which is not the same as none given', async () => {
    expect((await check({ workers: '0' })).settings.workers).toBe(0);
  });
});

describe('the targets of sinks', () => {
  it.each([
    ['ndjso=x', { message: 'unknown kind "ndjso"', nearest: 'ndjson' }],
    ['kafka=x', { allowed: expect.arrayContaining(['ndjson', 'redis-stream', 'stdout']) }],
    ['ndjson', { message: 'lacks its target; write ndjson=TARGET, where TARGET is FILE' }],
    ['ndjson=', { found: 'ndjson', message: 'lacks its target; write ndjson=TARGET, where TARGET is FILE' }],
    ['ndjson=/', { message: 'names a folder, not a file' }],
  ])('refuse %j with the option, what was given and what would do', async (option, expected) => {
    expect(await sinkProblems(sinksOfLine([option]))).toMatchObject([
      { path: '--sink', found: option, ...expected },
    ]);
  });

  it('say where each was given, and nothing about those that will do', async () => {
    const settings = ['b', 'redis-stream=c', 'd'].map(sinkObjectOf);
    const problems = await sinkProblems(sinksOfBoth(settings, ['redis-stream=k', 'a']));
    expect(problems.map(({ path }) => path)).toEqual(['sinks[0]', 'sinks[2]', '--sink']);
  });

  it('tell every problem of one at once', async () => {
    const setting: SinkSetting = {
      ...sinkObjectOf('redis-stream=k'),
      types: ['evaluation.faild'],
      projection: '{"a": ',
      options: { max_length: 0, usr: 'x' },
    };
    expect(await sinkProblems(sinksOfSettings([setting]))).toMatchObject([
      { path: 'sinks[0].options.max_length', found: '0' },
      { path: 'sinks[0].options.usr', message: 'unknown key', nearest: 'user' },
      { path: 'sinks[0].types[0]', nearest: 'evaluation.failed' },
      { path: 'sinks[0].projection', message: expect.stringMatching(/at character \d+/) },
    ]);
  });

  it('need names of their own, or targets of their own', async () => {
    const named = { ...sinkObjectOf('redis-stream=a'), name: 'audit' };
    const other = { ...sinkObjectOf('redis-stream=b'), name: 'audit' };
    const plain = { ...sinkObjectOf('redis-stream=c'), types: ['plan.*'] };
    const problems = await sinkProblems(sinksOfBoth([named, other, plain], ['redis-stream=c']));
    expect(problems).toEqual([
      { path: 'sinks[1]', message: 'has the name of sinks[0]; give it one of its own', found: 'audit' },
      {
        path: '--sink',
        message: 'has the target of sinks[2]; give it a name of its own',
        found: 'redis-stream=c',
      },
    ]);
  });

  it('are one where settings and command line name the same', async () => {
    const given = sinksOfBoth([sinkObjectOf('redis-stream=a')], ['redis-stream=a', 'redis-stream=b']);
    expect(given.map(({ path, setting }) => [path, setting.target])).toEqual([
      ['sinks[0]', 'a'],
      ['--sink', 'b'],
    ]);
  });

  it('leave standard output to what else writes there', () => {
    const sinks = sinksOfLine(['stdout=-', 'redis-stream=a']);
    expect(stdoutProblems(sinks, undefined)).toEqual([]);
    expect(stdoutProblems(sinks, '--json')).toEqual([
      {
        path: '--sink',
        message: 'standard output is taken by --json; leave out one of them',
        found: 'stdout=-',
      },
    ]);
  });
});

describe('ProblemList', () => {
  it('lets infrastructure trouble through at once', async () => {
    const problems = new ProblemList();
    const trouble = new SluiceError('REDIS_UNREACHABLE', 'gone');
    await expect(
      problems.take(() => {
        throw trouble;
      }),
    ).rejects.toBe(trouble);
  });

  it('throws the first refusal’s code with every problem and their number', async () => {
    const problems = new ProblemList();
    await problems.take(() => {
      throw new SluiceError('INVALID_SCENARIO', 'x', [{ path: 'a', message: 'm' }]);
    });
    problems.add({ path: 'b', message: 'n' });
    expect(() => problems.throwIfAny('INVALID_RUNS', 'nothing was judged.')).toThrow(
      expect.objectContaining({
        code: 'INVALID_SCENARIO',
        message: '2 problems; nothing was judged.',
        problems: [
          { path: 'a', message: 'm' },
          { path: 'b', message: 'n' },
        ],
      }),
    );
  });

  it('does nothing when nothing is wrong', () => {
    expect(() => new ProblemList().throwIfAny('USAGE', '')).not.toThrow();
  });
});
