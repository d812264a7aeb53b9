import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SluiceError } from '../../src/core/problem.js';
import { readDocuments } from '../../src/inputs/documents.js';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-documents-'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

const file = (name: string) => join(dir, name);
const write = (name: string, text: string) => writeFile(file(name), text);
const readAll = (...paths: string[]) => readDocuments(paths, 'tool', Readable.from([]));
const read = async (...paths: string[]) => (await readAll(...paths)).given;
const refusal = (...paths: string[]) =>
  read(...paths).then(
    () => {
      throw new Error('was read');
    },
    (error: unknown) => {
      if (!(error instanceof SluiceError)) throw error;
      expect(error.code).toBe('INVALID_DOCUMENT');
      return error.problems;
    },
  );

describe('reading documents', () => {
  it('keeps file and line of each, several in a file, and the kind of the command', async () => {
    await write('a.yaml', 'name: a\n---\nkind: skill\nname: b\n');
    await write('c.json', '[{"name": "c"},\n {"name": "d"}]');
    expect(await read(file('a.yaml'), file('c.json'))).toEqual([
      { file: file('a.yaml'), line: 1, kind: 'tool', value: { name: 'a' } },
      { file: file('a.yaml'), line: 3, kind: 'tool', value: { kind: 'skill', name: 'b' } },
      { file: file('c.json'), line: 1, kind: 'tool', value: { name: 'c' } },
      { file: file('c.json'), line: 2, kind: 'tool', value: { name: 'd' } },
    ]);
  });

  it('walks a folder in the order of names, and passes over what is no document', async () => {
    await mkdir(file('b'));
    await mkdir(file('.git'));
    await mkdir(file('node_modules'));
    await write('z.yml', 'name: z');
    await write('b/y.YAML', 'name: y');
    await write('a.json', '{"name": "a"}');
    await write('README.md', '# no document');
    await write('.git/x.yaml', 'name: x');
    await write('node_modules/w.yaml', 'name: w');
    await symlink(dir, file('b/round'));
    const names = (await read(dir)).map(({ value }) => (value as { name: string }).name);
    expect(names).toEqual(['a', 'y', 'z']);
  });

  it('reads a file once, however it is named', async () => {
    await write('a.yaml', 'name: a');
    await symlink(file('a.yaml'), file('b.yaml'));
    expect(await read(dir, file('a.yaml'), file('b.yaml'))).toHaveLength(1);
  });

  it('reads standard input, YAML or JSON with tabs', async () => {
    const stdin = async (text: string) =>
      (await readDocuments(['-'], 'skill', Readable.from([Buffer.from(text)]))).given;
    const given = await stdin('[{\n\t"name":\t"a"}]');
    expect(given).toEqual([{ file: '-', line: 1, kind: 'skill', value: { name: 'a' } }]);
    const yaml = await stdin('{name: a}\n---\nname: b');
    expect(yaml.map(({ value }) => value)).toEqual([{ name: 'a' }, { name: 'b' }]);
  });

  it('finds the line of each problem’s own key, and puts problems in the order of the files', async () => {
    await write('a.yaml', 'name: a\ndescripton: x\n---\nname: b\nretry:\n  limit: x\n');
    await write('b.json', '[{"name": "c"},\n {"name": "d",\n  "code": 1}]');
    const { locate } = await readAll(file('a.yaml'), file('b.json'));
    const at = (name: string, line: number, path: string) => ({
      file: file(name),
      line,
      path,
      message: 'is wrong',
    });
    const found = locate([
      at('b.json', 2, 'code'),
      at('a.yaml', 4, 'retry.limit'),
      at('a.yaml', 4, 'mode'),
      at('a.yaml', 1, 'descripton'),
    ]);
    expect(found.map(({ path, line }) => [path, line])).toEqual([
      ['descripton', 2],
      ['mode', 4],
      ['retry.limit', 6],
      ['code', 3],
    ]);
  });

  it('leaves the line of documents that begin in one line', async () => {
    await write('a.json', '[{"name": "c"}, {"name": "d",\n  "code": 1}]');
    const { locate } = await readAll(file('a.json'));
    const problem = { file: file('a.json'), line: 1, path: 'code', message: 'is wrong' };
    expect(locate([problem])).toEqual([problem]);
  });

  it('tells every problem of every file at once', async () => {
    await mkdir(file('empty'));
    await write('bad.json', '{"a": 1,}');
    await write('twice.yaml', 'a: 1\na: 2');
    await write('nothing.yaml', '# soon\n');
    await write('blank.yaml', '\n');
    await writeFile(file('packed.yaml'), Buffer.from([0x1f, 0x8b, 8, 0]));
    await write('huge.yaml', `a: "${'x'.repeat(5 * 2 ** 20)}"`);
    const problems = await refusal(
      file('gone.yaml'),
      file('empty'),
      file('bad.json'),
      file('twice.yaml'),
      file('nothing.yaml'),
      file('blank.yaml'),
      file('packed.yaml'),
      file('huge.yaml'),
    );
    expect(problems.map(({ file, code }) => [file?.slice(dir.length + 1), code])).toEqual([
      ['gone.yaml', 'UNREADABLE'],
      ['empty', 'NO_DOCUMENT'],
      ['bad.json', 'SYNTAX'],
      ['twice.yaml', 'DUPLICATE_KEY'],
      ['nothing.yaml', 'NO_DOCUMENT'],
      ['blank.yaml', 'NO_DOCUMENT'],
      ['packed.yaml', 'UNREADABLE'],
      ['huge.yaml', 'TOO_LARGE'],
    ]);
    expect(problems[3]).toMatchObject({ line: 2 });
  });
});
