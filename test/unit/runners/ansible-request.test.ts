import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isLocal } from '../../../src/runners/ansible/inventory.js';
import { filesOf, requestProblem } from '../../../src/runners/ansible/request.js';
import { varsFile } from '../../../src/runners/ansible/vars.js';

const PLAY = { kind: 'ansible', playbook: 'v.yml' } as const;

describe('varsFile', () => {
  it('marks every string of the run as unsafe, and none of the rule', () => {
    const text = varsFile(
      { port: 80, note: '{{ 1 }}' },
      { port: 1, user: 'x', deep: [{ a: '{{ 2 }}' }, true, null] },
    );
    expect(text).toBe(
      [
        '? "user"\n: !unsafe "x"',
        '? "deep"\n: [{? "a" : !unsafe "{{ 2 }}"}, true, null]',
        '? "port"\n: 80',
        '? "note"\n: "{{ 1 }}"',
        '',
      ].join('\n'),
    );
  });

  it('is YAML for any JSON, in printable ASCII', () => {
    const tag = { tag: '!unsafe', resolve: (text: string) => text };
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (run) => {
        const text = varsFile({}, run);
        expect(text).toMatch(/^[\n -~]*$/);
        const read = parse(text, { version: '1.1', customTags: [tag], maxAliasCount: 0 }) as unknown;
        expect(read).toEqual(JSON.parse(JSON.stringify(run)));
      }),
      { numRuns: 40 },
    );
  });

  it('replaces half a surrogate pair, which no UTF-8 can carry', () => {
    expect(varsFile({ a: '\ud800x😀' }, {})).toBe('? "a"\n: "\\U0000fffdx\\U0001f600"\n');
  });
});

describe('isLocal', () => {
  it.each<[string, string, boolean]>([
    ['hosts', 'localhost ansible_connection=local\n', true],
    ['hosts.ini', '# all here\n[web]\na ansible_connection="local"\nb\tansible_connection=local x=1\n', true],
    ['hosts', '[web]\na\nb\n\n[all:vars]\nansible_connection=local\n', true],
    ['hosts', '[web]\na\n[db]\nb\n[web:vars]\nansible_connection = local\n', false],
    ['hosts', '[web]\na\n[web:vars]\nansible_connection=local\n[all:children]\nweb\n', true],
    ['hosts', '[web]\na ansible_connection=ssh\n[all:vars]\nansible_connection=local\n', false],
    ['hosts', 'localhost\n', false],
    ['hosts', 'web1 note=ansible_connection=local\n', false],
    ['hosts', '#!/bin/sh\n# ansible_connection=local\n', false],
    ['hosts.yml', 'all: {hosts: {a: {ansible_connection: local}}}', true],
    ['hosts.yml', 'all: {vars: {ansible_connection: local}, children: {web: {hosts: {a: , b: }}}}', true],
    ['hosts.yml', 'web: {hosts: {a: }}\nall: {vars: {ansible_connection: local}}', true],
    ['hosts.yml', 'all: {vars: {ansible_connection: local}, hosts: {a: {ansible_connection: ssh}}}', false],
    ['hosts.yml', 'all: {hosts: {a: }}', false],
    ['hosts.yml', 'plugin: aws_ec2', false],
    ['hosts.yml', '{', false],
    ['hosts.yaml', 'localhost ansible_connection=local', false],
  ])('tells of %s with %j', (inventory, text, expected) => {
    expect(isLocal({ ...PLAY, inventory }, () => Buffer.from(text))).toBe(expected);
  });

  it('goes by the rule’s own connection first, and takes folders for remote', () => {
    const none = () => undefined;
    expect(isLocal(PLAY, none)).toBe(true);
    expect(isLocal({ ...PLAY, inventory: 'hosts' }, none)).toBe(false);
    expect(isLocal({ ...PLAY, inventory: 'hosts', extraVars: { ansible_connection: 'local' } }, none)).toBe(
      true,
    );
    expect(isLocal({ ...PLAY, extraVars: { ansible_connection: 'ssh' } }, none)).toBe(false);
  });
});

describe('requestProblem', () => {
  it.each<[object, string, RegExp]>([
    [{ playbook: '../v.yml' }, 'authoring', /playbook "\.\.\/v\.yml" must stay inside/],
    [{ inventory: '/etc/hosts' }, 'authoring', /inventory .* must be relative/],
    [{ hosts: '@/etc/shadow' }, 'target', /must not name a file/],
    [{ hosts: 'web, @x' }, 'target', /must not name a file/],
    [{ hosts: ' , ' }, 'target', /is empty/],
    [{ hosts: 'a\nb' }, 'target', /control characters/],
    [{ runVars: { ansible_connection: 'local' } }, 'target', /"ansible_connection" .* may: ansible_host/],
    [{ runVars: { ansible_ssh_common_args: '-o ProxyCommand=x' } }, 'target', /ansible_ssh_common_args/],
  ])('refuses %j', (more, reason, message) => {
    const problem = requestProblem({ ...PLAY, ...more });
    expect(problem).toMatchObject({ kind: 'failure', reason });
    expect(problem?.message).toMatch(message);
  });

  it.each([
    {},
    { hosts: 'web*:!web3' },
    { hosts: '-x' },
    { runVars: { ansible_host: '10.0.0.1', ansible_port: 22, ansible_user: 'u', port: 1 } },
    { extraVars: { ansible_connection: 'ssh' } },
  ])('takes %j', (more) => {
    expect(requestProblem({ ...PLAY, ...more })).toBeUndefined();
  });
});

describe('filesOf', () => {
  it.each([
    '/v.yml',
    '../v.yml',
    'a/../../v.yml',
    'a//b',
    './a',
    'a/',
    '',
    'a\u0000b',
    '.sluice/callback/x.py',
  ])('refuses a bundle with %j', (path) => {
    expect(filesOf({ files: { [path]: '' } })).toMatchObject({ kind: 'failure', reason: 'bad_bundle' });
  });

  it('gives the bytes of each file, whatever its name', () => {
    const files = filesOf({ files: { 'v.yml': 'AP8=', '~a/-b': '' } });
    expect(files).toEqual(
      new Map([
        ['v.yml', Buffer.from([0, 255])],
        ['~a/-b', Buffer.alloc(0)],
      ]),
    );
  });
});
