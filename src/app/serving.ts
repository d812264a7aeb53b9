import type { Need } from '../core/registry/needs.js';
import type { RunFailure } from '../core/validators/validator.js';

/** What a worker serves, and what becomes of the rest. */
export interface Serving {
  /** Runners that this worker has. */
  serves: readonly Need[];
  /** `wait`: another worker may take it until its deadline; `error`: nobody else will come. */
  unserved: 'wait' | 'error';
  /** Why it has no others, by need or by kind of runner. */
  missing?: Readonly<Record<string, string>>;
}

function whyNot(need: Need, { missing = {} }: Pick<Serving, 'missing'>): string {
  const [kind = need, name] = need.split(':', 2);
  const told = missing[need] ?? missing[name ?? kind] ?? missing[kind];
  if (told !== undefined) return told.replace(/\.$/, '');
  if (kind === 'mcp') return `no MCP server ${name} is configured here`;
  if (kind === 'plugin') return `no plugin ${name} is loaded here`;
  return `this worker has no runner for ${need}`;
}

/** Failure of a check that needs what this worker lacks, and that nobody else will take. */
export function noRunner(name: string, lacking: readonly Need[], serving: Serving): RunFailure {
  const why = lacking.map((need) => `${need} (${whyNot(need, serving)})`).join(', ');
  const message = `${name} was not run: it needs ${why}; sluice doctor says what this machine lacks`;
  return { kind: 'failure', reason: 'no_runner', message };
}
