import { answerDocument, planDocument } from '../../../app/plan/documents.js';
import { withNearest } from '../../../app/plan/nearest.js';
import type { CommandContext, PlanAnswer, PlanEvaluation, PlanRequest } from '../../../app/plan/requests.js';
import { PlanRefusedError } from '../../../app/plan/service.js';
import { plansOf } from '../../../compose.js';
import { parseDuration } from '../../../core/duration.js';
import type { PlanState } from '../../../core/plan/model.js';
import { formatProblem, SluiceError } from '../../../core/problem.js';
import { type Asked, type AskerOptions, withFleet } from '../../asker.js';
import { failureDocument, failureLines } from '../../failure.js';
import { onInterrupt } from '../../interrupt.js';
import type { ProblemList } from '../../options.js';
import { plain, print, printJson, say } from '../../output.js';
import { followPlan, missingRoles } from './follow.js';
import { applicableLines, decidedLines, lastDecided, planLines } from './words.js';

/** Options of every command that changes a plan. */
export interface CommandOptions extends AskerOptions {
  command?: string;
  revision?: string;
  /** `true`: for as long as it takes. */
  wait?: string | true;
}

/** A request without who asks and how it is made sure that it is done once. */
export type RequestBody = PlanRequest extends infer R
  ? R extends PlanRequest
    ? Omit<R, keyof CommandContext>
    : never
  : never;

const COMMAND_ID = /^[\x21-\x7e]{1,256}$/;

function contextOf(
  { command, revision }: CommandOptions,
  problems: ProblemList,
): Pick<CommandContext, 'command' | 'revision'> {
  if (command !== undefined && !COMMAND_ID.test(command)) {
    const message = 'expected 1 to 256 printable characters of ASCII without spaces';
    problems.add({ code: 'USAGE', path: '--command', message, found: JSON.stringify(command) });
  }
  const isNumber = revision === undefined || /^\d{1,15}$/.test(revision);
  if (!isNumber) {
    const message = 'expected the revision that the plan is at, a whole number';
    problems.add({ code: 'USAGE', path: '--revision', message, found: JSON.stringify(revision) });
  }
  return {
    ...(command === undefined ? {} : { command }),
    ...(revision === undefined ? {} : { revision: Number(revision) }),
  };
}

/** Milliseconds to wait; undefined for as long as it takes. */
function waitMsOf(wait: string | true | undefined, problems: ProblemList): number | undefined {
  if (wait === undefined || wait === true) return undefined;
  const ms = parseDuration(wait);
  if (ms !== undefined && ms > 0 && ms < 2 ** 31) return ms;
  const message =
    'expected a duration such as 90s, 30m or 24h; what follows --wait comes before it otherwise';
  problems.add({ code: 'USAGE', path: '--wait', message, found: JSON.stringify(wait) });
  return undefined;
}

/** A refusal, and the plan as it stands; answers 2. */
async function tellRefusal(error: PlanRefusedError, json: boolean): Promise<number> {
  const { plan, problems } = error;
  if (plan === undefined || problems.length === 0) {
    for (const line of failureLines(error)) say(line);
  } else {
    for (const problem of problems) say(plain(`sluice: refused: ${formatProblem(problem)}`));
    for (const line of planLines(plan).trimEnd().split('\n')) say(line);
  }
  if (json)
    await printJson({ ...failureDocument(error), plan: plan === undefined ? null : planDocument(plan) });
  return error.exitCode;
}

async function follow(
  { engine, place }: Asked,
  answer: PlanAnswer,
  since: string,
  waitMs: number | undefined,
): Promise<PlanState | undefined> {
  const { id } = answer.plan;
  const interrupt = onInterrupt(() => {});
  try {
    const { signal } = interrupt;
    return await followPlan({ engine, plan: id, since, waitMs, signal, lost: place.lost });
  } finally {
    interrupt.dispose();
  }
}

/** One sentence when an evaluation was asked for that nobody is there to judge. */
async function tellMissing({ engine }: Asked, plan: PlanState): Promise<void> {
  if (plan.awaits === null) return;
  const missing = await missingRoles(engine);
  if (missing.length === 0) return;
  say(
    `sluice: no ${missing.join(' and no ')} is alive; plan ${plan.id} is judged once they are (sluice up starts them)`,
  );
}

async function tell(
  answer: PlanAnswer,
  plan: PlanState,
  decided: PlanEvaluation | undefined,
  json: boolean,
): Promise<void> {
  if (answer.repeated) say('sluice: this command was taken before; nothing was done');
  if (json) {
    await printJson(answerDocument(answer, plan, decided));
    return;
  }
  const applicable = plan.phase === 'strategize' ? applicableLines(answer) : '';
  await print(planLines(plan) + (decided === undefined ? '' : decidedLines(plan, decided)) + applicable);
}

/** Whether what was asked for has come about: for `apply` that it is applied, with `--wait` an open gate. */
function isDone(type: PlanRequest['type'], plan: PlanState, waited: boolean): boolean {
  if (type === 'apply') return plan.phase === 'applied';
  return !waited || plan.phase === 'ready' || plan.phase === 'applied';
}

/** What became of an `apply` that applied nothing, because attachments have changed. */
function tellNotApplied({ phase }: PlanState): void {
  const what = {
    validate: 'everything is validated again; apply once more when the gate is open',
    ready: 'everything was validated again, and the gate is open; apply once more',
  };
  const shut = 'everything was validated again, and the gate is shut';
  const next = phase === 'validate' || phase === 'ready' ? what[phase] : shut;
  say(`sluice: nothing was applied: the attachments have changed since the gate opened; ${next}`);
}

/** Exit code of a wait that ended before the plan was judged: as when nobody is there to judge it. */
const NOT_JUDGED = 3;

async function carryOut(asked: Asked, request: PlanRequest, options: CommandOptions, waitMs?: number) {
  const { engine } = asked;
  const json = options.json === true;
  const since = await engine.store.outbox.lastEvent();
  const service = plansOf(engine);
  const id = request.plan ?? '';
  const answer = await withNearest(engine.store.plans, id, () => service.run(request));
  const waits = options.wait !== undefined;
  const left = waits ? await follow(asked, answer, since, waitMs) : undefined;
  const status = waits ? await service.status(answer.plan.id) : undefined;
  const plan = left ?? status?.plan ?? answer.plan;
  const isOpen = plan.phase === 'validate';
  // What was decided before is no answer to a command that is still being judged.
  await tell(answer, plan, isOpen || status === undefined ? undefined : lastDecided(status), json);
  if (isOpen) await tellMissing(asked, plan);
  if (request.type === 'apply' && plan.phase !== 'applied') tellNotApplied(plan);
  if (waits && isOpen) {
    say(
      `sluice: the time of --wait is over; plan ${plan.id} is still being judged: sluice plan status ${plan.id} says what becomes of it`,
    );
    return NOT_JUDGED;
  }
  return isDone(request.type, plan, waits) ? 0 : 1;
}

/**
 * Sends a command to a plan, follows it where `--wait` asks for that, and prints what came of it.
 * Answers 0; 1 when nothing was applied, or the gate did not open; 2 for a refusal; 3 when the time
 * to wait was over before the plan was judged.
 */
export async function sendCommand(
  body: RequestBody,
  options: CommandOptions,
  problems: ProblemList,
): Promise<number> {
  const context = contextOf(options, problems);
  const waitMs = waitMsOf(options.wait, problems);
  const isNew = body.type === 'create' || body.type === 'submit';
  const consequence = isNew ? 'no plan was made.' : 'the plan stays as it is.';
  return withFleet(options, 'write', problems, consequence, async (asked) => {
    try {
      const request = { ...body, ...context, actor: asked.actor } as PlanRequest;
      return await carryOut(asked, request, options, waitMs);
    } catch (error) {
      if (error instanceof PlanRefusedError) return tellRefusal(error, options.json === true);
      if (error instanceof SluiceError && error.code === 'INVALID_SNAPSHOT') {
        // What did not happen is known here alone: a new plan cannot stay as it is.
        await problems.take(() => Promise.reject(error));
        problems.throwIfAny('USAGE', consequence);
      }
      throw error;
    }
  });
}
