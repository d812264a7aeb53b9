import { z } from 'zod';

/** Most nodes of one graph. */
export const MOST_NODES = 100;

/** Ids are named in pointers and in results. */
export const NODE_ID = /^[a-zA-Z][a-zA-Z0-9_-]*$/;
export const LONGEST_ID = 128;

const graphValue = z.union([
  z.strictObject({
    from: z
      .string()
      .min(1)
      .describe(
        'JSON pointer into what is known by then: /args/NAME, /subject, /resource, /slot or /nodes/ID, the output of a node',
      ),
  }),
  z.strictObject({ value: z.unknown().describe('What it always is') }),
]);

/** Fields of a node. */
export const NODE_FIELDS = {
  tool: z.string().min(1, 'must not be empty').describe('Name of a tool or validation'),
  arguments: z
    .record(z.string(), graphValue)
    .optional()
    .describe('By argument of the tool; one whose pointer finds nothing is left out'),
  subject: graphValue.optional().describe('What it judges; default: what the graph is given'),
  needs: z
    .array(z.string())
    .max(MOST_NODES)
    .optional()
    .describe('Nodes that end before it begins, besides those that its values come from'),
};

/** Fields of a graph, as a user writes it. */
export const GRAPH_FIELDS = {
  nodes: z
    .record(z.string().regex(NODE_ID).max(LONGEST_ID), z.strictObject(NODE_FIELDS))
    .describe(`By id, at most ${MOST_NODES}`)
    .meta({ minProperties: 1, maxProperties: MOST_NODES }),
  output: graphValue
    .optional()
    .describe(
      'What the graph returns. Default: of a validation whether all its validation nodes passed, of a tool all outputs by node',
    ),
};

export const graphField = z.strictObject(GRAPH_FIELDS).describe('Source graph: tools that feed each other');
