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

  it('reads the files that a document lists, from its own folder', async () => {
    await mkdir(file('tools'));
    await mkdir(file('tools/lib'));
    await write('tools/check.sh', 'true\n');
    await writeFile(file('tools/lib/data.bin'), Buffer.from([0xff, 0]));
    await symlink(file('tools/check.sh'), file('tools/linked.sh'));
    await write(
      'tools/t.yaml',
      'name: t\nfiles: [./check.sh, lib//data.bin, linked.sh]\n---\nname: u\nfiles: {a: b}\n',
    );
    const [listed, given] = await read(file('tools/t.yaml'));
    const files = { 'check.sh': 'true\n', 'lib/data.bin': { base64: '/wA=' }, 'linked.sh': 'true\n' };
    expect(listed?.value).toEqual({ name: 't', files });
    expect(given?.value).toEqual({ name: 'u', files: { a: 'b' } });
  });

  it('tells everything that is wrong with listed files, each with its line', async () => {
    await mkdir(file('tools'));
    await mkdir(file('tools/lib'));
    await write('secret', 'x');
    await writeFile(file('tools/large'), Buffer.alloc(2 ** 20 + 1));
    await write('tools/check.sh', 'true\n');
    await symlink(file('secret'), file('tools/out'));
    await symlink(file('tools'), file('tools/lib/up'));
    const items = [
      'gone.sh',
      'out',
      'lib/up/../../secret',
      '../secret',
      '/etc/passwd',
      'lib',
      'large',
      '7',
      './check.sh',
      'check.sh',
    ];
    await write('tools/t.yaml', `name: t\nfiles:\n${items.map((item) => `  - ${item}\n`).join('')}`);
    const problems = await refusal(file('tools/t.yaml'));
    expect(problems.map(({ line, code, path, message }) => `${line} ${code} ${path} ${message}`)).toEqual([
      '3 BAD_FILE files[0] does not exist',
      '4 BAD_FILE files[1] is a symbolic link that leaves the folder of its document',
      '5 BAD_FILE files[2] does not exist',
      '6 BAD_FILE files[3] must stay inside the folder of its document',
      '7 BAD_FILE files[4] must be relative to the folder of its document',
      '8 BAD_FILE files[5] is a folder; list its files',
      '9 BAD_FILE files[6] is too much: the files of a document have at most 1 MiB together',
      '10 BAD_FILE files[7] must be the path of a file',
      '12 BAD_FILE files[9] is listed twice',
    ]);
  });

  it('leaves a list on standard input to be refused: it has no folder', async () => {
    const { given } = await readDocuments(['-'], 'tool', Readable.from([Buffer.from('name: a\nfiles: [x]')]));
    expect(given).toMatchObject([{ value: { files: ['x'] } }]);
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
