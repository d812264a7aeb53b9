import { failure } from '../core/failure.js';
import { unservedOf } from '../core/registry/needs.js';
import { type PlannedCheck, requestOf } from '../core/scenario/checks.js';
import type { Scenario } from '../core/scenario/model.js';
import type { SubjectView } from '../core/subject-view.js';
import type { RunFailure, RunOutcome } from '../core/validators/validator.js';
import type { AnsibleRunner, Bundle, Ran } from '../ports/runner.js';
import type { EvaluationStore } from '../ports/store.js';
import { guarded } from './guarded.js';
import { noRunner, type Serving } from './serving.js';

/** Runner of a scenario's rules that are playbooks. */
export const PLAYBOOKS = ['ansible'] as const;

/** What playbooks are run with. */
export interface PlaybookDeps extends Serving {
  store: Pick<EvaluationStore, 'blobs'>;
  /** Absent where they cannot be run. */
  ansible?: AnsibleRunner;
}

const notRun = (outcome: RunFailure): Ran<RunOutcome> => ({ outcome, readOnly: 'enforced' });
const failed = (reason: string, message: string) => notRun(failure(reason, message));

/** Runs the playbook of a rule with the files of its scenario. Throws only when `signal` is aborted. */
export async function runPlaybook(
  deps: PlaybookDeps,
  { check, view, scenario }: { check: PlannedCheck; view: SubjectView; scenario: Scenario },
  signal: AbortSignal,
): Promise<Ran<RunOutcome>> {
  const { ansible, store, serves } = deps;
  const request = guarded(() => requestOf(check, view)).value;
  if (request?.kind !== 'ansible') return failed('internal', 'the rule asks for no playbook');
  if (ansible === undefined || unservedOf(PLAYBOOKS, serves).length > 0)
    return notRun(noRunner(`playbook ${request.playbook}`, PLAYBOOKS, deps));
  const [bundle] = scenario.bundle === undefined ? [] : await store.blobs([scenario.bundle]);
  const files = bundle === undefined ? undefined : guarded(() => JSON.parse(bundle) as Bundle).value;
  if (files === undefined) return failed('bundle_gone', 'the scenario’s files are no longer stored');
  return ansible.run(request, files, signal);
}
