import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { documentJsonSchemas } from '../../../../src/core/registry/document.js';
import { KINDS, type Kind } from '../../../../src/core/registry/model.js';
import { CODE, given, refusals, TRANSFORM } from './build.js';

const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true });
const accepts = Object.fromEntries(KINDS.map((kind) => [kind, ajv.compile(documentJsonSchemas[kind]())]));

const COUNT = { tool: 'builtin/task_count', arguments: { scope: { value: 'job' }, max: { value: 3 } } };
const GRAPH = {
  nodes: { a: { ...COUNT, subject: { from: '/subject/run' } }, b: { ...COUNT, needs: ['a'] } },
};

function isAccepted(kind: Kind, value: unknown): boolean {
  return accepts[kind]?.(value) === true;
}

describe('the JSON Schemas of documents', () => {
  it.each<[Kind, Record<string, unknown>]>([
    ['tool', { name: 'a/b', code: CODE, timeout: '500ms', input_schema: { type: 'object' }, 'x-note': [1] }],
    [
      'tool',
      { kind: 'tool', name: 't', command: ['a', 'b'], capability: { network: true, 'x-why': 'feeds' } },
    ],
    ['tool', { name: 't', mcp_server: 's', mcp_tool_name: 't', annotations: {}, read_only: false }],
    ['tool', { name: 't', code: CODE, resource_slots: [{ name: 'r' }], lifecycle: { discover: CODE } }],
    ['tool', { name: 't', graph: GRAPH, 'x-why': 1 }],
    ['validation', { name: 'v', graph: { ...GRAPH, output: { from: '/nodes/b/x~1y' }, 'x-why': 1 } }],
    ['validation', { name: 'v', code: CODE, mode: 'informational', retry: { limit: 0 }, confirm: 10 }],
    [
      'validation',
      {
        name: 'v',
        wraps: 'builtin/task_count',
        transform: TRANSFORM,
        argument_mapping: { min: { from: 'least' }, max: { value: 3 } },
      },
    ],
    [
      'validation',
      {
        name: 'v',
        command: ['sh', 'c.sh'],
        shell: true,
        exit_codes: { '2': 'fail' },
        output: 'json',
        env: { CI: '1' },
        paths: ['/opt/x'],
        snapshot_files: true,
        files: { 'c.sh': 'true', b: { base64: 'YQ==' } },
      },
    ],
    ['validation', { name: 'v', validator: 'ansible', playbook: 'p.yml', files: { 'p.yml': '[]' } }],
    ['skill', { name: 's', tools: ['builtin/task_count'] }],
  ])('accept what registering accepts: %s %j', (kind, value) => {
    expect(refusals(given(kind, value))).toEqual([]);
    expect(isAccepted(kind, value), JSON.stringify(accepts[kind]?.errors)).toBe(true);
  });

  it.each<[Kind, Record<string, unknown>]>([
    ['tool', { code: CODE }],
    ['tool', { name: 'a b', code: CODE }],
    ['tool', { name: 't' }],
    ['tool', { name: 't', code: CODE, mode: 'required' }],
    ['tool', { name: 't', code: CODE, timeout: 'soon' }],
    ['tool', { name: 't', code: CODE, timeout: 30 }],
    ['tool', { name: 't', command: ['x'], output: 'text' }],
    ['tool', { name: 't', command: ['x'], exit_codes: { x: 'pass' } }],
    ['tool', { name: 't', command: ['x'], exit_codes: { '0': 'ok' } }],
    ['tool', { name: 't', command: ['x'], env: { 'a-b': '' } }],
    ['tool', { name: 't', command: ['x'], paths: ['opt'] }],
    ['tool', { name: 't', command: ['x'], files: { '/etc/x': '' } }],
    ['tool', { name: 't', command: ['x'], files: { a: { text: '' } } }],
    ['tool', { name: 't', code: CODE, capability: { readonly: true } }],
    ['tool', { name: 't', code: CODE, resource_slots: [{}] }],
    ['validation', { name: 'v', code: CODE, mode: 'must' }],
    ['validation', { name: 'v', code: CODE, confirm: 11 }],
    [
      'validation',
      { name: 'v', wraps: 'builtin/task_count', transform: TRANSFORM, argument_mapping: { a: {} } },
    ],
    ['skill', { name: 's', tools: [] }],
    ['skill', { name: 's', tools: ['a'], code: CODE }],
  ])('refuse what registering refuses: %s %j', (kind, value) => {
    expect(refusals(given(kind, value))).not.toEqual([]);
    expect(isAccepted(kind, value)).toBe(false);
  });

  it.each(KINDS)('describe every field of a %s', (kind) => {
    const { properties } = documentJsonSchemas[kind]() as {
      properties: Record<string, { description?: string }>;
    };
    for (const [field, { description }] of Object.entries(properties))
      expect(description, field).toMatch(/\S/);
  });
});
