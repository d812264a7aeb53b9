import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FAMILIES } from '../../../src/metrics/families.js';

const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');

describe('docs/metrics.md', () => {
  it.each(FAMILIES.map((family) => [family.name, family] as const))(
    'tells type, labels and meaning of %s',
    (name, { type, labels, help }) => {
      const shown = labels.map((label) => `\`${label}\``).join(', ') || '-';
      expect(page.split('\n')).toContain(`| \`${name}\` | ${type} | ${shown} | ${help} |`);
    },
  );

  it('tells of no metric that there is not', () => {
    const told = [...page.matchAll(/^\| `(sluice_\w+)` \|/gm)].map(([, name]) => name);
    expect(told).toEqual(FAMILIES.map(({ name }) => name));
  });
});

describe('the metrics', () => {
  it('end in _total where they count, and in their unit where they measure', () => {
    for (const { name, type } of FAMILIES) {
      if (type === 'counter') expect(name).toMatch(/_total$/);
      else expect(name).not.toMatch(/_total$/);
      if (type === 'histogram') expect(name).toMatch(/_(?:seconds|evaluations)$/);
    }
  });

  it('have buckets in rising order, and never the label of a bucket', () => {
    for (const { buckets = [], labels } of FAMILIES) {
      expect([...buckets]).toEqual([...buckets].sort((a, b) => a - b));
      expect(labels).not.toContain('le');
    }
  });
});
