import { loadScenario, scenarioJson, sealScenario } from '../src/core/scenario/load.js';
import type { Scenario } from '../src/core/scenario/model.js';
import { type StoredSubject, subjectOf } from '../src/core/subject.js';

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

export interface Workload {
  scenario: Scenario;
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

/** `count` runs of about `bytes` of text each, every one different, judged by the ten rules. */
export function makeWorkload(count: number, bytes: number): Workload {
  const rules = RULES.map(({ pattern, negate }, i) => ({
    label: `pattern ${i + 1}`,
    validator: 'pattern_match',
    where: 'executed_commands',
    pattern,
    negate,
    required: i < 5,
  }));
  const text = JSON.stringify({ key: 'bench', validation: { tasks: rules } });
  const loaded = loadScenario({ file: 'bench', text, defaultKey: 'bench' });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const scenario = sealScenario(loaded.scenario);
  const runs = Array.from({ length: count }, (_, i): Run => {
    const commands = commandsOf(i, bytes);
    const subject = subjectOf({ id: `run-${i}`, tasks: [{ id: 'task-1', commands }] });
    return { id: `run-${i}`, subject, text: commands.join('\n') };
  });
  return { scenario, scenarioJson: scenarioJson(scenario), runs };
}
