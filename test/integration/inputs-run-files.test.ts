import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatProblem, SluiceError } from '../../src/core/problem.js';
import { subjectOf } from '../../src/core/subject.js';
import { type ReadRunsOptions, readRuns } from '../../src/inputs/run-files.js';
import type { RunSource } from '../../src/inputs/run-sources.js';
import { spoolSources } from '../../src/inputs/spool.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

/** Ids of runs and texts of problems in order, with the folder's name left out. */
async function read(sources: (string | RunSource)[], options: ReadRunsOptions = {}): Promise<string[]> {
  const out: string[] = [];
  for await (const item of readRuns(sources, options)) {
    const text =
      'problem' in item
        ? `${item.about}${item.first ? '' : ' (more)'}: ${formatProblem(item.problem)}`
        : `${item.run.id} @${item.line ?? ''}${item.path}`;
    out.push(text.replaceAll(`${folder}/`, ''));
  }
  return out;
}

const SEPARATOR = '\u2028';

describe('readRuns, formats', () => {
  it.each([
    ['NDJSON', 'a.ndjson', '{"id":"a"}\n{"id":"b"}\n', ['a @1', 'b @2']],
    ['NDJSON under another name', 'a.json', '{"id":"a"}\n{"id":"b"}\n', ['a @1', 'b @2']],
    [
      'BOM, CRLF, blank lines, no last line end',
      'a.jsonl',
      '\ufeff\r\n{"id":"a"}\r\n\r\n{"id":"b"}',
      ['a @2', 'b @4'],
    ],
    ['a line separator inside a text', 'a.ndjson', `{"id":"a${SEPARATOR}b"}\n`, [`a${SEPARATOR}b @1`]],
    ['one record', 'a.json', '{"id":"a"}', ['a @1']],
    ['one record, pretty', 'a.json', JSON.stringify({ id: 'a', job: {} }, null, 2), ['a @']],
    ['an array', 'a.json', '[{"id":"a"},{"id":"b"}]', ['a @1[0]', 'b @1[1]']],
    ['an array, pretty, with BOM', 'a.json', `\ufeff${JSON.stringify([{ id: 'a' }], null, 2)}`, ['a @[0]']],
    ['an array, a record a line', 'a.json', '[\n{"id":"a"}\n]', ['a @[0]']],
    ['a first line that is broken', 'a.json', '{"id":\n{"id":"b"}\n', ['source: a.json: is not valid JSON']],
    [
      'a first line that is cut',
      'a.json',
      '{"id":"x\n{"id":"b"}\n',
      ['record: a.json:1: is not valid JSON', 'b @2'],
    ],
    [
      'a word on the first line',
      'a.json',
      'hello\n{"id":"b"}\n',
      ['record: a.json:1: is not valid JSON', 'b @2'],
    ],
    ['an unknown log', 'a.json', '{"samples":[]}', ['source: a.json: is not a log of a known format']],
    ['a log, by looking', 'a.traj', '{"trajectory":[],"info":{}}', ['a/0 @']],
    ['a record that also looks like a log', 'a.json', '{"id":"x","trajectory":[],"info":{}}', ['x @1']],
  ])('reads %s', async (_what, name, content, expected) => {
    const found = await read([await file(name, content)]);
    expect(found).toHaveLength(expected.length);
    for (const [i, text] of expected.entries()) expect(found[i]).toContain(text);
  });

  it('names file, line and JSON path of every mistake of a record, and goes on', async () => {
    const path = await file('a.ndjson', '{"id":1,"tasks":[{"commands":"ls"}]}\n5\n{"id":"ok"}\n{"id":"cut');
    const found = await read([path]);
    expect(found.slice(0, 4)).toEqual([
      'record: a.ndjson:1: id: has the wrong type; found 1; allowed: text',
      'record (more): a.ndjson:1: tasks[0].commands: has the wrong type; found "ls"; allowed: a list',
      'record: a.ndjson:2: is not a run record; found 5; allowed: an object with an id',
      'ok @3',
    ]);
    expect(found[4]).toMatch(/^record: a\.ndjson:4: is not valid JSON: .* \(the last line may be cut off\)$/);
  });

  it('takes a format by name, for what it would not find by itself', async () => {
    const log = await file('run.jsonl', '{"trajectory":[],"info":{}}');
    expect(await read([log], { format: 'swe-agent' })).toEqual(['run/0 @']);
    expect(await read([log], { format: 'intercode' })).toEqual([
      'source: run.jsonl: is not what intercode writes',
    ]);
  });

  it('refuses an unknown format at once, with the nearest name', () => {
    expect(() => readRuns(['x'], { format: 'intrcode' })).toThrow(SluiceError);
    try {
      readRuns(['x'], { format: 'intrcode' });
    } catch (error) {
      expect((error as SluiceError).problems[0]).toMatchObject({ nearest: 'intercode' });
      expect((error as SluiceError).exitCode).toBe(2);
    }
  });
});

describe('readRuns, hostile input', () => {
  it.each([
    ['an empty file', '', 'source: a.json: holds no runs'],
    ['only blank lines', '\n \r\n\t\n', 'source: a.json: holds no runs'],
    ['an empty array', '[]', 'source: a.json: holds no runs'],
    ['gzip', gzipSync('{"id":"a"}'), 'source: a.json: is compressed with gzip; unpack it first'],
    ['UTF-16', Buffer.from('\ufeff{"id":"a"}', 'utf16le'), 'source: a.json: is UTF-16 text'],
    ['a binary file', Buffer.from([1, 2, 0, 3]), 'source: a.json: is a binary file'],
    ['invalid UTF-8', Buffer.from('{"id":"\xff"}', 'latin1'), 'source: a.json: is not valid UTF-8'],
    ['NUL bytes', '{"id":"a\u0000"}', 'NUL bytes'],
  ])('says what is wrong with %s', async (_what, content, expected) => {
    const found = await read([await file('a.json', content)]);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  it('loses only the line that is not UTF-8', async () => {
    const content = Buffer.concat([
      Buffer.from('{"id":"a"}\n{"id":"'),
      Buffer.from([0xff]),
      Buffer.from('"}\n{"id":"c"}\n'),
    ]);
    expect(await read([await file('a.ndjson', content)])).toEqual([
      'a @1',
      'record: a.ndjson:2: is not valid UTF-8',
      'c @3',
    ]);
  });

  it.each([
    ['target', (deep: string) => `{"id":"a","target":{"vars":{"x":${deep}}}}`],
    ['unknown key', (deep: string) => `{"id":"a","x":${deep}}`],
  ])('survives nesting of any depth in %s', async (_what, wrap) => {
    for (const depth of [50, 500, 2_000, 4_000, 20_000, 200_000]) {
      const path = await file('deep.ndjson', `${wrap('['.repeat(depth) + ']'.repeat(depth))}\n`);
      for await (const item of readRuns([path])) {
        if ('problem' in item) expect(item.problem.message).toBe('is nested too deeply');
        else expect(subjectOf(item.run).digest).toHaveLength(64);
      }
    }
  });

  it.each([
    [
      'an indented record',
      `${JSON.stringify({ id: 'a', tasks: [{ commands: ['ls'] }] }, null, 2)}\n`,
      ['a @'],
    ],
    ['an indented list', JSON.stringify([{ id: 'a' }, { id: 'b' }], null, 2), ['a @[0]', 'b @[1]']],
    ['a list of records, one a line', '[{"id":"a"},\n{"id":"b"}]\n', ['a @[0]', 'b @[1]']],
    ['a list on one line', '[{"id":"a"},{"id":"b"}]\n', ['a @1[0]', 'b @1[1]']],
    ['a record on one line', '{"id":"a"}\n', ['a @1']],
  ])('looks at what a file named .ndjson holds: %s', async (_name, text, expected) => {
    expect(await read([await file('a.ndjson', text)])).toEqual(expected);
  });

  it.each([
    ['a torn first line', '{"id":"a","ta\n{"id":"b"}\n', ['record', 'b @2']],
    ['a first line torn at a comma', '{"id":"a",\n{"id":"b"}\n', ['record', 'b @2']],
    ['two broken lines', '{"id":"a",}\n{"id":"b",}\n', ['record', 'record']],
    ['one torn line', '{"id":"a",', ['record']],
  ])('goes line by line through a file named .ndjson with %s', async (_name, text, expected) => {
    const found = await read([await file('a.ndjson', text)]);
    expect(found.map((one) => (one.startsWith('record') ? 'record' : one))).toEqual(expected);
  });

  it('keeps a key named __proto__ out of the way, and takes the last of two keys', async () => {
    const path = await file('a.ndjson', '{"id":"a","__proto__":{"job":{"plan":"x"}},"id":"b"}\n');
    expect(await read([path])).toEqual(['b @1']);
    for await (const item of readRuns([path])) expect('run' in item && item.run.job).toBeUndefined();
    expect(({} as { job?: unknown }).job).toBeUndefined();
  });

  it('refuses a document over the limit and names the way out', async () => {
    const path = await file('a.json', `[\n${'{"id":"a"},\n'.repeat(1000)}{"id":"b"}]`);
    const [found] = await read([path], { maxBytes: 2000 });
    expect(found).toContain('give NDJSON');
  });

  it('reads lines of 64 MB', async () => {
    const text = 'x'.repeat(64 * 1024 * 1024);
    const path = await file('a.ndjson', `{"id":"a","job":{"resolution":"${text}"}}\n{"id":"b"}\n`);
    expect(await read([path])).toEqual(['a @1', 'b @2']);
  });
});

describe('readRuns, sources', () => {
  it('reads a folder and what is below it in sorted order, run files only', async () => {
    await file('runs/b.json', '{"id":"b"}');
    await file('runs/a/z.ndjson', '{"id":"az"}\n');
    await file('runs/c.JSONL', '{"id":"c"}\n');
    await file('runs/notes.txt', 'x');
    await file('runs/.hidden.json', 'x');
    await file('runs/scenario.json', '{}');
    await symlink(join(folder, 'runs'), join(folder, 'runs/a/loop'));
    expect(await read([join(folder, 'runs')])).toEqual(['az @1', 'b @1', 'c @1']);
  });

  it('follows no link to a folder: what is inside is read once, and what is outside is told', async () => {
    await file('runs/a/x.json', '{"id":"x"}');
    await file('runs/b/y.json', '{"id":"y"}');
    await file('other/z.json', '{"id":"z"}');
    await file('other/w.json', '{"id":"w"}');
    await symlink('../b', join(folder, 'runs/a/again'));
    await symlink('../a', join(folder, 'runs/b/again'));
    await symlink('..', join(folder, 'runs/up'));
    await symlink('../other', join(folder, 'runs/out'));
    await symlink('../other/z.json', join(folder, 'runs/single.json'));
    await symlink('y.json', join(folder, 'runs/b/same.json'));
    expect(await read([join(folder, 'runs')])).toEqual([
      'x @1',
      'y @1',
      'source: runs/out: is a link to a folder outside; name that folder itself',
      'z @1',
    ]);
  });

  it('says so when a folder holds nothing to read, or a name leads nowhere', async () => {
    await mkdir(join(folder, 'empty'));
    expect(await read([join(folder, 'empty'), join(folder, 'nope'), '/dev/zero'])).toEqual([
      'source: empty: holds no files of runs; allowed: *.json, *.jsonl, *.ndjson, *.traj',
      'source: nope: does not exist',
      'source: /dev/zero: is a device or a socket, not a file',
    ]);
  });

  it('reads standard input as "-", once', async () => {
    const stdin = Readable.from([Buffer.from('{"id"'), Buffer.from(':"a"}\n{"id":"b"}')]);
    expect(await read(['-', '-'], { stdin })).toEqual([
      'a @1',
      'b @2',
      'source: -: standard input can be read only once',
    ]);
  });

  it('stops reading when the consumer does', async () => {
    const path = await file('a.ndjson', '{"id":"a"}\n'.repeat(100_000));
    let seen = 0;
    for await (const _item of readRuns([path])) {
      seen += 1;
      if (seen === 3) break;
    }
    expect(seen).toBe(3);
  });
});

describe('spoolSources', () => {
  it('makes standard input and pipes readable as often as one likes, under their own names', async () => {
    const pipe = join(folder, 'pipe');
    await once(spawn('mkfifo', [pipe]), 'exit');
    const path = await file('a.ndjson', '{"id":"f"}\n');
    const writing = writeFile(pipe, '{"id":"p"}\n');
    const stdin = Readable.from([Buffer.from('{"id":"s"}\n{"id":5}\n')]);
    const spooled = await spoolSources(['-', path, pipe], { stdin, folder });
    await writing;
    const expected = ['s @1', 'record: -:2: id: has the wrong type; found 5; allowed: text', 'f @1', 'p @1'];
    expect(await read(spooled.sources)).toEqual(expected);
    expect(await read(spooled.sources)).toEqual(expected);
    await spooled.cleanup();
    await spooled.cleanup();
    expect((await read(spooled.sources))[0]).toBe('source: -: does not exist');
  });

  it('leaves nothing behind when standard input breaks', async () => {
    const stdin = new Readable({
      read() {
        this.destroy(new Error('gone'));
      },
    });
    await expect(spoolSources(['-'], { stdin, folder })).rejects.toMatchObject({ code: 'IO', exitCode: 3 });
    expect(await read([folder])).toEqual([expect.stringContaining('holds no files of runs')]);
  });
});
