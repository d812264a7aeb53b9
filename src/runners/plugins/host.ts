/**
 * The program in a plugin's child: loads the module, tells what it brings, then runs one validation at a
 * time, by lines of JSON on its standard streams. It is handed to Node as text, so it imports nothing of
 * Sluice's at run time.
 */
import { inspect } from 'node:util';
import { constants, Script } from 'node:vm';
import type { Described, HostSettings, Loading, PluginAnswer, PluginCall } from './protocol.js';

interface Validation extends Described {
  validate(input: unknown, context: { signal: AbortSignal; deadline_ms: number }): unknown;
}

/** What is wrong with a module that could be loaded. */
class Flaw extends Error {}

/** An answer before it is told how long it took. */
type Outcome = PluginAnswer extends infer A ? (A extends unknown ? Omit<A, 'id' | 'ms'> : never) : never;
type Failed = Extract<Outcome, { failed: string }>;

const MOST_VALIDATIONS = 200;
const MOST_DESCRIPTION = 4_000;
const MOST_SCHEMA_BYTES = 64 * 1024;
/** Lists and objects inside each other that a result may have. */
const MOST_DEPTH = 128;
const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,127}$/;

const settings = JSON.parse(process.argv.at(-1) ?? '{}') as HostSettings;

/** What a plugin prints must not come between the answers. */
const say = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;

// A line of its own, whatever a plugin wrote past this program.
const tell = (message: Loading | PluginAnswer) => say(`\n${JSON.stringify(message)}\n`);

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);

function shown(value: unknown, most = settings.mostRaw): string {
  try {
    const options = { depth: 4, maxArrayLength: 50, maxStringLength: most, breakLength: 120 };
    return cut(inspect(value, options), most);
  } catch {
    return 'something that cannot be shown';
  }
}

/** What was thrown, in one line. */
function described(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return cut(shown(thrown), settings.mostMessage);
    const { permission, resource } = thrown as { permission?: string; resource?: string };
    const denied = permission === undefined ? '' : ` (${[permission, resource].filter(Boolean).join(' ')})`;
    return cut(`${thrown.name}: ${thrown.message}${denied}`, settings.mostMessage);
  } catch {
    return 'something that cannot be shown';
  }
}

function stackOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? cut(String(thrown.stack), settings.mostRaw) : shown(thrown);
  } catch {
    return 'something that cannot be shown';
  }
}

function isPlain(value: object): boolean {
  const kind: unknown = Object.getPrototypeOf(value);
  return kind === Object.prototype || kind === null || Object.getPrototypeOf(kind) === null;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'bigint') return 'a BigInt';
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  if (value instanceof Promise) return 'a promise';
  return `an object of class ${value.constructor?.name ?? 'unknown'}`;
}

/** What JSON would lose or change without a word; undefined where nothing is lost. */
function lossOf(value: unknown, path: string, open: object[]): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  const at = path === '' ? '' : ` at ${path}`;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${value}${at}`;
  const isList = Array.isArray(value);
  if (typeof value !== 'object' || (!isList && !isPlain(value))) return `${kindOf(value)}${at}`;
  if (open.includes(value)) return `what contains itself${at}`;
  if (open.length >= MOST_DEPTH) return `lists or objects more than ${MOST_DEPTH} levels deep`;
  const inside = [...open, value];
  if (isList) {
    for (let n = 0; n < value.length; n += 1) {
      const loss = lossOf(value[n], `${path}[${n}]`, inside);
      if (loss !== undefined) return loss;
    }
    return undefined;
  }
  for (const [key, each] of Object.entries(value)) {
    const loss = each === undefined ? undefined : lossOf(each, path === '' ? key : `${path}.${key}`, inside);
    if (loss !== undefined) return loss;
  }
  return undefined;
}

function outcomeOf(value: unknown): Outcome {
  const failed = (reason: Failed['failed'], message: string): Failed => ({
    failed: reason,
    message,
    raw: shown(value),
  });
  const loss = lossOf(value, '', []);
  if (loss !== undefined) return failed('malformed', `it returned what JSON cannot carry: ${loss}`);
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= settings.mostBytes) return { value };
  return failed('too_large', `it returned ${bytes} bytes of JSON; at most ${settings.mostBytes} are allowed`);
}

/** Why an entry is no validation; undefined when it is one. */
function flawOf(entry: unknown, names: ReadonlySet<string>): string | undefined {
  if (typeof entry !== 'object' || entry === null) return `is ${kindOf(entry)}, not an object`;
  const { name, description, validate, ...rest } = entry as Partial<Validation>;
  if (typeof name !== 'string' || !NAME.test(name))
    return `has no good name: a letter, then letters, digits, "_" and "-"; found ${shown(name, 80)}`;
  if (names.has(name)) return `has the name of another one of the module: ${name}`;
  if (typeof validate !== 'function') return `(${name}) has no function validate(input, context)`;
  if (description !== undefined && (typeof description !== 'string' || description.length > MOST_DESCRIPTION))
    return `(${name}) has no good description: a text of at most ${MOST_DESCRIPTION} characters`;
  for (const field of ['input_schema', 'output_schema'] as const) {
    const schema = rest[field];
    if (schema === undefined) continue;
    const loss = lossOf(schema, field, []);
    if (loss !== undefined) return `(${name}) has a schema that JSON cannot carry: ${loss}`;
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      return `(${name}) has an ${field} that is no object`;
    if (Buffer.byteLength(JSON.stringify(schema)) > MOST_SCHEMA_BYTES)
      return `(${name}) has an ${field} of more than ${MOST_SCHEMA_BYTES} bytes`;
  }
  return undefined;
}

/** The list that a module exports; CommonJS has its exports under `default`. */
function listOf(module: Record<string, unknown>): Validation[] {
  const main = module.default as Record<string, unknown> | unknown[] | undefined;
  const nested = Array.isArray(main) || typeof main !== 'object' ? undefined : main?.validations;
  const list = module.validations ?? nested ?? main;
  if (!Array.isArray(list))
    throw new Flaw('it exports no list of validations: export it by default, or by the name "validations"');
  if (list.length === 0 || list.length > MOST_VALIDATIONS)
    throw new Flaw(`it exports ${list.length} validations; 1 to ${MOST_VALIDATIONS} are expected`);
  const names = new Set<string>();
  for (const [n, entry] of list.entries()) {
    const flaw = flawOf(entry, names);
    if (flaw !== undefined) throw new Flaw(`validation ${n + 1} ${flaw}`);
    names.add((entry as Validation).name);
  }
  return list as Validation[];
}

/** Resolved from where the operator is, by the rules of `import`. */
async function load(): Promise<Validation[]> {
  const code = new Script('(specifier) => import(specifier)', {
    filename: settings.base,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return listOf(await code.runInThisContext()(settings.specifier));
}

async function run(validation: Validation | undefined, call: PluginCall): Promise<Outcome> {
  const { name, input, deadline_ms } = call;
  if (validation === undefined) return { failed: 'unknown', message: `the module no longer brings ${name}` };
  const controller = new AbortController();
  const late = () => controller.abort(new DOMException('the deadline has passed', 'TimeoutError'));
  const timer = setTimeout(late, deadline_ms);
  try {
    const context = { signal: controller.signal, deadline_ms };
    return outcomeOf(await validation.validate(input, context));
  } catch (error) {
    return { failed: 'threw', message: described(error), raw: stackOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `onLine` for every line; only line feeds end one, or texts in JSON would. */
function hear(onLine: (line: string) => void): void {
  let parts: string[] = [];
  process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    const [first = '', ...others] = chunk.split('\n');
    parts.push(first);
    for (const other of others) {
      onLine(parts.join(''));
      parts = [other];
    }
  });
}

try {
  const all = new Map((await load()).map((each) => [each.name, each]));
  hear(async (line) => {
    const call = JSON.parse(line) as PluginCall;
    const started = performance.now();
    const outcome = await run(all.get(call.name), call);
    tell({ id: call.id, ms: performance.now() - started, ...outcome });
  });
  // The worker is gone, or wants it to go.
  process.stdin.on('end', () => process.exit(0));
  const loaded = [...all.values()].map(({ name, description = '', input_schema, output_schema }) => ({
    name,
    description,
    ...(input_schema === undefined ? {} : { input_schema }),
    ...(output_schema === undefined ? {} : { output_schema }),
  }));
  tell({ loaded });
} catch (error) {
  // Node tells the place of a syntax error on standard error alone, and only when it ends by it.
  const hint = error instanceof SyntaxError ? ' (node --check FILE shows where)' : '';
  tell({ broken: error instanceof Flaw ? error.message : described(error) + hint });
}
