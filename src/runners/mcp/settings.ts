import { failure } from '../../core/failure.js';
import { knownSecrets, type Secrets } from '../../core/mcp/secrets.js';
import type { RunFailure } from '../../core/validators/validator.js';

/** A server that is started here and spoken to over its standard streams. */
export interface McpStdioSettings {
  /** Program and arguments. */
  command: readonly string[];
  /** Variables of its environment. */
  env: Readonly<Record<string, string>>;
  /** Variables whose values are taken from variables of this process, by name. */
  env_from: Readonly<Record<string, string>>;
  network: boolean;
  /** Files and folders of the host that it reads, absolute. */
  paths: readonly string[];
  /** Servers that are kept at a time, from 1. */
  sessions: number;
}

/** A server that is reached over streamable HTTP. */
export interface McpHttpSettings {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Headers whose values are taken from variables of this process, by name. */
  headers_from: Readonly<Record<string, string>>;
  /** Sessions that are kept at a time, from 1. */
  sessions: number;
}

export type McpServerSettings = McpStdioSettings | McpHttpSettings;

/** What a server was given that must not come back from it. */
export function secretsOf(settings: McpServerSettings, env: NodeJS.ProcessEnv): Secrets {
  const from = 'url' in settings ? settings.headers_from : settings.env_from;
  return knownSecrets(Object.values(from).flatMap((variable) => env[variable] ?? []));
}

/** Values of variables by what they are for; or the failure that names every variable that is not set. */
export function taken(
  server: string,
  field: 'env_from' | 'headers_from',
  from: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): { kind: 'values'; values: Record<string, string> } | RunFailure {
  const entries = Object.entries(from);
  const missing = entries.filter(([, variable]) => env[variable] === undefined);
  if (missing.length === 0) {
    const values = entries.map(([name, variable]) => [name, env[variable] ?? '']);
    return { kind: 'values', values: Object.fromEntries(values) };
  }
  const list = missing.map(([name, variable]) => `${variable} (for ${name})`).join(', ');
  const message = `the MCP server ${server} cannot be used: ${field} takes variables that this process does not have: ${list}`;
  return failure('mcp_not_configured', message);
}
