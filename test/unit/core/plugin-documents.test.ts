import { describe, expect, it } from 'vitest';
import { needsOf } from '../../../src/core/registry/needs.js';
import { pluginDocuments } from '../../../src/core/registry/plugins.js';
import { planRegistration } from '../../../src/core/registry/register.js';

const described = {
  name: 'has_keys',
  description: 'has every key',
  input_schema: { type: 'object', properties: { keys: { type: 'array' } } },
  module: './checks.js',
};

function registered(value: unknown) {
  const empty = { revision: 0, entries: new Map(), attachments: [] };
  return planRegistration(empty, [{ kind: 'validation', value }], 0, 'tester');
}

describe('what a plugin brings', () => {
  it('is a document that registers as a required validation with the schema of the plugin', () => {
    const [given] = pluginDocuments([described]);
    const planned = registered(given);
    if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
    const document = planned.change.put[0]?.document;
    expect(document).toMatchObject({
      kind: 'validation',
      name: 'local/has_keys',
      mode: 'required',
      source: 'builtin',
      validator: 'plugin/has_keys',
      input_schema: described.input_schema,
      capability: { read_only: true, writes: false },
    });
    expect(needsOf({ chain: [document as never] })).toEqual(['plugin:has_keys']);
  });

  it('stands in the namespace that is asked for', () => {
    expect(pluginDocuments([described], 'team')[0]?.name).toBe('team/has_keys');
  });

  it('has no schema where the plugin has none', () => {
    const { input_schema, ...bare } = described;
    expect(pluginDocuments([bare])[0]).not.toHaveProperty('input_schema');
  });
});
