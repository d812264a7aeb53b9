import type { PlanRequest } from '../../src/app/plan/requests.js';
import type { RoleName } from '../../src/ports/store.js';
import type { Kill } from './plan-fleet.js';

export const PLAN = 'p';
export const RESOURCE = 'repo/app';
type Wish = PlanRequest extends infer R ? (R extends unknown ? Omit<R, 'actor'> : never) : never;
export type Settings = Record<string, Record<string, unknown>>;

/** A plan from its first command to its end. */
export interface Script {
  commands: Wish[];
  /** Phase in which each command leaves the plan, once its evaluations are through. */
  phases: string[];
  settings?: Settings;
  roles: RoleName[];
}

const snapshots = (tests: string) => ({ [RESOURCE]: { tests, lint: 'pass' } });
const submitted = (tests: string): Wish => ({
  type: 'submit',
  plan: PLAN,
  command: 'c1',
  snapshots: snapshots(tests),
});
const ALL: RoleName[] = ['worker', 'aggregator', 'sweeper', 'dispatcher'];

export const SCRIPTS = {
  /** Fails, is fixed in two stages, passes, is applied. */
  fixed: {
    commands: [
      submitted('fail'),
      { type: 'fix', plan: PLAN, command: 'c2', snapshots: snapshots('pass') },
      { type: 'apply', plan: PLAN, command: 'c3', snapshots: snapshots('pass') },
    ],
    phases: ['fix', 'ready', 'applied'],
    roles: ALL,
  },
  /** Errors, is judged again twice, and goes on as failed. */
  errors: { commands: [submitted('error')], phases: ['fix'], roles: ALL },
  /** Nobody works: every evaluation is decided by its deadline. */
  overdue: {
    commands: [submitted('pass')],
    phases: ['fix'],
    settings: { evaluation: { deadline: '400ms' } },
    roles: ['aggregator', 'sweeper', 'dispatcher'],
  },
  /** Nobody strategizes, twice. */
  late: {
    commands: [
      { type: 'create', plan: PLAN, command: 'c1', resources: [RESOURCE] },
      { type: 'respond', plan: PLAN, command: 'c2', answer: 'retry', guidance: 'hurry' },
    ],
    phases: ['escalated', 'failed'],
    settings: { plans: { deadlines: { strategize: '400ms' } } },
    roles: ALL,
  },
} satisfies Record<string, Script>;

export interface Case {
  name: string;
  script: keyof typeof SCRIPTS;
  /** A role, or the sender of the n-th command, from 0. */
  victim: RoleName | number;
  kill: Kill;
  /** A second process that ends itself; its role is healthy in no other until then. */
  next?: { victim: RoleName; kill: Kill };
  /** What a dead reader claimed is taken over after half a minute: its sink may end before that. */
  outstanding?: boolean;
}

const at = (what: Kill['at'], when: Kill['when'], nth = 1): Kill => ({ at: what, when, nth });
const one = (name: string, script: Case['script'], victim: Case['victim'], kill: Kill): Case => ({
  name,
  script,
  victim,
  kill,
});

export const CASES: Case[] = [
  one('dispatcher: claimed, not held back', 'fixed', 'dispatcher', at('holdBack', 'before')),
  one('dispatcher: before delivery', 'fixed', 'dispatcher', at('deliver', 'before')),
  one('dispatcher: delivered, job not done', 'fixed', 'dispatcher', at('deliver', 'after', 2)),
  one('dispatcher: let go, job not done', 'fixed', 'dispatcher', at('letGo', 'after')),
  {
    ...one('dispatcher: handed on, not acknowledged', 'fixed', 'dispatcher', at('acknowledge', 'before')),
    outstanding: true,
  },
  one('submit: before the step', 'fixed', 0, at('step', 'before')),
  one('submit: stepped, not enqueued', 'fixed', 0, at('step', 'after')),
  one('submit: enqueued, not answered', 'fixed', 0, at('enqueue', 'after')),
  one('fix: before the step', 'fixed', 1, at('step', 'before')),
  one('fix: stepped, not enqueued', 'fixed', 1, at('step', 'after')),
  one('fix: enqueued, not answered', 'fixed', 1, at('enqueue', 'after')),
  one('apply: before the step', 'fixed', 2, at('step', 'before')),
  one('apply: stepped, not answered', 'fixed', 2, at('step', 'after')),
  one('worker: judged, not recorded', 'fixed', 'worker', at('record', 'before')),
  one('worker: recorded, job not done', 'fixed', 'worker', at('record', 'after')),
  one('worker: second stage, not recorded', 'fixed', 'worker', at('record', 'before', 4)),
  one('aggregator: before staging, fails', 'fixed', 'aggregator', at('step', 'before')),
  one('aggregator: staged, fails', 'fixed', 'aggregator', at('step', 'amid')),
  one('aggregator: stepped, fails', 'fixed', 'aggregator', at('step', 'after')),
  one('aggregator: staged, first stage', 'fixed', 'aggregator', at('step', 'amid', 2)),
  one('aggregator: second stage not enqueued', 'fixed', 'aggregator', at('step', 'after', 2)),
  one('aggregator: second stage enqueued', 'fixed', 'aggregator', at('enqueue', 'after')),
  one('aggregator: before staging, passes', 'fixed', 'aggregator', at('step', 'before', 3)),
  one('aggregator: staged, passes', 'fixed', 'aggregator', at('step', 'amid', 3)),
  one('aggregator: stepped, passes', 'fixed', 'aggregator', at('step', 'after', 3)),
  one('aggregator: again, not enqueued', 'errors', 'aggregator', at('step', 'after')),
  one('aggregator: again, enqueued', 'errors', 'aggregator', at('enqueue', 'after')),
  {
    ...one('sweeper: raised, not enqueued', 'fixed', 0, at('step', 'after')),
    next: { victim: 'sweeper', kill: at('raiseGeneration', 'after') },
  },
  one('sweeper: overdue, before the step', 'overdue', 'sweeper', at('step', 'before')),
  one('sweeper: overdue, stepped', 'overdue', 'sweeper', at('step', 'after')),
  one('sweeper: deadline, before the step', 'late', 'sweeper', at('step', 'before')),
  one('sweeper: deadline, stepped', 'late', 'sweeper', at('step', 'after')),
];
