import { z } from 'zod';
import { isPlainObject } from './json.js';
import type { EvaluationOptions } from './manifest.js';
import { redact } from './redact.js';
import { type CheckResult, OUTCOMES } from './result.js';
import { isSkipped } from './scenario/checks.js';
import type { Scenario } from './scenario/model.js';
import type { Verdict } from './validators/validator.js';

/** Most bytes of a malformed answer that are kept (DESIGN 3.5). */
const RAW_BYTES = 64 * 1024;

const NOTHING_RAN = { duration_ms: 0, tries: 0, worker: null, read_only: 'declared' } as const;

const OUTCOME_NAMES: ReadonlySet<unknown> = new Set(OUTCOMES);

/** By hand, not by schema: it runs once for every check of every batch. */
function isCheckResult(raw: unknown): raw is CheckResult {
  if (!isPlainObject(raw)) return false;
  const { outcome, message, data, duration_ms, tries, worker, read_only } = raw;
  return (
    OUTCOME_NAMES.has(outcome) &&
    typeof message === 'string' &&
    isPlainObject(data) &&
    Number.isFinite(duration_ms) &&
    (duration_ms as number) >= 0 &&
    Number.isSafeInteger(tries) &&
    (tries as number) >= 0 &&
    (worker === null || typeof worker === 'string') &&
    (read_only === 'enforced' || read_only === 'declared')
  );
}

const structuredReturnSchema = z.object({
  passed: z.boolean(),
  message: z.string().nullish(),
  data: z.record(z.string(), z.unknown()).nullish(),
});

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return `[${typeof value} that is not JSON]`;
  }
}

/** A value as text, without secrets, cut at 64 KiB of UTF-8 on a code point. */
export function rawOutput(value: unknown): string {
  const clean = redact(asText(value).slice(0, 2 * RAW_BYTES));
  const bytes = new TextEncoder().encode(clean);
  if (bytes.length <= RAW_BYTES) return clean;
  return new TextDecoder().decode(bytes.subarray(0, RAW_BYTES), { stream: true });
}

/**
 * The structured return of a tool, `{passed, message?, data?}`, as a verdict. Anything else is an
 * error with `data.reason` "malformed" that keeps the original in `data.raw_output` (ADR, Structured
 * Return Format; DESIGN 3.5).
 */
export function normalizeReturn(value: unknown): Verdict {
  let parsed: ReturnType<typeof structuredReturnSchema.safeParse> | undefined;
  try {
    parsed = structuredReturnSchema.safeParse(value);
  } catch {
    parsed = undefined;
  }
  if (parsed?.success) {
    const { passed, message, data } = parsed.data;
    return {
      outcome: passed ? 'pass' : 'fail',
      message: message ?? (passed ? 'passed' : 'failed'),
      data: data ?? {},
    };
  }
  const issue = parsed?.error?.issues[0];
  const where =
    issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.map(String).join('.')})`;
  return {
    outcome: 'error',
    message: `malformed return: expected {passed: boolean, message?: string, data?: object}${where}`,
    data: { reason: 'malformed', raw_output: rawOutput(value) },
  };
}

const SKIPPED = 'skipped: gateway rules apply only to runs that came in through the gateway (--from gateway)';

/** The result of a rule that does not apply to the run. */
export function skippedResult(): CheckResult {
  return { outcome: 'skipped', message: SKIPPED, data: {}, ...NOTHING_RAN };
}

/** What came for a rule that does not apply, when it says just that. */
function asSkipped(raw: unknown): CheckResult {
  const came = parsedResult(raw);
  const isSame =
    came?.outcome === 'skipped' &&
    came.message === SKIPPED &&
    came.tries === 0 &&
    came.duration_ms === 0 &&
    came.worker === null &&
    came.read_only === NOTHING_RAN.read_only &&
    Object.keys(came.data).length === 0;
  return isSame ? came : skippedResult();
}

/** The result of a check that brought nothing back: an error, never a pass (DESIGN 5.4). */
export function missingResult(): CheckResult {
  const message = 'no result: the check brought nothing back before the decision';
  return { outcome: 'error', message, data: {}, ...NOTHING_RAN };
}

/** What is asked of a check's result besides being one. */
interface Demands {
  /** A vacuous pass is a fail. */
  strict: boolean;
  /** A pass counts only where something kept the run from writing (DESIGN 6.2). */
  enforced: boolean;
}

/** One trustworthy result from what a worker left for a check: missing or malformed is an error. Never throws. */
export function settleOne(raw: unknown, { strict, enforced }: Demands): CheckResult {
  if (raw === undefined || raw === null) return missingResult();
  const parsed = parsedResult(raw);
  if (parsed === undefined || parsed.outcome === 'skipped') {
    const message = 'no result: what the check brought back is malformed';
    return { outcome: 'error', message, data: { raw_output: rawOutput(raw) }, ...NOTHING_RAN };
  }
  if (strict && parsed.outcome === 'pass' && parsed.data.vacuous === true) {
    return { ...parsed, outcome: 'fail', message: `${parsed.message}; --strict fails vacuous passes` };
  }
  if (enforced && parsed.outcome === 'pass' && parsed.read_only === 'declared') {
    const message = `${parsed.message}; this does not count, because nothing kept the check from writing (require_enforced)`;
    return { ...parsed, outcome: 'error', message, data: { ...parsed.data, reason: 'not_enforced' } };
  }
  return parsed;
}

const FIELDS = 7;

/** The result, with the known fields alone; undefined for what is no result. */
function parsedResult(raw: unknown): CheckResult | undefined {
  if (!isCheckResult(raw)) return undefined;
  if (Object.keys(raw).length === FIELDS) return raw;
  const { outcome, message, data, duration_ms, tries, worker, read_only } = raw;
  return { outcome, message, data, duration_ms, tries, worker, read_only };
}

/**
 * One trustworthy result per rule, in rule order, from what the workers left at each position.
 * Missing or malformed ones are errors, skipped rules are skipped whatever came, and with
 * `strict` vacuous passes fail but stay marked, and with `requireEnforced` a required pass that nothing
 * kept from writing is an error (DESIGN 3.2.3, 3.2.6, 3.5, 5.4, 6.2). Never throws;
 * settling what is settled changes nothing.
 */
export function settleResults(
  scenario: Scenario,
  options: EvaluationOptions,
  raw: readonly unknown[],
): CheckResult[] {
  const came = Array.isArray(raw) ? raw : [];
  return scenario.rules.map((rule, position) => {
    if (!isSkipped(rule, options)) {
      // An ansible rule counts in a gate whatever its `required` (DESIGN 3.3).
      const counts = rule.required || rule.validator === 'ansible';
      const enforced = counts && options.requireEnforced === true;
      return settleOne(came[position], { strict: options.strict, enforced });
    }
    return asSkipped(came[position]);
  });
}
