import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endingsText, passedBy } from '../../src/inputs/passed-by.js';
import { readRuns } from '../../src/inputs/run-files.js';
import { runSluice } from '../support/cli.js';

let dir: string;
const path = (name: string) => join(dir, name);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-unknown-'));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function read(name: string, content: string, format?: string): Promise<string[]> {
  await writeFile(path(name), content);
  const found: string[] = [];
  for await (const item of readRuns([path(name)], format === undefined ? {} : { format }))
    found.push('problem' in item ? `${item.about}: ${item.problem.message}` : item.run.id);
  return found;
}

const openHands = '{"instance_id":"x","instruction":"y","history":[],"metadata":{}}\n';
const inspect = '{"version":2,"status":"success","eval":{},"samples":[],"target":"x"}';

describe('a file in which nothing is a run record', () => {
  it.each([
    ['NDJSON of another tool', 'a.ndjson', openHands.repeat(30)],
    ['a JSON object of another tool', 'a.json', inspect],
    ['a pretty one', 'a.json', JSON.stringify(JSON.parse(inspect), null, 2)],
    ['a list', 'a.json', '[{"input":"x"},{"input":"y"}]'],
    ['more than are kept', 'b.ndjson', openHands.repeat(3000)],
  ])('is no log of a known format, said once: %s', async (_what, name, content) => {
    expect(await read(name, content)).toEqual([
      expect.stringMatching(/^source: is not a log of a known format/),
    ]);
  });

  it('is judged record by record when a record among them is one, or when the format is named', async () => {
    expect(await read('mixed.ndjson', `${openHands}${openHands}{"id":"a"}\n${openHands}`)).toEqual([
      'record: is missing',
      'record: is missing',
      'a',
      'record: is missing',
    ]);
    expect(await read('own.ndjson', openHands, 'run-record')).toEqual(['record: is missing']);
    const late = await read('late.ndjson', `${openHands.repeat(1200)}{"id":"a"}\n`);
    expect(late.slice(-2)).toEqual(['record: 200 more records lack an id', 'a']);
  });
});

describe('a folder of runs', () => {
  it('has its files that are no runs counted by ending', async () => {
    const folder = path('logs');
    await mkdir(join(folder, 'deep'), { recursive: true });
    for (const name of ['a.json', 'b.txt', 'c.TXT', 'deep/d.log', 'README', '.hidden', 'scenario.json'])
      await writeFile(join(folder, name), '{"id":"a"}');
    expect(endingsText(await passedBy(folder))).toBe('4 files (2 .txt, 1 without an ending, 1 .log)');
    expect(endingsText(new Map())).toBe('');
    await writeFile(path('s.json'), '{"key":"s","validation":{}}');
    const args = ['evaluate', 's.json', '--runs', 'logs', '--dry-run'];
    const { exitCode, stderr } = await runSluice(args, { cwd: dir });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('sluice: logs: not read as runs: 4 files (2 .txt');
  });
});

describe('a slip in the keys of run records', () => {
  it('is told once over all runs, and the runs are judged', async () => {
    await writeFile(
      path('slips.ndjson'),
      '{"id":"a","tasks":[{"command":["ls"]}]}\n{"id":"b","tasks":[{"command":[]}]}\n',
    );
    await writeFile(path('s.json'), '{"key":"s","validation":{}}');
    const args = ['evaluate', 's.json', '--runs', 'slips.ndjson', '--dry-run'];
    const { exitCode, stderr } = await runSluice(args, { cwd: dir });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      'sluice: tasks[].command is not a key of a run record and is ignored (in 2 runs); did you mean "commands"?',
    );
  });
});
