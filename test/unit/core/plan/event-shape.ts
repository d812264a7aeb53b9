import { expect } from 'vitest';
import type { OutboxEvent } from '../../../../src/core/events.js';
import { planEvaluationData, planEventData } from '../../../../src/core/plan/events.js';

/** DESIGN 7: what is more lies elsewhere. */
export const EVENT_BYTES = 48 * 1024;

export const bytes = (text: string) => new TextEncoder().encode(text).length;
export const parsed = ({ json }: OutboxEvent) => JSON.parse(json);
export const nameOf = ({ type }: OutboxEvent) => type.replace(/^dev\.sluice\.(.+)\.v1$/, '$1');

/** The data is what its schema says, and has no field besides. */
export function expectSchema(event: OutboxEvent): void {
  const schemas = { ...planEventData, ...planEvaluationData };
  const { data } = parsed(event);
  expect(schemas[nameOf(event) as keyof typeof schemas].parse(data)).toEqual(data);
}
