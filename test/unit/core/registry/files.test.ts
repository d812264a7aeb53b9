import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { filesView, readFiles } from '../../../../src/core/registry/files.js';
import { given, problemsOf, refusals } from './build.js';

type Files = Record<string, unknown>;

const tool = (files: unknown) => given('tool', { name: 't', command: ['x'], files });
const ansible = (fields: Files) => given('validation', { name: 'v', validator: 'ansible', ...fields });
const MIB = 1024 * 1024;

describe('the files of a document', () => {
  it.each<[string, unknown, string[]]>([
    ['that are none', {}, ['BAD_VALUE files']],
    ['that are a text', 'check.sh', ['WRONG_TYPE files']],
    ['that are a list', ['check.sh'], ['FILES_LISTED files']],
    [
      'whose content is nothing',
      { a: null, b: { base64: 1 }, c: { text: '' } },
      ['BAD_VALUE files.a', 'BAD_VALUE files.b', 'BAD_VALUE files.c'],
    ],
    [
      'whose base64 is none',
      { a: { base64: 'a' }, b: { base64: 'YR==' }, c: { base64: ' YQ==' } },
      ['BAD_VALUE files.a', 'BAD_VALUE files.b', 'BAD_VALUE files.c'],
    ],
    ['whose text is none', { a: 'x\ud800' }, ['BAD_VALUE files.a']],
    [
      'outside their folder',
      { '/etc/passwd': '', '../up': '', 'a/../../up': '', '': '', '.': '', 'a\\b': '', '-rf': '', '~/x': '' },
      [
        'files["/etc/passwd"]',
        'files["../up"]',
        'files["a/../../up"]',
        'files[""]',
        'files["."]',
        'files["a\\\\b"]',
        'files["-rf"]',
        'files["~/x"]',
      ].map((path) => `BAD_PATH ${path}`),
    ],
    [
      'of names too long',
      { [`${'a/'.repeat(600)}b`]: '', ['ä'.repeat(128)]: '' },
      expect.arrayContaining([
        expect.stringMatching(/^BAD_PATH/),
        expect.stringMatching(/^BAD_PATH/),
      ]) as string[],
    ],
    ['of one path', { a: '1', './a': '2' }, ['BAD_PATH files["./a"]']],
    ['that would be folders', { 'a/b': '', a: '' }, ['BAD_PATH files.a']],
    ['of more than 1 MiB', { a: 'x'.repeat(MIB / 2), b: 'y'.repeat(MIB / 2 + 1) }, ['BAD_VALUE files']],
    ['of far more', { a: 'x'.repeat(9 * MIB) }, ['TOO_LARGE files']],
    [
      'of more than 200',
      Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, ''])),
      ['BAD_VALUE files'],
    ],
  ])('%s are refused', (_, files, expected) => {
    expect(refusals(tool(files))).toEqual(expected);
  });

  it('may be 1 MiB in all, whatever the limit of the rest', () => {
    expect(refusals(tool({ a: 'x'.repeat(MIB) }))).toEqual([]);
    const base64 = Buffer.alloc(MIB, 0xff).toString('base64');
    expect(refusals(tool({ a: { base64 } }))).toEqual([]);
    const large = { name: 't', command: ['x'], description: 'd'.repeat(300_000), files: { a: '' } };
    expect(refusals(given('tool', large))).toEqual(['TOO_LARGE']);
  });

  it('hold the playbook and the inventory, which may be a folder', () => {
    const files = { 'site.yml': '[]', 'hosts/one': '', 'hosts/two': '' };
    expect(refusals(ansible({ files, playbook: 'site.yml', inventory: './hosts/' }))).toEqual([]);
    expect(refusals(ansible({ files, playbook: 'hosts', inventory: 'host' }))).toEqual([
      'FILE_MISSING playbook',
      'FILE_MISSING inventory',
    ]);
    expect(problemsOf(ansible({ files, playbook: 'sit.yml' }))).toMatchObject([{ nearest: 'site.yml' }]);
    expect(refusals(ansible({ files, playbook: '../site.yml', inventory: 1 }))).toEqual([
      'BAD_PATH playbook',
      'WRONG_TYPE inventory',
    ]);
  });

  it('are shown so that they read the same again, through YAML and through JSON', () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text)),
      fc
        .array(
          fc.constantFrom(
            'a',
            ' ',
            '\n',
            '\t',
            '\r',
            '\r\n',
            '#',
            ':',
            '- ',
            '\u2028',
            '\ufeff',
            '|',
            '"',
            '\u0085',
          ),
        )
        .map((parts) => Buffer.from(parts.join(''))),
    );
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 3 }), (contents) => {
        const stored = Object.fromEntries(contents.map((bytes, n) => [`f${n}`, bytes.toString('base64')]));
        const view = filesView(stored);
        const problems: unknown[] = [];
        const again = (value: unknown) => readFiles(value, (problem) => problems.push(problem));
        expect(again(parse(stringify(view, { lineWidth: 0 })))).toEqual(stored);
        expect(again(JSON.parse(JSON.stringify(view)))).toEqual(stored);
        expect(problems).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('are shown as text where they are one', () => {
    const text = '#!/bin/sh\n\tgrep -q "ä" *\n';
    const files = { a: Buffer.from(text).toString('base64'), b: Buffer.from([0xff]).toString('base64') };
    expect(filesView(files)).toEqual({ a: text, b: { base64: '/w==' } });
  });
});
