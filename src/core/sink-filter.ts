import type { SinkSetting } from './endpoints.js';
import { EVENT_NAMES, EVENT_PREFIX, EVENT_VERSION, type OutboxEvent } from './events.js';
import { isPlainObject } from './json.js';
import { nearestName, type Problem, show } from './problem.js';

/** Which events a sink is for. */
export type SinkFilter = Pick<SinkSetting, 'types' | 'projects' | 'scenarios'>;

const NAMES: ReadonlySet<string> = new Set(EVENT_NAMES);

/** What stands before `.*`: `plan.` of `plan.*`, and nothing of `*`. */
const stemOf = (type: string): string | undefined =>
  type === '*' || type.endsWith('.*') ? type.slice(0, -1) : undefined;

/** Every name that may be given: those of events, and those that stand for all below. */
function allowedNames(): string[] {
  const stems = EVENT_NAMES.flatMap((name) => {
    const parts = name.split('.');
    return parts.slice(1).map((_, n) => `${parts.slice(0, n + 1).join('.')}.*`);
  });
  return [...EVENT_NAMES, ...new Set(stems)];
}

/** What is wrong with names of events, such as `evaluation.failed`, `plan.*` or `*`. */
export function typeProblems(types: readonly string[], path: string): Problem[] {
  return types.flatMap((type, n): Problem[] => {
    const stem = stemOf(type);
    const isKnown = stem === undefined ? NAMES.has(type) : EVENT_NAMES.some((name) => name.startsWith(stem));
    if (isKnown) return [];
    const nearest = nearestName(nameOf(type), allowedNames());
    const near = nearest === undefined ? {} : { nearest };
    return [{ path: `${path}[${n}]`, message: 'is no event of Sluice', found: show(type), ...near }];
  });
}

/** What is wrong with the filter of a sink; `path` is where the sink was given. */
export const filterProblems = (filter: SinkFilter, path: string): Problem[] =>
  typeProblems(filter.types ?? [], path === '' ? 'types' : `${path}.types`);

/** The name in a CloudEvents type: `plan.failed` of `dev.sluice.plan.failed.v1`. */
export function nameOf(type: string): string {
  const start = type.startsWith(EVENT_PREFIX) ? EVENT_PREFIX.length : 0;
  return type.endsWith(EVENT_VERSION) ? type.slice(start, -EVENT_VERSION.length) : type.slice(start);
}

/** Whether a CloudEvents type is one of these names. */
export function wantsType(types: readonly string[]): (type: string) => boolean {
  const names = new Set(types);
  const stems = types.flatMap((type) => stemOf(type) ?? []);
  return (type) => {
    const name = nameOf(type);
    return names.has(name) || stems.some((stem) => name.startsWith(stem));
  };
}

/** `data` of a CloudEvent; empty where there is none. */
function dataOf(event: OutboxEvent): Record<string, unknown> {
  const { data } = JSON.parse(event.json) as { data?: unknown };
  return isPlainObject(data) ? data : {};
}

/**
 * Which events a sink is for; undefined: all. With projects and scenarios both, an event of either is
 * wanted: no event has both. The JSON is read only where they are set.
 */
export function wantsEvent(filter: SinkFilter): ((event: OutboxEvent) => boolean) | undefined {
  const { types, projects, scenarios } = filter;
  const ofType = types === undefined ? undefined : wantsType(types);
  if (projects === undefined && scenarios === undefined)
    return ofType === undefined ? undefined : (event) => ofType(event.type);
  const isOf = (names: readonly string[] | undefined, name: unknown) =>
    typeof name === 'string' && names !== undefined && names.includes(name);
  return (event) => {
    if (ofType !== undefined && !ofType(event.type)) return false;
    const data = dataOf(event);
    return isOf(projects, data.project) || isOf(scenarios, data.scenario);
  };
}
