import { nearestName, type Problem, show } from '../problem.js';
import type { ResourceSlot } from '../registry/model.js';
import type { AttachmentCode } from './codes.js';
import type { ResourceName } from './resource.js';

/** The slot that the resource goes into; null for a validation without slots, which takes any resource. */
export type Binding = { ok: true; slot: string | null } | { ok: false; problems: Problem[] };

const ANY_TYPE = '*';

function refusal(code: AttachmentCode, message: string, more: Partial<Problem> = {}): Problem {
  return { code, path: 'slot', message, ...more };
}

function fits(slot: ResourceSlot, resource: ResourceName): boolean {
  return slot.type === ANY_TYPE || slot.type === resource.type;
}

function described(slot: ResourceSlot): string {
  return `${slot.name} (${slot.type === ANY_TYPE ? 'any type' : slot.type})`;
}

function unknownSlot(slots: readonly ResourceSlot[], name: string): Problem {
  if (slots.length === 0) {
    const message = 'the validation has no resource slots; it takes any resource as it is';
    return refusal('UNKNOWN_SLOT', message, { found: show(name) });
  }
  const allowed = slots.map((slot) => slot.name);
  const nearest = nearestName(name, allowed);
  const message = 'the validation has no resource slot of this name';
  return refusal('UNKNOWN_SLOT', message, {
    found: show(name),
    allowed,
    ...(nearest === undefined ? {} : { nearest }),
  });
}

function chosen(
  slots: readonly ResourceSlot[],
  resource: ResourceName,
  named: string | undefined,
): ResourceSlot | Problem {
  const found = resource.type ?? 'a resource without a type';
  if (named !== undefined) {
    const slot = slots.find((each) => each.name === named);
    if (slot === undefined) return unknownSlot(slots, named);
    if (fits(slot, resource)) return slot;
    return refusal('SLOT_TYPE', `slot ${slot.name} takes resources of type ${slot.type}`, { found });
  }
  const fitting = slots.filter((slot) => fits(slot, resource));
  if (fitting.length > 1) {
    const message = 'several resource slots fit; name the one to bind';
    return refusal('SLOT_AMBIGUOUS', message, { allowed: fitting.map((slot) => slot.name) });
  }
  return (
    fitting[0] ??
    refusal('NO_SLOT_FITS', 'no resource slot takes a resource of this type', {
      found,
      allowed: slots.map(described),
    })
  );
}

/** Required slots that an attachment, which binds one resource, would leave empty. */
function unbound(slots: readonly ResourceSlot[], bound: ResourceSlot | undefined): Problem[] {
  const required = slots.filter((slot) => slot.required);
  const names = (list: readonly ResourceSlot[]) => list.map((slot) => slot.name).join(', ');
  if (required.length > 1) {
    const message = `${required.length} resource slots are required (${names(required)}), and an attachment binds one`;
    return [refusal('SLOT_UNBOUND', message)];
  }
  const empty = bound === undefined ? [] : required.filter((slot) => slot !== bound);
  return empty.length === 0
    ? []
    : [refusal('SLOT_UNBOUND', `the required resource slot ${names(empty)} would stay without a resource`)];
}

/**
 * Binds a resource to the one slot that its type fits; where two fit, to the named one (DESIGN 4.10).
 * A slot of its own type and a slot for any type are two. Refusals carry an AttachmentCode.
 */
export function bindSlot(
  slots: readonly ResourceSlot[],
  resource: ResourceName,
  named: string | undefined,
): Binding {
  if (slots.length === 0 && named === undefined) return { ok: true, slot: null };
  const choice = chosen(slots, resource, named);
  const slot = 'message' in choice ? undefined : choice;
  const problems = ['message' in choice ? [choice] : [], unbound(slots, slot)].flat();
  return slot === undefined || problems.length > 0 ? { ok: false, problems } : { ok: true, slot: slot.name };
}
