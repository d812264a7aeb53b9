import {
  argumentPlaceholder,
  NAMED_PLACEHOLDERS,
  OPENING,
  PLACEHOLDERS,
  piecesOf,
  placeholderInScript,
} from '../command/placeholders.js';
import { isPlainObject } from '../json.js';
import { show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import { argumentNames, takesArgument } from './argument-names.js';
import { nearestOf, own, type Raw, type Report, wrongType } from './fields.js';
import { EXIT_MEANINGS, type ExitMeaning, type JsonObject } from './model.js';

const MOST_PATHS = 100;
/** Exit codes by which a shell tells what signal ended a process. */
const SIGNALS = { first: 129, last: 159 };
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that every command has, and those that would change what runs before it. */
const OWN_VARIABLES: readonly string[] = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'PWD'];
/** Folders that are the machine itself, or lead to what runs on it. */
const CLOSED_FOLDERS: readonly string[] = ['/proc', '/sys', '/dev', '/run', '/var/run'];

/** Fields of a command that a schema of zod would not tell well enough. */
export interface CommandFields {
  exit_codes?: Record<string, ExitMeaning>;
  env?: Record<string, string>;
  paths?: string[];
}

/** The fields of a command besides its line; to be used only when nothing was reported. */
export function readCommandFields(raw: Raw, report: Report): CommandFields {
  const exitCodes = readExitCodes(own(raw, 'exit_codes'), report);
  const env = readEnv(own(raw, 'env'), report);
  const paths = readPaths(own(raw, 'paths'), report);
  return {
    ...(exitCodes === undefined ? {} : { exit_codes: exitCodes }),
    ...(env === undefined ? {} : { env }),
    ...(paths === undefined ? {} : { paths }),
  };
}

function exitCodeProblem(key: string): string | undefined {
  const code = /^(?:0|[1-9]\d{0,2})$/.test(key) ? Number(key) : 256;
  if (code > 255) return 'is no exit code: they go from 0 to 255';
  const { first, last } = SIGNALS;
  return code >= first && code <= last
    ? `stands for a signal, as ${first} to ${last} do, and that is always an error`
    : undefined;
}

function readExitCodes(given: unknown, report: Report): Record<string, ExitMeaning> | undefined {
  if (given === undefined) return undefined;
  const path = 'exit_codes';
  if (!isPlainObject(given)) {
    report(wrongType(path, 'must be an object of exit codes', show(given)));
    return undefined;
  }
  for (const [code, meaning] of Object.entries(given)) {
    const at = childPath(path, code);
    const message = exitCodeProblem(code);
    if (message !== undefined) report({ code: 'BAD_VALUE', path: at, message, found: show(code) });
    if (EXIT_MEANINGS.some((each) => each === meaning)) continue;
    const allowed = [...EXIT_MEANINGS];
    const found = show(meaning);
    report({
      code: 'NOT_ALLOWED',
      path: at,
      message: 'is not one of the allowed values',
      found,
      allowed,
      ...nearestOf(meaning, allowed),
    });
  }
  return given as Record<string, ExitMeaning>;
}

function variableProblem(name: string): string | undefined {
  if (!VARIABLE.test(name)) return 'must be a letter or "_", then letters, digits and "_"';
  if (OWN_VARIABLES.includes(name)) return 'is set by Sluice for every command';
  if (name.startsWith('LD_')) return 'is refused: the loader would run other code before the command';
  return name.startsWith('SLUICE_') ? 'is Sluice’s own: SLUICE_TOOL and the like' : undefined;
}

function readEnv(given: unknown, report: Report): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  const path = 'env';
  if (!isPlainObject(given)) {
    report(wrongType(path, 'must be an object of variables', show(given)));
    return undefined;
  }
  for (const [name, value] of Object.entries(given)) {
    const at = childPath(path, name);
    const message = variableProblem(name);
    if (message !== undefined) report({ code: 'BAD_VARIABLE', path: at, message, found: show(name) });
    if (typeof value !== 'string')
      report({
        code: 'WRONG_TYPE',
        path: at,
        message: 'must be a string; put it in quotes',
        found: show(value),
      });
    else if (value.includes('\u0000'))
      report({ code: 'BAD_VALUE', path: at, message: 'must not contain a NUL character' });
  }
  return given as Record<string, string>;
}

/** What is wrong with a path of the host that a command reads; undefined when nothing is. */
function hostPathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must be absolute';
  if (path.includes('\u0000')) return 'must not contain a NUL character';
  const names = path.split('/').slice(1);
  if (names.includes('..')) return 'must not contain ".."';
  const normal = `/${names.filter((name) => name !== '' && name !== '.').join('/')}`;
  if (normal === '/') return 'must not be the whole file system';
  const closed = CLOSED_FOLDERS.find((folder) => normal === folder || normal.startsWith(`${folder}/`));
  if (closed !== undefined) return `must not lie in ${closed}, which leads out of the sandbox`;
  return normal === path ? undefined : `must be written ${normal}`;
}

function readPaths(given: unknown, report: Report): string[] | undefined {
  if (given === undefined) return undefined;
  if (!Array.isArray(given)) {
    report(wrongType('paths', 'must be a list', show(given)));
    return undefined;
  }
  if (given.length > MOST_PATHS)
    report({ code: 'BAD_VALUE', path: 'paths', message: `must have at most ${MOST_PATHS} items` });
  for (const [n, path] of given.entries()) {
    const at = childPath('paths', n);
    const found = show(path);
    if (typeof path !== 'string') {
      report({ code: 'WRONG_TYPE', path: at, message: 'must be a string', found });
      continue;
    }
    const message = hostPathProblem(path);
    if (message !== undefined) report({ code: 'BAD_PATH', path: at, message, found });
    else if (given.indexOf(path) !== n)
      report({
        code: 'BAD_PATH',
        path: at,
        message: `is listed twice, first at paths[${given.indexOf(path)}]`,
      });
  }
  return given as string[];
}

const IN_SCRIPT =
  'is not filled in inside a script, where its value would be read as code; give it as a part of its own after the script and use "$1"';

/**
 * Placeholders of a command that nothing can fill in. `schema`: of its arguments, undefined where it
 * takes none, null where it cannot be read.
 */
export function checkPlaceholders(
  command: readonly string[],
  shell: boolean,
  schema: JsonObject | undefined | null,
  report: Report,
): void {
  for (const [n, part] of command.entries()) {
    const path = childPath('command', n);
    if (shell && n === 0) {
      const found = placeholderInScript(part);
      if (found !== undefined) report({ code: 'PLACEHOLDER_IN_SCRIPT', path, message: IN_SCRIPT, found });
      continue;
    }
    for (const piece of piecesOf(part)) {
      if (piece.kind === 'unknown') {
        const message = `is no placeholder; "$${OPENING}" stands for "${OPENING}" itself`;
        const nearest = nearestOf(piece.text, NAMED_PLACEHOLDERS);
        const found = show(piece.text);
        report({ code: 'UNKNOWN_PLACEHOLDER', path, message, found, allowed: PLACEHOLDERS, ...nearest });
      } else if (piece.kind === 'argument' && schema !== null)
        checkArgument(piece.name, schema, path, report);
    }
  }
}

function checkArgument(name: string, schema: JsonObject | undefined, path: string, report: Report): void {
  const code = 'UNKNOWN_PLACEHOLDER';
  const found = argumentPlaceholder(name);
  if (schema === undefined) {
    const message = `names the argument ${name}, but without input_schema the tool takes none`;
    report({ code, path, message, found });
  } else if (!takesArgument(schema, name)) {
    const allowed = argumentNames(schema) ?? [];
    const message = `names an argument that input_schema does not have`;
    const known = allowed.length === 0 ? {} : { allowed };
    report({ code, path, message, found, ...known, ...nearestOf(name, allowed) });
  }
}
