import { z } from 'zod';
import type { CommandName } from './names.js';

/** Something that a command names instead of carrying it. */
export const referenceSchema = z
  .strictObject({
    uri: z
      .string()
      .max(4096)
      .regex(/^(?:file|https):\/\//, 'must be a file:// or https:// URL')
      .describe('Where it lies: file:// or https://, from where the operator allows it'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in 64 hexadecimal digits, lower case')
      .describe('SHA-256 of its bytes; anything else is refused'),
  })
  .describe('Where it lies instead of here');

const snapshotReference = referenceSchema.extend({
  as: z
    .enum(['json', 'text'])
    .optional()
    .describe('Whether the snapshot is the JSON value that lies there, or its text; default: json'),
});

const jsonObject = (about: string) => z.record(z.string(), z.unknown()).describe(about);

const name = (about: string) => z.string().min(1).max(256).describe(about);
const planOptional = name('Id of the plan; default: the subject of the CloudEvent').optional();
const revision = z
  .int()
  .min(0)
  .optional()
  .describe('Refused as stale when the plan stands at another revision');
const project = name('Project of the plan').optional();
const snapshots = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('A snapshot of each resource, by the resource’s name: any JSON');
const references = z
  .record(z.string(), snapshotReference)
  .optional()
  .describe('Snapshots that lie elsewhere, by the resource’s name');
const evidence = { snapshots, references };

const oneOf = (a: string, b: string) => ({ oneOf: [{ required: [a] }, { required: [b] }] });

const evaluationRequested = z
  .strictObject({
    scenario: jsonObject('The content of a scenario.json').optional(),
    scenario_ref: referenceSchema.optional().describe('Where the scenario.json lies'),
    run: jsonObject('A run record').optional(),
    run_ref: referenceSchema.optional().describe('Where the run record lies, as JSON'),
    files: z
      .record(z.string(), z.string())
      .optional()
      .describe('Files of the scenario’s folder that its playbooks need, by path: their text'),
    strict: z.boolean().optional().describe('A pass without any data counts as a failure; default: false'),
    from: z
      .enum(['gateway', 'message', 'direct'])
      .optional()
      .describe('Where the run came in: rules about the ticket apply only with gateway; default: direct'),
  })
  .meta({ allOf: [oneOf('scenario', 'scenario_ref'), oneOf('run', 'run_ref')] })
  .describe('Judge one run by one scenario');

/** Data of each command, by its name. `snapshots` and `references` together name each resource once. */
export const commandData = {
  'evaluation.requested': evaluationRequested,
  'plan.created': z
    .strictObject({
      plan: name('Id of the plan; default: the subject of the CloudEvent, or one that is made').optional(),
      project,
      resources: z.array(z.string()).min(1).describe('Names of its resources'),
      revision,
    })
    .describe('A plan begins, with its strategy still to be made'),
  'plan.submitted': z
    .strictObject({
      plan: name('Id of the plan; default: the subject of the CloudEvent, or one that is made').optional(),
      project,
      ...evidence,
      revision,
    })
    .describe('A plan comes with its work done, and is judged at once'),
  'plan.strategized': z
    .strictObject({ plan: planOptional, revision })
    .describe('The strategy of the plan is made'),
  'plan.executed': z
    .strictObject({ plan: planOptional, ...evidence, revision })
    .describe('The work of the plan is done, and is judged'),
  'plan.fixed': z
    .strictObject({ plan: planOptional, ...evidence, revision })
    .describe('What had failed is mended, and is judged'),
  'plan.responded': z
    .strictObject({
      plan: planOptional,
      answer: z.enum(['retry', 'abort']).describe('Go on with another strategy, or give up'),
      guidance: z.string().max(65_536).optional().describe('What the agent should know'),
      revision,
    })
    .describe('A person answers to an escalation'),
  'plan.apply.requested': z
    .strictObject({
      plan: planOptional,
      digests: z
        .record(z.string(), z.string())
        .optional()
        .describe('SHA-256 of the snapshot that is to be applied, by resource'),
      ...evidence,
      revision,
    })
    .describe('What was validated is to be applied'),
  'plan.cancel.requested': z
    .strictObject({
      plan: planOptional,
      reason: z.string().max(65_536).optional().describe('Why, for the history of the plan'),
      revision,
    })
    .describe('The plan is given up'),
} satisfies Record<CommandName, z.ZodObject>;

/** Data of a command by its name. */
export type CommandData<N extends CommandName> = z.output<(typeof commandData)[N]>;

/** Where a snapshot lies, and how it is to be read. */
export type SnapshotReference = z.output<typeof snapshotReference>;
