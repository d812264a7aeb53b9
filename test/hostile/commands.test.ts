import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Activations } from '../../src/app/tools/activations.js';
import { type ToolAnswer, ToolCaller } from '../../src/app/tools.js';
import { resolveTool } from '../../src/core/registry/closure.js';
import type { Ran } from '../../src/ports/runner.js';
import { CommandRunner } from '../../src/runners/command.js';
import { createMatcher } from '../../src/runners/pattern-matcher.js';
import { sandboxTrouble } from '../../src/runners/process/available.js';
import { LocalProcesses } from '../../src/runners/process/processes.js';
import { QuickJsInterpreter } from '../../src/runners/quickjs.js';
import { newTraces, type Traces, traces } from '../support/traces.js';
import { given, registryOf } from '../unit/core/registry/build.js';

const SETTINGS = {
  sandbox: 'bubblewrap',
  memoryMiB: 512,
  processes: 64,
  scratchMiB: 16,
  outputCap: 256 * 1024,
  graceMs: 300,
  paths: ['/'],
} as const;

const trouble = await sandboxTrouble(SETTINGS);
if (trouble !== undefined) console.warn(`hostile commands are not tried: ${trouble}`);

type Fields = Record<string, unknown>;

/** Longest time that a hostile command may take beyond its timeout: to be told, killed and cleaned up. */
const SLACK_MS = 10_000;

const script = (text: string, more: Fields = {}): Fields => ({ command: [text], shell: true, ...more });
const OF_A_SECOND = { timeout: '1s' };
const JSON_ONLY = { output: 'json' };

/** Name, document, reason of the failure, what its raw output begins with. */
const HOSTILE: [string, Fields, string, string][] = [
  [
    'prints 1 GB where a result must be',
    { command: ['head', '-c', '1000000000', '/dev/zero'], ...JSON_ONLY, timeout: '40s' },
    'truncated',
    '\0\0\0',
  ],
  [
    'prints a result with 50 MB in it',
    script(
      'printf \'{"passed": true, "message": "\'; head -c 50000000 /dev/zero | tr "\\0" x; printf \'"}\'',
      {
        timeout: '40s',
      },
    ),
    'truncated',
    '{"passed": true, "message": "xxx',
  ],
  ['prints without end', { command: ['yes'], ...OF_A_SECOND }, 'deadline', 'y\ny\n'],
  ['never ends', { command: ['sleep', '1000'], ...OF_A_SECOND }, 'deadline', ''],
  [
    'ignores SIGTERM',
    script('trap "" TERM INT HUP; echo here; while :; do sleep 1; done', OF_A_SECOND),
    'deadline',
    'here\n',
  ],
  [
    'ends well when it is told to stop',
    script('trap "exit 0" TERM; echo waiting; while :; do sleep 0.1; done', OF_A_SECOND),
    'deadline',
    'waiting\n',
  ],
  ['returns NaN', script('echo NaN', JSON_ONLY), 'malformed', 'NaN\n'],
  ['returns NaN for passed', script('echo \'{"passed": NaN}\''), 'malformed', '{"passed": NaN}\n'],
  ['returns nothing', { command: ['true'], ...JSON_ONLY }, 'no_output', ''],
  [
    'returns invalid UTF-8',
    script('printf \'{"passed": true, "message": "\\377\\376"}\''),
    'not_utf8',
    '{"passed": true, "message": "\ufffd\ufffd"}',
  ],
  [
    'returns a result between bytes',
    script('printf \'\\377{"passed": true}\\n\''),
    'mixed_output',
    '\ufffd{',
  ],
  [
    'returns JSON after log lines',
    script('echo checking; echo \'{"passed": true}\''),
    'mixed_output',
    'checking\n',
  ],
  ['says pass and fails', script('echo \'{"passed": true}\'; exit 1'), 'contradiction', '{"passed": true}\n'],
  ['says pass and ends with an error', script('echo \'{"passed": true}\'; exit 2'), 'exit_code', '{"passed"'],
  ['kills itself', script('echo now; kill -9 $$'), 'signal', 'now\n'],
  ['is not there', { command: ['no-such-program-here'] }, 'not_', ''],
  ['is no program', { command: ['./data'], files: { data: { base64: 'AAECAw==' } } }, 'not_started', ''],
];

const HARMLESS: [string, Fields, string][] = [
  [
    'leaves others behind',
    script('setsid sleep 1000 & sleep 1000 & nohup sleep 1000 >/dev/null 2>&1 & echo "{\\"passed\\": true}"'),
    'pass',
  ],
  ['does not read what it is given', { command: ['true'] }, 'pass'],
  [
    'prints 50 MB beside its exit code',
    script('head -c 50000000 /dev/zero >&2; exit 1', { timeout: '40s' }),
    'fail',
  ],
];

const name = (n: number, kind: string) => `${kind}${n}`;
const documents = [
  ...HOSTILE.map(([, fields], n) => ({ name: name(n, 'hostile'), ...fields })),
  ...HARMLESS.map(([, fields], n) => ({ name: name(n, 'harmless'), ...fields })),
  { name: 'yes-sir', ...script('echo \'{"passed":"yes"}\'') },
  {
    name: 'neighbour',
    command: ['sh', 'check.sh'],
    files: { 'check.sh': 'cat >/dev/null; echo \'{"passed": true}\'' },
  },
];

describe.skipIf(trouble !== undefined)('a hostile command', () => {
  const registry = registryOf(given('validation', ...documents));
  const processes = new LocalProcesses(SETTINGS);
  const interpreter = new QuickJsInterpreter(1);
  const caller = new ToolCaller({
    interpreter,
    matcher: createMatcher(),
    tools: { runners: { command: new CommandRunner(processes) }, missing: {} },
    activations: new Activations({ interpreter, host: { serves: [], platform: '', arch: '', node: '' } }),
  });
  const subject = { text: 'x'.repeat(2_000_000) };
  const call = (tool: string) =>
    caller.call(
      resolveTool(registry, tool),
      { args: {}, subject, resource: 'repo/main', slot: null },
      new AbortController().signal,
    );

  const answers = new Map<string, { ran: Ran<ToolAnswer>; ms: number }>();
  const meanwhile: { ran: Ran<ToolAnswer>; ms: number }[] = [];
  let before: Traces;

  async function timed(tool: string) {
    const started = performance.now();
    const ran = await call(tool);
    return { ran, ms: performance.now() - started };
  }

  beforeAll(async () => {
    before = traces();
    const under = documents.filter((each) => each.name !== 'neighbour');
    const all = under.map(async (each) => answers.set(each.name, await timed(each.name)));
    meanwhile.push(await timed('neighbour'));
    await Promise.all(all);
    meanwhile.push(await timed('neighbour'));
  }, 120_000);

  afterAll(async () => {
    await caller.close();
    await interpreter.close();
  });

  it.each(HOSTILE.map(([what, fields, reason, output], n) => ({ what, fields, reason, output, n })))(
    'that $what is an error with its reason and output, on time',
    ({ fields, reason, output, n }) => {
      const { ran, ms } = answers.get(name(n, 'hostile')) ?? { ran: undefined, ms: 0 };
      const { outcome } = ran ?? {};
      if (outcome?.kind !== 'failure') throw new Error(JSON.stringify(outcome)?.slice(0, 500));
      expect(outcome.reason.startsWith(reason), `${outcome.reason}: ${outcome.message}`).toBe(true);
      expect(outcome.message).toMatch(/\S/);
      if (output !== '') expect(String(outcome.data?.raw_output).slice(0, output.length)).toBe(output);
      expect(Buffer.byteLength(String(outcome.data?.raw_output ?? ''))).toBeLessThanOrEqual(65_536);
      const timeout = fields.timeout === '1s' ? 1_000 : 40_000;
      expect(ms).toBeLessThan(timeout + SLACK_MS);
    },
  );

  it('that returns a word for passed is an error with the original in it', () => {
    expect(answers.get('yes-sir')?.ran.outcome).toMatchObject({
      kind: 'verdict',
      verdict: { outcome: 'error', data: { raw_output: '{"passed":"yes"}' } },
    });
  });

  it.each(HARMLESS.map(([what, , outcome], n) => ({ what, outcome, n })))(
    'that $what has its verdict all the same',
    ({ outcome, n }) => {
      expect(answers.get(name(n, 'harmless'))?.ran.outcome).toMatchObject({
        kind: 'verdict',
        verdict: { outcome },
      });
    },
  );

  it('keeps no other check of the same caller from passing', () => {
    expect(meanwhile).toHaveLength(2);
    for (const { ran, ms } of meanwhile) {
      expect(ran).toMatchObject({
        outcome: { kind: 'verdict', verdict: { outcome: 'pass' } },
        readOnly: 'enforced',
      });
      expect(ms).toBeLessThan(SLACK_MS);
    }
  });

  it('ends at once when its worker is to stop, and all of it', async () => {
    const stopping = new AbortController();
    const input = { args: {}, subject: null, resource: null, slot: null };
    const run = caller.call(resolveTool(registry, name(4, 'hostile')), input, stopping.signal);
    setImmediate(() => stopping.abort());
    await expect(run).rejects.toThrow('stopped');
  });

  it('leaves nothing behind', async () => {
    await caller.close();
    await interpreter.close();
    expect(await newTraces(before)).toEqual([]);
  });
});
