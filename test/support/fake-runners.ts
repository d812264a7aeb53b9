import type { OpenedRunners } from '../../src/compose.js';
import { RUNNER_KINDS } from '../../src/core/registry/needs.js';
import type { ToolOutput, ToolRun, ToolRunner } from '../../src/ports/runner.js';

export interface FakeRunners extends OpenedRunners {
  /** How often each was closed, by kind. */
  closed: Record<string, number>;
}

const PASSED: ToolOutput = { kind: 'verdict', verdict: { outcome: 'pass', message: 'fine', data: {} } };

/** Runners of these kinds, which start no process; the others are missing. `run` says what comes of a call. */
export function fakeRunners(
  kinds: readonly (typeof RUNNER_KINDS)[number][],
  run: (call: ToolRun, signal: AbortSignal) => Promise<ToolOutput> = async () => PASSED,
): FakeRunners {
  const closed: Record<string, number> = {};
  const runnerOf = (kind: string): ToolRunner => ({
    run: async (call, signal) => ({ outcome: await run(call, signal), readOnly: 'enforced' }),
    async close() {
      closed[kind] = (closed[kind] ?? 0) + 1;
    },
  });
  const without = RUNNER_KINDS.filter((kind) => !kinds.includes(kind));
  const missing = Object.fromEntries(without.map((kind) => [kind, `there is no ${kind} in this test`]));
  return {
    tools: { runners: Object.fromEntries(kinds.map((kind) => [kind, runnerOf(kind)])), missing },
    ...(kinds.includes('ansible')
      ? {
          ansible: {
            run: async () => ({
              outcome: {
                kind: 'ansible',
                exitCode: 0,
                timedOut: false,
                stdout:
                  'PLAY RECAP ***\nlocalhost : ok=1 changed=0 unreachable=0 failed=0 skipped=0 rescued=0 ignored=0\n',
                stderr: '',
                durationMs: 1,
              },
              readOnly: 'enforced',
            }),
          },
        }
      : {}),
    serves: [...kinds, 'pure'].sort(),
    missing,
    closed,
    async close() {},
  };
}

/** A call that ends with its signal alone; says when it has begun, and when it was stopped. */
export function hanging(): {
  run: (call: ToolRun, signal: AbortSignal) => Promise<ToolOutput>;
  begun: Promise<void>;
  stopped: Promise<void>;
} {
  let begin = () => {};
  let stop = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const run = (_call: ToolRun, signal: AbortSignal) =>
    new Promise<ToolOutput>((_, reject) => {
      const end = () => {
        stop();
        reject(signal.reason as Error);
      };
      begin();
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
    });
  return { run, begun, stopped };
}
