import { listed } from '../../core/listed.js';
import type { Need } from '../../core/registry/needs.js';
import { PURE } from '../../core/routing.js';
import { type DoctorCheck, type Finding, type FleetFacts, type HostRunners, ok, warn } from '../check.js';

const ELSEWHERE =
  'Checks that need it wait until their deadline for a worker that has it; where no other comes they are errors.';
const NO_WORKER = 'sluice worker starts one; sluice evaluate and sluice up start their own.';

/** What this machine could run as a worker, and why it could not run the rest. */
export function judgeHost({ serves, missing }: HostRunners): Finding[] {
  const runners = serves.filter((need) => need !== PURE);
  const found = listed(runners, (need) => need, { most: 20 });
  return [
    ok(runners.length === 0 ? 'this machine has no runner' : `this machine has ${found}`),
    ...Object.entries(missing).map(([need, why]) => warn(`no ${need} here: ${why}`, ELSEWHERE)),
  ];
}

/** What each living worker serves, and which evaluations wait for what none of them does. */
export function judgeFleet({ workers, waiting, isCut }: FleetFacts): Finding[] {
  const needs = [...new Set(waiting.flatMap((each) => each.needs))].sort();
  return [...servedFindings(workers), ...needs.map((need) => waitingFinding(need, { waiting, isCut }))];
}

function servedFindings(workers: FleetFacts['workers']): Finding[] {
  if (workers.length === 0) return [ok('no worker is alive on this Redis', NO_WORKER)];
  const byNeed = new Map<Need, string[]>();
  for (const { worker, serves } of workers)
    for (const need of serves) byNeed.set(need, [...(byNeed.get(need) ?? []), worker]);
  return [...byNeed]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([need, by]) => {
      const one = by.length === 1;
      return ok(
        `${need} is served by ${one ? 'one worker' : `${by.length} workers`}: ${listed(by, (id) => id)}`,
      );
    });
}

function waitingFinding(need: Need, { waiting, isCut }: Pick<FleetFacts, 'waiting' | 'isCut'>): Finding {
  const own = waiting.filter(({ needs }) => needs.includes(need));
  const since = new Date(Math.min(...own.map((each) => each.since))).toISOString();
  const many = own.length === 1 && !isCut;
  const who = many ? '1 evaluation waits' : `${own.length}${isCut ? ' or more' : ''} evaluations wait`;
  return warn(
    `${who} for ${need} since ${since}, which no living worker serves`,
    'Start a worker on a machine that has it: sluice worker. At their deadline these checks are errors.',
  );
}

/** What this machine can run, and what waits in the fleet for a runner that nobody has. */
export const runnersCheck: DoctorCheck = {
  name: 'runners',
  async run({ host, fleet }) {
    const findings: Finding[] = [];
    try {
      if (host !== undefined) findings.push(...judgeHost(await host()));
    } catch (error) {
      findings.push(warn(`the runners could not be looked at: ${(error as Error).message}`, ELSEWHERE));
    }
    try {
      if (fleet !== undefined) findings.push(...judgeFleet(await fleet()));
    } catch {
      // A Redis that cannot be used is a finding of its own.
    }
    return findings;
  },
};
