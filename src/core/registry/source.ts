import { show } from '../problem.js';
import { BUILT_IN_NAMESPACE, builtInTools } from './built-in.js';
import { nearestOf, own, type Raw, type Report } from './fields.js';
import { type Kind, SOURCES, type Source } from './model.js';

/** Fields that belong to one source alone: those that it needs, and those that it may have. */
const FIELDS: Readonly<Record<Source, { needs: readonly string[]; may: readonly string[] }>> = {
  builtin: { needs: ['validator'], may: [] },
  command: { needs: ['command'], may: [] },
  code: { needs: ['code'], may: [] },
  mcp: { needs: ['mcp_server', 'mcp_tool_name'], may: ['annotations'] },
  graph: { needs: ['graph'], may: [] },
  wrapped: { needs: ['wraps', 'transform'], may: ['argument_mapping'] },
};

/** The field that says most plainly that a document has this source. */
function telling(source: Source): string {
  return FIELDS[source].needs[0] as string;
}

function givenOf(raw: Raw, source: Source): string[] {
  const { needs, may } = FIELDS[source];
  return [...needs, ...may].filter((field) => own(raw, field) !== undefined);
}

/**
 * What runs: declared, or evident from the fields. Reports what is missing for it, and what belongs
 * to another source. Undefined when it cannot be told.
 */
export function readSource(raw: Raw, kind: Exclude<Kind, 'skill'>, report: Report): Source | undefined {
  const possible = SOURCES.filter((source) => kind === 'validation' || source !== 'wrapped');
  const evident = possible.filter((source) => givenOf(raw, source).length > 0);
  const declared = possible.find((source) => source === own(raw, 'source'));
  if (declared === undefined && own(raw, 'source') === 'wrapped') {
    report({ code: 'FOREIGN_FIELD', path: 'source', message: 'only a validation wraps', found: '"wrapped"' });
    return undefined;
  }
  const source = declared ?? onlyOne(evident, possible, raw, report);
  if (source === undefined) return undefined;
  for (const other of evident.filter((each) => each !== source))
    for (const path of givenOf(raw, other))
      report({ code: 'FOREIGN_FIELD', path, message: `belongs to source ${other}; the source is ${source}` });
  for (const path of FIELDS[source].needs.filter((field) => own(raw, field) === undefined)) {
    const code = path === 'transform' ? 'TRANSFORM_MISSING' : 'MISSING_FIELD';
    report({
      code,
      path,
      message: path === 'transform' ? TRANSFORM : `is missing; source ${source} needs it`,
    });
  }
  if (source === 'builtin') checkValidator(own(raw, 'validator'), report);
  return source;
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
  const fields = evident.map((source) => givenOf(raw, source)[0]).join(' and ');
  const message = `has several sources, by ${fields}; a document has one`;
  report({ code: 'SOURCE_CONFLICT', path: '', message, allowed: possible.map(telling) });
  return undefined;
}

function checkValidator(name: unknown, report: Report): void {
  if (typeof name !== 'string' || builtInTools.has(`${BUILT_IN_NAMESPACE}/${name}`)) return;
  const allowed = [...builtInTools.values()].flatMap(({ validator }) => validator ?? []);
  const message = 'is no validator that works without a scenario';
  report({
    code: 'UNKNOWN_VALIDATOR',
    path: 'validator',
    message,
    found: show(name),
    allowed,
    ...nearestOf(name, allowed),
  });
}
