import { listed } from '../../core/listed.js';
import type { Need } from '../../core/registry/needs.js';
import { PURE } from '../../core/routing.js';
import { type DoctorCheck, type Finding, type FleetFacts, type HostRunners, ok, warn } from '../check.js';

const ELSEWHERE =
  'Checks that need it wait until their deadline for a worker that has it; where no other comes they are errors.';
const NO_WORKER = 'sluice worker starts one; sluice evaluate and sluice up start their own.';

/** Needs of registered documents that are told one by one. */
const NEEDS_TOLD = 20;

/** What this machine could run as a worker, and why it could not run the rest. */
export function judgeHost({ serves, missing, takesNone }: HostRunners): Finding[] {
  const runners = serves.filter((need) => need !== PURE);
  const found = listed(runners, (need) => need, { most: 20 });
  return [
    ok(runners.length === 0 ? 'this machine has no runner' : `this machine has ${found}`),
    ...(takesNone === undefined
      ? []
      : [
          warn(`${takesNone}: workers here take no check with a runner`, `Set it to 1 or more. ${ELSEWHERE}`),
        ]),
    ...Object.entries(missing).map(([need, why]) => warn(`no ${need} here: ${why}`, ELSEWHERE)),
  ];
}

/** What each living worker serves, and which evaluations wait for what none of them does. */
export function judgeFleet({ workers, waiting, isCut }: Omit<FleetFacts, 'needed'>): Finding[] {
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

/** What registered documents need that neither a worker on this machine nor a living one serves. */
export function judgeNeeds(
  { workers, needed }: Pick<FleetFacts, 'workers' | 'needed'>,
  host: HostRunners | undefined,
): Finding[] {
  const here = host === undefined || host.takesNone !== undefined ? [] : host.serves;
  const served = new Set([...here, ...workers.flatMap(({ serves }) => serves)]);
  const lacking = needed.filter(({ need }) => !served.has(need));
  const more = lacking.length - NEEDS_TOLD;
  return [
    ...lacking
      .slice(0, NEEDS_TOLD)
      .map(({ need, by }) =>
        warn(
          `${need} is served neither here nor by a living worker; needed by ${listed(by, (name) => name)}`,
          adviceOn(need, host?.missing ?? {}),
        ),
      ),
    ...(more > 0 ? [warn(`${more} more needs of registered documents are served by none`, ELSEWHERE)] : []),
  ];
}

function adviceOn(need: Need, missing: HostRunners['missing']): string {
  const [kind, name] = need.split(':', 2);
  if (missing[need] !== undefined) return ELSEWHERE;
  const settings = 'in the settings of the workers, or correct';
  if (kind === 'mcp') return `Name ${name} under mcp_servers ${settings} mcp_server in the documents.`;
  if (kind === 'plugin')
    return `Name the module of plugin ${name} under plugins ${settings} validator in the documents.`;
  return ELSEWHERE;
}

/** What this machine can run, and what waits in the fleet for a runner that nobody has. */
export const runnersCheck: DoctorCheck = {
  name: 'runners',
  async run({ host, fleet }) {
    const findings: Finding[] = [];
    let found: HostRunners | undefined;
    try {
      found = await host?.();
      if (found !== undefined) findings.push(...judgeHost(found));
    } catch (error) {
      findings.push(warn(`the runners could not be looked at: ${(error as Error).message}`, ELSEWHERE));
    }
    try {
      const facts = await fleet?.();
      if (facts !== undefined) findings.push(...judgeFleet(facts), ...judgeNeeds(facts, found));
    } catch {
      // A Redis that cannot be used is a finding of its own.
    }
    return findings;
  },
};
