import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACKAGES } from '../../../scripts/lib/bundle.mjs';
import { ROOT } from '../../support/cli.js';

const FOLDERS = ['src', 'queues', 'workers', 'config'];
const rules = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs'));

async function cruiseIn(baseDir: string, folders: string[]): Promise<ICruiseResult> {
  const options = { ...rules.options, baseDir, validate: true, ruleSet: { forbidden: rules.forbidden } };
  const tsConfig = extractTSConfig(join(ROOT, 'tsconfig.json'));
  const { output } = await cruise(folders, options, undefined, { tsConfig });
  if (typeof output === 'string') throw new Error(output);
  return output;
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sourcesBelow(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}

describe('dependency-cruiser', () => {
  it('sees every source file on disk', async () => {
    const { modules } = await cruiseIn(ROOT, FOLDERS);
    const seen = modules.map((module) => module.source).filter((source) => !source.includes('node_modules'));
    const onDisk = FOLDERS.flatMap(sourcesBelow);
    expect(onDisk.length).toBeGreaterThan(20);
    expect(onDisk.filter((file) => !seen.includes(file))).toEqual([]);
  }, 180_000);
});

/** `const { name } = await import('package')`: the default alone is had everywhere. */
const LATE = /const \{ (?!default\b)[^}]*\} = await import\('([^'.][^']*)'\)/g;

describe('a package that is loaded late by its names', () => {
  const late = FOLDERS.flatMap(sourcesBelow).flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(LATE)]
      .map(([, name = '']) => name)
      .filter((name) => !name.startsWith('node:'))
      .map((name) => [file, name] as const),
  );

  it('is there at all', () => expect(late.length).toBeGreaterThan(5));

  // In a bundle `import()` of CommonJS has a default and no names.
  it.each(late)('%s: %s is not bundled, or no CommonJS', (_file, name) => {
    const isOutside = PACKAGES.some((outside) =>
      outside.endsWith('*') ? name.startsWith(outside.slice(0, -1)) : name === outside,
    );
    const folder = name.split('/').slice(0, name.startsWith('@') ? 2 : 1);
    const manifest = readFileSync(join(ROOT, 'node_modules', ...folder, 'package.json'), 'utf8');
    expect(isOutside || JSON.parse(manifest).type === 'module').toBe(true);
  });
});

describe('the layers', () => {
  const layered: RegExp[] = rules.forbidden
    .filter((rule: { to: { pathNot?: string; path?: string } }) => rule.to.path?.startsWith('^(?:src|queues'))
    .map((rule: { from: { path: string } }) => new RegExp(rule.from.path));

  it.each(readdirSync(join(ROOT, 'src')))('src/%s belongs to one', (name) => {
    const file = name.endsWith('.ts') ? `src/${name}` : `src/${name}/x.ts`;
    expect(layered.some((rule) => rule.test(file))).toBe(true);
  });
});

describe('the rules on imports', () => {
  let base: string;
  let violations: string[];

  /** One file for each: what it imports, and the rule that must object (none: it is allowed). */
  const cases: [file: string, imports: string, rule?: string][] = [
    ['src/core/a.ts', '../ports/p.js', 'core-own'],
    ['src/core/b.ts', 'node:fs', 'core-built-ins'],
    ['src/core/c.ts', 'pino', 'core-packages'],
    ['src/core/d.ts', 'zod'],
    ['src/core/digest.ts', 'node:crypto'],
    ['src/client/a.ts', '../core/b.js', 'client'],
    ['src/client/b.ts', 'zod', 'client-packages'],
    ['src/client/c.ts', './a.js'],
    ['src/ports/a.ts', '../app/x.js', 'ports'],
    ['src/ports/p.ts', '../core/d.js'],
    ['src/app/a.ts', '../store/s.js', 'app'],
    ['src/app/x.ts', '../ports/p.js'],
    ['src/store/s.ts', 'ioredis'],
    ['src/store/t.ts', '../../queues/q.js', 'adapters'],
    ['src/store/u.ts', '../app/x.js', 'adapters'],
    ['src/store/v.ts', './s.js'],
    ['src/reports/a.ts', 'ioredis', 'ioredis'],
    ['src/runners/a.ts', 'bullmq', 'bullmq'],
    ['src/importers/i.ts', '../ports/p.js'],
    ['src/inputs/a.ts', '../importers/i.js'],
    ['src/inputs/b.ts', '../store/s.js', 'inputs'],
    ['src/doctor/a.ts', '../embedded/guard.js', 'doctor'],
    ['src/embedded/guard.ts', '../core/d.js'],
    ['queues/q.ts', 'bullmq'],
    ['queues/r.ts', '../config/c.js', 'adapters'],
    ['config/c.ts', 'zod'],
    ['config/d.ts', '../src/ports/p.js', 'config'],
    ['src/compose.ts', './store/s.js'],
    ['src/compose/a.ts', '../../workers/w.js', 'compose'],
    ['workers/w.ts', '../src/compose.js'],
    ['workers/x.ts', '../src/cli/main.js', 'workers'],
    ['src/cli/main.ts', '../../workers/w.js'],
    ['src/cli/b.ts', 'vitest', 'not-to-dev-dep'],
    ['src/index.ts', './cli/main.js', 'library'],
    ['src/webhook.ts', './ports/p.js', 'webhook'],
    ['src/core/r1.ts', './r2.js', 'no-circular'],
  ];

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'sluice-imports-'));
    for (const [file, imports] of cases) {
      mkdirSync(dirname(join(base, file)), { recursive: true });
      writeFileSync(join(base, file), `import '${imports}';\nexport const x = 1;\n`);
    }
    writeFileSync(join(base, 'src/core/r2.ts'), `import './r1.js';\n`);
    symlinkSync(join(ROOT, 'node_modules'), join(base, 'node_modules'));
    symlinkSync(join(ROOT, 'package.json'), join(base, 'package.json'));
    const { summary } = await cruiseIn(base, FOLDERS);
    violations = summary.violations.map((violation) => `${violation.from}: ${violation.rule.name}`);
  }, 180_000);

  afterAll(() => rmSync(base, { recursive: true, force: true }));

  it.each(cases)('%s importing %s meets %s', (file, _imports, rule) => {
    const met = violations.filter((violation) => violation.startsWith(`${file}: `));
    if (rule === undefined) expect(met).toEqual([]);
    else expect(met).toContain(`${file}: ${rule}`);
  });
});
