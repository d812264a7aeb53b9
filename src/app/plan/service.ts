import { ulid } from 'ulid';
import { resourceProblem } from '../../core/attachments/resource.js';
import { digestOf, idFrom, sha256 } from '../../core/digest.js';
import { canonicalJson } from '../../core/json.js';
import type { Applicable, NewPlan, PlanCommand, PlanPolicy, PlanState } from '../../core/plan/model.js';
import { type Problem, SluiceError, show } from '../../core/problem.js';
import { redact } from '../../core/redact.js';
import { MOST_SNAPSHOT_BYTES, snapshotProblem } from '../../core/snapshot.js';
import type { Clock } from '../../ports/clock.js';
import type { PlanFilter } from '../../ports/plans.js';
import type { Blob, Store } from '../../ports/store.js';
import type { Pressure } from '../pressure.js';
import type { Move, Moved, PlanKeeper } from './keeper.js';
import type { PlanAnswer, PlanRequest, PlanStatus, SnapshotsGiven } from './requests.js';
import { planStatus } from './status.js';

export interface PlanServiceDeps {
  store: Store;
  keeper: PlanKeeper;
  clock: Clock;
  /** Absent: the fleet is never too full. */
  pressure?: Pick<Pressure, 'assertRoom'>;
  /** Policy of the plans that are made here. */
  policy: PlanPolicy;
}

const MOST_RESOURCES = 1000;
/** Characters of who acts: it stands in every event. */
const MOST_ACTOR = 256;
const PLAN_NAME = /^[a-zA-Z0-9][a-zA-Z0-9._@-]{0,127}$/;
const GRAMMAR = 'a letter or digit, then letters, digits, ., _, @ or -; 128 at most';

/** Work was done on the plan as it was: on one that has moved since, it may be anything. */
const BRINGS_WORK: ReadonlySet<PlanRequest['type']> = new Set<PlanRequest['type']>(['executed', 'fix']);

/** A plan command that changed nothing; the plan as it stands goes with it. */
export class PlanRefusedError extends SluiceError {
  readonly plan: PlanState | undefined;

  constructor(message: string, problem: Problem, plan: PlanState | undefined) {
    super('PLAN_REFUSED', message, [problem]);
    this.plan = plan;
  }
}

interface Evidence {
  blobs: Blob[];
  snapshots: Record<string, string>;
}

/** Takes commands for plans (DESIGN 4.7) and tells what became of them. */
export class PlanService {
  readonly #deps: PlanServiceDeps;

  constructor(deps: PlanServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Takes a command: one transition, however often the same command comes. Throws PLAN_REFUSED (with
   * the plan as it stands), COMMAND_CONFLICT, NOT_FOUND or INVALID_SNAPSHOT; UNAVAILABLE when it brings
   * snapshots and too much waits.
   */
  async run(request: PlanRequest): Promise<PlanAnswer> {
    const command = request.command ?? ulid(this.#deps.clock.now());
    const plan = request.plan ?? idFrom('plan', command);
    const evidence = checked(request, plan);
    if (evidence !== undefined) await this.#deps.pressure?.assertRoom();
    const isNew = request.type === 'create' || request.type === 'submit';
    const project = isNew ? (request.project ?? null) : null;
    const resources = resourcesOf(request);
    let seen: number | undefined;
    const moved = await this.#deps.keeper.move({
      plan,
      mark: { id: command, digest: markDigest(request, evidence) },
      resources,
      project,
      evidence: {
        blobs: evidence?.blobs ?? [],
        // Of Apply only what was validated counts; should it be validated again, the evidence is at hand.
        snapshots: request.type === 'apply' ? null : (evidence?.snapshots ?? null),
      },
      decision: null,
      command: (state, applicable, now) => {
        if (state === undefined && !isNew)
          throw new SluiceError('NOT_FOUND', `There is no plan ${show(plan)}.`);
        this.#checkRevision(request, state);
        seen ??= state?.revision ?? 0;
        if (BRINGS_WORK.has(request.type) && seen !== (state?.revision ?? 0))
          throw refused('STALE', 'another command came first', state);
        const fresh: NewPlan = { id: plan, project, resources, policy: this.#deps.policy };
        return commandOf(request, fresh, evidence?.snapshots ?? {}, applicable, now);
      },
    } satisfies Move);
    return answerOf(moved, request, command);
  }

  /** A plan with its history. Throws NOT_FOUND. */
  async status(id: string): Promise<PlanStatus> {
    const status = await planStatus(this.#deps.store, id);
    if (status === undefined) throw new SluiceError('NOT_FOUND', `There is no plan ${show(id)}.`);
    return status;
  }

  /** The newest first. */
  list(filter: PlanFilter): Promise<PlanState[]> {
    return this.#deps.store.plans.plans(filter);
  }

  #checkRevision({ revision }: PlanRequest, state: PlanState | undefined): void {
    const stands = state?.revision ?? 0;
    if (revision === undefined || revision === stands) return;
    throw refused('STALE', `the command was made for revision ${revision}`, state);
  }
}

function resourcesOf(request: PlanRequest): string[] {
  if (request.type === 'create') return [...new Set(request.resources)].sort();
  return request.type === 'submit' ? Object.keys(request.snapshots).sort() : [];
}

function refused(code: string, message: string, plan: PlanState | undefined): PlanRefusedError {
  const stands =
    plan === undefined
      ? 'It does not exist.'
      : `Plan ${plan.id} is in phase ${plan.phase} at revision ${plan.revision}.`;
  const told = plan !== undefined && message.includes(`in phase ${plan.phase}`);
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}.${told ? '' : ` ${stands}`}`;
  return new PlanRefusedError(text, { code, path: '', message }, plan);
}

function answerOf(moved: Moved, request: PlanRequest, command: string): PlanAnswer {
  if (moved.kind === 'refused') throw refused(moved.refusal.code, moved.refusal.message, moved.state);
  if (moved.kind === 'conflict')
    throw new SluiceError(
      'COMMAND_CONFLICT',
      `Command ${show(command)} was taken before with other content than this ${request.type}.`,
    );
  const { state, row, applicable } = moved;
  return { plan: state, repeated: moved.kind === 'repeated', row, applicable };
}

/** The same command again must say the same: its content, whoever sends it. */
function markDigest(request: PlanRequest, evidence: Evidence | undefined): string {
  const { actor, command, revision, plan, ...content } = request;
  if ('snapshots' in content) return digestOf({ ...content, snapshots: evidence?.snapshots });
  return digestOf(content);
}

/** What people say is kept and sent: without secrets (DESIGN 6.6). */
const told = (text: string | undefined): string | null => (text === undefined ? null : redact(text));

function commandOf(
  request: PlanRequest,
  plan: NewPlan,
  snapshots: Record<string, string>,
  applicable: Applicable,
  now: number,
): PlanCommand {
  const common = { now, actor: request.actor, applicable };
  switch (request.type) {
    case 'create':
      return { ...common, type: 'create', plan };
    case 'submit':
      return { ...common, type: 'submit', plan, snapshots };
    case 'strategized':
      return { ...common, type: 'strategized' };
    case 'executed':
    case 'fix':
      return { ...common, type: request.type, snapshots };
    case 'respond':
      return { ...common, type: 'respond', answer: request.answer, guidance: told(request.guidance) };
    case 'apply':
      return { ...common, type: 'apply', digests: { ...request.digests, ...snapshots } };
    case 'cancel':
      return { ...common, type: 'cancel', reason: told(request.reason) };
  }
}

/** Checks what can be checked without the plan, every problem at once; returns the evidence by digest. */
function checked(request: PlanRequest, plan: string): Evidence | undefined {
  const problems: Problem[] = [];
  if (!PLAN_NAME.test(plan))
    problems.push({ code: 'BAD_NAME', path: 'plan', message: `expected ${GRAMMAR}`, found: show(plan) });
  if ('project' in request && request.project !== undefined && !PLAN_NAME.test(request.project))
    problems.push({
      code: 'BAD_NAME',
      path: 'project',
      message: `expected ${GRAMMAR}`,
      found: show(request.project),
    });
  const named = [
    ...resourcesOf(request),
    ...('snapshots' in request ? Object.keys(request.snapshots ?? {}) : []),
  ];
  for (const resource of new Set(named)) {
    const problem = resourceProblem(resource);
    if (problem !== undefined)
      problems.push({ code: 'BAD_RESOURCE', path: 'resources', message: problem, found: show(resource) });
  }
  const isNew = request.type === 'create' || request.type === 'submit';
  const resources = new Set(named).size;
  if (isNew && (resources === 0 || resources > MOST_RESOURCES))
    problems.push({
      code: 'BAD_RESOURCE',
      path: 'resources',
      message: `a plan has 1 to ${MOST_RESOURCES} resources`,
      found: String(resources),
    });
  if (request.type === 'respond' && request.answer !== 'retry' && request.answer !== 'abort')
    problems.push({
      code: 'BAD_ANSWER',
      path: 'answer',
      message: 'is no answer to an escalation',
      found: show(request.answer),
      allowed: ['retry', 'abort'],
    });
  if (request.actor.length > MOST_ACTOR)
    problems.push({ code: 'BAD_ACTOR', path: 'actor', message: `has more than ${MOST_ACTOR} characters` });
  const evidence =
    'snapshots' in request && request.snapshots !== undefined
      ? evidenceOf(request.snapshots, problems)
      : undefined;
  if (problems.length > 0) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    throw new SluiceError('INVALID_SNAPSHOT', `${count}; the plan stays as it is.`, problems);
  }
  return evidence;
}

function evidenceOf(given: SnapshotsGiven, problems: Problem[]): Evidence {
  const evidence: Evidence = { blobs: [], snapshots: {} };
  for (const [resource, value] of Object.entries(given)) {
    const path = `snapshots.${resource}`;
    const problem = snapshotProblem(value);
    const json = problem === undefined ? canonicalJson(value) : '';
    const bytes = Buffer.byteLength(json);
    if (problem !== undefined) {
      const inside = problem.path === '' || problem.path.startsWith('[') ? problem.path : `.${problem.path}`;
      problems.push({ ...problem, code: 'BAD_SNAPSHOT', path: `${path}${inside}` });
    } else if (bytes > MOST_SNAPSHOT_BYTES) {
      const message = `has ${bytes} bytes of JSON; ${MOST_SNAPSHOT_BYTES} are allowed`;
      problems.push({ code: 'BAD_SNAPSHOT', path, message });
    } else {
      const digest = sha256(json);
      evidence.blobs.push({ digest, content: json });
      evidence.snapshots[resource] = digest;
    }
  }
  return evidence;
}
