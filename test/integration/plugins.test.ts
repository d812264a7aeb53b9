import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Activations } from '../../src/app/tools/activations.js';
import { ToolCaller } from '../../src/app/tools.js';
import { createMatcher } from '../../src/runners/pattern-matcher.js';
import { QuickJsInterpreter } from '../../src/runners/quickjs.js';
import { pluginCall, pluginRunner } from '../support/plugins.js';

const living = new AbortController().signal;
let folder = '';

/** Modules by path in a folder of their own, as an operator has them. */
const FILES: Readonly<Record<string, string>> = {
  'module.mjs': `export const validations = [{ name: 'by_path', validate: () => ({ passed: true }) }];`,
  'common.cjs': `module.exports = [{ name: 'common', validate: () => ({ passed: true }) }];`,
  'node_modules/only-esm/package.json': `{ "type": "module", "exports": { "import": "./lib/index.js" } }`,
  'node_modules/only-esm/lib/index.js': `import { passed } from 'hoisted'; export default [{ name: 'in_package', validate: () => ({ passed }) }];`,
  'node_modules/hoisted/package.json': `{ "main": "index.js" }`,
  'node_modules/hoisted/index.js': 'exports.passed = true;',
  'node_modules/@team/checks/package.json': `{ "main": "index.js" }`,
  'node_modules/@team/checks/more.js': `exports.validations = [{ name: 'in_scope', validate: () => ({ passed: true }) }];`,
  'broken/syntax.mjs': 'export default [\n  {{\n];',
  'broken/nothing.mjs': 'export const other = 1;',
  'broken/empty.mjs': 'export default [];',
  'broken/name.mjs': `export default [{ name: 'a b', validate() {} }];`,
  'broken/twice.mjs': `const one = { name: 'one', validate() {} }; export default [one, one];`,
  'broken/no-function.mjs': `export default [{ name: 'one' }];`,
  'broken/schema.mjs': `export default [{ name: 'one', validate() {}, input_schema: { default: () => 1 } }];`,
  'broken/import.mjs': `import 'not-there'; export default [];`,
  'broken/throws.mjs': `throw new Error('not today');`,
  'broken/exits.mjs': `console.error('leaving'); process.exit(3);`,
  'broken/never.mjs': 'await new Promise(() => {});',
  'broken/writes.mjs': `import { writeFileSync } from 'node:fs'; writeFileSync('/tmp/x', ''); export default [];`,
  'clash.mjs': `export default [{ name: 'fine', validate() {} }, { name: 'by_path', validate() {} }];`,
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plugins-'));
  await chmod(folder, 0o755);
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
});
afterAll(() => rm(folder, { recursive: true }));

/** What modules bring, and one result of each. */
async function loaded(modules: string[], from = folder) {
  const runner = pluginRunner(modules, { from });
  const { validations, broken } = await runner.load();
  const ran = await Promise.all(validations.map(({ name }) => runner.run(pluginCall(name), living)));
  await runner.close();
  // Of two names of one module the one counts that was there first.
  const own = (module: string) => module.replace(`${folder}/`, './');
  const names = validations.map(({ name, module }) => `${own(module)}: ${name}`).sort();
  return { names, broken, outcomes: ran.map(({ outcome }) => outcome) };
}

const passed = { kind: 'value', value: { passed: true } };

describe('modules of an operator', () => {
  it('are loaded by path and as packages, ESM and CommonJS, each once', async () => {
    const modules = ['./module.mjs', './common.cjs', 'only-esm', '@team/checks/more.js'];
    const found = await loaded([...modules, join(folder, 'module.mjs')]);
    expect(found.broken).toEqual([]);
    expect(found.names).toEqual([
      './common.cjs: common',
      './module.mjs: by_path',
      '@team/checks/more.js: in_scope',
      'only-esm: in_package',
    ]);
    expect(found.outcomes).toEqual(Array(4).fill(passed));
  });

  it('are broken, each for its reason, while others load', async () => {
    const reasons: [string, RegExp][] = [
      ['./broken/syntax.mjs', /^SyntaxError: .*\(node --check FILE shows where\)$/],
      ['./broken/nothing.mjs', /^it exports no list of validations/],
      ['./broken/empty.mjs', /exports 0 validations/],
      ['./broken/name.mjs', /validation 1 has no good name: .*found 'a b'/],
      ['./broken/twice.mjs', /validation 2 has the name of another one of the module: one/],
      ['./broken/no-function.mjs', /validation 1 \(one\) has no function validate/],
      ['./broken/schema.mjs', /JSON cannot carry: a function at input_schema\.default/],
      ['./broken/import.mjs', /Cannot find package 'not-there'/],
      ['./broken/throws.mjs', /Error: not today/],
      ['./broken/exits.mjs', /exit code 3.*leaving/],
      ['./broken/never.mjs', /ended|did not load/],
      ['./broken/writes.mjs', /FileSystemWrite/],
      ['./clash.mjs', /brings by_path, as \.\/module\.mjs does before it/],
      ['./gone.mjs', /there is no file/],
      ['./broken', /is no file/],
      ['not-a-package', /no package not-a-package in the node_modules/],
      ['nor a path', /neither the path of a module .* nor a package/],
    ];
    const found = await loaded(['./module.mjs', ...reasons.map(([module]) => module)]);
    expect(found.names).toEqual(['./module.mjs: by_path']);
    expect(found.outcomes).toEqual([passed]);
    expect(found.broken).toEqual(
      reasons.map(([module, reason]) => ({ module, reason: expect.stringMatching(reason) })),
    );
  });
});

describe('a plugin', () => {
  const runner = pluginRunner(['./good.js', './gone.js']);
  const interpreter = new QuickJsInterpreter(1);
  const caller = new ToolCaller({
    interpreter,
    matcher: createMatcher(),
    tools: { runners: { plugin: runner }, missing: {} },
    activations: new Activations({
      interpreter,
      host: { serves: [], platform: 'linux', arch: 'x64', node: 'v20' },
    }),
  });
  afterAll(async () => {
    await caller.close();
    await interpreter.close();
  });

  it('judges the snapshot with the arguments of the call', async () => {
    const { document } = pluginCall('has_keys');
    const validation = { ...document, kind: 'validation', mode: 'required', confirm: 0 } as const;
    const input = { args: { keys: ['a', 'b'] }, subject: { a: 1 }, resource: 'config/x', slot: null };
    const called = await caller.call({ chain: [validation] }, input, living);
    expect(called).toMatchObject({ outcome: { kind: 'verdict' }, readOnly: 'enforced' });
    expect(called.outcome).toHaveProperty('verdict', {
      outcome: 'fail',
      message: '1 missing',
      data: { missing: ['b'] },
    });
  });

  it('is given all of the input, the deadline and the state of its tool', async () => {
    const given = { args: { n: 1 }, subject: ['\u2028 €'], resource: 'repo/x', slot: 'repo' };
    const { outcome } = await runner.run(pluginCall('echo', { ...given, state: { pid: 1 } }), living);
    expect(outcome).toMatchObject({
      value: { data: { input: { ...given, state: { pid: 1 } }, deadline_ms: expect.any(Number) } },
    });
  });

  it('keeps its processes for the calls that follow, one call in each', async () => {
    const one = () => runner.run(pluginCall('echo'), new AbortController().signal);
    const many = Array.from({ length: 12 }, one);
    const outcomes = (await Promise.all(many)).map(({ outcome }) => outcome);
    const counts = outcomes.map(
      (outcome) => (outcome as { value: { data: { calls: number } } }).value.data.calls,
    );
    expect(Math.max(...counts)).toBeGreaterThanOrEqual(6);
  });

  it('goes on in its process when it heeds the deadline', async () => {
    const late = await runner.run(pluginCall('heeds', { deadlineMs: 200 }), living);
    expect(late.outcome).toMatchObject({ kind: 'failure', reason: 'deadline' });
    const { outcome } = await runner.run(pluginCall('echo'), living);
    expect(outcome).toMatchObject({ value: { passed: true } });
  });

  it('is an error when nobody brings it, with the nearest name and what was not loaded', async () => {
    const { outcome } = await runner.run(pluginCall('has_key'), living);
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'no_plugin' });
    expect(outcome).toHaveProperty(
      'message',
      expect.stringMatching(/did you mean "has_keys"\?; \.\/gone\.js was not loaded: there is no file/),
    );
  });

  it('runs nothing after it was closed', async () => {
    const closed = pluginRunner(['./good.js']);
    await closed.load();
    await closed.close();
    const { outcome } = await closed.run(pluginCall('echo'), living);
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'stopped' });
  });
});
