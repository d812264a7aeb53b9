import { dirname, resolve } from 'node:path';
import { isPlainObject } from '../src/core/json.js';
import type { Config } from './schema.js';

const isRelative = (text: string): boolean => /^\.\.?(?:\/|$)/.test(text);

/** Options of sinks and sources name files in two ways: as a secret, `{file: PATH}`, and below `tls`. */
const IN_TLS: ReadonlySet<string> = new Set(['ca', 'cert', 'key']);

function optionPlaces(
  options: Record<string, unknown>,
  at: (text: string) => string,
): Record<string, unknown> {
  const isSecret = Object.keys(options).length === 1 && typeof options.file === 'string';
  if (isSecret) return { file: at(options.file as string) };
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => {
      if (Array.isArray(value))
        return [name, value.map((one) => (isPlainObject(one) ? optionPlaces(one, at) : one))];
      if (!isPlainObject(value)) return [name, value];
      if (name !== 'tls') return [name, optionPlaces(value, at)];
      const inTls = ([key, text]: [string, unknown]) =>
        IN_TLS.has(key) && typeof text === 'string' ? [key, at(text)] : [key, text];
      return [name, Object.fromEntries(Object.entries(value).map(inTls))];
    }),
  );
}

/** The settings with every path that begins with `./` or `../` taken from the folder of their file. */
export function withPlaces(config: Config, file: string): Config {
  const folder = dirname(resolve(file));
  const at = (text: string) => (isRelative(text) ? resolve(folder, text) : text);
  const optional = (text: string | undefined) => (text === undefined ? undefined : at(text));
  const { ansible, http, mcp_servers: servers, plugins, references, runners } = config;
  const withOptions = <T extends { options: Record<string, unknown> }>(endpoint: T): T => ({
    ...endpoint,
    options: optionPlaces(endpoint.options, at),
  });
  return {
    ...config,
    runners: { ...runners, paths: runners.paths.map(at) },
    ansible: {
      ...ansible,
      vault_password_file: optional(ansible.vault_password_file),
      private_key_file: optional(ansible.private_key_file),
      known_hosts_file: optional(ansible.known_hosts_file),
    },
    mcp_servers: Object.fromEntries(
      Object.entries(servers).map(([name, server]) => {
        if ('url' in server) return [name, server];
        return [name, { ...server, command: server.command.map(at), paths: server.paths.map(at) }];
      }),
    ),
    sinks: config.sinks.map(withOptions),
    sources: config.sources.map(withOptions),
    references: { ...references, folders: references.folders.map(at) },
    http: { ...http, cert: optional(http.cert), key: optional(http.key) },
    plugins: plugins.map(({ module, network }) => ({ module: at(module), network })),
  };
}
