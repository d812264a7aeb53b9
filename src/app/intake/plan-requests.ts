import type { Command } from '../../core/commands/command.js';
import type { SnapshotReference } from '../../core/commands/data.js';
import { idFrom } from '../../core/digest.js';
import { type Problem, SluiceError } from '../../core/problem.js';
import { childPath } from '../../core/scenario/json-scan.js';
import type { ReferenceReader } from '../../ports/references.js';
import type { PlanRequest, SnapshotsGiven } from '../plan/requests.js';
import { parseGiven, referenceProblems } from './given.js';

export type PlanOrder = Exclude<Command, { name: 'evaluation.requested' }>;

/** The same source and id are the same command, however often it comes. */
export function commandIdOf({ source, id }: Pick<Command, 'source' | 'id'>): string {
  return idFrom('command', source, id);
}

/** The plan that a command is for; a new one without a name gets one from its command. */
export function planIdOf(command: PlanOrder): string {
  return command.data.plan ?? idFrom('plan', commandIdOf(command));
}

interface Evidence {
  snapshots?: SnapshotsGiven | undefined;
  references?: Record<string, SnapshotReference> | undefined;
}

/** Snapshots that are carried and those that are referred to, together. */
async function snapshotsOf(
  { snapshots, references }: Evidence,
  reader: ReferenceReader,
): Promise<SnapshotsGiven | undefined> {
  if (references === undefined) return snapshots;
  const problems: Problem[] = [];
  const read = await Promise.all(
    Object.entries(references).map(async ([resource, reference]) => {
      const path = childPath('data.references', resource);
      const value = await readSnapshot(reference, path, reader);
      if ('problems' in value) problems.push(...value.problems);
      return [resource, 'value' in value ? value.value : undefined] as const;
    }),
  );
  if (problems.length > 0) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    throw new SluiceError('BAD_REFERENCE', `The references have ${count}; nothing was done.`, problems);
  }
  return { ...snapshots, ...Object.fromEntries(read) };
}

async function readSnapshot(
  { uri, sha256, as }: SnapshotReference,
  path: string,
  reader: ReferenceReader,
): Promise<{ value: unknown } | { problems: Problem[] }> {
  try {
    const text = await reader.read({ uri, sha256 });
    return as === 'text' ? { value: text } : parseGiven(text, path);
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'BAD_REFERENCE') throw error;
    return { problems: referenceProblems(error, path) };
  }
}

/** A field that is there only when it has a value. */
const some = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { [P in K]: V });

/**
 * What a command asks of its plan, with the snapshots that it refers to. Throws BAD_REFERENCE with every
 * problem, UNAVAILABLE when a reference cannot be had now.
 */
export async function planRequestOf(
  command: PlanOrder,
  actor: string,
  reader: ReferenceReader,
): Promise<PlanRequest> {
  const plan = planIdOf(command);
  const context = { actor, command: commandIdOf(command), ...some('revision', command.data.revision), plan };
  switch (command.name) {
    case 'plan.created': {
      const { resources, project } = command.data;
      return { ...context, type: 'create', resources, ...some('project', project) };
    }
    case 'plan.submitted': {
      const snapshots = (await snapshotsOf(command.data, reader)) ?? {};
      return { ...context, type: 'submit', snapshots, ...some('project', command.data.project) };
    }
    case 'plan.strategized':
      return { ...context, type: 'strategized' };
    case 'plan.executed':
    case 'plan.fixed': {
      const snapshots = (await snapshotsOf(command.data, reader)) ?? {};
      return { ...context, type: command.name === 'plan.fixed' ? 'fix' : 'executed', snapshots };
    }
    case 'plan.responded': {
      const { answer, guidance } = command.data;
      return { ...context, type: 'respond', answer, ...some('guidance', guidance) };
    }
    case 'plan.apply.requested': {
      const snapshots = await snapshotsOf(command.data, reader);
      const { digests } = command.data;
      return { ...context, type: 'apply', ...some('snapshots', snapshots), ...some('digests', digests) };
    }
    case 'plan.cancel.requested':
      return { ...context, type: 'cancel', ...some('reason', command.data.reason) };
  }
}
