import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/core/digest.js';
import { formatProblem, SluiceError } from '../../src/core/problem.js';
import { loadScenarios } from '../../src/inputs/scenario-files.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(
    path,
    typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
  );
  return path;
}

const statusRule = { label: 'Resolved', validator: 'job_resolution_status', pattern: 'success' };
const plain = { validation: { job: [statusRule] } };
const playbook = (ansiblePath: string, more: object = {}) => ({
  validation: { job: [statusRule, { label: 'Runs', validator: 'ansible', ansiblePath, ...more }] },
});

async function problems(...paths: string[]): Promise<string[]> {
  const error = await loadScenarios(paths).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SluiceError);
  expect((error as SluiceError).code).toBe('INVALID_SCENARIO');
  return (error as SluiceError).problems.map((problem) =>
    formatProblem(problem).replaceAll(`${folder}/`, ''),
  );
}

describe('loadScenarios', () => {
  it('takes a file, or a folder with scenarios in it and below, each once, keyed by folder', async () => {
    await file('all/scenario.json', plain);
    await file('all/web/scenario.json', plain);
    await file('all/web/deep/scenario.json', { key: 'own', ...plain });
    await file('all/node_modules/scenario.json', 'broken');
    await file('all/.hidden/scenario.json', 'broken');
    const single = await file('other/check.json', plain);
    const loaded = await loadScenarios([join(folder, 'all'), single, join(folder, 'all/web')]);
    expect(loaded.map(({ scenario }) => scenario.key)).toEqual(['all', 'web', 'own', 'other']);
    expect(loaded.every(({ bundle }) => bundle === undefined)).toBe(true);
    expect(loaded[0]?.scenario.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it('lists every problem of every file and path in one error', async () => {
    const bad = await file('bad/scenario.json', {
      validation: { job: [{ ...statusRule, validator: 'nope' }], jobs: [] },
    });
    const worse = await file('worse/scenario.json', Buffer.from([0x7b, 0xff]));
    await mkdir(join(folder, 'empty'));
    const found = await problems(bad, worse, join(folder, 'empty'), join(folder, 'missing'));
    expect(found.filter((text) => text.startsWith('bad/scenario.json')).length).toBeGreaterThanOrEqual(2);
    expect(found).toContain('worse/scenario.json: is not valid UTF-8');
    expect(found).toContain('empty: holds no scenario.json, in it or below');
    expect(found).toContain('missing: does not exist');
  });

  it('refuses one key in two files, and names both', async () => {
    const a = await file('a/scenario.json', { key: 'same', ...plain });
    const b = await file('b/scenario.json', { key: 'same', ...plain });
    expect(await problems(a, b)).toEqual([
      'b/scenario.json: key: the key "same" is taken by a/scenario.json',
    ]);
  });

  it('says where a key comes from when two files of one folder have none', async () => {
    const a = await file('proj/a.json', plain);
    const b = await file('proj/b.json', plain);
    expect(await problems(a, b)).toEqual([
      'proj/b.json: key: the key "proj" is taken by proj/a.json; key "proj" comes from the folder\'s name; set "key" in the file',
    ]);
  });

  it('refuses an endless file instead of reading it', async () => {
    expect(await problems('/dev/zero')).toEqual([
      '/dev/zero: is a binary file (it contains NUL bytes), not JSON text',
    ]);
  });
});

describe('bundles', () => {
  it('holds the folder’s regular files for a scenario with a playbook, and nothing else', async () => {
    const path = await file('web/scenario.json', playbook('./validate.yml', { inventory: 'hosts' }));
    await file('web/validate.yml', 'play');
    await file('web/hosts/one.ini', Buffer.from([0, 255]));
    await file('web/.secret', 'x');
    await file('web/node_modules/x.js', 'x');
    await file('web/nested/scenario.json', plain);
    await file('web/nested/other.yml', 'x');
    await symlink('validate.yml', join(folder, 'web/alias.yml'));
    await symlink('.', join(folder, 'web/loop'));
    const [loaded] = await loadScenarios([path]);
    const { files } = JSON.parse(loaded?.bundle?.json ?? '{}') as { files: Record<string, string> };
    expect(Object.keys(files)).toEqual(['alias.yml', 'hosts/one.ini', 'scenario.json', 'validate.yml']);
    expect(files['hosts/one.ini']).toBe(Buffer.from([0, 255]).toString('base64'));
    expect(loaded?.bundle?.digest).toBe(sha256(loaded?.bundle?.json ?? ''));
    expect(loaded?.scenario.bundle).toBe(loaded?.bundle?.digest);
  });

  it('changes the scenario’s digest with any of its files', async () => {
    const path = await file('web/scenario.json', playbook('validate.yml'));
    await file('web/validate.yml', 'one');
    const [before] = await loadScenarios([path]);
    await file('web/validate.yml', 'two');
    const [after] = await loadScenarios([path]);
    expect(after?.scenario.digest).not.toBe(before?.scenario.digest);
  });

  it('names the rule whose playbook or inventory is missing, and the nearest file', async () => {
    const path = await file('web/scenario.json', playbook('validat.yml', { inventory: 'hosts' }));
    await file('web/validate.yml', 'play');
    expect(await problems(path)).toEqual([
      'web/scenario.json: validation.job[1].ansiblePath: is not a file of the scenario\'s folder; found "validat.yml"; did you mean "validate.yml"?',
      'web/scenario.json: validation.job[1].inventory: is not a file of the scenario\'s folder; found "hosts"',
    ]);
  });

  it('refuses a link that leaves the folder', async () => {
    const path = await file('web/scenario.json', playbook('validate.yml'));
    await file('outside.yml', 'secret');
    await symlink(join(folder, 'outside.yml'), join(folder, 'web/validate.yml'));
    expect(await problems(path)).toEqual([
      "web/scenario.json: validate.yml is a symbolic link that leaves the scenario's folder",
    ]);
  });

  it.each([
    [
      'files',
      async () => {
        for (let i = 0; i < 201; i += 1) await file(`web/f${i}`, 'x');
      },
      'holds more than 200 files',
    ],
    ['bytes', () => file('web/big', Buffer.alloc(5 * 2 ** 20)), 'holds more than 5 MiB'],
  ])('refuses a folder with too many %s', async (_what, fill, expected) => {
    const path = await file('web/scenario.json', playbook('validate.yml'));
    await file('web/validate.yml', 'play');
    await fill();
    expect((await problems(path))[0]).toContain(expected);
  });
});
