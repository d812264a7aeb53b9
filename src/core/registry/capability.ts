import { show } from '../problem.js';
import { FLAG_FIELDS } from './document.js';
import { own, type Raw, type Report, readFields, readObject } from './fields.js';
import type { Capability, JsonObject, Kind, Source } from './model.js';
import { isPure } from './source.js';

type Flag = keyof Capability;
const FLAGS = Object.keys(FLAG_FIELDS) as Flag[];

/** A flag that a document gives, and where. */
interface Declared {
  value: boolean;
  path: string;
}
type Declarations = Partial<Record<Flag, Declared>>;

/** What a capability is read from, besides the flags. */
interface About {
  kind: Exclude<Kind, 'skill'>;
  source: Source | undefined;
  /** Of source `builtin`. */
  validator: unknown;
  annotations: JsonObject | undefined;
}

/**
 * What a tool may do to the world, from flags at the top or under `capability:` (DESIGN 4.1, 4.2). What
 * the document leaves open is taken from what runs: code and built-in validators can change nothing, a
 * validation may not, a graph calls nothing that writes, an MCP tool does what its annotations say, and
 * all else is taken to write.
 */
export function readCapability(raw: Raw, about: About, report: Report): Capability {
  const declared = declarations(raw, report);
  if (about.kind === 'validation') refuseWriting(declared, report);
  else refuseContradiction(declared, report);
  if (about.source === 'mcp') checkAnnotations(declared, about, report);
  checkNetwork(declared, about, report);
  const { read_only, writes } = declared;
  const readOnly =
    about.kind === 'validation' || (read_only?.value ?? (writes && !writes.value) ?? isHarmless(about));
  return {
    read_only: readOnly,
    writes: about.kind === 'validation' ? false : (writes?.value ?? !readOnly),
    checkpointable: about.kind === 'validation' ? false : (declared.checkpointable?.value ?? false),
    network: declared.network?.value ?? false,
  };
}

/** The flags of both places, in which they must not contradict each other. */
function declarations(raw: Raw, report: Report): Declarations {
  const top = readFields(FLAG_FIELDS, raw, '', report);
  const nested = readObject(FLAG_FIELDS, own(raw, 'capability'), 'capability', report) ?? {};
  const all: Declarations = {};
  for (const flag of FLAGS) {
    const inside = nested[flag];
    const outside = top[flag];
    const path = typeof inside === 'boolean' ? `capability.${flag}` : flag;
    if (typeof inside === 'boolean' && typeof outside === 'boolean' && inside !== outside) {
      const message = `contradicts ${flag}: ${outside} at the top of the document`;
      report({ code: 'CAPABILITY_CONFLICT', path, message, found: show(inside) });
    }
    const value = inside ?? outside;
    if (typeof value === 'boolean') all[flag] = { value, path };
  }
  return all;
}

/** ADR, Read-Only Enforcement: each of the three has a code of its own. */
function refuseWriting({ read_only, writes, checkpointable }: Declarations, report: Report): void {
  if (writes?.value === true) {
    const message = 'a validation never writes: it must be safe to run at once and again';
    report({ code: 'VALIDATION_WRITES', path: writes.path, message, found: 'true', allowed: ['false'] });
  }
  if (checkpointable?.value === true) {
    const message = 'a validation changes nothing, so there is nothing to checkpoint';
    const { path } = checkpointable;
    report({ code: 'VALIDATION_CHECKPOINTABLE', path, message, found: 'true', allowed: ['false'] });
  }
  if (read_only?.value === false) {
    const message = 'a validation is always read-only';
    const { path } = read_only;
    report({ code: 'VALIDATION_NOT_READ_ONLY', path, message, found: 'false', allowed: ['true'] });
  }
}

function refuseContradiction({ read_only, writes }: Declarations, report: Report): void {
  if (read_only?.value !== true || writes?.value !== true) return;
  const message = `contradicts ${read_only.path}: true`;
  report({ code: 'CAPABILITY_CONFLICT', path: writes.path, message, found: 'true' });
}

/** A tool that can do no harm, whose server says so, or whose nodes are held to it when it is registered. */
function isHarmless({ source, annotations }: About): boolean {
  if (source === 'code' || source === 'builtin' || source === 'graph') return true;
  return source === 'mcp' && annotations !== undefined && saysReadOnly(annotations);
}

/**
 * The defaults of the protocol hold: without readOnlyHint it is false, and without destructiveHint,
 * which then has a say, that is true.
 */
export function saysReadOnly({ readOnlyHint, destructiveHint }: JsonObject): boolean {
  return readOnlyHint === true && destructiveHint !== true;
}

/** DESIGN 4.2: whoever claims that an MCP tool changes nothing is held to what its server says. */
function checkAnnotations(declared: Declarations, { kind, annotations }: About, report: Report): void {
  const { read_only, writes } = declared;
  const claimed = read_only?.value === true || (read_only === undefined && writes?.value === false);
  if (annotations === undefined) {
    if (kind !== 'validation' || claimed) return;
    const message =
      'nothing says that the MCP tool is read-only: give its annotations, or declare read_only: true';
    report({ code: 'MCP_UNDECLARED', path: 'read_only', message });
  } else if ((kind === 'validation' || claimed) && !saysReadOnly(annotations)) {
    const { readOnlyHint = 'absent, which means false', destructiveHint = 'absent, which means true' } =
      annotations;
    const message = `the annotations do not say that the tool is read-only: readOnlyHint is ${readOnlyHint}, destructiveHint is ${destructiveHint}`;
    report({ code: 'MCP_NOT_READ_ONLY', path: 'annotations', message });
  }
}

function checkNetwork({ network }: Declarations, { source, validator }: About, report: Report): void {
  if (network?.value !== true) return;
  const { path } = network;
  if (source === 'wrapped' || source === 'graph') {
    const whose = source === 'wrapped' ? 'the wrapped tool' : 'the tool of a node';
    const message = `is inherited: whether ${whose} has the network is its own declaration`;
    report({ code: 'INHERITED_FIELD', path, message });
  } else if (source === 'code' || (source === 'builtin' && isPure(validator))) {
    const message = `contradicts source ${source}, which has no network`;
    report({ code: 'CAPABILITY_CONFLICT', path, message, found: 'true' });
  }
}
