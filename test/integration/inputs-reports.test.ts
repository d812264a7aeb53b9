import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IMPORTERS } from '../../src/importers/built-in.js';
import { builtInReports } from '../../src/reports/built-in.js';
import { junit } from '../../src/reports/junit.js';
import { openReport } from '../../src/reports/open-report.js';
import { parseReportTargets } from '../../src/reports/report-target.js';
import { advisory, batch, evaluation, plain, render, result, stream } from '../unit/reports/fixtures.js';

const root = resolve(import.meta.dirname, '../..');
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function kindsInFolder(path: string, marker: RegExp): string[] {
  const files = readdirSync(join(root, path)).filter((name) => name !== 'built-in.ts');
  return files
    .filter((name) => marker.test(readFileSync(join(root, path, name), 'utf8')))
    .map((n) => n.slice(0, -3));
}

function sections(path: string): string[] {
  const titles = [...readFileSync(join(root, path), 'utf8').matchAll(/^## (.+)$/gm)].map(
    (match) => match[1] ?? '',
  );
  return titles.filter((title) => title !== 'Adding one').sort();
}

describe('folder, registry and docs agree', () => {
  it('on reports', () => {
    const kinds = builtInReports(plain).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(
      kindsInFolder('src/reports', /^export const \w+: ReportFactory = /m).sort(),
    );
    expect(kinds.toSorted()).toEqual(sections('docs/reports.md'));
  });

  it('on importers', () => {
    const names = IMPORTERS.map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      kindsInFolder('src/importers', /^export const \w+: Importer = /m).sort(),
    );
    expect(names.toSorted()).toEqual(sections('docs/importers.md'));
  });
});

interface Case {
  '@name': string;
  '@classname': string;
  failure?: unknown;
  error?: unknown;
  skipped?: unknown;
  'system-out'?: string;
}
interface Suite extends Record<`@${string}`, string> {
  testcase: Case[];
}

async function suites(...args: Parameters<typeof evaluation>[]): Promise<Suite[]> {
  const xml = await render(
    junit,
    args.map((arg) => evaluation(...arg)),
  );
  expect(XMLValidator.validate(xml)).toBe(true);
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    isArray: (name) => name === 'testsuite' || name === 'testcase',
  });
  const parsed = parser.parse(xml) as { testsuites: { testsuite?: Suite[] } };
  return parsed.testsuites.testsuite ?? [];
}

describe('junit report', () => {
  it('keeps failure, error and skipped apart, and gives times in seconds', async () => {
    const results = [result('pass'), result('fail'), result('error'), result('skipped')];
    const [suite] = await suites(['a', { passed: false, results }]);
    expect(suite).toMatchObject({
      '@name': 'nginx',
      '@tests': '5',
      '@failures': '2',
      '@errors': '1',
      '@skipped': '1',
      '@time': '1.000',
    });
    const [pass, fail, error, skipped, gates] = suite?.testcase ?? [];
    expect(pass).toEqual({ '@name': 'tasks[0] Uses find', '@classname': 'nginx.a', '@time': '0.250' });
    expect(fail?.failure).toMatchObject({ '@message': 'message of fail', '@type': 'pattern_match' });
    expect(error?.error).toMatchObject({ '@message': 'message of error' });
    expect(skipped?.skipped).toBeDefined();
    expect(gates?.failure).toMatchObject({
      '@message':
        'compliance gate: 1 required rule failed; resolution gate: compliance gate failed; score 0%',
    });
  });

  it('never turns CI red for an informational rule, and shows it all the same', async () => {
    const [suite] = await suites(['a', { results: [advisory('fail'), advisory('error', 2)] }]);
    expect(suite).toMatchObject({ '@failures': '0', '@errors': '0' });
    expect(suite?.testcase.map((one) => one['system-out'])).toEqual([
      'advisory: failed: message of fail',
      'advisory: error: message of error',
      undefined,
    ]);
  });

  it('turns CI red for a closed gate though no required rule failed', async () => {
    const gates = {
      compliance: { passed: true, reason: 'all required rules passed' },
      resolution: { passed: false, reason: 'score 50% is below 80%' },
    };
    const score = { passed: 1, total: 2, percent: 50 };
    const [suite] = await suites([
      'a',
      { passed: false, gates, score, results: [result('pass'), advisory('fail')] },
    ]);
    expect(suite).toMatchObject({ '@failures': '1', '@errors': '0' });
    expect(suite?.testcase.at(-1)).toMatchObject({
      '@name': 'gates',
      failure: { '@message': 'resolution gate: score 50% is below 80%; score 50%' },
    });
  });

  it('puts mixed evaluations into one suite a scenario, also when they no longer fit in memory', async () => {
    const mixed = Array.from(
      { length: 400 },
      (_, i): Parameters<typeof evaluation> => [`run-${i}`, { scenario: `s${i % 3}` }],
    );
    const found = await suites(...mixed);
    expect(found.map((suite) => suite['@name'])).toEqual(['s0', 's1', 's2']);
    expect(found.map((suite) => suite.testcase.length)).toEqual([268, 266, 266]);
    expect(found[1]?.testcase.map((one) => one['@classname']).slice(0, 3)).toEqual([
      's1.run-1',
      's1.run-1',
      's1.run-4',
    ]);
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('sluice-report-'))).toEqual([]);
  });

  it('is well-formed whatever a log says, and for no evaluation at all', async () => {
    const evil = result('fail', { message: ']]></failure>\u0000\u001b<&"\ud800' });
    expect(await suites(['a<b>"&\u0001', { passed: false, results: [evil] }])).toHaveLength(1);
    expect(await suites()).toEqual([]);
  });
});

describe('openReport', () => {
  function target(value: string) {
    const [one] = parseReportTargets([value], plain);
    if (one === undefined) throw new Error('no target');
    return one;
  }

  it('shows an input-order report under its name only when it is complete', async () => {
    const file = join(folder, 'out.json');
    const report = await openReport(target(`json=${file}`));
    if (report.order !== 'input') throw new Error('wrong order');
    async function* watched() {
      expect(await readdir(folder)).toEqual([expect.stringMatching(/^\.out\.json\..*\.tmp$/)]);
      yield evaluation('a');
    }
    await report.write(batch, watched());
    expect(await readdir(folder)).toEqual(['out.json']);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ evaluations: [{ run: 'a' }] });
  });

  it('keeps the old report and leaves no draft when the batch breaks off', async () => {
    const file = join(folder, 'out.json');
    await writeFile(file, 'old');
    async function* broken() {
      yield evaluation('a');
      throw new Error('redis went away');
    }
    const report = await openReport(target(`json=${file}`));
    if (report.order !== 'input') throw new Error('wrong order');
    await expect(report.write(batch, broken())).rejects.toThrow('redis went away');
    const second = await openReport(target(`json=${file}`));
    await second.abort();
    expect(await readdir(folder)).toEqual(['out.json']);
    expect(await readFile(file, 'utf8')).toBe('old');
  });

  it('writes through a symbolic link instead of replacing it', async () => {
    await writeFile(join(folder, 'real.json'), 'old');
    await symlink('real.json', join(folder, 'link.json'));
    const report = await openReport(target(`json=${join(folder, 'link.json')}`));
    if (report.order !== 'input') throw new Error('wrong order');
    await report.write(batch, stream([]));
    expect(await readFile(join(folder, 'real.json'), 'utf8')).toContain('"evaluations":[]');
  });

  it('grows a decision-order report in place, and keeps its lines when it breaks off', async () => {
    const file = join(folder, 'out.ndjson');
    const report = await openReport(target(`ndjson=${file}`));
    if (report.order !== 'decision') throw new Error('wrong order');
    async function* broken() {
      yield { ...evaluation('a'), index: 0 };
      await new Promise((done) => setImmediate(done));
      throw new Error('stopped');
    }
    await expect(report.write(broken())).rejects.toThrow('stopped');
    expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(1);
  });

  it('refuses a path that cannot be written before anything runs', async () => {
    await writeFile(join(folder, 'file'), '');
    for (const path of [folder, join(folder, 'file/out.json'), join(folder, 'new/out.json')]) {
      const refused = { code: 'USAGE', exitCode: 2, problems: [{ path: '--report', found: `json=${path}` }] };
      await expect(openReport(target(`json=${path}`))).rejects.toMatchObject(refused);
    }
    expect(await readdir(folder)).toEqual(['file']);
  });

  it('reports a full disk as an error of the machine', async () => {
    const report = await openReport(target('json=/dev/full'));
    if (report.order !== 'input') throw new Error('wrong order');
    await expect(report.write(batch, stream([]))).rejects.toMatchObject({ code: 'IO', exitCode: 3 });
  });

  it('rejects cleanly when the reader of standard output goes away', async () => {
    const stdout = new Writable({
      write(_chunk, _encoding, done) {
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      },
    });
    const report = await openReport(target('json=-'), stdout);
    if (report.order !== 'input') throw new Error('wrong order');
    await expect(report.write(batch, stream([]))).rejects.toMatchObject({ code: 'IO' });
  });
});
