import { failure } from '../core/failure.js';
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

const DOCTOR = 'sluice doctor says what this machine lacks';

interface Lack {
  why: string;
  /** What to do about it. */
  advice: string;
}

function lackOf(need: Need, { missing = {} }: Pick<Serving, 'missing'>): Lack {
  const [kind = need, name] = need.split(':', 2);
  const told = missing[need] ?? missing[name ?? kind] ?? missing[kind];
  if (told !== undefined) return { why: told.replace(/\.$/, ''), advice: DOCTOR };
  // Only the settings can bring these: of what they do not name, doctor knows nothing.
  const settings = 'in the settings of the workers';
  if (kind === 'mcp')
    return {
      why: `no MCP server ${name} is configured here`,
      advice: `name ${name} under mcp_servers ${settings}`,
    };
  if (kind === 'plugin')
    return {
      why: `no plugin ${name} is loaded here`,
      advice: `name the module of plugin ${name} under plugins ${settings}`,
    };
  return { why: `this worker has no runner for ${need}`, advice: DOCTOR };
}

/** Failure of a check that needs what this worker lacks, and that nobody else will take. */
export function noRunner(name: string, lacking: readonly Need[], serving: Serving): RunFailure {
  const lacks = lacking.map((need) => ({ need, ...lackOf(need, serving) }));
  const why = lacks.map((lack) => `${lack.need} (${lack.why})`).join(', ');
  const advice = [...new Set(lacks.map((lack) => lack.advice))].join(', and ');
  const message = `${name} was not run: it needs ${why}; ${advice}`;
  return failure('no_runner', message);
}
