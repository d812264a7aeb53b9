/** Most of a line that is quoted, in UTF-16 units. */
const MOST_QUOTED = 200;

/** Where an error came from, what Node shows of it besides, and Node’s own version: tells nothing by itself. */
const AROUND = /^(?:at\s|Node\.js v\d|throw\s|[\^{}[\]~-]*$|(?:code|errno|syscall|url|path|requireStack):\s)/;
const TELLING = /[Ee]rror\b|ERR_|\b[Cc]an(?:no|')t\b|[Nn]o such file/;
const NOT_FOUND =
  /\bERR_MODULE_NOT_FOUND\b|\bCannot find (?:module|package)\b|\bENOENT\b|[Nn]o such file|\bModuleNotFoundError\b/;

const advice = (server: string, asStranger: boolean): string =>
  `; in the sandbox it reads only what is under its paths (mcp_servers.${server}.paths in the settings)${
    asStranger ? ' and open to everybody, because this worker is root' : ''
  }`;

/**
 * What a server that ended wrote for people, as an end of a sentence: the last line that tells of an error,
 * else the last one, and what to do where it did not find something. Empty where it wrote nothing.
 */
export function lastWords(stderr: string, server: string, asStranger: boolean): string {
  const lines = stderr.split('\n').flatMap((line) => line.trim() || []);
  const own = lines.filter((line) => !AROUND.test(line));
  const line = own.findLast((each) => TELLING.test(each)) ?? own.at(-1) ?? lines.at(-1);
  if (line === undefined) return '';
  const said = line === lines.at(-1) ? 'it said last' : 'it said';
  const what = NOT_FOUND.test(line) ? advice(server, asStranger) : '';
  return `; ${said}: ${line.slice(0, MOST_QUOTED)}${what}`;
}
