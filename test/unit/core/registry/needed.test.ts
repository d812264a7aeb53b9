import { describe, expect, it } from 'vitest';
import type { Registry, RegistryDocument } from '../../../../src/core/registry/model.js';
import { neededBy } from '../../../../src/core/registry/needed.js';

const registryOf = (documents: Record<string, object>): Pick<Registry, 'entries'> => ({
  entries: new Map(
    Object.entries(documents).map(([name, fields]) => {
      const document = { kind: 'tool', name, ...fields } as unknown as RegistryDocument;
      return [name, { document, version: '', registeredAt: 0, actor: '', previous: [] }];
    }),
  ),
});

describe('what registered documents need', () => {
  it('is what they run, wrap and call, by need; skills need nothing', () => {
    const nodes = ['local/b', 'local/code'].map((tool, n) => ({
      id: `n${n}`,
      tool,
      arguments: {},
      needs: [],
    }));
    const registry = registryOf({
      'local/code': { source: 'code', code: '() => 1' },
      'local/b': { source: 'mcp', mcp_server: 'scan', mcp_tool_name: 'x' },
      'local/a': { kind: 'validation', source: 'wrapped', wraps: 'local/b' },
      'local/graph': { source: 'graph', graph: { nodes } },
      'local/sh': { source: 'command', command: ['true'] },
      'local/skill': { kind: 'skill', tools: ['local/sh'] },
    });
    expect(neededBy(registry)).toEqual([
      { need: 'command', by: ['local/sh'] },
      { need: 'mcp:scan', by: ['local/a', 'local/b', 'local/graph'] },
    ]);
  });
});
