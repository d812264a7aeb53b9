import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastResults, openInline, refusal, type Stage } from './support.js';

// ADR, Compliance: "Tests verify that validation registration rejects writes: true and that runtime
// execution blocks any write attempts."

let stage: Stage;
beforeAll(async () => {
  stage = await openInline({ plans: { error_retries: 0 } });
});
afterAll(() => stage.close());

const PASS = '() => ({ passed: true })';

describe('Given a validation that is to be registered', () => {
  it.each([
    ['writes: true', { writes: true }, ['VALIDATION_WRITES writes']],
    [
      'writes: true among its capability',
      { capability: { writes: true } },
      ['VALIDATION_WRITES capability.writes'],
    ],
    ['checkpointable: true', { checkpointable: true }, ['VALIDATION_CHECKPOINTABLE checkpointable']],
    ['read_only: false', { read_only: false }, ['VALIDATION_NOT_READ_ONLY read_only']],
    [
      'all three',
      { writes: true, checkpointable: true, read_only: false },
      [
        'VALIDATION_WRITES writes',
        'VALIDATION_CHECKPOINTABLE checkpointable',
        'VALIDATION_NOT_READ_ONLY read_only',
      ],
    ],
  ])('when it says %s, then it is refused and nothing is stored', async (_what, flags, problems) => {
    const document = { name: 'writer', code: PASS, ...flags };
    // The types refuse it as well.
    const refused = await refusal(stage.fleet.registerValidation(document as never));
    expect(refused.code).toBe('INVALID_DOCUMENT');
    expect(refused.problems.sort()).toEqual(problems.sort());
    expect(await refusal(stage.fleet.call('writer'))).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('when it says that it only reads, then it is taken', async () => {
    const flags = { writes: false, checkpointable: false, read_only: true } as const;
    const registered = await stage.fleet.registerValidation({ name: 'reader', code: PASS, ...flags });
    expect(registered).toMatchObject({ name: 'local/reader', status: 'added' });
  });

  it('when its code asks for the network, then it is refused', async () => {
    const document = { name: 'caller', code: PASS, network: true };
    expect(await refusal(stage.fleet.registerValidation(document))).toEqual({
      code: 'INVALID_DOCUMENT',
      problems: ['CAPABILITY_CONFLICT network'],
    });
  });
});

describe('Given tools that validations could wrap', () => {
  const wrapping = (wraps: string) => ({ name: `checks-${wraps}`, wraps, transform: PASS });

  it.each([
    ['declares that it writes', 'deploy', { code: '() => 1', writes: true }],
    ['is a command, and says nothing of what it does', 'make', { command: ['make'] }],
    ['is not read-only', 'touch', { command: ['touch', 'x'], read_only: false }],
  ])('when a tool %s, then no validation wraps it', async (_why, name, document) => {
    await stage.fleet.registerTool({ name, ...document });
    expect(await refusal(stage.fleet.registerValidation(wrapping(name)))).toEqual({
      code: 'INVALID_DOCUMENT',
      problems: ['WRAPS_WRITING wraps'],
    });
  });

  it('when a wrapped tool is registered anew as one that writes, then that is refused, and the old one stays', async () => {
    const { fleet } = stage;
    await fleet.registerTool({ name: 'count', code: '() => 1' });
    await fleet.registerValidation(wrapping('count'));
    const refused = await refusal(fleet.registerTool({ name: 'count', code: '() => 2', writes: true }));
    expect(refused.code).toBe('INVALID_DOCUMENT');
    expect(refused.problems.map((problem) => problem.split(' ')[0])).toEqual(['BREAKS_WRAPPER']);
    expect(await fleet.call('count')).toEqual({ kind: 'value', value: 1, readOnly: 'enforced' });
  });
});

describe('Given the code of a validation that runs', () => {
  const file = join(tmpdir(), `sluice-written-${process.pid}`);
  let server: Server;
  let requests = 0;
  let url: string;
  beforeAll(async () => {
    server = createServer((_request, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it.each([
    ['require', () => `require('node:fs').writeFileSync(${JSON.stringify(file)}, 'x')`],
    ['process', () => `process.binding('fs').writeString(1, 'x')`],
    ['fetch', () => `fetch(${JSON.stringify(url)})`],
    ['XMLHttpRequest', () => `new XMLHttpRequest().open('POST', ${JSON.stringify(url)})`],
    ['WebSocket', () => `new WebSocket(${JSON.stringify(url.replace('http', 'ws'))})`],
    ['the process, by a constructor', () => `(() => {}).constructor('return process')().exit(1)`],
    [
      'the process, by a constructor of what it was given',
      () => `subject.constructor.constructor('return process')().exit(1)`,
    ],
    ['a worker', () => `new Worker('data:text/javascript,1')`],
    ['a timer', () => `setTimeout(() => {}, 0)`],
    ['the clock', () => 'Date.now()'],
    ['std', () => `std.open(${JSON.stringify(file)}, 'w')`],
  ])('when it reaches for %s, then the check is an error and the gate stays shut', async (what, attempt) => {
    const name = `reaches-${what.replaceAll(/\W+/g, '-')}`;
    const code = `({ subject }) => { ${attempt()}; return { passed: true }; }`;
    await stage.fleet.registerValidation({ name, code });
    await stage.fleet.attach({ resource: `reach/${name}`, validation: name });
    const story = stage.story(`plan-${name}`);
    await stage.fleet.submitPlan({ plan: story.plan, snapshots: { [`reach/${name}`]: { x: 1 } } });
    const { data } = await story.until('plan.retry.requested', 'plan.gate.passed');
    expect(data).toMatchObject({ diagnosis: { errored: [{ outcome: 'error', data: { reason: 'threw' } }] } });
    expect((await stage.fleet.plan(story.plan)).plan.phase).toBe('fix');
  });

  it('when it imports a module, then nothing of it is loaded and the check is no pass', async () => {
    const code = `() => { const module = import('node:fs'); return { passed: module.writeFileSync !== undefined }; }`;
    await stage.fleet.registerValidation({ name: 'imports', code });
    expect(await stage.fleet.call('imports')).toMatchObject({
      kind: 'verdict',
      verdict: { outcome: 'fail' },
    });
  });

  it('when all that is over, then nothing was written and nobody was called', () => {
    expect(existsSync(file)).toBe(false);
    expect(requests).toBe(0);
  });

  it('when it changes the subject and its arguments, then every other check sees the original', async () => {
    const { fleet } = stage;
    const original = { items: ['a'], total: 1 };
    const code = (then: string) => `({ subject, args }) => {
      const seen = JSON.stringify([subject, args]);
      ${then}
      return { passed: seen === ${JSON.stringify(JSON.stringify([original, { list: [1] }]))}, message: seen };
    }`;
    const change =
      'subject.items.push("b"); delete subject.total; args.list.push(2); globalThis.items = subject.items;';
    const input_schema = { type: 'object' };
    await fleet.registerValidation({ name: 'a-changes', input_schema, code: code(change), confirm: 2 });
    await fleet.registerValidation({ name: 'b-reads', input_schema, code: code('') });
    await fleet.registerValidation({
      name: 'c-changes-in-transform',
      wraps: 'a-changes',
      transform:
        '(tool_output, { subject, args }) => { subject.items = []; args.list = []; return tool_output; }',
    });
    for (const validation of ['a-changes', 'b-reads', 'c-changes-in-transform'])
      await fleet.attach({ resource: 'cart/1', validation, arguments: { list: [1] } });
    const story = stage.story('mutations');
    const { plan } = await fleet.submitPlan({ plan: story.plan, snapshots: { 'cart/1': original } });
    const { data } = await story.until('plan.gate.passed', 'plan.retry.requested');
    const results = await lastResults(story);
    expect(Object.values(results).map(({ outcome, message }) => `${outcome} ${message}`)).toEqual(
      Array(3).fill(`pass ${JSON.stringify([original, { list: [1] }])}`),
    );
    expect(data).toMatchObject({ digests: plan.snapshots });
    await fleet.executed(story.plan, { 'cart/1': original });
    await story.until('plan.gate.passed');
  });

  it('when it leaves something behind in its globals, then no later call finds it', async () => {
    const code = `() => { globalThis.calls = (globalThis.calls ?? 0) + 1; Array.prototype.extra = 1;
      return { passed: calls === 1, message: String([].extra) }; }`;
    await stage.fleet.registerValidation({ name: 'counts-calls', code });
    const peek = '() => ({ passed: [].extra === undefined && globalThis.calls === undefined })';
    await stage.fleet.registerValidation({ name: 'peeks', code: peek });
    for (const name of ['counts-calls', 'peeks', 'counts-calls', 'peeks'])
      expect(await stage.fleet.call(name)).toMatchObject({ verdict: { outcome: 'pass' } });
  });

  it('when it has run, then its result says that reading alone was enforced', async () => {
    const { fleet } = stage;
    await fleet.registerValidation({ name: 'plain', code: PASS });
    await fleet.attach({ resource: 'file/enforced', validation: 'plain' });
    const story = stage.story('enforced');
    await fleet.submitPlan({ plan: story.plan, snapshots: { 'file/enforced': '' } });
    await story.until('plan.gate.passed');
    expect(await lastResults(story)).toMatchObject({ 'local/plain': { read_only: 'enforced' } });
  });
});
