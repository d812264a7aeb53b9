import { failure } from '../core/failure.js';
import { isPlainObject } from '../core/json.js';
import { formatProblem, type Problem } from '../core/problem.js';
import type { CallableDocument, JsonObject } from '../core/registry/model.js';
import { runRecordSchema } from '../core/run-record.js';
import { concludeCheck, type PlannedCheck, requestOf } from '../core/scenario/checks.js';
import { SCOPES, type Scope } from '../core/scenario/model.js';
import { SubjectView } from '../core/subject-view.js';
import { findValidator } from '../core/validators/built-in.js';
import type { RunFailure, Validator, Verdict } from '../core/validators/validator.js';
import type { Matcher } from '../ports/matcher.js';

const evidenceSchema = runRecordSchema.omit({ id: true, case: true, scenario: true });

const views = new WeakMap<object, SubjectView>();

/** The subject as validators see it; kept, because many checks look at the same object. */
function viewOf(subject: unknown): SubjectView | RunFailure {
  const known = typeof subject === 'object' && subject !== null ? views.get(subject) : undefined;
  if (known !== undefined) return known;
  const parsed = evidenceSchema.safeParse(subject);
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, 3).map(({ path, message }) => ({
      path: path.map(String).join('.'),
      message,
    }));
    return failure('subject', `the snapshot is no run record: ${shown(problems)}`);
  }
  const view = new SubjectView(parsed.data);
  views.set(subject as object, view);
  return view;
}

const shown = (problems: readonly Problem[]): string => problems.map(formatProblem).join('; ');

function scopeOf(validator: Validator, given: unknown): Scope | undefined {
  if (given === undefined && validator.scopes.length === 1) return validator.scopes[0];
  const scope = SCOPES.find((each) => each === given);
  return scope !== undefined && validator.scopes.includes(scope) ? scope : undefined;
}

/** A rule that says what the arguments say; why there is none otherwise. */
function planned(validator: Validator, args: JsonObject): PlannedCheck | RunFailure {
  const { scope: given, ...fields } = args;
  const scope = scopeOf(validator, given);
  if (scope === undefined) return failure('arguments', `scope must be one of ${validator.scopes.join(', ')}`);
  const parsed = validator.params.safeParse(fields);
  const problems: Problem[] = parsed.success
    ? (validator.problems?.(parsed.data, scope, new Set(Object.keys(fields))) ?? [])
    : parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  if (problems.length > 0) return failure('arguments', shown(problems));
  const params = parsed.data as Record<string, unknown>;
  const common = { scope, index: 0, label: validator.name, required: true, negate: false };
  return {
    position: 0,
    rule: { ...common, validator: validator.name, params },
    validator,
    runner: validator.runner,
  };
}

/** What a built-in validator makes of a subject, secrets redacted. */
export async function callBuiltIn(
  document: CallableDocument,
  args: JsonObject,
  subject: unknown,
  matcher: Matcher,
): Promise<Verdict | RunFailure> {
  const validator = findValidator(document.validator ?? '');
  if (validator === undefined)
    return failure('no_runner', `this version has no validator ${document.validator}`);
  if (!isPlainObject(subject)) return failure('subject', 'the snapshot is no run record: it is no object');
  const view = viewOf(subject);
  if (!(view instanceof SubjectView)) return view;
  const check = planned(validator, args);
  if ('kind' in check) return check;
  const request = requestOf(check, view);
  if (request?.kind !== 'match') return concludeCheck(check, view);
  const [found] = await matcher.matchAll([request]);
  return concludeCheck(check, view, found?.outcome);
}
