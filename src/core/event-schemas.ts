import { z } from 'zod';
import { commandEventData } from './command-events.js';
import { deliveryEventData } from './delivery-events.js';
import { EVENT_PREFIX, EVENT_VERSION, type EventName } from './events.js';
import { planEvaluationData, planEventData } from './plan/event-schemas.js';
import { OUTCOMES } from './result.js';
import { unservedShape } from './routing.js';

const whole = z.number().int().min(0);
const actor = z.string().nullable().describe('Who asked for it; null: not known');

const evaluation = z.strictObject({
  evaluation: z.string(),
  batch: z.string().nullable().describe('null: it was asked for by itself'),
  run: z.string().describe('Id of the run record'),
  case: z.string().describe('What the run is an attempt at'),
  scenario: z.string().describe('Key of the scenario'),
  scenario_digest: z.string(),
  subject_digest: z.string(),
  attempt: z.number().int().min(1),
});

const gate = z.strictObject({ passed: z.boolean(), reason: z.string() });
const brief = z.strictObject({
  validation: z.string(),
  label: z.string(),
  mode: z.enum(['required', 'informational']),
  outcome: z.enum(OUTCOMES),
  message: z.string(),
});

const decided = evaluation.extend({
  actor,
  decision: z.enum(['passed', 'failed', 'errored']),
  score: z.strictObject({
    passed: whole,
    total: whole,
    percent: z.number().int().min(0).max(100).nullable().describe('Rounded down; null: no rule counted'),
  }),
  gates: z.strictObject({ compliance: gate, resolution: gate }),
  counts: z.strictObject({
    passed: whole,
    failed: whole,
    errored: whole,
    skipped: whole,
    vacuous: whole.describe('Passed for lack of data'),
    advisories: whole.describe('Informational rules that failed or errored'),
  }),
  results_digest: z.string().describe('SHA-256 of the results as they are stored'),
});

const oneCheck = evaluation.extend({
  ...brief.shape,
  data: z.record(z.string(), z.unknown()),
  attachment_id: z.string(),
});

/** Data of the events of a run's evaluation, by the event's name. */
const runEvaluationData = {
  'evaluation.accepted': evaluation.extend({ actor }),
  'evaluation.unserved': evaluation.extend(unservedShape),
  'evaluation.passed': decided,
  'evaluation.failed': decided,
  'advisory.raised': evaluation.extend({
    advisories: z.array(brief).describe('The first hundred'),
    total: whole,
  }),
  'validation.failed': oneCheck,
  'validation.errored': oneCheck,
} satisfies Record<keyof typeof planEvaluationData, z.ZodObject>;

const batch = z.strictObject({
  batch: z.string(),
  total: whole.nullable(),
  decided: whole,
  passed: whole,
  failed: whole,
  errored: whole,
  vacuous_passes: whole,
});

type EvaluationEvent = keyof typeof planEvaluationData;

/** Of a run, or of a plan: the two are told apart by `plan`. */
function either<N extends EvaluationEvent>(name: N) {
  return z.union([runEvaluationData[name], planEvaluationData[name]] as [
    (typeof runEvaluationData)[N],
    (typeof planEvaluationData)[N],
  ]);
}

/** Data of every event, by its name (DESIGN 7). */
export const eventData = {
  'evaluation.accepted': either('evaluation.accepted'),
  'evaluation.unserved': either('evaluation.unserved'),
  'evaluation.passed': either('evaluation.passed'),
  'evaluation.failed': either('evaluation.failed'),
  'advisory.raised': either('advisory.raised'),
  'validation.failed': either('validation.failed'),
  'validation.errored': either('validation.errored'),
  'batch.progressed': batch.extend({ percent: z.number().int().min(10).max(90) }),
  'batch.completed': batch.extend({ duration_ms: z.number().min(0) }),
  ...deliveryEventData,
  ...commandEventData,
  ...planEventData,
} satisfies Record<EventName, z.ZodType>;

/** Data of an event by its name. */
export type EventData<N extends EventName> = z.infer<(typeof eventData)[N]>;

/** An event as it is sent. */
export interface SluiceEvent<N extends EventName = EventName> {
  specversion: '1.0';
  /** Always the same for the same event: drop repeats by it. */
  id: string;
  source: string;
  type: `dev.sluice.${N}.v1`;
  subject: string;
  /** ISO 8601, UTC. */
  time: string;
  datacontenttype: 'application/json';
  partitionkey: string;
  sequence: string;
  correlationid?: string;
  causationid?: string;
  dataref?: string;
  /** W3C Trace Context, where traces are written. */
  traceparent?: string;
  data: EventData<N>;
}

/** The CloudEvent as it is sent: envelope and data. */
export function eventSchema(name: EventName): z.ZodObject {
  return z.strictObject({
    specversion: z.literal('1.0'),
    id: z.string().min(1).describe('Always the same for the same event: drop repeats by it'),
    source: z
      .string()
      .regex(/^\/sluice\/[a-zA-Z][a-zA-Z0-9_-]{0,63}$/)
      .describe('/sluice/<fleet>'),
    type: z.literal(EVENT_PREFIX + name + EVENT_VERSION),
    subject: z.string().min(1).describe('Evaluation, plan or batch; of delivery events the event or sink'),
    time: z.iso.datetime().describe('ISO 8601, UTC'),
    datacontenttype: z.literal('application/json'),
    partitionkey: z.string().describe('The same for all events whose order matters'),
    sequence: z.string().regex(/^\d+$/).describe('Place in the life of the subject'),
    correlationid: z.string().optional().describe('Batch, plan, or what the request said'),
    causationid: z.string().optional().describe('Id of the event or command that led to it'),
    dataref: z.string().optional().describe('Where all of it lies that was left out of `data`'),
    traceparent: z
      .string()
      .regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
      .optional()
      .describe('Trace that it came of, as W3C Trace Context writes it; only where traces are written'),
    data: eventData[name],
  });
}
