import type { Needed } from '../core/registry/needed.js';
import type { Need } from '../core/registry/needs.js';
import type { LoadedPlugins } from '../core/registry/plugins.js';
import type { ServingWorker } from '../core/routing.js';
import type { RunFailure } from '../core/validators/validator.js';
import type { UnservedChunk } from '../ports/store.js';

/** Lists the tools of an MCP server; throws when `signal` is aborted. */
export type ToolsOfServer = (signal: AbortSignal) => Promise<readonly unknown[] | RunFailure>;

/** What this machine has for a worker. */
export interface HostRunners {
  serves: readonly Need[];
  /** Why it has not the rest. */
  missing: Readonly<Record<string, string>>;
  /** Why workers with these settings take no job of a runner all the same; absent: they do. */
  takesNone?: string;
}

/** What the settings choose to hold tools with. */
export interface SandboxChoice {
  sandbox: 'bubblewrap' | 'container' | 'off';
  /** Whether results of workers on this machine may say that it held. */
  isEnforced: boolean;
  /** The settings that demand this of required checks. */
  demandedBy: readonly string[];
}

/** What is known of the fleet on the given Redis. */
export interface FleetFacts {
  /** The workers that are alive. */
  workers: readonly ServingWorker[];
  /** Evaluations that wait for a runner which none of them has. */
  waiting: readonly UnservedChunk[];
  /** There may be more of them. */
  isCut: boolean;
  /** What registered tools and validations need. */
  needed: readonly Needed[];
}

/** A sink or source of the settings, as far as it can be looked at without connecting to it. */
export interface EndpointFacts {
  /** `KIND=TARGET`, without credentials. */
  shown: string;
  /** Why it cannot be used as it is set. */
  problems: readonly string[];
  /** Secrets and certificates that this machine has not. */
  missing: readonly string[];
}

/** Over how many shards a fleet is spread, and what is where it would not be now. */
export interface ShardFacts {
  shards: number;
  /** Numbers that it had before and that something is kept of. */
  former: readonly number[];
  left: readonly { shard: number }[];
}

/** What doctor looks at. */
export interface DoctorOptions {
  /** The Redis to look at; without, the one that the private server would be. */
  redisUrl?: string;
  /** Port of the private one of this folder, where it runs and no other is set. */
  privatePort?: number;
  /** Folder for local data, as `--dir` of the private Redis; usually `.sluice`. */
  dir: string;
  /** Where PATH is looked up. */
  env: NodeJS.ProcessEnv;
  /** MCP servers of the settings, by name. */
  mcpServers?: Readonly<Record<string, ToolsOfServer>>;
  /** Loads the plugins of the settings; absent: there are none. */
  plugins?: () => Promise<LoadedPlugins>;
  /** Absent: bubblewrap, and nothing demands it. */
  sandbox?: SandboxChoice;
  /** Finds out what this machine can run. */
  host?: () => Promise<HostRunners>;
  /** Looks at the sinks of the settings; absent: there are none. May throw. */
  sinks?: () => Promise<readonly EndpointFacts[]>;
  /** Looks at the sources of the settings; absent: there are none. May throw. */
  sources?: () => Promise<readonly EndpointFacts[]>;
  /** Looks at the shards of the fleet; may throw. */
  shards?: () => Promise<ShardFacts>;
  /** Asks the given Redis, or the private one that runs; may throw. */
  fleet?: () => Promise<FleetFacts>;
}

/** `warn`: everything works, with a limit that `advice` names; `fail`: something will not work. */
export type CheckStatus = 'ok' | 'warn' | 'fail';

export interface Finding {
  status: CheckStatus;
  /** What was found, in one sentence. */
  found: string;
  /** What to do, or what works without; empty when there is nothing to do. */
  advice: string;
}

/** One thing doctor looks at. `run` never throws: what it cannot find out is a finding too. */
export interface DoctorCheck {
  name: string;
  run(options: DoctorOptions): Promise<Finding[]>;
}

export interface NamedFinding extends Finding {
  name: string;
}

export interface DoctorReport {
  /** The worst of all findings. */
  status: CheckStatus;
  checks: NamedFinding[];
}

export const ok = (found: string, advice = ''): Finding => ({ status: 'ok', found, advice });
export const warn = (found: string, advice: string): Finding => ({ status: 'warn', found, advice });
export const fail = (found: string, advice: string): Finding => ({ status: 'fail', found, advice });
