import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChild } from '../harness/in-child.js';
import { RULES, runOf } from '../harness/workload.js';

/** What this row takes of promptfoo's programming interface. */
interface Promptfoo {
  evaluate(suite: object, options: object): Promise<{ toEvaluateSummary(): Promise<Summary> }>;
}

interface Summary {
  results: { vars: { run: string }; gradingResult?: { componentResults?: { pass: boolean }[] } }[];
}

/** So many runs to be judged; `stored`: in its database, as it does unless it is told otherwise. */
interface Order {
  count: number;
  stored: boolean;
}

/** Times one evaluation; the checks that passed, by run. */
async function evaluate(promptfoo: Promptfoo, { count, stored }: Order, atOnce: number) {
  const provider = {
    id: () => 'recorded',
    callApi: async (_prompt: string, { vars }: { vars: { text: string } }) => ({ output: vars.text }),
  };
  const assertions = RULES.map(({ pattern, negate }) => ({
    type: negate ? 'not-regex' : 'regex',
    value: pattern,
  }));
  const tests = Array.from({ length: count }, (_, n) => {
    const { id, text } = runOf(n);
    return { vars: { run: id, text }, assert: assertions };
  });
  const suite = { prompts: ['{{run}}'], providers: [provider], tests, writeLatestResults: stored };
  const started = performance.now();
  const done = await promptfoo.evaluate(suite, {
    maxConcurrency: atOnce,
    cache: false,
    showProgressBar: false,
  });
  const ms = performance.now() - started;
  const { results } = await done.toEvaluateSummary();
  const judged = results.map(({ vars, gradingResult }) => {
    const checks = gradingResult?.componentResults ?? [];
    return { run: vars.run, checks: checks.length, passed: checks.filter(({ pass }) => pass).length };
  });
  return { ms, judged };
}

/** promptfoo in a process of its own: it asks nothing of the network, and what it keeps goes with it. */
await runChild<{ url: string; atOnce: number }>(async ({ url, atOnce }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-promptfoo-'));
  Object.assign(process.env, {
    PROMPTFOO_CONFIG_DIR: folder,
    PROMPTFOO_DISABLE_TELEMETRY: '1',
    PROMPTFOO_DISABLE_UPDATE: '1',
    PROMPTFOO_DISABLE_REMOTE_GENERATION: '1',
    LOG_LEVEL: 'error',
  });
  const { default: promptfoo } = (await import(url)) as { default: Promptfoo };
  return {
    answer: (order) => evaluate(promptfoo, order as Order, atOnce),
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
});
