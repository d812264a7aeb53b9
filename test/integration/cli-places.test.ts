import { link, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchInputs, placeClashes } from '../../src/cli/evaluate/place-clashes.js';
import { sinkProblems, sinksOfLine } from '../../src/cli/sink-problem.js';
import { unwritable } from '../../src/cli/writable.js';
import { loadScenarios } from '../../src/inputs/scenario-files.js';
import { runSluice } from '../support/cli.js';

const SCENARIO = { key: 's', validation: { job: [{ label: 'few', validator: 'task_count', max: 3 }] } };
const ANSIBLE = {
  key: 'web',
  validation: { job: [{ label: 'up', validator: 'ansible', ansiblePath: 'validate.yml' }] },
};
const RUNS = '{"id":"a"}\n';

let dir: string;
let inputs: BatchInputs;
const file = (name: string) => join(dir, name);

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-places-'));
  for (const name of ['sc', 'web', 'logs', 'out']) await mkdir(file(name));
  await writeFile(file('sc/scenario.json'), JSON.stringify(SCENARIO));
  await writeFile(file('web/scenario.json'), JSON.stringify(ANSIBLE));
  await writeFile(file('web/validate.yml'), '- hosts: all\n');
  await writeFile(file('runs.ndjson'), RUNS);
  await writeFile(file('logs/a.json'), '{"id":"b"}');
  await writeFile(file('sluice.yaml'), 'fleet: x\n');
  const scenarios = [file('sc'), file('web')];
  const runs = [file('runs.ndjson'), file('logs')];
  inputs = { scenarios, loaded: await loadScenarios(scenarios), runs, config: file('sluice.yaml') };
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const written = (name: string, path = '--report') => ({
  path,
  option: `json=${name}`,
  file: name.startsWith('/') ? name : `${dir}/${name}`,
});
const clash = async (...names: string[]) =>
  (
    await placeClashes(
      names.map((name) => written(name)),
      inputs,
    )
  ).map(({ message }) => message);

describe('a file that a batch would write', () => {
  it.each([
    ['a named file of runs', 'runs.ndjson', 'is an input: a file of runs'],
    ['the same under another spelling', './out/../runs.ndjson', 'is an input: a file of runs'],
    ['a file in a folder of runs', 'logs/a.json', 'is an input: a file of runs'],
    ['a scenario', 'sc/scenario.json', 'is an input: a scenario'],
    ['the settings', 'sluice.yaml', 'is an input: the settings'],
    ['a playbook', 'web/validate.yml', 'lies among the files that travel with the scenario web'],
    ['a new file beside a playbook', 'web/out.xml', 'lies among the files that travel with the scenario web'],
    [
      'a new run file in a folder of runs',
      'logs/out.json',
      expect.stringContaining('read as runs by the next call'),
    ],
  ])('is refused when it is %s', async (_name, name, message) => {
    expect(await clash(name)).toEqual([message]);
  });

  it('is refused when a symbolic or a hard link makes it an input', async () => {
    await symlink('../runs.ndjson', file('out/soft'));
    await link(file('runs.ndjson'), file('out/hard'));
    expect(await clash('out/soft', 'out/hard')).toEqual(Array(2).fill('is an input: a file of runs'));
  });

  it.each([
    ['a new file', ['out/r.json']],
    ['an old file', ['old.json']],
    ['a file that folders of runs do not give', ['logs/out.xml']],
    ['a file beside a scenario that needs no files', ['sc/out.json']],
    ['a device, twice', ['/dev/null', '/dev/null']],
  ])('may be %s', async (_name, names) => {
    await writeFile(file('old.json'), '{}');
    expect(await clash(...names)).toEqual([]);
  });

  it('is refused when another writes it, however both are spelt', async () => {
    await symlink('later', file('dangling'));
    await symlink('out', file('folder'));
    const twice = (...names: [string, string]) => clash(...names);
    expect(await twice('rr', './rr')).toEqual(['writes to the same file as --report json=rr']);
    expect(await twice('later', 'dangling')).toHaveLength(1);
    expect(await twice('out/x', 'folder/x')).toHaveLength(1);
    expect(await twice('out/x', 'out/y')).toEqual([]);
  });
});

describe('what cannot be written', () => {
  it.each([
    ['a folder', 'out', 'names a folder'],
    ['a name that ends like a folder', 'new/', 'names a folder'],
    ['a missing folder', 'new/r.json', 'a folder that does not exist'],
    ['something below a file', 'runs.ndjson/r.json', 'below something that is no folder'],
    ['a name that is too long', 'n'.repeat(300), 'too long'],
  ])('is told without a try: %s', async (_name, name, message) => {
    expect(await unwritable('--report', 'json', `${dir}/${name}`)).toMatchObject({
      path: '--report',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ['redis-stream=http://x', 'is no Redis URL'],
    ['redis-stream=redis://h:99999#k', 'is no Redis URL'],
    ['redis-stream=redis://h:6379', 'lacks the key'],
    ['redis-stream=redis://h:6379#', 'lacks the key'],
  ])('includes the stream %s', async (option, message) => {
    const [problem] = await sinkProblems(sinksOfLine([option]));
    expect(problem).toMatchObject({ message: expect.stringContaining(message) });
  });

  it('leaves streams that can be used alone', async () => {
    for (const target of ['key', 'a:b', 'redis://h:1/2#k', 'rediss://u:p@h#k'])
      expect(await sinkProblems(sinksOfLine([`redis-stream=${target}`]))).toEqual([]);
  });
});

describe('evaluate', () => {
  it.each(['nonsense', 'redis://h:99999', 'redis://h/abc'])(
    'tells --redis %s with broken runs',
    async (url) => {
      await writeFile(file('broken.ndjson'), '{"id":5}\n');
      const args = ['evaluate', 'sc', '--runs', 'broken.ndjson', '--redis', url, '--json'];
      const { exitCode, stdout } = await runSluice(args, { cwd: dir });
      expect(exitCode).toBe(2);
      expect(JSON.parse(stdout).error.problems).toEqual([
        expect.objectContaining({ path: '--redis', found: JSON.stringify(url) }),
        expect.objectContaining({ file: 'broken.ndjson', path: 'id' }),
      ]);
    },
  );

  it('refuses inputs as outputs with everything else, and leaves them as they were', async () => {
    const args = ['evaluate', 'sc', '--runs', 'runs.ndjson', '--engine', 'inline', '--json'];
    const places = [
      '--report',
      'json=./runs.ndjson',
      '--sink',
      'ndjson=runs.ndjson',
      '--report',
      'text=new/x',
    ];
    const { exitCode, stdout } = await runSluice([...args, ...places], { cwd: dir });
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error.problems).toEqual([
      expect.objectContaining({ path: '--report', found: 'text=new/x' }),
      expect.objectContaining({ path: '--report', found: 'json=./runs.ndjson' }),
      expect.objectContaining({ path: '--sink', found: 'ndjson=runs.ndjson' }),
    ]);
    expect(await readFile(file('runs.ndjson'), 'utf8')).toBe(RUNS);
  });
});
