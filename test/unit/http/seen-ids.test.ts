import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SeenIds, type Twin } from '../../../src/http/uploads/seen-ids.js';

let folder: string;
let file: FileHandle | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-ids-'));
});
afterEach(async () => {
  await file?.close();
  file = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function twinsOf(ids: Iterable<string>): Promise<Twin[]> {
  const seen = new SeenIds(async () => {
    file = await open(join(folder, 'ids'), 'w+');
    return file;
  });
  let line = 0;
  for (const id of ids) {
    line += 1;
    await seen.add(id, line);
  }
  const twins: Twin[] = [];
  for await (const twin of seen.twins()) twins.push(twin);
  return twins.sort((a, b) => a.line - b.line);
}

describe('ids that were seen', () => {
  it('are told where they come again, with where they came first', async () => {
    expect(await twinsOf(['a', 'b', 'a', 'c', 'a', 'b'])).toEqual([
      { line: 3, before: 1 },
      { line: 5, before: 1 },
      { line: 6, before: 2 },
    ]);
    expect(file).toBeUndefined();
  });

  it('are compared over the file that they go to when they are many', async () => {
    const ids = function* () {
      for (let n = 0; n < 150_000; n += 1) yield `id-${n}`;
      yield 'id-7';
      yield 'id-149999';
    };
    expect(await twinsOf(ids())).toEqual([
      { line: 150_001, before: 8 },
      { line: 150_002, before: 150_000 },
    ]);
    expect((await file?.stat())?.size).toBeGreaterThan(0);
  });

  it('are none where all differ', async () => {
    expect(await twinsOf(['a', 'A', ' a', 'a '])).toEqual([]);
    expect(await twinsOf([])).toEqual([]);
  });
});
