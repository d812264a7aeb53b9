import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastResults, openInline, openRedis, type RedisStage, refusal, type Stage } from './support.js';

// ADR, Compliance: "Tests verify that wrapped tool transforms correctly interpret tool output and that
// inheritance rules are applied."

let stage: Stage;
beforeAll(async () => {
  stage = await openInline({ plans: { error_retries: 0 } });
});
afterAll(() => stage.close());

/** Counts the lines of a text that hold a word. */
const COUNT = {
  name: 'count-lines',
  description: 'Counts lines that hold a word',
  code: `({ subject, args }) => ({
    found: subject.split("\\n").filter((line) => line.includes(args.word)).length,
    lines: subject.split("\\n").length,
  })`,
  input_schema: {
    type: 'object',
    properties: { word: { type: 'string', minLength: 1 } },
    required: ['word'],
    additionalProperties: false,
  },
};
const TEXT = 'one TODO\ntwo\nthree TODO';

const verdictOf = (name: string, args: Record<string, string | number>, subject: unknown = TEXT) =>
  stage.fleet.call(name, { args, subject });

describe('Given a tool and validations that wrap it', () => {
  beforeAll(async () => {
    const { fleet } = stage;
    await fleet.registerTool(COUNT);
    await fleet.registerValidation({
      name: 'absent',
      wraps: 'count-lines',
      transform: `(tool_output, { args }) => ({
        passed: tool_output.found === 0,
        message: tool_output.found + ' lines hold ' + args.word,
        data: tool_output,
      })`,
    });
    await fleet.registerValidation({
      name: 'present',
      wraps: 'local/count-lines',
      transform: '({ found }) => ({ passed: found > 0 })',
    });
    await fleet.registerValidation({
      name: 'rare',
      mode: 'informational',
      wraps: 'count-lines',
      transform:
        '({ found, lines }, { subject }) => ({ passed: found / lines < 0.5, message: subject.slice(0, 3) })',
    });
  });

  it('when the tool is called, then its output comes as it is', async () => {
    expect(await verdictOf('count-lines', { word: 'TODO' })).toEqual({
      kind: 'value',
      value: { found: 2, lines: 3 },
      readOnly: 'enforced',
    });
  });

  it.each([
    ['absent', 'fail', '2 lines hold TODO', { found: 2, lines: 3 }],
    ['present', 'pass', 'passed', {}],
    ['rare', 'fail', 'one', {}],
  ])(
    'when %s is called, then its own transform says what the output means',
    async (name, outcome, message, data) => {
      expect(await verdictOf(name, { word: 'TODO' })).toEqual({
        kind: 'verdict',
        verdict: { outcome, message, data },
        readOnly: 'enforced',
      });
    },
  );

  it('when all are attached to one resource, then each is a check of its own', async () => {
    for (const validation of ['absent', 'present', 'rare'])
      await stage.fleet.attach({ resource: 'file/notes', validation, arguments: { word: 'TODO' } });
    const story = stage.story('several');
    await stage.fleet.submitPlan({ plan: 'several', snapshots: { 'file/notes': TEXT } });
    await story.until('plan.retry.requested');
    const results = await lastResults(story);
    expect(Object.entries(results).map(([name, { mode, outcome }]) => [name, mode, outcome])).toEqual([
      ['local/absent', 'required', 'fail'],
      ['local/present', 'required', 'pass'],
      ['local/rare', 'informational', 'fail'],
    ]);
  });

  it('when it is attached, then its arguments are held to the schema of the wrapped tool', async () => {
    const attach = (args: Record<string, string>) =>
      refusal(stage.fleet.attach({ resource: 'file/x', validation: 'absent', arguments: args }));
    expect((await attach({})).problems).toEqual(['VALUE_MISSING arguments.word']);
    expect((await attach({ word: '' })).problems).toEqual(['VALUE_INVALID arguments.word']);
  });

  it.each([
    ['input_schema', { input_schema: { type: 'object' } }],
    ['resource_slots', { resource_slots: [{ name: 'file' }] }],
  ])('when a wrapping validation gives %s, then it is refused: that is inherited', async (field, more) => {
    const document = { name: 'own', wraps: 'count-lines', transform: '() => ({ passed: true })', ...more };
    expect(await refusal(stage.fleet.registerValidation(document))).toEqual({
      code: 'INVALID_DOCUMENT',
      problems: [`INHERITED_FIELD ${field}`],
    });
  });

  it.each([
    ['no transform', { transform: undefined }, ['TRANSFORM_MISSING transform']],
    ['a tool that is not there', { wraps: 'cuont-lines' }, ['WRAPS_UNKNOWN wraps']],
    ['itself', { wraps: 'bad' }, ['WRAPS_CYCLE wraps']],
    ['a transform that is no function', { transform: '1 + 1' }, ['NO_FUNCTION transform']],
  ])('when a validation wraps with %s, then it is refused', async (_what, more, problems) => {
    const document = { name: 'bad', wraps: 'count-lines', transform: '() => ({ passed: true })', ...more };
    const { transform, ...rest } = document;
    const given = transform === undefined ? rest : { ...rest, transform };
    expect(await refusal(stage.fleet.registerValidation(given))).toEqual({
      code: 'INVALID_DOCUMENT',
      problems,
    });
  });
});

describe('Given a wrapped tool with slots and a timeout', () => {
  beforeAll(async () => {
    await stage.fleet.registerTool({
      name: 'slow',
      timeout: '300ms',
      resource_slots: [{ name: 'tree', type: 'repo' }],
      code: '({ slot, resource }) => { for (;;) if (slot === "tree") continue; else return resource; }',
    });
    const transform = '() => ({ passed: true })';
    await stage.fleet.registerValidation({ name: 'inherits', wraps: 'slow', transform });
    await stage.fleet.registerValidation({ name: 'shortens', wraps: 'slow', transform, timeout: '100ms' });
  });

  it('when it is attached, then the resource is bound to the inherited slot of its type', async () => {
    const attachment = await stage.fleet.attach({ resource: 'repo/slow', validation: 'inherits' });
    expect(attachment.slot).toBe('tree');
    expect(await refusal(stage.fleet.attach({ resource: 'db/slow', validation: 'inherits' }))).toMatchObject({
      problems: ['NO_SLOT_FITS slot'],
    });
  });

  it.each([
    ['inherits', 'the inherited timeout', 'within 300 ms'],
    ['shortens', 'its own shorter timeout', 'within 100 ms'],
  ])('when %s runs, then it ends at %s', async (name, _which, message) => {
    const answer = await stage.fleet.call(name, { slot: 'tree' });
    expect(answer).toMatchObject({
      kind: 'failure',
      reason: 'deadline',
      message: expect.stringContaining(message),
    });
  });

  it('when a validation would lengthen the timeout, then it is refused', async () => {
    const document = {
      name: 'lengthens',
      wraps: 'slow',
      transform: '() => ({ passed: true })',
      timeout: '1s',
    };
    expect((await refusal(stage.fleet.registerValidation(document))).problems).toEqual([
      'TIMEOUT_TOO_LONG timeout',
    ]);
  });
});

describe('Given a validation that names the arguments of the wrapped tool otherwise', () => {
  const document = (argument_mapping: Record<string, { from: string } | { value: string | number }>) => ({
    name: 'free-of',
    wraps: 'count-lines',
    transform: '({ found }, { args }) => ({ passed: found === 0, message: JSON.stringify(args) })',
    argument_mapping,
  });

  it('when an argument is renamed, then callers use the new name and the tool gets the old one', async () => {
    await stage.fleet.registerValidation(document({ word: { from: 'marker' } }));
    expect(await verdictOf('free-of', { marker: 'two' })).toMatchObject({
      verdict: { outcome: 'fail', message: '{"marker":"two"}' },
    });
    const attach = (args: Record<string, string>) =>
      stage.fleet.attach({ resource: 'file/mapped', validation: 'free-of', arguments: args });
    expect((await refusal(attach({ word: 'two' }))).problems.sort()).toEqual([
      'VALUE_MISSING arguments.marker',
      'VALUE_UNKNOWN arguments.word',
    ]);
  });

  it('when an argument is fixed, then nobody gives it any more', async () => {
    await stage.fleet.registerValidation(document({ word: { value: 'three' } }));
    expect(await verdictOf('free-of', {})).toMatchObject({ verdict: { outcome: 'fail' } });
    expect(await verdictOf('free-of', {}, 'four')).toMatchObject({ verdict: { outcome: 'pass' } });
  });

  it.each([
    [
      'an argument that the tool does not have',
      { wrod: { from: 'x' }, word: { from: 'y' } },
      'MAPPING_UNKNOWN',
    ],
    ['a value that does not fit', { word: { value: 3 } }, 'MAPPING_VALUE'],
  ])('when the mapping has %s, then it is refused', async (_what, mapping, code) => {
    const refused = await refusal(
      stage.fleet.registerValidation({ ...document(mapping as never), name: 'mismapped' }),
    );
    expect(refused.problems.map((problem) => problem.split(' ')[0])).toEqual([code]);
  });
});

describe('Given a chain of three: a validation that wraps one that wraps a tool', () => {
  beforeAll(async () => {
    await stage.fleet.registerTool({ ...COUNT, name: 'inner' });
    await stage.fleet.registerValidation({
      name: 'middle',
      wraps: 'inner',
      argument_mapping: { word: { from: 'marker' } },
      transform: '({ found }, { args }) => ({ passed: found === 0, message: args.marker, data: { found } })',
    });
    await stage.fleet.registerValidation({
      name: 'outer',
      wraps: 'middle',
      argument_mapping: { marker: { from: 'tag' } },
      transform: `(tool_output, { args, resource }) => ({
        passed: !tool_output.passed,
        message: 'inverted: ' + tool_output.message + ' by ' + args.tag + ' on ' + resource,
        data: tool_output.data,
      })`,
    });
  });

  it('when it is called, then each transform interprets what the one inside made of it', async () => {
    const answer = await stage.fleet.call('outer', {
      args: { tag: 'TODO' },
      subject: TEXT,
      resource: 'file/a',
    });
    expect(answer).toEqual({
      kind: 'verdict',
      verdict: { outcome: 'pass', message: 'inverted: TODO by TODO on file/a', data: { found: 2 } },
      readOnly: 'enforced',
    });
  });

  it('when what is inside errors, then no transform turns that into a pass', async () => {
    expect(await stage.fleet.call('outer', { args: { tag: 'TODO' }, subject: null })).toMatchObject({
      kind: 'failure',
      reason: 'threw',
    });
  });

  it('when the innermost would wrap the outermost, then the cycle is refused', async () => {
    const document = { name: 'middle', wraps: 'outer', transform: '(x) => x' };
    const { problems } = await refusal(stage.fleet.registerValidation(document));
    expect(problems.map((problem) => problem.split(' ')[0])).toContain('WRAPS_CYCLE');
  });

  it('when the tool is to go, then that is refused while it is wrapped', async () => {
    expect(await refusal(stage.fleet.remove('tool', 'inner'))).toMatchObject({ code: 'IN_USE' });
  });
});

describe('Given a transform that goes wrong', () => {
  it.each([
    ['throws', '() => { throw new Error("bad shape"); }', { reason: 'transform' }],
    ['returns nothing', '() => {}', { raw_output: expect.stringContaining('undefined') }],
    ['says passed: "true"', '() => ({ passed: "true" })', { raw_output: '{"passed":"true"}' }],
  ])('when it %s, then the check is an error', async (what, transform, data) => {
    const name = `broken-${what.replaceAll(/\W+/g, '-').replace(/-$/, '')}`;
    await stage.fleet.registerValidation({ name, wraps: 'builtin/task_count', transform });
    await stage.fleet.attach({
      resource: `run/${name}`,
      validation: name,
      arguments: { scope: 'job', min: 1 },
    });
    const story = stage.story(name);
    await stage.fleet.submitPlan({ plan: name, snapshots: { [`run/${name}`]: { id: 'r', tasks: [{}] } } });
    await story.until('plan.retry.requested');
    expect(await lastResults(story)).toMatchObject({
      [`local/${name}`]: { outcome: 'error', passed: false, data },
    });
  });
});

describe('Given a built-in validator that is wrapped', () => {
  it('when the subject is a run record, then the transform gets its structured return', async () => {
    await stage.fleet.registerValidation({
      name: 'never-deletes',
      wraps: 'builtin/pattern_match',
      argument_mapping: {
        scope: { value: 'tasks' },
        where: { value: 'executed_commands' },
        pattern: { value: 'rm -rf' },
      },
      transform: '({ passed, message }) => ({ passed: !passed, message })',
    });
    const subject = (command: string) => ({ id: 'r', tasks: [{ commands: [command] }] });
    expect(await verdictOf('never-deletes', {}, subject('rm -rf /tmp/x'))).toMatchObject({
      verdict: { outcome: 'fail' },
    });
    expect(await verdictOf('never-deletes', {}, subject('ls'))).toMatchObject({
      verdict: { outcome: 'pass' },
    });
  });
});

describe('Given an evaluation that waits for its workers', () => {
  let fleetStage: RedisStage;
  beforeAll(async () => {
    fleetStage = await openRedis({}, ['aggregator']);
  });
  afterAll(() => fleetStage.close());

  it('when the wrapped tool changes, then the evaluation keeps its version and the next one takes the new one', async () => {
    const { fleet } = fleetStage;
    const tool = (answer: string) => ({ name: 'versioned', code: `() => ${JSON.stringify(answer)}` });
    const validation = {
      name: 'says-version',
      wraps: 'versioned',
      transform: '(tool_output) => ({ passed: true, message: tool_output })',
    };
    await fleet.registerTool(tool('old'));
    await fleet.registerValidation(validation);
    await fleet.attach({ resource: 'n/1', validation: 'says-version' });
    const story = fleetStage.story('versions');
    const { applicable } = await fleet.submitPlan({ plan: 'versions', snapshots: { 'n/1': 1 } });
    expect((await fleet.registerTool(tool('new'))).status).toBe('replaced');
    expect((await fleet.registerTool(tool('new'))).status).toBe('unchanged');
    const { checks } = await fleet.resolve({ resources: ['n/1'] });
    expect(checks[0]?.version).not.toBe(applicable.checks[0]?.version);

    await fleetStage.join(['worker']);
    await story.until('plan.gate.passed');
    expect(await lastResults(story)).toMatchObject({ 'local/says-version': { message: 'old' } });
    const apply = await fleet.apply('versions', { snapshots: { 'n/1': 1 } });
    expect(apply.plan.phase).toBe('validate');
    await story.until('plan.gate.passed');
    expect(await lastResults(story)).toMatchObject({ 'local/says-version': { message: 'new' } });
  });
});
