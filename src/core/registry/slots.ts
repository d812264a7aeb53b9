import { show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import type { CodedProblem } from './codes.js';
import { MOST_SLOTS, SLOT_FIELDS } from './document.js';
import { type Report, readObject, wrongType } from './fields.js';
import type { ResourceSlot } from './model.js';

/** The resource slots of a document; to be used only when nothing was reported. */
export function readSlots(given: unknown, report: Report): ResourceSlot[] | undefined {
  if (given === undefined) return undefined;
  const path = 'resource_slots';
  if (!Array.isArray(given)) {
    report(wrongType(path, 'must be a list', show(given)));
    return undefined;
  }
  if (given.length > MOST_SLOTS)
    report({ code: 'BAD_VALUE', path, message: `must have at most ${MOST_SLOTS} items` });
  const slots = given.flatMap((each: unknown, n) => {
    const slot = readObject(SLOT_FIELDS, each ?? null, childPath(path, n), report);
    return slot === undefined ? [] : [slot as unknown as ResourceSlot];
  });
  slots.forEach(({ name }, n) => {
    const first = slots.findIndex((slot) => slot.name === name);
    if (name === undefined || first === n) return;
    const message = `is the name of ${path}[${first}] as well`;
    report({ code: 'BAD_VALUE', path: `${childPath(path, n)}.name`, message, found: show(name) });
  });
  return slots;
}

/** An attachment binds one resource: a validation that requires two could never be attached (DESIGN 4.10). */
export function tooManyRequired(slots: readonly ResourceSlot[]): Omit<CodedProblem, 'path'> | undefined {
  const names = slots.filter(({ required }) => required).map(({ name }) => name);
  if (names.length < 2) return undefined;
  const message = `a validation has at most one required resource slot, since an attachment binds one resource; here are ${names.join(', ')}`;
  return { code: 'TOO_MANY_REQUIRED', message: `${message}; give all but one required: false` };
}
