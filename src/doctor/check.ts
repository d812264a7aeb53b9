import type { LoadedPlugins } from '../core/registry/plugins.js';
import type { RunFailure } from '../core/validators/validator.js';

/** Lists the tools of an MCP server; throws when `signal` is aborted. */
export type ToolsOfServer = (signal: AbortSignal) => Promise<readonly unknown[] | RunFailure>;

/** What doctor looks at. */
export interface DoctorOptions {
  /** The Redis to look at; without, the one that the private server would be. */
  redisUrl?: string;
  /** Folder for local data, as `--dir` of the private Redis; usually `.sluice`. */
  dir: string;
  /** Where PATH is looked up. */
  env: NodeJS.ProcessEnv;
  /** MCP servers of the settings, by name. */
  mcpServers?: Readonly<Record<string, ToolsOfServer>>;
  /** Loads the plugins of the settings; absent: there are none. */
  plugins?: () => Promise<LoadedPlugins>;
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
