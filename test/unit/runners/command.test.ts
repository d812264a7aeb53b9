import { describe, expect, it } from 'vitest';
import type { CallableDocument } from '../../../src/core/registry/model.js';
import type { RunFailure } from '../../../src/core/validators/validator.js';
import type { ToolRun } from '../../../src/ports/runner.js';
import { CommandRunner } from '../../../src/runners/command.js';
import type { Processes, ProcessOutcome, RunRequest } from '../../../src/runners/process/request.js';

const ENDED: ProcessOutcome = {
  kind: 'process',
  exitCode: 0,
  timedOut: false,
  truncated: false,
  stdoutTruncated: false,
  mentionsPassed: false,
  stdout: 'ok',
  stderr: '',
  durationMs: 1,
  readOnly: 'declared',
};

const document = (fields: Partial<CallableDocument>): CallableDocument =>
  ({
    kind: 'validation',
    name: 'local/t',
    command: ['x'],
    capability: { read_only: true, writes: false, checkpointable: false, network: false },
    ...fields,
  }) as CallableDocument;

const call = (fields: Partial<CallableDocument>, more: Partial<ToolRun> = {}): ToolRun => ({
  document: document(fields),
  args: {},
  subject: null,
  resource: null,
  slot: null,
  deadlineMs: 1_000,
  ...more,
});

/** What a call asks of the host, and what comes of it. */
async function run(toolRun: ToolRun, outcome: ProcessOutcome | RunFailure = ENDED) {
  const requests: RunRequest[] = [];
  const processes: Processes = {
    run: async (request) => {
      requests.push(request);
      return outcome;
    },
    open: () => Promise.reject(new Error('not asked for')),
  };
  const ran = await new CommandRunner(processes).run(toolRun, new AbortController().signal);
  return { request: requests[0], ran };
}

const textsIn = (request: RunRequest | undefined) =>
  Object.fromEntries(
    [...(request?.files ?? [])].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]),
  );
const base64 = (text: string) => Buffer.from(text).toString('base64');
const filled = (inside: string) => `\${${inside}}`;

describe('a command', () => {
  it('is given its line, its variables, its files and what is judged', async () => {
    const fields: Partial<CallableDocument> = {
      command: ['sh', 'check.sh', filled('args.path')],
      env: { CI: '1' },
      paths: ['/opt/tools'],
      files: { 'check.sh': base64('true\n') },
      capability: { read_only: true, writes: false, checkpointable: false, network: true },
    };
    const { request, ran } = await run(
      call(fields, {
        args: { path: 'a b' },
        subject: { n: 1 },
        resource: 'repo/main',
        slot: 'repo',
        state: [2],
      }),
    );
    expect(request).toEqual({
      argv: ['sh', 'check.sh', 'a b'],
      env: { CI: '1', SLUICE_TOOL: 'local/t', SLUICE_RESOURCE: 'repo/main', SLUICE_SLOT: 'repo' },
      files: expect.any(Map) as Map<string, Uint8Array>,
      paths: ['/opt/tools'],
      network: true,
      stdin: `${JSON.stringify({ args: { path: 'a b' }, subject: { n: 1 }, resource: 'repo/main', slot: 'repo', state: [2] })}\n`,
      deadlineMs: 1_000,
    });
    expect(textsIn(request)).toEqual({ 'check.sh': 'true\n' });
    expect(ran).toMatchObject({ outcome: { verdict: { outcome: 'pass' } }, readOnly: 'declared' });
  });

  it('without any of it has empty variables and null', async () => {
    const { request } = await run(call({}, { subject: undefined }));
    expect(request?.env).toEqual({ SLUICE_TOOL: 'local/t', SLUICE_RESOURCE: '', SLUICE_SLOT: '' });
    expect(request?.stdin).toBe('{"args":{},"subject":null,"resource":null,"slot":null}\n');
  });

  it('of a shell is its script with what follows as $1 and so on', async () => {
    const { request } = await run(
      call({ shell: true, command: ['echo "$1"', filled('args.a')] }, { args: { a: '$(id)' } }),
    );
    expect(request?.argv).toEqual(['/bin/sh', '-c', 'echo "$1"', 'sh', '$(id)']);
  });

  it('that could not be started is a failure, as the host tells it', async () => {
    const failure: RunFailure = { kind: 'failure', reason: 'no_sandbox', message: 'no bubblewrap' };
    expect((await run(call({}), failure)).ran).toEqual({ outcome: failure, readOnly: 'enforced' });
  });

  it.each<[string, ToolRun, string]>([
    ['no program', call({ command: [filled('resource')] }), 'not_found'],
    [
      'an argument with a NUL character',
      call({ command: ['x', filled('args.a')] }, { args: { a: 'a\u0000' } }),
      'arguments',
    ],
    ['a resource with a NUL character', call({}, { resource: 'a\u0000' }), 'arguments'],
  ])('with %s is not run', async (_, toolRun, reason) => {
    const { request, ran } = await run(toolRun);
    expect(request).toBeUndefined();
    expect(ran).toMatchObject({ outcome: { kind: 'failure', reason }, readOnly: 'enforced' });
  });
});

describe('a command over a folder', () => {
  const over = (subject: unknown, files: Record<string, string> = {}) =>
    run(call({ snapshot_files: true, files }, { subject }));

  it('has the files of the snapshot in its working folder, and its own over them', async () => {
    const snapshot = {
      'package.json': '{}',
      'test/a.js': 'theirs',
      'bin/x': { base64: '/w==' },
      'check.sh': 'theirs',
    };
    const { request } = await over(
      { files: snapshot },
      { 'check.sh': base64('mine'), 'test/b.js': base64('mine') },
    );
    expect(textsIn(request)).toEqual({
      'package.json': '{}',
      'test/a.js': 'theirs',
      'bin/x': '\ufffd',
      'check.sh': 'mine',
      'test/b.js': 'mine',
    });
  });

  it('has nothing of the snapshot in .sluice, or where its own files have folders', async () => {
    const snapshot = {
      '.sluice/json.py': 'x',
      '.sluice': 'x',
      './.sluice/a': 'x',
      lib: 'x',
      'run/deep/x': 'x',
      '.sluicex': 'y',
    };
    const { request } = await over(
      { files: snapshot },
      { '.sluice/check.py': base64('mine'), 'lib/a': base64('mine'), run: base64('mine') },
    );
    expect(textsIn(request)).toEqual({
      '.sluice/check.py': 'mine',
      'lib/a': 'mine',
      run: 'mine',
      '.sluicex': 'y',
    });
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'x'],
    ['an object without files', { a: 1 }],
    ['files that are a list', { files: [] }],
    ['a path out of the folder', { files: { '../x': '' } }],
    ['one path twice', { files: { b: '1', './b': '2' } }],
    ['one path twice, over a folder', { files: { 'a/../b': '1', b: '2' } }],
    ['content that is no base64', { files: { b: { base64: '!!!' } } }],
    ['content that is base64 in part', { files: { b: { base64: 'YWJj!!!!' } } }],
    ['base64 without its end', { files: { b: { base64: 'YQ' } } }],
    ['an absolute path', { files: { '/etc/passwd': '' } }],
    ['a content that is none', { files: { a: 1 } }],
  ])('is not run on %s', async (_, subject) => {
    const { request, ran } = await over(subject);
    expect(request).toBeUndefined();
    expect(ran.outcome).toMatchObject({ kind: 'failure', reason: 'subject' });
  });
});
