import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Activations } from '../../src/app/tools/activations.js';
import { type ToolAnswer, ToolCaller, type ToolInput } from '../../src/app/tools.js';
import { resolveTool } from '../../src/core/registry/closure.js';
import type { Kind, Registry, RegistryEntry } from '../../src/core/registry/model.js';
import { planRegistration } from '../../src/core/registry/register.js';
import { documentView } from '../../src/core/registry/view.js';
import { readDocuments } from '../../src/inputs/documents.js';
import { folderSnapshot } from '../../src/inputs/folder-snapshot.js';
import { CommandRunner } from '../../src/runners/command.js';
import { createMatcher } from '../../src/runners/pattern-matcher.js';
import { sandboxTrouble } from '../../src/runners/process/available.js';
import { LocalProcesses } from '../../src/runners/process/processes.js';
import { QuickJsInterpreter } from '../../src/runners/quickjs.js';
import { apply, EMPTY } from '../unit/core/registry/build.js';

const SETTINGS = {
  sandbox: 'bubblewrap',
  memoryMiB: 512,
  processes: 64,
  scratchMiB: 16,
  outputCap: 256 * 1024,
  graceMs: 500,
  paths: ['/'],
} as const;

const trouble = await sandboxTrouble(SETTINGS);
if (trouble !== undefined) console.warn(`commands are not tried: ${trouble}`);

const TOOLS = `
kind: tool
name: wc
description: Counts words
command: [wc, -w, "\${args.flag}", "\${args.file}"]
read_only: true
input_schema: {type: object, properties: {file: {type: string}, flag: {type: string}}}
files: {words.txt: "one two three\\n", "it's all.txt": "one\\n"}
---
kind: tool
name: told
description: All that a command is told
command: [sh, told.sh, "\${resource}", "\${slot}"]
read_only: true
env: {GREETING: hi there}
files: [told.sh]
---
name: short-enough
kind: validation
wraps: wc
argument_mapping: {file: {value: words.txt}}
transform: "({ exit_code, stdout }) => ({ passed: exit_code === 0 && parseInt(stdout) < 5, message: stdout.trim() })"
`;

const CHECKS = `
- name: tests
  command: [sh, check.sh]
  snapshot_files: true
  files: [check.sh]
  timeout: 30s
- name: grep
  shell: true
  command: ['grep -q "$1" notes.txt', "\${args.word}"]
  snapshot_files: true
  exit_codes: {1: fail, 2: error}
  output: exit_code
  input_schema: {type: object, properties: {word: {type: string}}, required: [word]}
- name: judged
  command: [sh, -c, 'grep -o "\\"n\\":[0-9]*" | grep -q 42 && echo "{\\"passed\\": true, \\"data\\": {\\"n\\": 42}}"']
- name: reads-host
  command: [cat, /srv-data/answer]
  paths: [HOST]
`;

const FILES: Record<string, string> = {
  'told.sh':
    'printf \'%s|%s|%s|%s|%s|%s\\n\' "$1" "$#" "$SLUICE_TOOL" "$SLUICE_RESOURCE" "$SLUICE_SLOT" "$GREETING"; cat\n',
  'check.sh': 'cat >/dev/null\n./run-tests >log 2>&1 || { cat log >&2; exit 1; }\ntail -n 1 log\n',
};

describe.skipIf(trouble !== undefined)('tools that are commands', () => {
  let dir: string;
  let registry: Registry = EMPTY;
  const interpreter = new QuickJsInterpreter(1);
  const caller = new ToolCaller({
    interpreter,
    matcher: createMatcher(),
    tools: { runners: { command: new CommandRunner(new LocalProcesses(SETTINGS)) }, missing: {} },
    activations: new Activations({ interpreter, host: { serves: [], platform: '', arch: '', node: '' } }),
  });

  async function add(file: string, kind: Kind) {
    const { given } = await readDocuments([file], kind, Readable.from([]));
    const planned = planRegistration(registry, given, 1, 'tester');
    if (!planned.ok) throw new Error(JSON.stringify(planned.problems, null, 1));
    registry = apply(registry, planned.change);
    return planned.report.map(({ status }) => status);
  }

  async function call(name: string, input: Partial<ToolInput> = {}): Promise<ToolAnswer> {
    const whole = { args: {}, subject: null, resource: null, slot: null, ...input };
    const ran = await caller.call(resolveTool(registry, name), whole, new AbortController().signal);
    expect(ran.readOnly).toBe('enforced');
    return ran.outcome;
  }

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'commands-'));
    await mkdir(join(dir, 'host'));
    await writeFile(join(dir, 'host/answer'), '42\n');
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(dir, name), text);
    await writeFile(join(dir, 'tools.yaml'), TOOLS);
    const host = join(dir, 'host');
    await writeFile(join(dir, 'checks.yaml'), CHECKS.replace('HOST', host).replace('/srv-data', host));
    await add(join(dir, 'tools.yaml'), 'tool');
    await add(join(dir, 'checks.yaml'), 'validation');
  });

  afterAll(async () => {
    await caller.close();
    await interpreter.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('have arguments as parts of their own, and leave out those that are not given', async () => {
    const [words, odd, gone] = await Promise.all([
      call('wc', { args: { file: 'words.txt' } }),
      call('wc', { args: { file: "it's all.txt", flag: '-c' } }),
      call('wc', { args: { file: '$(rm -rf /)' } }),
    ]);
    expect(words).toMatchObject({ value: { exit_code: 0, stdout: '3 words.txt\n', truncated: false } });
    expect(odd).toMatchObject({ value: { stdout: expect.stringContaining("it's all.txt") as string } });
    expect(gone).toMatchObject({
      value: { exit_code: 1, stderr: expect.stringContaining('$(rm -rf /)') as string },
    });
  });

  it('are told what they judge, on standard input and by variables', async () => {
    const answer = await call('told', { subject: { n: 'ä' }, resource: 'repo/main' });
    const input = { args: {}, subject: { n: 'ä' }, resource: 'repo/main', slot: null };
    expect(answer).toMatchObject({
      value: { stdout: `repo/main|1|local/told|repo/main||hi there\n${JSON.stringify(input)}\n` },
    });
  });

  it('can be wrapped by a validation that interprets what they bring', async () => {
    expect(await call('short-enough')).toMatchObject({
      verdict: { outcome: 'pass', message: '3 words.txt' },
    });
  });

  it('run a script of their own over the folder that is judged', async () => {
    const work = join(dir, 'work');
    await mkdir(work);
    await writeFile(
      join(work, 'run-tests'),
      '#!/bin/sh\ntest -e lib/x.js && echo "1 passed" || { echo "1 failed"; exit 3; }\n',
    );
    await writeFile(join(work, 'check.sh'), 'exit 0\n');
    await writeFile(join(work, 'notes.txt'), 'all is well\n');
    const snapshot = await folderSnapshot(work);
    if ('message' in snapshot) throw new Error(snapshot.message);
    const { files } = snapshot.value;
    const good = { files: { ...files, 'lib/x.js': 'x' } };
    const [passed, failed, found, missing, unreadable, none] = await Promise.all([
      call('tests', { subject: good }),
      call('tests', { subject: { files } }),
      call('grep', { subject: good, args: { word: 'all is' } }),
      call('grep', { subject: good, args: { word: 'bad' } }),
      call('grep', { subject: { files: {} }, args: { word: 'x' } }),
      call('tests', { subject: 'no folder' }),
    ]);
    expect(passed).toMatchObject({ verdict: { outcome: 'pass', message: 'exit code 0: 1 passed' } });
    expect(failed).toMatchObject({ verdict: { outcome: 'fail', message: 'exit code 1: 1 failed' } });
    expect(found).toMatchObject({ verdict: { outcome: 'pass', data: { exit_code: 0 } } });
    expect(missing).toMatchObject({ verdict: { outcome: 'fail', message: 'exit code 1' } });
    expect(unreadable).toMatchObject({ kind: 'failure', reason: 'exit_code' });
    expect(none).toMatchObject({ kind: 'failure', reason: 'subject' });
  });

  it('print a structured return, and fail without one by their exit code', async () => {
    const [passed, failed] = await Promise.all([
      call('judged', { subject: { n: 42 } }),
      call('judged', { subject: { n: 41 } }),
    ]);
    expect(passed).toEqual({
      kind: 'verdict',
      verdict: { outcome: 'pass', message: 'passed', data: { n: 42 } },
    });
    expect(failed).toMatchObject({ verdict: { outcome: 'fail', message: 'exit code 1' } });
  });

  it('read of the host what they declare, and nothing else', async () => {
    expect(await call('reads-host')).toMatchObject({
      verdict: { outcome: 'pass', message: 'exit code 0: 42' },
    });
    const told = await call('wc', { args: { file: join(dir, 'host/answer') } });
    expect(told).toMatchObject({ value: { exit_code: 1 } });
  });

  it('are shown so that they can be registered again, and are unchanged', async () => {
    const views = [...registry.entries.values()].map((entry: RegistryEntry) => documentView(entry, []));
    const file = join(dir, 'shown.yaml');
    await writeFile(file, views.map((view) => stringify(view, { lineWidth: 0 })).join('---\n'));
    expect(new Set(await add(file, 'tool'))).toEqual(new Set(['unchanged']));
    expect(views.find(({ name }) => name === 'local/told')?.files).toEqual({ 'told.sh': FILES['told.sh'] });
  });
});
