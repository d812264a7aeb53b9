import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLUGINS, pluginCall, pluginRunner } from '../support/plugins.js';
import { newTraces, traces } from '../support/traces.js';

const before = traces();
const living = new AbortController().signal;
const outside = mkdtempSync(join(tmpdir(), 'plugins-'));
const from = join(outside, 'package');
const runner = pluginRunner(['./hostile.js', './good.js'], { from });
const bare = pluginRunner(['./hostile.js'], { from, sandbox: 'off' });
const server = createServer((socket) => socket.destroy());

beforeAll(async () => {
  chmodSync(outside, 0o755);
  writeFileSync(join(outside, 'secret.js'), 'export default "secret";');
  cpSync(PLUGINS, from, { recursive: true });
  symlinkSync(join(outside, 'secret.js'), join(from, 'link.js'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await runner.load();
});

afterAll(async () => {
  await Promise.all([runner.close(), bare.close()]);
  await new Promise((resolve) => server.close(resolve));
  expect(existsSync(join(from, 'written'))).toBe(false);
  rmSync(outside, { recursive: true });
  expect(await newTraces(before)).toEqual([]);
});

const misdeed = async (name: string, args = {}, deadlineMs = 8_000, by = runner) =>
  (await by.run(pluginCall(name, { args, deadlineMs }), living)).outcome;

const good = async () => (await runner.run(pluginCall('echo'), living)).outcome;

describe('a plugin that does not come back', () => {
  it.each(['loops', 'ignores_sigterm', 'never_resolves', 'prints_for_ever'])(
    'is ended at its deadline when it %s, while others go on',
    async (name) => {
      const started = performance.now();
      const [outcome, other] = await Promise.all([misdeed(name, {}, 500), good()]);
      expect(outcome).toMatchObject({ kind: 'failure', reason: 'deadline' });
      expect(other).toMatchObject({ kind: 'value', value: { passed: true } });
      expect(performance.now() - started).toBeLessThan(15_000);
    },
  );

  it.each([
    ['exits', /exit code 7/, ''],
    ['throws_in_timer', /exit code 1/, 'out of a timer'],
    ['rejects_unheard', /exit code 1/, 'nobody listens'],
    ['allocates', /./, 'heap'],
  ])('is an error when it %s, and is started again for the next', async (name, how, said) => {
    const outcome = await misdeed(name);
    expect(outcome).toMatchObject({ reason: 'plugin_died', message: expect.stringMatching(how) });
    if (said !== '') expect(outcome).toMatchObject({ data: { raw_output: expect.stringContaining(said) } });
    expect(await misdeed('keeps_timer')).toMatchObject({ kind: 'value', value: { passed: true } });
  });

  it('does not take the worker along', async () => {
    expect(await misdeed('kills_parent')).toMatchObject({ kind: 'failure' });
    expect(await misdeed('keeps_timer')).toMatchObject({ kind: 'value', value: { passed: true } });
  });

  it('is not waited for by a call that is aborted', async () => {
    const abort = new AbortController();
    const run = runner.run(pluginCall('never_resolves'), abort.signal);
    const stopped = expect(run).rejects.toThrow('stopped');
    // A later call has its answer: the earlier one is under way.
    expect(await misdeed('keeps_timer')).toMatchObject({ kind: 'value' });
    abort.abort();
    await stopped;
  });
});

describe('a plugin that reaches out of its place', () => {
  const DENIED =
    /ERR_ACCESS_DENIED|Access to this API has been restricted|EROFS|addons is disabled|process\.binding/;
  const deeds: [string, { path?: string }][] = [
    ['writes', {}],
    ['writes_in_package', {}],
    ['dumps_heap', {}],
    ['spawns', {}],
    ['starts_worker', {}],
    ['loads_addon', {}],
    ['binds', {}],
    ['reads_outside', { path: '/etc/passwd' }],
  ];

  it.each(deeds)('is refused when it %s %o, with and without the sandbox', async (name, args) => {
    const both = await Promise.all([misdeed(name, args), misdeed(name, args, 20_000, bare)]);
    const refused = { kind: 'failure', reason: 'threw', message: expect.stringMatching(DENIED) };
    expect(both).toMatchObject([refused, refused]);
  });

  it('says what it was refused', async () => {
    const outcome = await misdeed('reads_outside', { path: '/etc/passwd' });
    expect(outcome).toMatchObject({ message: expect.stringContaining('(FileSystemRead /etc/passwd)') });
  });

  it('does not load a module from elsewhere, nor through a link', async () => {
    const path = join(outside, 'secret.js');
    expect(await misdeed('imports_outside', { path })).toMatchObject({ reason: 'threw' });
    expect(await misdeed('reads_outside', { path: join(from, 'link.js') })).toMatchObject({
      reason: 'threw',
    });
  });

  it('has nothing of the worker’s environment', async () => {
    process.env.SLUICE_TEST_SECRET = 'secret';
    const outcome = await misdeed('reads_environment');
    delete process.env.SLUICE_TEST_SECRET;
    expect(outcome).toMatchObject({ kind: 'value', value: { data: { HOME: expect.any(String) } } });
    expect(JSON.stringify(outcome)).not.toContain('SLUICE_TEST_SECRET');
  });

  it('reaches no server of this host', async () => {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    expect(await misdeed('connects', { port })).toMatchObject({ reason: 'threw' });
  });

  it('is said to be kept from writing only where the sandbox keeps it', async () => {
    const call = pluginCall('keeps_timer');
    expect(await runner.run(call, living)).toMatchObject({ readOnly: 'enforced' });
    expect(await bare.run(call, living)).toMatchObject({ readOnly: 'declared' });
  });
});

describe('a plugin that says what it should not', () => {
  it.each(['floods_lines', 'floods_one_line'])('is ended when it %s', async (name) => {
    expect(await misdeed(name)).toMatchObject({ kind: 'failure', reason: 'plugin_flood' });
  });

  it('cannot print an answer', async () => {
    expect(await misdeed('forges')).toMatchObject({ value: { passed: false, message: 'the real one' } });
  });

  it.each<[string, string, string]>([
    ['returns_much', 'too_large', '5000034 bytes'],
    ['returns_nothing', 'malformed', 'JSON cannot carry: nothing'],
    ['returns_nan', 'malformed', 'NaN at data.ratio'],
    ['returns_function', 'malformed', 'a function at data.f'],
    ['returns_bigint', 'malformed', 'a BigInt at data.list[1]'],
    ['returns_date', 'malformed', 'an object of class Date at data.at'],
    ['returns_map', 'malformed', 'an object of class Map'],
    ['returns_cycle', 'malformed', 'what contains itself at data.self'],
    ['returns_deep', 'malformed', '128 levels deep'],
    ['returns_trap', 'threw', 'looked at'],
    ['throws_text', 'threw', "'no error'"],
    ['throws_null', 'threw', 'null'],
    ['throws_trap', 'threw', ''],
    ['throws_much', 'threw', 'xxx'],
  ])('is an error with its evidence when it %s', async (name, reason, message) => {
    const outcome = await misdeed(name);
    expect(outcome).toMatchObject({ kind: 'failure', reason, message: expect.stringContaining(message) });
    expect(outcome).toMatchObject({ data: { raw_output: expect.stringMatching(/./) } });
    expect(JSON.stringify(outcome).length).toBeLessThan(70_000);
  });
});
