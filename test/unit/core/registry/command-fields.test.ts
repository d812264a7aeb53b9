import { describe, expect, it } from 'vitest';
import { given, problemsOf, refusals, registryOf } from './build.js';

type Fields = Record<string, unknown>;

const SCHEMA = { type: 'object', properties: { path: {}, depth: {} } };
const filled = (inside: string) => `\${${inside}}`;
const tool = (fields: Fields) => given('tool', { name: 't', command: ['x'], ...fields });
const stored = (fields: Fields) => registryOf(tool(fields)).entries.get('local/t')?.document;

describe('a command', () => {
  it('keeps its fields as they are, and its files by path as base64', () => {
    const fields = {
      command: ['sh', 'check.sh', filled('args.path')],
      input_schema: SCHEMA,
      shell: false,
      exit_codes: { '0': 'pass', '3': 'fail', '255': 'error' },
      output: 'exit_code',
      env: { CI: '1', npm_config_cache: '.npm' },
      paths: ['/opt/tools', '/usr/lib/node_modules'],
      snapshot_files: true,
    };
    const files = { './z.bin': { base64: '/wA=' }, 'a//b.sh': 'true\n' };
    expect(stored({ ...fields, files })).toMatchObject({
      ...fields,
      files: { 'a/b.sh': 'dHJ1ZQo=', 'z.bin': '/wA=' },
    });
  });

  it.each<[string, Fields, string[]]>([
    [
      'exit codes and meanings that are none, all told',
      { exit_codes: { '256': 'pass', '-1': 'fail', '01': 'fail', '2': 'fial', '3': null } },
      [
        'NOT_ALLOWED exit_codes["2"]',
        'NOT_ALLOWED exit_codes["3"]',
        'BAD_VALUE exit_codes["256"]',
        'BAD_VALUE exit_codes["-1"]',
        'BAD_VALUE exit_codes["01"]',
      ],
    ],
    [
      'exit codes of signals',
      { exit_codes: { '137': 'fail', '128': 'fail', '160': 'fail' } },
      ['BAD_VALUE exit_codes["137"]'],
    ],
    ['exit codes that are a list', { exit_codes: ['pass'] }, ['WRONG_TYPE exit_codes']],
    ['an output that is none', { output: 'jsn' }, ['NOT_ALLOWED output']],
    [
      'variables of Sluice, of the loader and of no shell',
      { env: { PATH: '/bin', HOME: '/', LD_PRELOAD: 'x', SLUICE_TOOL: 'y', 'a-b': '', '1': '' } },
      [
        'BAD_VARIABLE env["1"]',
        'BAD_VARIABLE env.PATH',
        'BAD_VARIABLE env.HOME',
        'BAD_VARIABLE env.LD_PRELOAD',
        'BAD_VARIABLE env.SLUICE_TOOL',
        'BAD_VARIABLE env.a-b',
      ],
    ],
    [
      'values of variables that are no texts',
      { env: { A: 1, B: 'a\u0000' } },
      ['WRONG_TYPE env.A', 'BAD_VALUE env.B'],
    ],
    [
      'paths that lead where they must not',
      {
        paths: [
          '/',
          '/proc/1/environ',
          '/sys',
          '/dev/shm',
          '/run/docker.sock',
          '/var/run',
          'usr',
          '/opt/../etc',
        ],
      },
      Array.from({ length: 8 }, (_, n) => `BAD_PATH paths[${n}]`),
    ],
    [
      'paths not in their normal form',
      { paths: ['/opt/', '//opt', '/opt/./x'] },
      ['BAD_PATH paths[0]', 'BAD_PATH paths[1]', 'BAD_PATH paths[2]'],
    ],
    [
      'paths that go round to a closed folder',
      { paths: ['//proc', '/./run/x'] },
      ['BAD_PATH paths[0]', 'BAD_PATH paths[1]'],
    ],
    [
      'a path that is listed twice',
      { paths: ['/opt', '/opt', 1] },
      ['BAD_PATH paths[1]', 'WRONG_TYPE paths[2]'],
    ],
    ['too many paths', { paths: Array.from({ length: 101 }, (_, n) => `/opt/${n}`) }, ['BAD_VALUE paths']],
  ])('is refused with %s', (_, fields, expected) => {
    expect(refusals(tool(fields))).toEqual(expected);
  });

  it('may lie beside a closed folder of a like name', () => {
    expect(refusals(tool({ paths: ['/runner', '/var/running', '/device'] }))).toEqual([]);
  });

  it('is told how a path should be written', () => {
    const [problem] = problemsOf(tool({ paths: ['/opt//tools/'] }));
    expect(problem?.message).toBe('must be written /opt/tools');
  });
});

describe('a placeholder', () => {
  it.each<[string, Fields, string[]]>([
    ['for an argument', { command: ['x', filled('args.path')], input_schema: SCHEMA }, []],
    [
      'within a part',
      { command: ['x', `--in=${filled('args.path')}:${filled('resource')}`], input_schema: SCHEMA },
      [],
    ],
    ['for resource and slot', { command: ['x', filled('resource'), filled('slot')] }, []],
    ['that is none but stands for itself', { command: ['x', `$${filled('HOME')}`] }, []],
    [
      'for an argument of a tool that takes any',
      { command: ['x', filled('args.any')], input_schema: { type: 'object' } },
      [],
    ],
    [
      'for an argument that is not there',
      { command: ['x', 'y', filled('args.pth')], input_schema: SCHEMA },
      ['UNKNOWN_PLACEHOLDER command[2]'],
    ],
    [
      'for an argument of a tool without any',
      { command: ['x', filled('args.path')] },
      ['UNKNOWN_PLACEHOLDER command[1]'],
    ],
    ['for a variable of the shell', { command: ['x', filled('HOME')] }, ['UNKNOWN_PLACEHOLDER command[1]']],
    ['without an end', { command: ['x', 'a${resource'] }, ['UNKNOWN_PLACEHOLDER command[1]']],
    [
      'that is empty',
      { command: ['x', filled(''), filled('args.')] },
      ['UNKNOWN_PLACEHOLDER command[1]', 'UNKNOWN_PLACEHOLDER command[2]'],
    ],
    [
      'in a script',
      { shell: true, command: [`cat ${filled('args.path')}`, filled('args.path')], input_schema: SCHEMA },
      ['PLACEHOLDER_IN_SCRIPT command[0]'],
    ],
    [
      'for the resource in a script',
      { shell: true, command: [`cat ${filled('resource')}`] },
      ['PLACEHOLDER_IN_SCRIPT command[0]'],
    ],
    [
      'of the shell in its script',
      {
        shell: true,
        command: [`echo ${filled('HOME')} ${filled('x:-1')} "$1"`, filled('args.path')],
        input_schema: SCHEMA,
      },
      [],
    ],
    [
      'beside a schema that is none',
      { command: ['x', filled('args.a')], input_schema: { type: 'objet' } },
      ['BAD_SCHEMA input_schema.type'],
    ],
  ])('%s', (_, fields, expected) => {
    expect(refusals(tool(fields))).toEqual(expected);
  });

  it('that is wrong is told with the nearest name and what there is', () => {
    const unknown = problemsOf(tool({ command: ['x', filled('args.pth')], input_schema: SCHEMA }));
    expect(unknown).toMatchObject([
      { found: filled('args.pth'), allowed: ['path', 'depth'], nearest: 'path' },
    ]);
    const [slip] = problemsOf(tool({ command: ['x', filled('resorce')] }));
    expect(slip).toMatchObject({ nearest: filled('resource') });
    const [script] = problemsOf(tool({ shell: true, command: [`rm ${filled('slot')}`] }));
    expect(script?.message).toContain('"$1"');
  });
});
