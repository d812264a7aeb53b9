import { describe, expect, it } from 'vitest';
import { builtInTools } from '../../../../src/core/registry/built-in.js';
import type { RegistryEntry } from '../../../../src/core/registry/model.js';
import { planRegistration } from '../../../../src/core/registry/register.js';
import { documentView } from '../../../../src/core/registry/view.js';
import { attachment, CODE, given, registryOf, TRANSFORM } from './build.js';

const GRAPH = {
  nodes: {
    z: { tool: 'local/plain', arguments: { x: { from: '/subject/a' }, y: { value: 1 } } },
    a: { tool: 'local/clean', subject: { from: '/nodes/z' } },
    b: { tool: 'local/plain', needs: ['z', 'a'] },
  },
  output: { from: '/nodes/z' },
};

const registry = registryOf([
  ...given(
    'tool',
    {
      name: 'scan',
      description: 'Scans',
      command: ['scan'],
      read_only: true,
      network: true,
      resource_slots: [{ name: 'repo' }],
      lifecycle: { activate: CODE },
      timeout: '90s',
      input_schema: { type: 'object' },
      'x-team': 'core',
    },
    {
      name: 'probe',
      command: ['sh', 'check.sh'],
      exit_codes: { '3': 'fail', '0': 'pass' },
      output: 'exit_code',
      env: { CI: '1' },
      paths: ['/opt'],
      snapshot_files: true,
      files: { 'check.sh': 'true\n', 'data.bin': { base64: '/w==' } },
    },
    { name: 'play', validator: 'ansible', playbook: './p.yml', files: { 'p.yml': '[]' }, network: true },
    { name: 'remote', mcp_server: 's', mcp_tool_name: 't', annotations: { readOnlyHint: true } },
    { name: 'plain', code: CODE, timeout: '1500ms', input_schema: { type: 'object' } },
    { name: 'both', graph: GRAPH },
  ),
  ...given('validation', {
    name: 'clean',
    mode: 'informational',
    wraps: 'scan',
    transform: TRANSFORM,
    argument_mapping: { path: { value: 'x' } },
    retry: { limit: 2 },
    confirm: 1,
  }),
  ...given('skill', { name: 'kit', description: 'd', tools: ['scan', 'clean'] }),
]);
const entry = (name: string) => registry.entries.get(name) as RegistryEntry;

describe('what show prints', () => {
  it('is the document as a user would write it, then when and by whom it was registered', () => {
    const view = documentView(entry('local/clean'), [
      attachment('local/clean', { scope: 'plan', target: 'p1', slot: 'repo' }),
    ]);
    expect(view).toEqual({
      kind: 'validation',
      name: 'local/clean',
      description: '',
      source: 'wrapped',
      mode: 'informational',
      wraps: 'local/scan',
      argument_mapping: { path: { value: 'x' } },
      transform: TRANSFORM,
      capability: { read_only: true, writes: false, checkpointable: false, network: false },
      idempotent: true,
      retry: { limit: 2 },
      confirm: 1,
      'x-registered': {
        version: entry('local/clean').version,
        registered_at: '1970-01-01T00:00:00.001Z',
        actor: 'tester',
        previous: [],
      },
      'x-attachments': [
        {
          id: '01HZZZZZZZZZZZZZZZZZZZZZZZ',
          resource: 'repo/main',
          scope: 'plan',
          plan: 'p1',
          slot: 'repo',
          arguments: {},
          attached_at: '1970-01-01T00:00:00.001Z',
          actor: 'tester',
        },
      ],
    });
    expect(Object.keys(view).slice(0, 3)).toEqual(['kind', 'name', 'description']);
  });

  it('has files as text where they are one', () => {
    const view = documentView(entry('local/probe'), []);
    expect(view.files).toEqual({ 'check.sh': 'true\n', 'data.bin': { base64: '/w==' } });
    expect(documentView(entry('local/play'), [])).toMatchObject({ playbook: 'p.yml' });
  });

  it('has the nodes of a graph by id, in their order', () => {
    const { graph } = documentView(entry('local/both'), []);
    expect(JSON.stringify(graph)).toBe(JSON.stringify(GRAPH));
  });

  it('says durations in words', () => {
    expect(documentView(entry('local/scan'), []).timeout).toBe('90s');
    expect(documentView(entry('local/plain'), []).timeout).toBe('1500ms');
  });

  it.each([...registry.entries.keys()])('of %s, registered again, is unchanged', (name) => {
    const view = documentView(entry(name), [attachment(name)]);
    const planned = planRegistration(registry, given('tool', view), 2, 'other');
    expect(planned).toMatchObject({ ok: true, report: [{ name, status: 'unchanged' }] });
  });

  it('of a built-in tool has no registration', () => {
    const document = builtInTools.get('builtin/task_count');
    if (document === undefined) throw new Error('no such tool');
    const view = documentView({ document, version: '', registeredAt: 0, actor: 'sluice', previous: [] }, []);
    expect(Object.keys(view)).toEqual([
      'kind',
      'name',
      'description',
      'source',
      'validator',
      'input_schema',
      'capability',
      'idempotent',
    ]);
  });
});
