import type { z } from 'zod';
import { type CloudEventIn, isJsonType } from '../cloud-events.js';
import { EVENT_NAMES, EVENT_PREFIX, EVENT_VERSION } from '../events.js';
import { isPlainObject } from '../json.js';
import { nearestName, type Problem, show } from '../problem.js';
import { issueProblem } from '../scenario/issues.js';
import { childPath } from '../scenario/json-scan.js';
import { type CommandData, commandData } from './data.js';
import { COMMAND_NAMES, type CommandName } from './names.js';

/** A command that was read from a CloudEvent. */
export type Command = {
  [N in CommandName]: {
    name: N;
    /** `id` and `source` of the CloudEvent: both together name the command, however often it comes. */
    id: string;
    source: string;
    type: string;
    /** The extension `correlationid`. */
    correlation?: string;
    data: CommandData<N>;
  };
}[CommandName];

/** `ignored`: an event that Sluice itself sends, which came back. */
export type CommandAnswer =
  | { kind: 'command'; command: Command }
  | { kind: 'ignored' }
  | { kind: 'refused'; problems: Problem[] };

const TYPE = /^dev\.sluice\.(.+)\.v(\d+)$/;
const OUTGOING: ReadonlySet<string> = new Set(EVENT_NAMES);
const NAMES: ReadonlySet<string> = new Set(COMMAND_NAMES);

/** CloudEvents `type` of a command. */
export const commandType = (name: CommandName): string => EVENT_PREFIX + name + EVENT_VERSION;
const TYPES = COMMAND_NAMES.map(commandType);

const refused = (...problems: Problem[]): CommandAnswer => ({ kind: 'refused', problems });

/** What is of another family is no slip. */
function nearestType(type: string): string | undefined {
  if (!type.startsWith(EVENT_PREFIX)) return undefined;
  return nearestName(type, TYPES);
}

/** Reads a CloudEvent as a command. Never throws; every problem is told at once. */
export function commandOf(event: CloudEventIn): CommandAnswer {
  const [, name = '', version] = TYPE.exec(event.type) ?? [];
  if (OUTGOING.has(name)) return { kind: 'ignored' };
  if (!NAMES.has(name)) {
    const nearest = nearestType(event.type);
    return refused({
      code: 'UNKNOWN_TYPE',
      path: 'type',
      message: 'is no command',
      found: show(event.type),
      allowed: TYPES,
      ...(nearest === undefined ? {} : { nearest }),
    });
  }
  const known = commandType(name as CommandName);
  if (known !== event.type)
    return refused({
      code: 'UNSUPPORTED_VERSION',
      path: 'type',
      message: `is of version ${version}, which is not known here`,
      found: show(event.type),
      allowed: [known],
      nearest: known,
    });
  return dataOf(event, name as CommandName);
}

function dataOf(event: CloudEventIn, name: CommandName): CommandAnswer {
  if (!isJsonType(event.datacontenttype))
    return refused({
      path: 'datacontenttype',
      message: 'must be JSON',
      found: show(event.datacontenttype),
      allowed: ['application/json'],
    });
  const data = withPlan(event.data, event.subject, name);
  const problems = [
    ...schemaProblems(commandData[name], data, 'data'),
    ...(isPlainObject(data) ? betweenFields(name, data) : []),
  ];
  if (problems.length > 0) return refused(...problems);
  const correlation = event.extensions.correlationid;
  return {
    kind: 'command',
    command: {
      name,
      id: event.id,
      source: event.source,
      type: event.type,
      ...(typeof correlation === 'string' && correlation !== '' ? { correlation } : {}),
      data: commandData[name].parse(data),
    } as Command,
  };
}

/** A command of a plan names it, or is about its subject. */
function withPlan(data: unknown, subject: string | undefined, name: CommandName): unknown {
  const isAboutPlan = name !== 'evaluation.requested' && subject !== undefined;
  if (!isAboutPlan || !isPlainObject(data) || Object.hasOwn(data, 'plan')) return data;
  return { ...data, plan: subject };
}

/** What a schema finds wrong with a value: unknown keys with the nearest, all else in the words of problems. */
export function schemaProblems(schema: z.ZodType, value: unknown, path: string): Problem[] {
  const parsed = schema.safeParse(value);
  return (parsed.error?.issues ?? []).flatMap((issue): Problem[] => {
    if (issue.code !== 'unrecognized_keys') return [issueProblem(issue, value, path)];
    const at = issue.path.reduce<string>(
      (parent, key) => childPath(parent, typeof key === 'number' ? key : String(key)),
      path,
    );
    const allowed = issue.path.length === 0 ? Object.keys((schema as z.ZodObject).shape ?? {}) : undefined;
    return issue.keys.map((key) => {
      const nearest = allowed === undefined ? undefined : nearestName(key, allowed);
      return {
        path: childPath(at, key),
        message: 'unknown key',
        ...(allowed === undefined ? {} : { allowed }),
        ...(nearest === undefined ? {} : { nearest }),
      };
    });
  });
}

type Data = Record<string, unknown>;

const EITHER = [
  ['scenario', 'scenario_ref'],
  ['run', 'run_ref'],
] as const;

const BRINGS_SNAPSHOTS: ReadonlySet<CommandName> = new Set<CommandName>([
  'plan.submitted',
  'plan.executed',
  'plan.fixed',
]);

/** What a schema cannot say: fields that exclude each other, and those of which one must be there. */
function betweenFields(name: CommandName, data: Data): Problem[] {
  if (name === 'evaluation.requested') return EITHER.flatMap(([a, b]) => exactlyOne(data, a, b));
  const problems: Problem[] = [];
  const isNew = name === 'plan.created' || name === 'plan.submitted';
  if (!isNew && data.plan === undefined)
    problems.push({
      path: 'data.plan',
      message: 'is missing; name the plan here, or as subject of the event',
    });
  const [snapshots, references] = [data.snapshots, data.references].map((each) =>
    isPlainObject(each) ? each : {},
  );
  for (const resource of Object.keys(references ?? {})) {
    if (!Object.hasOwn(snapshots ?? {}, resource)) continue;
    const path = childPath('data.references', resource);
    problems.push({ path, message: 'stands among the snapshots as well; each resource has one' });
  }
  const count = Object.keys(snapshots ?? {}).length + Object.keys(references ?? {}).length;
  if (BRINGS_SNAPSHOTS.has(name) && count === 0)
    problems.push({ path: 'data.snapshots', message: 'is missing; give snapshots or references' });
  return problems;
}

function exactlyOne(data: Data, a: string, b: string): Problem[] {
  const [hasA, hasB] = [data[a] !== undefined, data[b] !== undefined];
  if (hasA && hasB) return [{ path: `data.${b}`, message: `stands beside ${a}; only one of them may` }];
  return hasA || hasB ? [] : [{ path: `data.${a}`, message: `is missing; give ${a} or ${b}` }];
}
