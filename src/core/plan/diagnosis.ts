import type { Chunk } from '../manifest.js';
import type { CheckResult } from '../result.js';
import { missingResult } from '../settle.js';
import { bytesOf, clipped, fits, fitting } from './fit.js';
import type { Diagnosis, DiagnosisEntry, PlanCheck } from './model.js';

/** Most bytes of a diagnosis as JSON: an event of 48 KiB carries it and what else it has to say (DESIGN 7). */
export const DIAGNOSIS_BYTES = 32 * 1024;

/** Bytes that the lists may take which only name things, when something must go. */
const NAMES_BYTES = 2 * 1024;
const ADVISORIES_BYTES = 6 * 1024;

/** Bytes that one entry may take, from generous to bare. */
const ENTRY_BYTES = [8192, 2048, 512, 128] as const;
/** More entries than could fit, so that no more are looked at. */
const ENTRIES = DIAGNOSIS_BYTES >> 7;

type Named = Pick<PlanCheck, 'validation' | 'resource'>;
type Outcome = DiagnosisEntry['outcome'];

const nameOf = ({ validation, resource }: Named): Named => ({ validation, resource });

function excerptOf({ excerpt, match }: Record<string, unknown>): string | undefined {
  if (typeof excerpt === 'string') return excerpt;
  return typeof match === 'string' ? match : undefined;
}

function entryOf(check: PlanCheck, result: CheckResult, outcome: Outcome): DiagnosisEntry {
  const excerpt = excerptOf(result.data);
  return {
    validation: check.validation,
    resource: check.resource,
    attachment_id: check.attachment,
    mode: check.mode,
    arguments: check.arguments,
    outcome,
    message: result.message,
    data: result.data,
    ...(excerpt === undefined ? {} : { excerpt }),
  };
}

/** The fields of an object that fit into so many bytes; texts that do not are cut. */
function fittingFields<T extends Record<string, unknown>>(fields: T, bytes: number): T {
  if (fits(fields, bytes)) return fields;
  const kept: Record<string, unknown> = {};
  let left = bytes;
  for (const [name, value] of Object.entries(fields)) {
    const share = typeof value === 'string' ? clipped(value, Math.max(16, bytes >> 3)) : value;
    const one = { [name]: share };
    if (!fits(one, left)) continue;
    kept[name] = share;
    left -= bytesOf(one);
  }
  return kept as T;
}

/** An entry that says the same in fewer words. */
function shrunk(entry: DiagnosisEntry, bytes: number): DiagnosisEntry {
  if (fits(entry, bytes)) return entry;
  const quarter = bytes >> 2;
  const { excerpt, ...rest } = entry;
  return {
    ...rest,
    arguments: fittingFields(entry.arguments, quarter),
    message: clipped(entry.message, quarter),
    data: fittingFields(entry.data, quarter),
    ...(excerpt === undefined ? {} : { excerpt: clipped(excerpt, quarter) }),
  };
}

/** As many entries as there is room for, each in as many words as there is room for then. */
function fittingEntries(all: readonly DiagnosisEntry[], bytes: number): DiagnosisEntry[] {
  let entries = all.slice(0, ENTRIES);
  for (const each of ENTRY_BYTES) {
    entries = entries.map((entry) => shrunk(entry, each));
    if (fits(entries, bytes)) return entries;
  }
  return fitting(entries, bytes).items;
}

/** The same diagnosis in at most {@link DIAGNOSIS_BYTES}. */
function capped(whole: Diagnosis): Diagnosis {
  if (fits(whole, DIAGNOSIS_BYTES)) return whole;
  const advisories = fittingEntries(whole.advisories, ADVISORIES_BYTES);
  const short: Diagnosis = {
    ...whole,
    failed: [],
    errored: [],
    advisories,
    passed: fitting(whole.passed, NAMES_BYTES).items,
    not_run: fitting(whole.not_run, NAMES_BYTES).items,
    unvalidated: fitting(whole.unvalidated, NAMES_BYTES).items,
    truncated: true,
  };
  const room = DIAGNOSIS_BYTES - bytesOf(short);
  const bad = fittingEntries([...whole.failed, ...whole.errored], room);
  return {
    ...short,
    failed: bad.filter(({ outcome }) => outcome !== 'error'),
    errored: bad.filter(({ outcome }) => outcome === 'error'),
  };
}

/**
 * Why a gate is shut, so that an agent can act on the event alone: `results[i]` is the settled
 * result of the i-th check of the chunk's manifest (ADR, Required Validation Failure Handling).
 * What does not fit is left out, the least useful first, and `truncated` says so.
 */
export function diagnose(chunk: Chunk, results: readonly CheckResult[]): Diagnosis {
  const { plan } = chunk;
  if (plan === undefined) throw new Error(`chunk ${chunk.id} evaluates no plan`);
  const diagnosis: Diagnosis = {
    evaluation: chunk.id,
    attempt: chunk.attempt,
    failed: [],
    errored: [],
    advisories: [],
    passed: [],
    not_run: plan.rest.map(nameOf),
    unvalidated: plan.requireValidations ? plan.unvalidated : [],
    truncated: false,
  };
  plan.checks.forEach((check, position) => {
    const result = results[position] ?? missingResult();
    const { outcome } = result;
    if (outcome === 'pass') diagnosis.passed.push(nameOf(check));
    else if (check.mode === 'required')
      diagnosis[outcome === 'error' ? 'errored' : 'failed'].push(entryOf(check, result, outcome));
    else if (outcome !== 'skipped') diagnosis.advisories.push(entryOf(check, result, outcome));
  });
  return capped(diagnosis);
}
