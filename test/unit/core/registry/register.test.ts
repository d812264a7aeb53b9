import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../../src/core/digest.js';
import type { ToolDocument, ValidationDocument } from '../../../../src/core/registry/model.js';
import { planRegistration } from '../../../../src/core/registry/register.js';
import {
  apply,
  attachment,
  CODE,
  EMPTY,
  given,
  problemsOf,
  refusals,
  registryOf,
  TRANSFORM,
} from './build.js';

const tool = (more: Record<string, unknown> = {}) => ({ name: 'read', code: CODE, ...more });
const validation = (more: Record<string, unknown> = {}) => ({ name: 'check', code: CODE, ...more });

function documentOf(kind: 'tool' | 'validation', value: Record<string, unknown>) {
  const [entry] = registryOf(given(kind, value)).entries.values();
  return entry?.document as ValidationDocument;
}

describe('registering', () => {
  it('fills in what a tool leaves open', () => {
    expect(documentOf('tool', tool())).toEqual({
      kind: 'tool',
      name: 'local/read',
      description: '',
      source: 'code',
      code: CODE,
      capability: { read_only: true, writes: false, checkpointable: false, network: false },
      lifecycle: {},
      idempotent: true,
    } satisfies ToolDocument);
  });

  it('fills in what a validation leaves open: it is required, and not confirmed', () => {
    expect(documentOf('validation', validation())).toMatchObject({
      kind: 'validation',
      mode: 'required',
      confirm: 0,
      capability: { read_only: true, writes: false, checkpointable: false, network: false },
    });
  });

  it('keeps every field of the ADR', () => {
    const registry = registryOf([
      ...given('tool', {
        name: 'ops/scan',
        description: 'Scans',
        command: ['scan', '--json'],
        input_schema: { type: 'object', properties: { path: { type: 'string' } } },
        output_schema: { type: 'object' },
        capability: { read_only: true, network: true },
        resource_slots: [
          { name: 'repo', type: 'repo' },
          { name: 'extra', required: false },
        ],
        lifecycle: { discover: CODE, activate: CODE, execute: CODE, deactivate: CODE },
        timeout: '5m',
        idempotent: false,
      }),
      ...given('validation', {
        name: 'ops/clean',
        mode: 'informational',
        wraps: 'ops/scan',
        transform: TRANSFORM,
        argument_mapping: { path: { from: 'folder' } },
        timeout: '30s',
        retry: { limit: 1 },
        confirm: 2,
      }),
    ]);
    expect(registry.entries.get('ops/scan')?.document).toMatchObject({
      source: 'command',
      capability: { read_only: true, writes: false, checkpointable: false, network: true },
      resource_slots: [
        { name: 'repo', type: 'repo', required: true },
        { name: 'extra', type: '*', required: false },
      ],
      lifecycle: { discover: CODE, activate: CODE, execute: CODE, deactivate: CODE },
      timeout_ms: 300_000,
      idempotent: false,
    });
    expect(registry.entries.get('ops/clean')?.document).toMatchObject({
      source: 'wrapped',
      wraps: 'ops/scan',
      argument_mapping: { path: { from: 'folder' } },
      timeout_ms: 30_000,
      retry: { limit: 1 },
      confirm: 2,
    });
  });

  it('takes documents of all kinds from any command, by the kind that they say', () => {
    const documents = given(
      'tool',
      { kind: 'skill', name: 'kit', tools: ['check', 'builtin/task_count'] },
      { kind: 'validation', ...validation() },
    );
    const { entries } = registryOf(documents);
    expect([...entries.values()].map(({ document }) => document.kind).sort()).toEqual([
      'skill',
      'validation',
    ]);
  });

  it('versions a document by the digest of its content', () => {
    const registry = registryOf(given('tool', tool()));
    const entry = registry.entries.get('local/read');
    expect(entry).toMatchObject({ registeredAt: 1, actor: 'tester', previous: [] });
    expect(entry?.version).toBe(digestOf(entry?.document));
  });

  it('changes nothing for a document that stands as it is', () => {
    const registry = registryOf(given('tool', tool()));
    const planned = planRegistration(
      registry,
      given('tool', tool({ source: 'code', 'x-note': 1 })),
      2,
      'other',
    );
    expect(planned).toMatchObject({
      ok: true,
      change: { put: [], remove: [], attach: [], detach: [] },
      report: [{ name: 'local/read', status: 'unchanged' }],
    });
  });

  it('remembers what a document replaced, the newest first and each once', () => {
    let registry = EMPTY;
    const versions: string[] = [];
    for (const description of ['a', 'b', 'c', 'a']) {
      registry = registryOf(given('tool', tool({ description })), registry);
      versions.push(registry.entries.get('local/read')?.version ?? '');
    }
    const [a, b, c] = versions;
    expect(registry.entries.get('local/read')).toMatchObject({ version: a, previous: [c, b] });
  });

  it('reports what became of each document in the order in which they were given', () => {
    const registry = registryOf(given('tool', tool(), { ...tool(), name: 'other' }));
    const documents = given('tool', { ...tool(), name: 'zeta' }, tool(), {
      ...tool(),
      name: 'other',
      description: 'd',
    });
    const planned = planRegistration(registry, documents, 2, 'tester');
    expect(planned.ok && planned.report.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'local/zeta added',
      'local/read unchanged',
      'local/other replaced',
    ]);
  });

  it.each([
    ['500ms', 500],
    ['1.5s', 1500],
    ['10s', 10_000],
  ])('reads the timeout %s', (timeout, ms) => {
    expect(documentOf('tool', tool({ timeout })).timeout_ms).toBe(ms);
  });

  it('lets a validation run code or a built-in validator without a transform', () => {
    expect(problemsOf(given('validation', validation(), { name: 'count', validator: 'task_count' }))).toEqual(
      [],
    );
  });
});

describe('a document is refused', () => {
  const long = 'x'.repeat(129);
  it.each<[string, unknown, string[]]>([
    ['that is no object', [1], ['NOT_AN_OBJECT']],
    ['of an unknown kind', tool({ kind: 'tol' }), ['UNKNOWN_KIND kind']],
    ['without a name', { code: CODE }, ['MISSING_FIELD name']],
    ['with a name that is no text', tool({ name: 5 }), ['WRONG_TYPE name']],
    ['with a bad name', tool({ name: 'a b' }), ['BAD_NAME name']],
    ['with two slashes in its name', tool({ name: 'a/b/c' }), ['BAD_NAME name']],
    ['with a name that begins with a digit', tool({ name: 'a/1' }), ['BAD_NAME name']],
    ['with a name of 129 characters', tool({ name: long }), ['BAD_NAME name']],
    ['with a name like __proto__', tool({ name: '__proto__' }), ['BAD_NAME name']],
    ['in the namespace of the built-in tools', tool({ name: 'builtin/x' }), ['RESERVED_NAME name']],
    ['in the namespace of scenarios', tool({ name: 'scenario/x' }), ['RESERVED_NAME name']],
    ['with an unknown key', tool({ descripton: 'x' }), ['UNKNOWN_KEY descripton']],
    [
      'with an unknown key inside',
      tool({ capability: { readonly: true } }),
      ['UNKNOWN_KEY capability.readonly'],
    ],
    ['with a wrong type', tool({ description: 1 }), ['WRONG_TYPE description']],
    ['with null for a field', tool({ timeout: null }), ['WRONG_TYPE timeout']],
    ['with empty code', tool({ code: '' }), ['BAD_VALUE code']],
    ['with a timeout that is none', tool({ timeout: 'soon' }), ['BAD_TIMEOUT timeout']],
    ['with a timeout of nothing', tool({ timeout: '0s' }), ['BAD_TIMEOUT timeout']],
    ['with code of more than 10 s', tool({ timeout: '11s' }), ['TIMEOUT_TOO_LONG timeout']],
    [
      'with a command of more than an hour',
      { name: 'c', command: ['x'], timeout: '61m' },
      ['TIMEOUT_TOO_LONG timeout'],
    ],
    ['with a bad schema', tool({ input_schema: { type: 'objct' } }), ['BAD_SCHEMA input_schema.type']],
    ['with a schema that is none', tool({ output_schema: [] }), ['WRONG_TYPE output_schema']],
    [
      'with arguments that are no object',
      tool({ input_schema: { type: 'array' } }),
      ['BAD_SCHEMA input_schema.type'],
    ],
    ['with slots that are no list', tool({ resource_slots: {} }), ['WRONG_TYPE resource_slots']],
    ['with a slot without a name', tool({ resource_slots: [{}] }), ['MISSING_FIELD resource_slots[0].name']],
    [
      'with two slots of a name',
      tool({ resource_slots: [{ name: 'a' }, { name: 'a' }] }),
      ['BAD_VALUE resource_slots[1].name'],
    ],
    ['with an unknown hook', tool({ lifecycle: { start: CODE } }), ['UNKNOWN_KEY lifecycle.start']],
    ['with a mode in a tool', tool({ mode: 'required' }), ['FOREIGN_FIELD mode']],
    ['with a list of tools in a tool', tool({ tools: [] }), ['FOREIGN_FIELD tools']],
  ])('%s', (_, value, expected) => {
    expect(refusals(given('tool', value))).toEqual(expected);
  });

  it.each<[string, unknown, string[]]>([
    ['with a mode that is none', validation({ mode: 'requred' }), ['NOT_ALLOWED mode']],
    ['with a negative limit', validation({ retry: { limit: -1 } }), ['BAD_VALUE retry.limit']],
    ['with retry that is a number', validation({ retry: 1 }), ['WRONG_TYPE retry']],
    ['with half a confirmation', validation({ confirm: 0.5 }), ['WRONG_TYPE confirm']],
    ['with too many confirmations', validation({ confirm: 11 }), ['BAD_VALUE confirm']],
  ])('%s, as a validation', (_, value, expected) => {
    expect(refusals(given('validation', value))).toEqual(expected);
  });

  it('with everything that is wrong with it, and the names that were meant', () => {
    const value = {
      name: 'a b',
      cod: CODE,
      validator: 'task_cont',
      mode: 'must',
      timeout: 'x',
      retry: { limt: 1 },
    };
    expect(problemsOf([{ file: 'v.yaml', line: 3, kind: 'validation', value }])).toMatchObject([
      { code: 'BAD_NAME', file: 'v.yaml', line: 3, path: 'name', found: '"a b"' },
      { code: 'UNKNOWN_KEY', file: 'v.yaml', line: 3, path: 'cod', nearest: 'code' },
      { code: 'UNKNOWN_VALIDATOR', path: 'validator', nearest: 'task_count' },
      { code: 'NOT_ALLOWED', path: 'mode', found: '"must"', allowed: ['required', 'informational'] },
      { code: 'BAD_TIMEOUT', path: 'timeout' },
      { code: 'UNKNOWN_KEY', path: 'retry.limt', nearest: 'limit' },
      { code: 'MISSING_FIELD', path: 'retry.limit' },
    ]);
  });

  it('with what else is held against it, in the order of its keys', () => {
    const documents = given(
      'tool',
      tool({ name: 'a', code: 'oops(', timeout: 'x', bogus: 1 }),
      tool({ name: 'b' }),
    );
    const flaws = [[{ code: 'NO_FUNCTION', path: 'code', message: 'm' } as const], []];
    const planned = planRegistration(EMPTY, documents, 1, 'tester', flaws);
    expect(planned.ok ? [] : planned.problems.map(({ code, document }) => [code, document])).toEqual([
      ['NO_FUNCTION', 'local/a'],
      ['BAD_TIMEOUT', 'local/a'],
      ['UNKNOWN_KEY', 'local/a'],
    ]);
  });

  it.each([
    ['timeout', 30, 'must be a duration, such as "30s"'],
    ['retry', 3, 'must be an object, such as {limit: 3}'],
    ['command', 'echo hi', 'must be a list, such as [echo, hi]'],
    ['resource_slots', 'repo', 'must be a list, such as [{name: repo, type: repo}]'],
    ['argument_mapping', 'x', 'must be an object, such as {path: {from: file}, limit: {value: 3}}'],
  ])('that has %s in another form, which is shown', (path, value, message) => {
    const told = problemsOf(given('validation', { name: 'v', [path]: value }));
    expect(told.find((each) => each.path === path)).toMatchObject({ code: 'WRONG_TYPE', message });
  });

  it('together with all others, each with its own place', () => {
    const documents = [
      { file: 'a.yaml', line: 1, kind: 'tool', value: tool() },
      { file: 'a.yaml', line: 9, kind: 'tool', value: tool({ name: 'x y' }) },
      { file: 'b.yaml', kind: 'tool', value: tool({ name: 'z', timeout: 'x' }) },
    ] as const;
    expect(
      problemsOf(documents).map(({ file, line, document, path }) => [file, line, document, path]),
    ).toEqual([
      ['a.yaml', 9, 'document 2', 'name'],
      ['b.yaml', undefined, undefined, 'timeout'],
    ]);
  });

  it('when two have one name, and both places are told', () => {
    const documents = [
      { file: 'a.yaml', line: 1, kind: 'tool', value: tool() },
      { file: 'b.yaml', line: 7, kind: 'validation', value: validation({ name: 'local/read' }) },
    ] as const;
    expect(problemsOf(documents)).toMatchObject([
      {
        code: 'DUPLICATE_NAME',
        file: 'b.yaml',
        line: 7,
        message: 'has the same name as a.yaml:1',
        found: 'local/read',
      },
    ]);
    expect(problemsOf(given('tool', tool(), tool()))[0]?.message).toBe('has the same name as document 1');
  });

  it('when its name belongs to another kind', () => {
    const registry = registryOf(given('tool', tool()));
    expect(problemsOf(given('validation', validation({ name: 'read' })), registry)).toMatchObject([
      {
        code: 'NAME_TAKEN',
        path: 'name',
        message: 'is the name of a tool; remove that first, or take another name',
      },
    ]);
  });

  it('when an attachment of it would no longer fit', () => {
    const before = registryOf(given('validation', validation({ input_schema: { properties: { max: {} } } })));
    const registry = { ...before, attachments: [attachment('local/check', { arguments: { max: 'x' } })] };
    const stricter = validation({ input_schema: { properties: { max: { type: 'number' } } } });
    expect(problemsOf(given('validation', stricter), registry)).toMatchObject([
      {
        code: 'BREAKS_ATTACHMENT',
        message:
          'would break the attachment of local/check to repo/main: max must be a number; detach it first',
      },
    ]);
    const slotted = validation({ resource_slots: [{ name: 'repo' }] });
    expect(refusals(given('validation', slotted), registry)).toEqual(['BREAKS_ATTACHMENT']);
    const described = validation({ description: 'd', input_schema: { properties: { max: {} } } });
    expect(refusals(given('validation', described), registry)).toEqual([]);
  });

  it('when it is a validation with two required resource slots, which no attachment could fill', () => {
    const resource_slots = [{ name: 'a' }, { name: 'b' }];
    expect(problemsOf(given('validation', validation({ resource_slots })))).toEqual([
      {
        code: 'TOO_MANY_REQUIRED',
        path: 'resource_slots',
        message:
          'a validation has at most one required resource slot, since an attachment binds one resource; here are a, b; give all but one required: false',
      },
    ]);
  });

  it('when the resource of an attachment would no longer fit its slot, or another were left empty', () => {
    const slots = (...all: object[]) => given('validation', validation({ resource_slots: all }));
    const before = registryOf(slots({ name: 'code', type: 'repo' }));
    const registry = { ...before, attachments: [attachment('local/check', { slot: 'code' })] };
    const breaking = [
      slots({ name: 'code', type: 'table' }),
      slots({ name: 'code', type: 'repo', required: false }, { name: 'base', type: 'image' }),
      slots({ name: 'tree', type: 'repo' }),
    ];
    for (const documents of breaking) expect(refusals(documents, registry)).toEqual(['BREAKS_ATTACHMENT']);
    const wider = slots({ name: 'code', type: '*' }, { name: 'base', type: 'image', required: false });
    expect(refusals(wider, registry)).toEqual([]);
  });
});

describe('a skill', () => {
  it('lists tools and validations by their full names, in its own order', () => {
    const documents = [
      ...given('skill', { name: 'kit', tools: ['read', 'builtin/pattern_match', 'local/check'] }),
      ...given('tool', tool()),
      ...given('validation', validation()),
    ];
    expect(registryOf(documents).entries.get('local/kit')?.document).toEqual({
      kind: 'skill',
      name: 'local/kit',
      description: '',
      tools: ['local/read', 'builtin/pattern_match', 'local/check'],
    });
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['nothing', { tools: [] }, ['BAD_VALUE tools']],
    ['no list', {}, ['MISSING_FIELD tools']],
    ['an unknown tool', { tools: ['reed'] }, ['UNKNOWN_TOOL tools[0]']],
    ['a skill', { tools: ['other'] }, ['UNKNOWN_TOOL tools[0]']],
    ['a tool twice', { tools: ['read', 'local/read'] }, ['DUPLICATE_MEMBER tools[1]']],
    ['code of its own', { tools: ['read'], code: CODE }, ['FOREIGN_FIELD code']],
  ])('is refused with %s', (_, value, expected) => {
    const registry = registryOf([
      ...given('tool', tool()),
      ...given('skill', { name: 'other', tools: ['builtin/task_count'] }),
    ]);
    expect(refusals(given('skill', { name: 'kit', ...value }), registry)).toEqual(expected);
  });

  it('with nothing is told so', () => {
    expect(problemsOf(given('skill', { name: 'kit', tools: [] }))[0]?.message).toBe('must not be empty');
  });

  it('names the nearest tool for one that is not there', () => {
    const registry = registryOf(given('tool', tool()));
    const [problem] = problemsOf(given('skill', { name: 'kit', tools: ['raed'] }), registry);
    expect(problem?.nearest).toBe('local/read');
  });

  it('that lists a refused document is not refused for that as well', () => {
    const documents = [
      ...given('tool', tool({ timeout: 'x' })),
      ...given('skill', { name: 'kit', tools: ['read'] }),
    ];
    expect(refusals(documents)).toEqual(['BAD_TIMEOUT timeout']);
  });
});

it('a refused registration changes nothing, not even for its sound documents', () => {
  const planned = planRegistration(EMPTY, given('tool', tool(), tool({ name: 'b', timeout: 'x' })), 1, 'a');
  expect(planned).not.toHaveProperty('change');
  expect(apply(EMPTY, { put: [], remove: [], attach: [], detach: [] }).entries.size).toBe(0);
});
