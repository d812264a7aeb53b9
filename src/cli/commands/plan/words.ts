import type { Config } from '../../../../config/schema.js';
import type { CheckHistory, PlanAnswer, PlanEvaluation, PlanStatus } from '../../../app/plan/requests.js';
import { isoTime } from '../../../core/iso-time.js';
import { canonicalJson } from '../../../core/json.js';
import type { PlanState } from '../../../core/plan/model.js';
import { plain } from '../../output.js';
import { tableOf } from '../../table.js';
import { waitingAdvice } from '../../unserved-watch.js';

const lines = (texts: readonly string[]): string => texts.map((text) => `${plain(text)}\n`).join('');

const named = (option: string, plan: PlanState, what: string): string =>
  plan.resources.map((resource) => ` ${option} ${resource}=${what}`).join('');

/** The command that a plan waits for; undefined when it waits for none. */
function nextCommand(plan: PlanState): string | undefined {
  const { id, phase } = plan;
  switch (phase) {
    case 'strategize':
      return `sluice plan strategized ${id}`;
    case 'execute':
      return `sluice plan executed ${id}${named('--snapshot', plan, 'WHAT')}`;
    case 'fix':
      return `sluice plan fix ${id}${named('--snapshot', plan, 'WHAT')}`;
    case 'escalated':
      return `sluice plan respond ${id} retry|abort`;
    case 'ready':
      return `sluice plan apply ${id}${Object.entries(plan.snapshots ?? {})
        .map(([resource, digest]) => ` --digest ${resource}=${digest}`)
        .join('')}`;
    case 'validate':
      return `sluice plan status ${id}`;
    default:
      return undefined;
  }
}

/** Where a plan stands: `ID: PHASE at revision N`, and what it waits for. */
export function planLines(plan: PlanState): string {
  const next = nextCommand(plan);
  const by = plan.deadline === null ? '' : `, by ${isoTime(plan.deadline)}`;
  const judged =
    plan.phase === 'validate' ? `evaluation ${plan.awaits?.evaluation} is being judged` : undefined;
  return lines([
    `${plan.id}: ${plan.phase} at revision ${plan.revision}`,
    ...(judged === undefined ? [] : [judged]),
    ...(plan.guidance !== null && plan.phase === 'strategize' ? [`guidance: ${plan.guidance}`] : []),
    ...(next === undefined ? [] : [`next${by}: ${next}`]),
  ]);
}

/** The validations that apply to a plan, and the resources that have none. */
export function applicableLines({ applicable: { checks, unvalidated } }: PlanAnswer): string {
  const rows = checks.map((check) => [
    check.resource,
    check.validation,
    check.mode,
    check.target === null ? check.scope : `${check.scope} ${check.target}`,
    canonicalJson(check.arguments),
  ]);
  const bare = unvalidated.map((resource) => `${resource} has no validation`);
  return tableOf(['resource', 'validation', 'mode', 'scope', 'arguments'], rows) + lines(bare);
}

/**
 * How the gate stands by a decision: what an earlier attempt or a plan that is over decided is the
 * past, and a first stage that passed has not opened it yet.
 */
function gateWords({ phase }: PlanState, { attempt, stage, decision }: PlanEvaluation): string {
  const passed = decision?.gate.passed === true;
  if (phase === 'validate')
    return passed && stage === 'failed_first'
      ? `attempt ${attempt} so far`
      : `before this, in attempt ${attempt}, the gate was ${passed ? 'open' : 'shut'}`;
  const verb = phase === 'applied' || phase === 'cancelled' ? 'was' : 'is';
  return `the gate ${verb} ${passed && stage !== 'failed_first' ? 'open' : 'shut'}`;
}

/** Why the gate is shut, or what it opened on: the reason, what did not pass, then advisories. */
export function decidedLines(plan: PlanState, evaluation: PlanEvaluation): string {
  const { decision, results } = evaluation;
  if (decision === null) return '';
  const missed = results.filter(({ outcome }) => outcome !== 'pass');
  const told = (mode: string, word: (outcome: string) => string) =>
    missed
      .filter((result) => result.mode === mode)
      .map((result) => {
        const { outcome, validation, attachment_resource, message } = result;
        return `  ${word(outcome)} ${validation} on ${attachment_resource}: ${message}`;
      });
  return lines([
    `${gateWords(plan, evaluation)}: ${decision.gate.reason}`,
    ...told('informational', (outcome) => `ADVISORY (${outcome})`),
    ...told('required', (outcome) => outcome.toUpperCase()),
    ...decision.unvalidated.map((resource) => `  ${resource} has no validation`),
  ]);
}

/** The last evaluation of a plan that has a decision. */
export function lastDecided({ evaluations }: PlanStatus): PlanEvaluation | undefined {
  return evaluations.findLast(({ decision }) => decision !== null && decision.status !== 'cancelled');
}

function timelineTable({ timeline }: PlanStatus): string {
  const rows = timeline.map((entry) => [
    String(entry.revision),
    isoTime(entry.at),
    entry.actor,
    entry.command,
    entry.from === null ? entry.to : `${entry.from} > ${entry.to}`,
    entry.attempt === 0 ? '' : String(entry.attempt),
    entry.evaluation ?? '',
    entry.note ?? '',
  ]);
  return tableOf(['revision', 'time', 'actor', 'input', 'phase', 'attempt', 'evaluation', 'note'], rows);
}

function checksTable({ checks }: PlanStatus): string {
  const of = ({ attempt, outcome }: { attempt: number; outcome: string }) => `${outcome} (${attempt})`;
  const kind = ({ resource, validation }: CheckHistory) => `${resource} ${validation}`;
  const kinds = new Set(checks.map(kind));
  // Only arguments tell apart two checks of one validation.
  const withArguments = kinds.size < checks.length;
  const rows = checks.map((check) => [
    check.resource,
    check.validation,
    ...(withArguments ? [canonicalJson(check.arguments)] : []),
    check.applies === false ? `${check.mode}, no longer attached` : check.mode,
    of(check.first),
    of(check.final),
    String(check.judged),
    check.final.message,
  ]);
  const head = [
    ...['resource', 'validation', ...(withArguments ? ['arguments'] : []), 'mode'],
    ...['first (attempt)', 'final (attempt)', 'results', 'message'],
  ];
  return tableOf(head, rows);
}

/** What a plan waits for in vain, and what to do about it. */
export function unservedLines(
  { unserved }: Pick<PlanStatus, 'unserved'>,
  settings: Pick<Config, 'worker'>,
): string[] {
  if (unserved === null) return [];
  const { needs, since } = unserved;
  return [
    `waits for ${needs.join(' and ')}, which no living worker serves, since ${isoTime(since)}`,
    waitingAdvice(settings, 'sluice worker'),
  ];
}

/** Everything that happened to a plan; `settings`: what workers on this machine would do. */
export function statusText(status: PlanStatus, settings: Pick<Config, 'worker'>): string {
  const { plan } = status;
  const { policy } = plan;
  const decided = lastDecided(status);
  const snapshots = Object.entries(plan.snapshots ?? {}).map(
    ([name, digest]) => `  ${name} sha256 ${digest}`,
  );
  return [
    planLines(plan),
    lines(unservedLines(status, settings)),
    lines([
      `project ${plan.project ?? 'none'}, attempt ${plan.attempt}`,
      `fixes ${plan.fixes} of ${policy.fixes}, revisions ${plan.revisions} of ${policy.revisions}, ` +
        `escalations answered ${plan.escalations} of ${policy.escalations}`,
      plan.snapshots === null ? `resources ${plan.resources.join(', ')}` : 'snapshots',
      ...snapshots,
    ]),
    decided === undefined ? '' : decidedLines(plan, decided),
    `\n${timelineTable(status)}`,
    status.checks.length === 0 ? '' : `\n${checksTable(status)}`,
  ].join('');
}

/** One plan a line, the newest first. */
export function plansTable(plans: readonly PlanState[]): string {
  const rows = plans.map((plan) => [
    plan.id,
    plan.phase,
    String(plan.revision),
    plan.project ?? '',
    plan.resources.join(', '),
    isoTime(plan.updatedAt),
  ]);
  return tableOf(['id', 'phase', 'revision', 'project', 'resources', 'changed'], rows);
}
