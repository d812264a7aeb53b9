import { show } from '../problem.js';
import { BUILT_IN_NAMESPACE, builtInTools } from './built-in.js';
import { nearestOf, own, type Raw, type Report } from './fields.js';
import { type Kind, SOURCES, type Source } from './model.js';
import { PLUGIN_PREFIX } from './needs.js';

/** Fields that belong to a source: those that it needs, and those that it may have. */
const FIELDS: Readonly<Record<Source, { needs: readonly string[]; may: readonly string[] }>> = {
  builtin: { needs: ['validator'], may: ['playbook', 'inventory', 'files'] },
  command: {
    needs: ['command'],
    may: ['shell', 'exit_codes', 'output', 'env', 'paths', 'snapshot_files', 'files'],
  },
  code: { needs: ['code'], may: [] },
  mcp: { needs: ['mcp_server', 'mcp_tool_name'], may: ['annotations', 'arguments'] },
  graph: { needs: ['graph'], may: [] },
  wrapped: { needs: ['wraps', 'transform'], may: ['argument_mapping'] },
};

/** The validator that runs playbooks, and what of its source is its alone. */
const ANSIBLE = 'ansible';
const OF_ANSIBLE = { needs: ['playbook', 'files'], may: ['inventory'] };

/** Fields of two sources, which say nothing of which one it is. */
const SHARED: readonly string[] = ['files'];

/** The field that says most plainly that a document has this source. */
function telling(source: Source): string {
  return FIELDS[source].needs[0] as string;
}

function fieldsOf(source: Source): string[] {
  const { needs, may } = FIELDS[source];
  return [...needs, ...may];
}

function givenOf(raw: Raw, source: Source): string[] {
  return fieldsOf(source).filter((field) => own(raw, field) !== undefined);
}

/** Fields that say that a document has this source. */
function evidenceOf(raw: Raw, source: Source): string[] {
  return givenOf(raw, source).filter((field) => !SHARED.includes(field));
}

/**
 * What runs: declared, or evident from the fields. Reports what is missing for it, and what belongs
 * to another source. Undefined when it cannot be told.
 */
export function readSource(raw: Raw, kind: Exclude<Kind, 'skill'>, report: Report): Source | undefined {
  const possible = SOURCES.filter((source) => kind === 'validation' || source !== 'wrapped');
  const evident = possible.filter((source) => evidenceOf(raw, source).length > 0);
  const declared = possible.find((source) => source === own(raw, 'source'));
  if (declared === undefined && own(raw, 'source') === 'wrapped') {
    report({ code: 'FOREIGN_FIELD', path: 'source', message: 'only a validation wraps', found: '"wrapped"' });
    return undefined;
  }
  const source = declared ?? onlyOne(evident, possible, raw, report);
  if (source === undefined) return undefined;
  refuseForeign(raw, source, possible, report);
  for (const path of FIELDS[source].needs.filter((field) => own(raw, field) === undefined)) {
    const code = path === 'transform' ? 'TRANSFORM_MISSING' : 'MISSING_FIELD';
    report({
      code,
      path,
      message: path === 'transform' ? TRANSFORM : `is missing; source ${source} needs it`,
    });
  }
  if (source === 'builtin') checkValidator(raw, own(raw, 'validator'), report);
  return source;
}

function refuseForeign(raw: Raw, source: Source, possible: readonly Source[], report: Report): void {
  const foreign = new Map<string, Source[]>();
  for (const other of possible)
    for (const path of givenOf(raw, other))
      if (!fieldsOf(source).includes(path)) foreign.set(path, [...(foreign.get(path) ?? []), other]);
  for (const [path, owners] of foreign) {
    const message = `belongs to source ${owners.join(' and ')}; the source is ${source}`;
    report({ code: 'FOREIGN_FIELD', path, message });
  }
}

const TRANSFORM = 'is missing: it says whether the output of the wrapped tool is a pass or a fail';

function onlyOne(
  evident: readonly Source[],
  possible: readonly Source[],
  raw: Raw,
  report: Report,
): Source | undefined {
  // A source that is none is reported with the other fields.
  if (own(raw, 'source') !== undefined && evident.length !== 1) return undefined;
  if (evident.length === 1) return evident[0];
  if (evident.length === 0) {
    const message = 'nothing says what runs: one of these fields is needed';
    report({ code: 'SOURCE_MISSING', path: '', message, allowed: possible.map(telling) });
    return undefined;
  }
  const fields = evident.map((source) => evidenceOf(raw, source)[0]).join(' and ');
  const message = `has several sources, by ${fields}; a document has one`;
  report({ code: 'SOURCE_CONFLICT', path: '', message, allowed: possible.map(telling) });
  return undefined;
}

/** Whether this is a built-in validator that judges the evidence alone; one that is none counts as such. */
export function isPure(validator: unknown): boolean {
  return validator !== ANSIBLE && !(typeof validator === 'string' && validator.startsWith(PLUGIN_PREFIX));
}

const PLUGIN_NAME = new RegExp(`^${PLUGIN_PREFIX}[a-zA-Z][a-zA-Z0-9_-]*$`);

function checkValidator(raw: Raw, name: unknown, report: Report): void {
  if (name === ANSIBLE) checkPlaybook(raw, report);
  else if (name !== undefined) refusePlaybook(raw, name, report);
  const isKnown = typeof name !== 'string' || builtInTools.has(`${BUILT_IN_NAMESPACE}/${name}`);
  if (isKnown || name === ANSIBLE || PLUGIN_NAME.test(name)) return;
  const path = 'validator';
  const found = show(name);
  if (name.startsWith(PLUGIN_PREFIX)) {
    const message = `must be ${PLUGIN_PREFIX} and a name: a letter, then letters, digits, "_" and "-"`;
    report({ code: 'BAD_VALUE', path, message, found });
    return;
  }
  const others = [...builtInTools.values()].flatMap(({ validator }) => validator ?? []);
  const allowed = [...others, ANSIBLE, `${PLUGIN_PREFIX}NAME`];
  const message = 'is no built-in validator';
  report({ code: 'UNKNOWN_VALIDATOR', path, message, found, allowed, ...nearestOf(name, allowed) });
}

function checkPlaybook(raw: Raw, report: Report): void {
  for (const path of OF_ANSIBLE.needs)
    if (own(raw, path) === undefined)
      report({ code: 'MISSING_FIELD', path, message: 'is missing; validator ansible needs it' });
}

function refusePlaybook(raw: Raw, validator: unknown, report: Report): void {
  for (const path of [...OF_ANSIBLE.needs, ...OF_ANSIBLE.may])
    if (own(raw, path) !== undefined) {
      const message = `belongs to validator ${ANSIBLE}; the validator is ${show(validator)}`;
      report({ code: 'FOREIGN_FIELD', path, message });
    }
}
