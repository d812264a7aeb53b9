import { dirname, resolve } from 'node:path';
import type { Config } from './schema.js';

const isRelative = (text: string): boolean => /^\.\.?(?:\/|$)/.test(text);

/** The settings with every path that begins with `./` or `../` taken from the folder of their file. */
export function withPlaces(config: Config, file: string): Config {
  const folder = dirname(resolve(file));
  const at = (text: string) => (isRelative(text) ? resolve(folder, text) : text);
  const optional = (text: string | undefined) => (text === undefined ? undefined : at(text));
  const { ansible, mcp_servers: servers, plugins, runners } = config;
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
    plugins: plugins.map(({ module, network }) => ({ module: at(module), network })),
  };
}
