import { nameOf } from '../../src/core/sink-filter.js';
import type { OutgoingEvent } from '../../src/ports/sink.js';

/** What may stand in braces in the address of an event. */
export const PLACEHOLDERS = ['{type}', '{subject}'];

const PLACEHOLDER = /\{[^{}]*\}?|\}/g;

/** What stands in braces and is no placeholder; undefined: nothing. */
export function strangePlaceholder(template: string): string | undefined {
  return (template.match(PLACEHOLDER) ?? []).find((found) => !PLACEHOLDERS.includes(found));
}

/** The template with the event's name (`plan.failed`) and subject in place of `{type}` and `{subject}`. */
export function fillTemplate(
  template: string,
  event: OutgoingEvent,
  spell: (part: { type: string } | { subject: string }) => string = (part) =>
    'type' in part ? part.type : part.subject,
): string {
  return template.replace(/\{type\}|\{subject\}/g, (found) =>
    found === '{type}' ? spell({ type: nameOf(event.type) }) : spell({ subject: subjectOf(event) }),
  );
}

function subjectOf({ json }: OutgoingEvent): string {
  const { subject } = JSON.parse(json) as { subject?: unknown };
  return typeof subject === 'string' ? subject : '';
}
