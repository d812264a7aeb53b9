import { parse } from 'yaml';
import { isPlainObject } from '../../core/json.js';
import type { AnsibleRequest } from '../../core/validators/validator.js';

const SECTION = /^\[([^\]:]+)(?::(vars|children))?\]/;
const CONNECTION = /(?:^|\s)ansible_connection\s*=\s*["']?([\w.]+)/;
const LOCAL: readonly unknown[] = ['local', 'ansible.builtin.local'];

/** What hosts of one group say: of each line its connection, where it names one. */
interface Group {
  hosts: (string | undefined)[];
  connection?: string;
}

/** `[all:vars]` and `[group:vars]` count for hosts that name no connection of their own. */
function isLocalIni(text: string): boolean {
  const groups = new Map<string, Group>();
  const groupOf = (name: string): Group => {
    const known = groups.get(name) ?? { hosts: [] };
    groups.set(name, known);
    return known;
  };
  let name = 'ungrouped';
  let part: string | undefined;
  for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
    if (line === '' || /^[#;]/.test(line)) continue;
    const section = SECTION.exec(line);
    const connection = CONNECTION.exec(line)?.[1];
    if (section !== null) [, name = '', part] = section;
    else if (part === undefined) groupOf(name).hosts.push(connection);
    else if (part === 'vars' && connection !== undefined) groupOf(name).connection = connection;
  }
  const common = groups.get('all')?.connection;
  return [...groups.values()].every(({ hosts, connection }) =>
    hosts.every((own) => LOCAL.includes(own ?? connection ?? common)),
  );
}

function isLocalGroup(group: unknown, inherited: unknown): boolean {
  if (group === null || group === undefined) return true;
  if (!isPlainObject(group)) return false;
  const { hosts, vars, children } = group;
  const connection = (isPlainObject(vars) ? vars.ansible_connection : undefined) ?? inherited;
  const hostValues = isPlainObject(hosts) ? Object.values(hosts) : hosts ? [undefined] : [];
  const groups = isPlainObject(children) ? Object.values(children) : [];
  return (
    hostValues.every((host) =>
      LOCAL.includes((isPlainObject(host) ? host.ansible_connection : undefined) ?? connection),
    ) && groups.every((child) => isLocalGroup(child, connection))
  );
}

function isLocalYaml(text: string): boolean {
  try {
    const document: unknown = parse(text, { logLevel: 'error' });
    if (!isPlainObject(document)) return false;
    const { all } = document;
    const common = isPlainObject(all) && isPlainObject(all.vars) ? all.vars.ansible_connection : undefined;
    return Object.values(document).every((group) => isLocalGroup(group, common));
  } catch {
    return false;
  }
}

/**
 * Whether all that a playbook can reach is the machine that it runs on: it has no inventory, or one file
 * that gives every host a local connection. What cannot be told for certain is not local: a folder, a
 * script, variables in files of their own.
 */
export function isLocal(request: AnsibleRequest, file: (path: string) => Uint8Array | undefined): boolean {
  const given = request.extraVars?.ansible_connection;
  if (given !== undefined) return LOCAL.includes(given);
  if (request.inventory === undefined) return true;
  const bytes = file(request.inventory);
  if (bytes === undefined) return false;
  const text = Buffer.from(bytes).toString('utf8');
  if (text.startsWith('#!')) return false;
  return /\.(?:ya?ml|json)$/.test(request.inventory)
    ? isLocalYaml(text)
    : isLocalYaml(text) || isLocalIni(text);
}
