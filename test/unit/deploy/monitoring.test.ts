import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { dashboard } from '../../../deploy/grafana/dashboard.mjs';

/** Every metric of the page that tells of them all, with its labels. */
const PAGE = readFileSync('docs/metrics.md', 'utf8');
const known = new Map(
  [...PAGE.matchAll(/^\| `(sluice_\w+)` \|[^|]*\|([^|]*)\|/gm)].map(([, name = '', labels = '']) => [
    name,
    [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
  ]),
);

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}
const alerts = parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = alerts.groups.flatMap((group) => group.rules);
const panels = dashboard().panels as { title: string; type: string; targets?: { expr: string }[] }[];
const queries: [string, string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr])),
];

describe('the dashboard and the alerts', () => {
  it('are there, and know the metrics from their page', () => {
    expect(known.size).toBeGreaterThan(20);
    expect(rules.length).toBeGreaterThan(8);
    expect(panels.filter(({ type }) => type === 'timeseries').length).toBeGreaterThan(15);
  });

  it.each(queries)('%s asks for metrics and labels that there are', (_name, expr) => {
    for (const [, metric = '', matchers = ''] of expr.matchAll(/\b(sluice_\w+)\b(?:\{([^}]*)\})?/g)) {
      const name = metric.replace(/_bucket$/, '');
      expect([...known.keys()]).toContain(name);
      for (const [, label = ''] of matchers.matchAll(/(\w+)(?:=|!)/g))
        expect([...(known.get(name) ?? []), 'namespace']).toContain(label);
    }
  });

  it('are what the dashboard’s code writes', () => {
    const written = JSON.parse(readFileSync('deploy/grafana/sluice.json', 'utf8'));
    expect(written).toEqual(JSON.parse(JSON.stringify(dashboard())));
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s says what is wrong', (_name, rule) => {
    expect(['page', 'ticket']).toContain(rule.labels.severity);
    expect(rule.annotations.summary).toMatch(/\.$/);
    expect(rule.annotations.description).toMatch(/\.$/);
  });
});
