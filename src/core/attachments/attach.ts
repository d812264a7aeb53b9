import type { Problem } from '../problem.js';
import type { Attachment, Registry, RegistryChange } from '../registry/model.js';
import { type Asked, type Fitting, findFitting, type Place, placeOf } from './candidate.js';
import type { AttachmentCode } from './codes.js';
import { attachmentIdentity } from './identity.js';
import { findMembers } from './members.js';
import { shareArguments } from './shares.js';

/** A validation that is to be attached; its mode is its own and not asked for (DESIGN 4.4). */
export interface AttachRequest extends Asked {
  /** In full, or short for one in `local/`. */
  validation: string;
}

/** All validations of a skill that are to be attached; each gets those of the arguments that it knows. */
export interface AttachSkillRequest extends Asked {
  skill: string;
}

/** What attaching a skill came to. */
export interface SkillAttached {
  /** One for each validation of the skill. */
  attachments: Attachment[];
  /** Ids of those that were attached just so before. */
  existing: string[];
  /** Plain tools of the skill: they gate nothing. */
  passedOver: string[];
}

interface Refused {
  ok: false;
  problems: Problem[];
}

type Wanted = Omit<Attachment, 'id'>;

function changeOf(attach: Attachment[], detach: string[] = []): RegistryChange {
  return { put: [], remove: [], attach, detach };
}

function wantedOf(asked: Asked, place: Place, fitting: Fitting, now: number, actor: string): Wanted {
  return {
    validation: fitting.name,
    resource: asked.resource,
    arguments: structuredClone(asked.arguments),
    scope: place.scope,
    target: place.target,
    slot: fitting.slot,
    attachedAt: now,
    actor,
  };
}

/** The attachment that says the same already: one identity, scope and target. */
function twinOf(registry: Registry, wanted: Wanted): Attachment | undefined {
  const identity = attachmentIdentity(wanted);
  return registry.attachments.find(
    (each) =>
      each.resource === wanted.resource &&
      each.validation === wanted.validation &&
      each.scope === wanted.scope &&
      each.target === wanted.target &&
      attachmentIdentity(each) === identity,
  );
}

/** An id that stands for another attachment would replace it, and its check with it. */
function withId(registry: Registry, wanted: Wanted, id: string): Attachment {
  if (registry.attachments.some((each) => each.id === id)) {
    throw new Error(`the id ${id} belongs to another attachment`);
  }
  return { id, ...wanted };
}

/**
 * Attaches a validation to a resource: directly, for a project or for a plan (ADR, Attachment
 * Scoping; DESIGN 4.5). Every problem at once, and nothing changes when there is one. What is
 * attached in the same words already is answered as it stands (`existing`), without a change.
 * `id`: a new ULID, later than all before; it throws when the id is taken. `now` in milliseconds.
 */
export function planAttachment(
  registry: Registry,
  request: AttachRequest,
  id: string,
  now: number,
  actor: string,
): { ok: true; change: RegistryChange; attachment: Attachment; existing: boolean } | Refused {
  const place = placeOf(request);
  const fitting = findFitting(registry, request.validation, request);
  if (!place.ok || !fitting.ok) {
    return { ok: false, problems: [place, fitting].flatMap((each) => (each.ok ? [] : each.problems)) };
  }
  const wanted = wantedOf(request, place.found, fitting.found, now, actor);
  const twin = twinOf(registry, wanted);
  if (twin !== undefined) return { ok: true, change: changeOf([]), attachment: twin, existing: true };
  const attachment = withId(registry, wanted, id);
  return { ok: true, change: changeOf([attachment]), attachment, existing: false };
}

function about(validation: string, problem: Problem): Problem {
  return { ...problem, message: `${problem.message} (validation ${validation})` };
}

/** The validations of the skill, each with the arguments that are its; and what is wrong with any. */
function fitAll(registry: Registry, validations: readonly string[], asked: Asked) {
  const { shares, problems } = shareArguments(registry, validations, asked.arguments);
  const fitting: { asked: Asked; found: Fitting }[] = [];
  for (const name of validations) {
    const own = { ...asked, arguments: shares.get(name) ?? asked.arguments };
    const answer = findFitting(registry, name, own);
    if (answer.ok) fitting.push({ asked: own, found: answer.found });
    else problems.push(...answer.problems.map((problem) => about(name, problem)));
  }
  return { fitting, problems };
}

/**
 * Attaches every validation of a skill to a resource, all or none. Plain tools gate nothing and are
 * passed over; a skill without a validation is refused (DESIGN 4.11). Each gets the arguments that its
 * schema knows; one that none knows is refused. Those attached in the same words already (`existing`,
 * their ids) stay as they stand. `newId` answers a later ULID each time.
 */
export function planSkillAttachment(
  registry: Registry,
  request: AttachSkillRequest,
  newId: () => string,
  now: number,
  actor: string,
): ({ ok: true; change: RegistryChange } & SkillAttached) | Refused {
  const place = placeOf(request);
  const found = findMembers(registry, request.skill);
  const { fitting, problems } = fitAll(registry, found.ok ? found.members.validations : [], request);
  if (!place.ok || !found.ok || problems.length > 0) {
    const named = [place.ok ? [] : place.problems, found.ok ? [] : found.problems];
    return { ok: false, problems: [...named.flat(), ...problems] };
  }
  const added: Attachment[] = [];
  const existing: string[] = [];
  const attachments = fitting.map((each) => {
    const wanted = wantedOf(each.asked, place.found, each.found, now, actor);
    const twin = twinOf(registry, wanted);
    if (twin !== undefined) {
      existing.push(twin.id);
      return twin;
    }
    const attachment = withId(registry, wanted, newId());
    added.push(attachment);
    return attachment;
  });
  return { ok: true, change: changeOf(added), attachments, existing, passedOver: found.members.tools };
}

/** Takes an attachment off, by its id. */
export function planDetachment(
  registry: Registry,
  id: string,
): { ok: true; change: RegistryChange; attachment: Attachment } | Refused {
  const attachment = registry.attachments.find((each) => each.id === id);
  if (attachment !== undefined) return { ok: true, change: changeOf([], [id]), attachment };
  const code: AttachmentCode = 'UNKNOWN_ATTACHMENT';
  const message = 'no attachment has this id; `explain` lists those of a resource';
  return { ok: false, problems: [{ code, path: 'id', message, found: id }] };
}
