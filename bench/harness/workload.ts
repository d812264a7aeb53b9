import type { RunRecord } from '../../src/core/run-record.js';
import { loadScenario, scenarioJson, sealScenario } from '../../src/core/scenario/load.js';
import type { Scenario } from '../../src/core/scenario/model.js';
import { type StoredSubject, subjectOf } from '../../src/core/subject.js';

/** Bytes of text in one run. */
export const BYTES = 4096;

/** Ten ordinary rules, six that must match and four that must not; the same for every peer. */
export const RULES = [
  { pattern: 'systemctl.*(restart|reload|start).*nginx', negate: false },
  { pattern: '/etc/nginx/', negate: false },
  { pattern: 'rm -rf /(\\s|$)', negate: true },
  { pattern: 'journalctl -u \\w+', negate: false },
  { pattern: '\\breboot\\b', negate: true },
  { pattern: '\\bdf\\b', negate: false },
  { pattern: 'curl .*evil\\.example', negate: true },
  { pattern: 'free -m\\b', negate: false },
  { pattern: 'shutdown|halt|poweroff', negate: true },
  { pattern: 'tail -n \\d+', negate: false },
];
/** Checks of one run. */
export const CHECKS = RULES.length;
/** Rules that are required: the first so many. */
const REQUIRED = 5;
/** One run in so many breaks a rule. */
const FAILS_EVERY = 10;

const COMMANDS = [
  'systemctl status nginx.service --no-pager',
  'journalctl -u nginx --since "1 hour ago" | tail -n 50',
  'cat /etc/nginx/sites-enabled/default',
  'df -h /var/log && free -m',
  'nginx -t 2>&1 | grep -v warn',
  'ls -la /var/log/nginx',
  'sudo systemctl restart nginx.service',
  'curl -sI http://localhost/ | head -n 1',
  'ss -ltnp | grep :80',
  'grep -n "worker_connections" /etc/nginx/nginx.conf',
];

export interface Run {
  id: string;
  subject: StoredSubject;
  /** The commands as one text: what a peer loads and searches. */
  text: string;
}

/** What each run should come to. */
export interface Expected {
  passed: boolean;
  /** Rules that hold. */
  score: number;
}

export interface Workload {
  scenario: Scenario;
  /** As an operator would write it. */
  scenarioGiven: Record<string, unknown>;
  scenarioJson: string;
  runs: Run[];
}

function commandsOf(seed: number, bytes: number): string[] {
  const commands: string[] = [];
  let length = 0;
  for (let i = seed; length < bytes; i++) {
    const command = `${COMMANDS[(i * 7 + (seed % 3)) % COMMANDS.length]} # step ${seed}-${i}`;
    commands.push(command);
    length += command.length + 1;
  }
  if (seed % FAILS_EVERY === 0) commands.push('reboot');
  return commands;
}

/** The run record of the n-th run, with about `bytes` of text; every one is different. */
export const recordOf = (n: number, bytes = BYTES): RunRecord => ({
  id: `run-${n}`,
  tasks: [{ id: 'task-1', commands: commandsOf(n, bytes) }],
});

export function runOf(n: number, bytes = BYTES): Run {
  const record = recordOf(n, bytes);
  return {
    id: record.id,
    subject: subjectOf(record),
    text: (record.tasks?.[0]?.commands ?? []).join('\n'),
  };
}

const compiled = RULES.map(({ pattern, negate }) => ({ pattern: new RegExp(pattern, 'im'), negate }));

/** Whether each rule holds for a text: told by RegExp alone, so that it rests on nothing of Sluice. */
export const holds = (text: string): boolean[] =>
  compiled.map(({ pattern, negate }) => pattern.test(text) !== negate);

export function expectedOf(text: string): Expected {
  const held = holds(text);
  return {
    passed: held.slice(0, REQUIRED).every(Boolean) && held.filter(Boolean).length * 100 >= 80 * held.length,
    score: held.filter(Boolean).length,
  };
}

export function scenarioFor(
  rules: readonly object[],
): Pick<Workload, 'scenario' | 'scenarioGiven' | 'scenarioJson'> {
  const scenarioGiven = { key: 'bench', validation: { tasks: rules } };
  const text = JSON.stringify(scenarioGiven);
  const loaded = loadScenario({ file: 'bench', text, defaultKey: 'bench' });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const scenario = sealScenario(loaded.scenario);
  return { scenario, scenarioGiven, scenarioJson: scenarioJson(scenario) };
}

/** The scenario with the ten rules. */
export const tenRules = () =>
  scenarioFor(
    RULES.map(({ pattern, negate }, i) => ({
      label: `pattern ${i + 1}`,
      validator: 'pattern_match',
      where: 'executed_commands',
      pattern,
      negate,
      required: i < REQUIRED,
    })),
  );

/** `count` runs of about `bytes` of text each, judged by the ten rules. */
export const makeWorkload = (count: number, bytes = BYTES): Workload => ({
  ...tenRules(),
  runs: Array.from({ length: count }, (_, n) => runOf(n, bytes)),
});
