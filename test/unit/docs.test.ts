import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { checkPattern } from '../../src/core/patterns/dialect.js';
import { runRecordSchema } from '../../src/core/run-record.js';
import { loadScenario } from '../../src/core/scenario/load.js';
import { SCOPES } from '../../src/core/scenario/model.js';
import { scopesOf, WHERES } from '../../src/core/scenario/where.js';
import { builtInValidators } from '../../src/core/validators/built-in.js';
import { RESOLUTION_STATUSES } from '../../src/core/validators/job-resolution-status.js';

const LINK = /\[[^\]\n]*\]\(([^)\s]+)\)/g;
const SOURCE_PATH = /^(?:src|queues|workers|config|test|scripts|examples|docs)\/[\w./-]+$/;

function pagesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...pagesBelow('docs'),
  ...pagesBelow('examples'),
];
const textOf = (page: string) => readFileSync(page, 'utf8');
const scripts = JSON.parse(textOf('package.json')).scripts as Record<string, string>;

/** GitHub's anchor for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function anchorsIn(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

/** Links of a page that lead nowhere; those to other sites are left alone. */
function broken(page: string): string[] {
  return [...textOf(page).matchAll(LINK)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : join(dirname(page), path);
    if (!existsSync(file)) return [target];
    return anchor === undefined || anchorsIn(textOf(file)).includes(anchor) ? [] : [target];
  });
}

/** Lines of a page's code blocks, without comments of the shell. */
function codeIn(text: string): string[] {
  const blocks = text.split(/^```.*$/m).filter((_, n) => n % 2 === 1);
  return blocks.flatMap((block) => block.split('\n').map((line) => line.replace(/\s+#.*$/, '').trim()));
}

/** What follows `sluice` in the calls of a page's code blocks. */
function callsIn(text: string): string[] {
  return codeIn(text).flatMap((line) => /(?:^|\|\s|run -s )\s*sluice (?:-- )?(.+)$/.exec(line)?.[1] ?? []);
}

function commandNamed(program: Command, words: readonly string[]): Command {
  const next = program.commands.find((command) => command.name() === words[0]);
  return next === undefined ? program : commandNamed(next, words.slice(1));
}

/** What a call of sluice names that the command line does not have. */
function unknownIn(call: string): string[] {
  const words = call.split(/\s+/).filter((word) => word !== '');
  const program = createProgram({ exitCode: 0 });
  const command = commandNamed(program, words);
  const options = [...command.options.flatMap(({ short, long }) => [short, long]), '--help', '--version'];
  const given = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]);
  // Arguments of tools are options that commander does not know.
  const isOpen = Reflect.get(command, '_allowUnknownOption') === true;
  return [
    ...(command === program ? [words[0]] : []),
    ...given.filter((option) => !isOpen && !options.includes(option)),
  ].map(String);
}

describe('the documentation', () => {
  it.each(pages)('%s has no link that leads nowhere', (page) => {
    expect(broken(page)).toEqual([]);
  });

  it.each(pages)('%s names only files that are there', (page) => {
    const named = [...textOf(page).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
    const paths = named.filter((code) => SOURCE_PATH.test(code) && !code.includes('<'));
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.each(pages)('%s calls only commands, options and scripts that there are', (page) => {
    expect(callsIn(textOf(page)).flatMap(unknownIn)).toEqual([]);
    const run = [...textOf(page).matchAll(/`npm run (?:-s )?([\w:]+)/g)].map(([, name = '']) => name);
    expect(run.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('finds what is broken', () => {
    expect(unknownIn('evaluate x --runs y --nonsense=1')).toEqual(['--nonsense']);
    expect(unknownIn('events tail --no-follow --nonsense')).toEqual(['--nonsense']);
    expect(unknownIn('nonsense')).toEqual(['nonsense']);
    expect(callsIn('```sh\nsluice doctor  # look\n```\nsluice no\n```\nx | sluice up\n```')).toEqual([
      'doctor',
      'up',
    ]);
    expect(callsIn(textOf('README.md')).length).toBeGreaterThan(10);
    expect(anchorsIn('# A b\n## C, d-e')).toEqual(['a-b', 'c-d-e']);
  });

  it('can be reached from README.md, decisions through the first of them', () => {
    const linked = (page: string) =>
      [...textOf(page).matchAll(LINK)].map(([, target = '']) =>
        join(dirname(page), target.split('#')[0] ?? ''),
      );
    const reached = [...linked('README.md'), ...linked('docs/adr/0001-record-architecture-decisions.md')];
    expect(pages.filter((page) => page.startsWith('docs') && !reached.includes(page))).toEqual([]);
  });

  it('tells how to run the tests', () => {
    expect(textOf('README.md')).toContain('npm test');
  });
});

describe('docs/scenarios.md', () => {
  const page = textOf('docs/scenarios.md');
  const rows = page.split('\n').filter((line) => line.startsWith('|'));
  const rowOf = (name: string) => rows.filter((row) => row.startsWith(`| \`${name}\` |`));

  it('has a section for every built-in validator, and for no other', () => {
    const sections = [...page.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
    expect(new Set(sections)).toEqual(new Set(builtInValidators.keys()));
  });

  it.each(WHERES)('says in which scopes %s can be searched', (where) => {
    const [row = '', ...others] = rowOf(where);
    expect(others).toEqual([]);
    const scopes = row.split('|').at(-2)?.trim().split(', ');
    expect(new Set(scopes)).toEqual(new Set(scopesOf(where)));
  });

  it.each(SCOPES)('lists the validators of scope %s', (scope) => {
    const [row = ''] = rowOf(scope);
    const fitting = [...builtInValidators.values()].filter(({ scopes }) => scopes.includes(scope));
    const named = [...builtInValidators.keys()].filter((name) => row.includes(`\`${name}\``));
    expect(named).toEqual(fitting.map(({ name }) => name));
  });

  it('names every resolution status', () => {
    expect(RESOLUTION_STATUSES.filter((status) => !page.includes(`\`${status}\``))).toEqual([]);
  });

  it('proposes what the loader proposes', () => {
    const start = rows.indexOf('| instead of | write |');
    const table = page.slice(page.indexOf('| instead of | write |')).split('\n\n')[0] ?? '';
    const pairs = [...table.matchAll(/^\| `(.+?)` \| `(.+?)` \|$/gm)].map(([, from = '', to = '']) => [
      from,
      to,
    ]);
    expect(start).toBeGreaterThan(-1);
    expect(pairs.length).toBeGreaterThan(5);
    for (const [pattern = '', proposal] of pairs)
      expect([pattern, checkPattern(pattern)]).toMatchObject([pattern, { ok: false, proposal }]);
  });
});

describe('the first examples of README.md', () => {
  const blocks = [...textOf('README.md').matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text = '']) => text);
  const [scenario = '', run = ''] = blocks;

  it('are a scenario and a run that it judges, as they stand', () => {
    const loaded = loadScenario({ file: 'README.md', text: scenario, defaultKey: 'some-folder' });
    const record = runRecordSchema.parse(JSON.parse(run));
    expect(loaded).toMatchObject({ ok: true, scenario: { key: record.scenario } });
  });
});
