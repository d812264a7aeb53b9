import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runSluice, type SluiceExit } from '../support/cli.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const DOCUMENTS = `
kind: tool
name: line-count
description: Counts the lines of a text
code: |
  ({ subject }) => ({ lines: subject.split('\\n').filter(Boolean).length })
---
kind: validation
name: long-enough
wraps: line-count
transform: |
  (output) => ({ passed: output.lines >= 3, message: output.lines + ' lines', data: output })
`;
const TIDY = {
  name: 'tidy',
  mode: 'informational',
  code: '({ args, subject }) => ({ passed: subject.length <= args.most, message: String(subject.length) })',
  input_schema: {
    type: 'object',
    properties: { most: { type: 'integer' }, plan: { type: 'string' } },
    required: ['most'],
    additionalProperties: false,
  },
};
const SKILL = { kind: 'skill', name: 'review', tools: ['long-enough', 'line-count'] };

let dir: string;
let redis: TestRedis;
let fleets = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-registry-'));
  redis = await startTestRedis();
  await mkdir(join(dir, 'documents'));
  await writeFile(join(dir, 'documents', 'a.yaml'), DOCUMENTS);
  await writeFile(join(dir, 'documents', 'b.json'), JSON.stringify([{ kind: 'validation', ...TIDY }, SKILL]));
  await writeFile(join(dir, 'short.txt'), 'a\nb\n');
  await writeFile(join(dir, 'long.txt'), 'a\nb\nc\n');
}, 120_000);

afterAll(async () => {
  await redis?.stop();
  await rm(dir, { recursive: true, force: true });
});

type Sluice = (line: string, ...more: string[]) => Promise<SluiceExit>;

/** The command line on a fleet of its own: words of a line, then arguments as they are. */
function onFleet(input?: string): Sluice {
  fleets += 1;
  const place = ['--redis', redis.url, '--fleet', `r${fleets}`];
  return (line, ...more) => {
    const [kind = '', command = '', ...rest] = line.split(' ');
    const args = [kind, command, ...place, ...rest, ...more];
    return runSluice(args, { cwd: dir, ...(input === undefined ? {} : { input }) });
  };
}

async function registered(): Promise<Sluice> {
  const sluice = onFleet();
  expect(await sluice('tool add documents')).toMatchObject({ exitCode: 0 });
  return sluice;
}

let first: Promise<Sluice> | undefined;

/** A fleet on which the documents are registered, for tests that change nothing that others look at. */
function shared(): Promise<Sluice> {
  first ??= registered();
  return first;
}

const codes = ({ stdout }: SluiceExit) =>
  JSON.parse(stdout).error.problems.map(({ code }: { code: string }) => code);

describe('registering', () => {
  it('takes a folder of documents of all kinds in one go, and a second time changes nothing', async () => {
    const sluice = await shared();
    const again = await sluice('skill add documents --json');
    const { registered: all } = JSON.parse(again.stdout);
    expect(all.map(({ name, kind, status }: Record<string, string>) => [name, kind, status]).sort()).toEqual([
      ['local/line-count', 'tool', 'unchanged'],
      ['local/long-enough', 'validation', 'unchanged'],
      ['local/review', 'skill', 'unchanged'],
      ['local/tidy', 'validation', 'unchanged'],
    ]);
    const list = await sluice('validation list');
    expect(list.stdout.split('\n').map((line) => line.split(/ +/).slice(0, 3))).toMatchObject([
      ['name', 'mode', 'wraps'],
      ['local/long-enough', 'required', 'local/line-count'],
      ['local/tidy', 'informational', 'code'],
      [''],
    ]);
  });

  it('refuses what writes with its code, file and line, and stores nothing', async () => {
    const sluice = onFleet(
      `name: fine\ncode: "() => ({ passed: true })"\n---\nname: bad\nwrites: true\ncode: "() => 1"\n`,
    );
    const refused = await sluice('validation add - --json');
    expect(refused.exitCode).toBe(2);
    expect(JSON.parse(refused.stdout).error).toMatchObject({ code: 'INVALID_DOCUMENT' });
    expect(JSON.parse(refused.stdout).error.problems).toContainEqual(
      expect.objectContaining({ code: 'VALIDATION_WRITES', file: '-', line: 5 }),
    );
    expect(JSON.parse((await sluice('validation list --json')).stdout)).toEqual({ validations: [] });
  });

  it('says which commands get the snapshot on standard input alone, unless that is meant', async () => {
    const script = 'command: [node, --test]';
    const add = (sluice: Sluice) => sluice('validation add -');
    const sluice = onFleet(
      [
        `name: open\n${script}`,
        `name: in-folder\n${script}\nsnapshot_files: true`,
        `name: meant\n${script}\nsnapshot_files: false`,
        `kind: tool\nname: plain\n${script}`,
        'name: code\ncode: "() => ({ passed: true })"',
      ].join('\n---\n'),
    );
    const added = await add(sluice);
    const note =
      "sluice: local/open gets the snapshot on standard input alone; snapshot_files: true puts a folder's files in its working folder (snapshot_files: false says that this is meant)\n";
    expect(added).toMatchObject({ exitCode: 0, stderr: note });
    expect(await add(sluice)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(parse((await sluice('validation show meant')).stdout)).toMatchObject({ snapshot_files: false });
  });

  it('shows a document as YAML with its attachments, and removes both in one step', async () => {
    const sluice = await registered();
    const id = (await sluice('validation attach doc long-enough --actor ann')).stdout.trim();
    const shown = parse((await sluice('validation show long-enough')).stdout);
    expect(shown).toMatchObject({
      kind: 'validation',
      name: 'local/long-enough',
      wraps: 'local/line-count',
      'x-registered': { actor: expect.any(String), previous: [] },
      'x-attachments': [{ id, resource: 'doc', scope: 'direct', actor: 'ann' }],
    });
    const inUse = await sluice('tool remove line-count --json');
    expect([inUse.exitCode, JSON.parse(inUse.stdout).error.code]).toEqual([2, 'IN_USE']);
    expect((await sluice('skill remove review')).exitCode).toBe(0);
    const removed = await sluice('validation remove long-enough');
    expect(removed.stdout).toContain(`removed its attachment ${id}\n`);
    expect(removed.stderr).toContain('go without it');
    expect(JSON.parse((await sluice('validation attachments --json')).stdout)).toEqual({ attachments: [] });
  });

  it('names what was probably meant, for names and for words of the command line', async () => {
    const sluice = await shared();
    const unknown = await sluice('tool show line-cont');
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining('local/line-count')]);
    const slip = await sluice('tool lst');
    expect([slip.exitCode, slip.stderr]).toEqual([2, expect.stringContaining('list')]);
  });

  it('makes no Redis only to read from it', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'sluice-empty-'));
    const nothing = await runSluice(['tool', 'list'], { cwd: empty });
    expect([nothing.exitCode, await readdir(empty)]).toEqual([3, []]);
    await rm(empty, { recursive: true });
  });
});

describe('calling', () => {
  it('prints what a tool returns, and exits by what a validation finds', async () => {
    const sluice = await shared();
    expect(await sluice('tool call line-count --subject short.txt --json')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('"lines": 2'),
    });
    const fail = await sluice('tool call long-enough --subject short.txt --json');
    expect([fail.exitCode, JSON.parse(fail.stdout)]).toMatchObject([
      1,
      { outcome: 'fail', message: '2 lines' },
    ]);
    expect(await sluice('tool call long-enough --subject long.txt')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('pass: 3 lines'),
    });
    const error = await sluice('tool call line-count --subject', '[1]', '--json');
    expect([error.exitCode, JSON.parse(error.stdout).kind]).toEqual([1, 'failure']);
    const builtIn = await sluice(
      'tool call builtin/task_count --max 0 --subject',
      '{"tasks": [{"id": "t"}]}',
    );
    expect(builtIn).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"passed": false') });
  });

  it('refuses arguments that the tool does not take', async () => {
    const sluice = await shared();
    expect(codes(await sluice('tool call tidy --subject short.txt --json'))).toEqual(['VALUE_MISSING']);
    const wrong = await sluice('tool call tidy --subject gone.txt --most lots --json');
    expect([wrong.exitCode, codes(wrong)]).toEqual([2, ['BAD_SNAPSHOT']]);
    expect(codes(await sluice('tool call tidy --most lots --json'))).toEqual(['VALUE_TYPE']);
  });

  it('keeps a skill to what is in it', async () => {
    const sluice = await shared();
    expect(await sluice('skill call review long-enough --subject long.txt')).toMatchObject({ exitCode: 0 });
    const other = await sluice('skill call review tidy --most 1 --subject long.txt --json');
    expect([other.exitCode, codes(other)]).toEqual([2, ['NOT_IN_SKILL']]);
  });
});

describe('attaching', () => {
  it('reads arguments by the schema, also those that are called like an option', async () => {
    const sluice = await shared();
    const attached = await sluice('validation attach doc tidy --most 5 --project web --json -- --plan x');
    expect(JSON.parse(attached.stdout)).toMatchObject({
      validation: 'local/tidy',
      resource: 'doc',
      arguments: { most: 5, plan: 'x' },
      scope: 'project',
      target: 'web',
    });
    const inPlan = await sluice('validation attach doc tidy --plan p --json --args', '{"most": 9}');
    expect(JSON.parse(inPlan.stdout)).toMatchObject({ arguments: { most: 9 }, scope: 'plan', target: 'p' });
  });

  it.each([
    ['both scopes', 'refused long-enough --project p --plan q', 'BOTH_SCOPES'],
    ['a mode', 'refused long-enough --mode informational', 'MODE_FIXED'],
    ['a plain tool', 'refused line-count', 'NOT_A_VALIDATION'],
    ['arguments against the schema', 'refused tidy --most 5 --other 1', 'VALUE_UNKNOWN'],
    ['a mistyped option', 'refused long-enough --projct web', 'USAGE'],
    ['names behind arguments', '--most 5 refused tidy', 'USAGE'],
  ])('refuses %s with exit 2', async (_name, words, code) => {
    const sluice = await shared();
    const refused = await sluice(`validation attach ${words} --json`);
    expect([refused.exitCode, codes(refused)]).toEqual([2, expect.arrayContaining([code])]);
  });

  it('has stored nothing of what it refused', async () => {
    const sluice = await shared();
    const { stdout } = await sluice('validation attachments --resource refused --json');
    expect(JSON.parse(stdout)).toEqual({ attachments: [] });
  });

  it('attaches the validations of a skill and names the tools that it passes over', async () => {
    const sluice = await shared();
    const attached = await sluice('skill attach by-skill review');
    expect(attached.stdout).toMatch(/^[0-9A-Z]{26} {2}local\/long-enough\n$/);
    expect(attached.stderr).toContain('local/line-count');
  });

  it('says when it was attached in the same words before', async () => {
    const sluice = await shared();
    const first = await sluice('validation attach twice long-enough');
    expect(first.stderr).not.toContain('already');
    const again = await sluice('validation attach twice long-enough');
    expect([again.exitCode, again.stdout]).toEqual([0, first.stdout]);
    expect(again.stderr).toContain(`local/long-enough is attached already, as ${first.stdout.trim()}`);
    expect((await sluice('skill attach twice review')).stderr).toContain('is attached already');
  });

  it('explains each attachment, and takes one off', async () => {
    const sluice = await shared();
    const direct = (await sluice('validation attach explained tidy --most 5')).stdout.trim();
    const inPlan = (await sluice('validation attach explained tidy --most 5 --plan p')).stdout.trim();
    const explained = await sluice('validation explain explained --plan p --json');
    const { attachments } = JSON.parse(explained.stdout);
    const briefly = attachments.map((each: Record<string, unknown> & { attachment: { id: string } }) => [
      each.attachment.id,
      each.applies,
      each.shadowed_by,
    ]);
    expect(briefly.sort()).toEqual(
      [
        [direct, false, inPlan],
        [inPlan, true, null],
      ].sort(),
    );
    const table = await sluice('validation explain explained');
    expect(table.stdout).toContain('applies only in plan p');
    expect((await sluice(`validation detach ${inPlan}`)).exitCode).toBe(0);
    expect((await sluice(`validation detach ${inPlan}`)).exitCode).toBe(2);
    expect((await sluice('validation attachments --resource explained')).stdout).not.toContain(inPlan);
  });
});
