import type { SnapshotsGiven } from '../../../app/plan/requests.js';
import { readSnapshots, type SnapshotsNamed, splitNamed } from '../../../inputs/snapshots.js';
import { choice, ProblemList } from '../../options.js';
import { type CommandOptions, sendCommand } from './command.js';

export interface SnapshotOptions extends CommandOptions, SnapshotsNamed {
  project?: string;
}

async function snapshotsOf(
  options: SnapshotOptions,
  problems: ProblemList,
  isNeeded = true,
): Promise<SnapshotsGiven | undefined> {
  const found = await readSnapshots(options, process.stdin, problems.problems);
  if (found !== undefined || !isNeeded) return found;
  const message = 'is missing; name a snapshot of each resource, or --snapshots FILE';
  problems.add({ code: 'USAGE', path: '--snapshot', message });
  return undefined;
}

const DIGEST = /^(?:sha256:)?([0-9a-f]{64})$/i;

function digestsOf(given: readonly string[], problems: ProblemList): Record<string, string> {
  const found = new Map<string, string>();
  for (const each of given) {
    const named = splitNamed('--digest', each, 'SHA256');
    if ('message' in named) {
      problems.add(named);
      continue;
    }
    const path = `--digest ${named.name}`;
    const digest = DIGEST.exec(named.rest)?.[1]?.toLowerCase();
    if (digest === undefined)
      problems.add({ code: 'USAGE', path, message: 'expected 64 hexadecimal digits', found: named.rest });
    if (found.has(named.name)) problems.add({ code: 'USAGE', path, message: 'is given twice' });
    found.set(named.name, digest ?? '');
  }
  return Object.fromEntries(found);
}

export interface CreateOptions extends CommandOptions {
  project?: string;
  resource?: string[];
}

const placeOf = (plan: string | undefined, project: string | undefined) => ({
  ...(plan === undefined ? {} : { plan }),
  ...(project === undefined ? {} : { project }),
});

/** `sluice plan create [ID] --resource NAME…`. */
export function createPlan(id: string | undefined, options: CreateOptions): Promise<number> {
  const problems = new ProblemList();
  const resources = options.resource ?? [];
  if (resources.length === 0)
    problems.add({
      code: 'USAGE',
      path: '--resource',
      message: 'is missing; name the resources of the plan',
    });
  return sendCommand({ type: 'create', ...placeOf(id, options.project), resources }, options, problems);
}

/** `sluice plan submit [ID] --snapshot NAME=WHAT…`. */
export async function submitPlan(id: string | undefined, options: SnapshotOptions): Promise<number> {
  const problems = new ProblemList();
  const snapshots = (await snapshotsOf(options, problems)) ?? {};
  return sendCommand({ type: 'submit', ...placeOf(id, options.project), snapshots }, options, problems);
}

/** `sluice plan strategized ID`. */
export function strategizedPlan(plan: string, options: CommandOptions): Promise<number> {
  return sendCommand({ type: 'strategized', plan }, options, new ProblemList());
}

/** `sluice plan executed|fix ID --snapshot NAME=WHAT…`. */
export async function sendWork(
  type: 'executed' | 'fix',
  plan: string,
  options: SnapshotOptions,
): Promise<number> {
  const problems = new ProblemList();
  const snapshots = (await snapshotsOf(options, problems)) ?? {};
  return sendCommand({ type, plan, snapshots }, options, problems);
}

/** `sluice plan respond ID retry|abort`. */
export function respondToPlan(
  plan: string,
  given: string,
  options: CommandOptions & { guidance?: string },
): Promise<number> {
  const problems = new ProblemList();
  const answer = choice('answer', given, ['retry', 'abort'] as const, problems) ?? 'abort';
  const { guidance } = options;
  const body = { type: 'respond', plan, answer, ...(guidance === undefined ? {} : { guidance }) } as const;
  return sendCommand(body, options, problems);
}

/** `sluice plan apply ID`, by snapshots of which digests are taken, or by digests. */
export async function applyPlan(
  plan: string,
  options: SnapshotOptions & { digest?: string[] },
): Promise<number> {
  const problems = new ProblemList();
  const snapshots = await snapshotsOf(options, problems, false);
  const digests = digestsOf(options.digest ?? [], problems);
  if (snapshots === undefined && options.digest === undefined) {
    const message = 'is missing; name the digest (or --snapshot) of each resource that is applied';
    problems.add({ code: 'USAGE', path: '--digest', message });
  }
  for (const name of Object.keys(snapshots ?? {}))
    if (Object.hasOwn(digests, name))
      problems.add({ code: 'USAGE', path: `--digest ${name}`, message: 'is given as --snapshot as well' });
  const body = { type: 'apply', plan, digests, ...(snapshots === undefined ? {} : { snapshots }) } as const;
  return sendCommand(body, options, problems);
}

/** `sluice plan cancel ID`. */
export function cancelPlan(plan: string, options: CommandOptions & { reason?: string }): Promise<number> {
  const { reason } = options;
  const body = { type: 'cancel', plan, ...(reason === undefined ? {} : { reason }) } as const;
  return sendCommand(body, options, new ProblemList());
}
