import { describe, expect, it } from 'vitest';
import { applicableChecks, type Where } from '../../../../src/core/attachments/resolve.js';
import { sha256 } from '../../../../src/core/digest.js';
import { parseTool, resolveTool, sealTool } from '../../../../src/core/registry/closure.js';
import { attachment, inPlan, registryOf, tool, validation, without } from './build.js';

const documents = [
  tool('count'),
  validation('lint', { retry: { limit: 1 }, confirm: 2 }),
  validation('few', { code: undefined, wraps: 'count', transform: '() => ({ passed: true })' }),
  validation('tests', { code: undefined, command: ['npm', 'test'] }),
  validation('style', { mode: 'informational' }),
];
const where: Where = { resources: ['repo/web', 'repo/api', 'db/orders'], project: null, plan: 'p1' };
const registry = registryOf(documents, [
  attachment('01', { arguments: { n: 1 } }),
  attachment('02', { validation: 'local/few', ...inPlan('p1') }),
  attachment('03', { validation: 'local/tests', resource: 'db/orders' }),
  attachment('04', { validation: 'local/style' }),
  attachment('05', { arguments: { n: 2 }, slot: 'repo' }),
  attachment('06', { resource: 'repo/other' }),
]);

describe('applicableChecks', () => {
  it('makes one check of each attachment that applies, in order, with what its validation says', () => {
    const { checks, unvalidated } = applicableChecks(registry, where, null);
    expect(checks.map(({ attachment: id, runner }) => [id, runner])).toEqual([
      ['03', 'runner'],
      ['02', 'pure'],
      ['01', 'pure'],
      ['05', 'pure'],
      ['04', 'pure'],
    ]);
    expect(checks[2]).toEqual({
      attachment: '01',
      resource: 'repo/api',
      scope: 'direct',
      target: null,
      slot: null,
      arguments: { n: 1 },
      validation: 'local/lint',
      version: sealTool(resolveTool(registry, 'local/lint')).digest,
      mode: 'required',
      retryLimit: 1,
      confirm: 2,
      runner: 'pure',
      subject: '',
    });
    expect(checks[1]).toMatchObject({ scope: 'plan', target: 'p1', retryLimit: null, confirm: 0 });
    expect(checks[3]).toMatchObject({ arguments: { n: 2 }, slot: 'repo' });
    expect(checks[4]).toMatchObject({ mode: 'informational' });
    expect(unvalidated).toEqual(['repo/web']);
  });

  it('names the snapshot of each resource, and none where there is none', () => {
    const snapshots = { 'repo/api': 'd1', 'repo/web': 'd2' };
    const { checks } = applicableChecks(registry, where, snapshots);
    expect(checks.map((check) => check.subject)).toEqual(['', 'd1', 'd1', 'd1', 'd1']);
  });

  it('brings every tool that a check names, once, under the digest of its JSON', () => {
    const { checks, tools } = applicableChecks(registry, where, null);
    expect([...tools.keys()].toSorted()).toEqual(
      [...new Set(checks.map(({ version }) => version))].toSorted(),
    );
    for (const [digest, json] of tools) expect(sha256(json)).toBe(digest);
    const few = checks.find(({ validation: name }) => name === 'local/few');
    const chain = parseTool(tools.get(few?.version ?? '') ?? '').chain.map(({ name }) => name);
    expect(chain).toEqual(['local/few', 'local/count']);
  });

  it('gives a validation another version when what it wraps changes', () => {
    const version = (code: string) => {
      const changed = documents.map((each) => (each.name === 'count' ? tool('count', { code }) : each));
      const { checks } = applicableChecks(registryOf(changed, registry.attachments), where, null);
      return checks.find(({ validation: name }) => name === 'local/few')?.version;
    };
    expect(version('() => 1')).toBe(version('() => 1'));
    expect(version('() => 1')).not.toBe(version('() => 2'));
  });

  it('is empty for no resources, and leaves all unvalidated where nothing is attached', () => {
    expect(applicableChecks(registry, { ...where, resources: [] }, null)).toEqual({
      checks: [],
      unvalidated: [],
      tools: new Map(),
    });
    const bare = { ...registry, attachments: [] };
    const resources = ['b', 'a', 'b'];
    expect(applicableChecks(bare, { ...where, resources }, {}).unvalidated).toEqual(['a', 'b']);
  });

  it('reads snapshots by their own names alone', () => {
    const named = { ...registry, attachments: [attachment('01', { resource: 'constructor' })] };
    const { checks } = applicableChecks(named, { ...where, resources: ['constructor'] }, {});
    expect(checks[0]?.subject).toBe('');
  });
});

describe('an attachment whose validation cannot be resolved', () => {
  const run = (json: string | undefined) => {
    const source = parseTool(json ?? '').chain[0]?.code ?? '';
    return new Function(`return (${source})()`);
  };

  it.each([
    ['is gone', without(registry, 'local/style'), '04', /local\/style is not registered any more/],
    ['wraps a tool that is gone', without(registry, 'local/count'), '02', /local\/few wraps/],
  ])('stays a required check that only errors: it %s', (_name, left, id, message) => {
    const { checks, tools, unvalidated } = applicableChecks(left, where, null);
    expect(checks).toHaveLength(5);
    expect(unvalidated).toEqual(['repo/web']);
    const check = checks.find((each) => each.attachment === id);
    expect(check).toMatchObject({ mode: 'required', runner: 'pure', retryLimit: null, confirm: 0 });
    expect(run(tools.get(check?.version ?? ''))).toThrow(message);
  });

  it('stays a required check when its name is that of a plain tool now', () => {
    const attachments = [attachment('01', { validation: 'local/count' })];
    const { checks, tools } = applicableChecks({ ...registry, attachments }, where, null);
    expect(checks[0]).toMatchObject({ mode: 'required', validation: 'local/count' });
    expect(run(tools.get(checks[0]?.version ?? ''))).toThrow(/plain tool now/);
  });

  it('stays informational when that is known', () => {
    const style = validation('few', {
      code: undefined,
      wraps: 'count',
      transform: '() => 1',
      mode: 'informational',
    });
    const attachments = [attachment('01', { validation: 'local/few' })];
    const left = without(registryOf([tool('count'), style], attachments), 'local/count');
    expect(applicableChecks(left, where, null).checks[0]).toMatchObject({ mode: 'informational' });
  });
});
