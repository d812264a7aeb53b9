import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRuns } from '../../src/cli/evaluate/checked-runs.js';
import { unwritable } from '../../src/cli/writable.js';
import type { Problem } from '../../src/core/problem.js';
import { sealScenario } from '../../src/core/scenario/load.js';

const scenario = sealScenario({ key: 'k', rules: [], extra: {} });
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-checked-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function check(
  name: string,
  text: string,
  more: { keptCharacters?: number; skipInvalid?: boolean } = {},
) {
  const path = join(dir, name);
  await writeFile(path, text);
  const skipped: Problem[] = [];
  const runs = await checkRuns([{ file: path, path }], [scenario], {
    format: undefined,
    skipInvalid: false,
    named: new Set([path]),
    signal: new AbortController().signal,
    onSkipped: (problem) => skipped.push(problem),
    ...more,
  });
  const submitted = async () => {
    const all = [];
    for await (const { index, run, subject } of runs.submissions())
      all.push({ index, run, digest: subject.digest });
    return all;
  };
  return { path, runs, skipped, submitted };
}

describe('the first pass over the runs', () => {
  const text = '{"id":"a"}\n{"id":1}\n{"id":"b","tasks":[]}\n';

  it('gives the same submissions from memory and from a second reading, as often as one likes', async () => {
    const kept = await check('kept.ndjson', text, { skipInvalid: true });
    const again = await check('again.ndjson', text, { skipInvalid: true, keptCharacters: 0 });
    expect(await kept.submitted()).toEqual(await again.submitted());
    expect(await again.submitted()).toEqual(await again.submitted());
    expect((await again.submitted()).map(({ index, run }) => [index, run])).toEqual([
      [0, 'a'],
      [1, 'b'],
    ]);
    expect(again.runs).toMatchObject({ total: 2, skipped: 1, problemCount: 0 });
    expect(again.skipped).toHaveLength(1);
  });

  it('refuses runs that changed between the two passes', async () => {
    const { path, submitted } = await check('grown.ndjson', '{"id":"a"}\n', { keptCharacters: 0 });
    await appendFile(path, '{"id":"b"}\n');
    await expect(submitted()).rejects.toMatchObject({ code: 'INVALID_RUNS' });
    await writeFile(path, '{"id":\n');
    await expect(submitted()).rejects.toMatchObject({ code: 'INVALID_RUNS' });
  });

  it('counts every problem and keeps the first thousand', async () => {
    const { runs } = await check('bad.ndjson', '{"id":1}\n'.repeat(1500));
    expect(runs.problemCount).toBe(1500);
    expect(runs.problems).toHaveLength(1000);
  });

  it('does not pass over a file that was named, even with skipInvalid', async () => {
    const { runs } = await check('torn.json', '[{"id":"a"},', { skipInvalid: true });
    expect(runs).toMatchObject({ total: 0, skipped: 0, problemCount: 1 });
  });
});

describe('a place to write to', () => {
  it.each<[string, string | undefined]>([
    ['new.json', undefined],
    ['deep/er/new.json', 'does not exist'],
    ['.', 'folder'],
    ['file.txt/new.json', 'no folder'],
  ])('%s is judged without touching it', async (name, wanted) => {
    await writeFile(join(dir, 'file.txt'), '');
    const problem = await unwritable('--report', 'json', join(dir, name));
    if (wanted === undefined) expect(problem).toBeUndefined();
    else expect(problem?.message).toContain(wanted);
  });
});
