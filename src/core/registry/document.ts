import { z } from 'zod';
import { OPENING, PLACEHOLDERS } from '../command/placeholders.js';
import { graphField } from './graph-schema.js';
import { mcpArgumentsField } from './mcp-arguments.js';
import { COMMAND_OUTPUTS, EXIT_MEANINGS, type Kind, MODES, SOURCES } from './model.js';

/** Most fixes that a validation may ask for, and most times that a failure is confirmed. */
const MOST_FIXES = 100;
const MOST_CONFIRMATIONS = 10;
export const MOST_SLOTS = 32;

const NAME = '[a-zA-Z][a-zA-Z0-9_-]*';

const nameField = z
  .string()
  .describe(
    'namespace/name; without a namespace it is in "local". Unique across tools, validations and skills',
  )
  .meta({ pattern: `^(?:${NAME}/)?${NAME}$` });

const jsonSchema = z.record(z.string(), z.unknown());
const source = z
  .string()
  .min(1, 'must not be empty')
  .describe('JavaScript function expression, without modules, files, network and clock');

const folderPath = z.string().regex(/^[^/~\\\u0000-][^\\\u0000]*$/);
const fileContent = z.union([z.string(), z.strictObject({ base64: z.string() })]);

/** Of commands and playbooks alone. */
const PROCESS_FIELDS = {
  shell: z
    .boolean()
    .optional()
    .describe('Source command: its first part is a script for /bin/sh, the others are $1, $2 and so on'),
  exit_codes: z
    .record(z.string().regex(/^\d{1,3}$/), z.enum(EXIT_MEANINGS))
    .optional()
    .describe('Source command: what exit codes mean; default: 0 pass, 1 fail, all else error'),
  output: z
    .enum(COMMAND_OUTPUTS)
    .optional()
    .describe(
      'Source command: what its result is. auto: {passed, message, data} where that is all it prints, else the exit code; json: what it prints, always; exit_code: never what it prints',
    ),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string())
    .optional()
    .describe('Source command: variables of its environment, besides PATH, HOME, TMPDIR, LANG and PWD'),
  paths: z
    .array(z.string().regex(/^\/[^\u0000]*$/))
    .optional()
    .describe('Source command: files and folders of the worker’s host that it reads, absolute'),
  snapshot_files: z
    .boolean()
    .optional()
    .describe(
      'Source command: the files of the folder that is judged stand in its working folder, but never over its own files and never in .sluice/',
    ),
  files: z
    .union([z.record(folderPath, fileContent), z.array(folderPath)])
    .optional()
    .describe(
      'Source command, validator ansible: files in the working folder: text or {base64} by path, or a list of paths beside the document’s own file',
    ),
  playbook: folderPath.optional().describe('Validator ansible: the playbook, one of the files'),
  inventory: folderPath
    .optional()
    .describe('Validator ansible: the inventory, one of the files or a folder of them; default: this host'),
};

/** What a document may declare of what its tool does to the world. */
export const FLAG_FIELDS = {
  read_only: z
    .boolean()
    .optional()
    .describe(
      'It changes nothing. Default: true for validations, code, validators and graphs; by annotations for mcp; else false',
    ),
  writes: z
    .boolean()
    .optional()
    .describe('It changes something. Default: the opposite of read_only. A validation never does'),
  checkpointable: z.boolean().optional().describe('What it changes can be rolled back'),
  network: z.boolean().optional().describe('It needs the network; without this it has none'),
};

/** A place for a resource. */
export const SLOT_FIELDS = {
  name: z
    .string()
    .regex(new RegExp(`^${NAME}$`), 'must be a letter, then letters, digits, "_" and "-"')
    .describe('What attachments call it'),
  type: z
    .string()
    .regex(/^(?:\*|[a-zA-Z0-9][a-zA-Z0-9._@:-]*)$/, 'must be the type of a resource, or "*" for any')
    .default('*')
    .describe('Type of the resources that fit; "*": any'),
  required: z.boolean().default(true).describe('A call must have a resource in it'),
};

const hook = source.optional();

/** Functions of a tool’s life. */
export const HOOK_FIELDS = { discover: hook, activate: hook, execute: hook, deactivate: hook };

export const RETRY_FIELDS = {
  limit: z
    .number()
    .int()
    .min(0)
    .max(MOST_FIXES)
    .describe('Most fixes that its failure may ask for under one strategy; lowers the plan’s limit'),
};

const toolShape = {
  kind: z.enum(['tool', 'validation', 'skill']).optional().describe('Default: that of the command'),
  name: nameField,
  description: z.string().default('').describe('What it does, for people and agents'),
  source: z.enum(SOURCES).optional().describe('What runs; evident from the fields below'),
  input_schema: jsonSchema
    .optional()
    .describe('JSON Schema of the arguments; without one it takes none, with {type: object} any'),
  output_schema: jsonSchema.optional().describe('JSON Schema of what comes back'),
  capability: z
    .strictObject(FLAG_FIELDS)
    .optional()
    .describe('What it may do; the flags may stand at the top as well'),
  ...FLAG_FIELDS,
  resource_slots: z
    .array(z.strictObject(SLOT_FIELDS))
    .max(MOST_SLOTS)
    .optional()
    .describe('Places for resources; default: none, and any resource fits'),
  lifecycle: z.strictObject(HOOK_FIELDS).optional().describe('Functions that run at each point of its life'),
  validator: z
    .string()
    .optional()
    .describe('Source builtin: a built-in validator, ansible, or plugin/NAME for one of a plugin'),
  code: source.optional().describe('Source code: JavaScript, ({ args, subject, resource, slot }) => value'),
  command: z
    .array(z.string().regex(/^[^\u0000]*$/, 'must not contain a NUL character'))
    .min(1)
    .optional()
    .describe(
      `Source command: program and arguments; ${PLACEHOLDERS.join(', ')} are filled in, $${OPENING} is ${OPENING} itself`,
    ),
  ...PROCESS_FIELDS,
  mcp_server: z.string().min(1).optional().describe('Source mcp: name of the server'),
  mcp_tool_name: z.string().min(1).optional().describe('Source mcp: name of the tool there'),
  arguments: mcpArgumentsField.optional(),
  annotations: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Source mcp: what the server says of the tool, such as {"readOnlyHint": true}'),
  graph: graphField.optional(),
  timeout: z
    .string()
    .optional()
    .describe('Longest run: 500ms, 30s, 5m, 1h. Default 1s for code (at most 10s), else 60s (at most 1h)')
    .meta({ pattern: '^\\d{1,9}(?:\\.\\d{1,3})?(?:ms|s|m|h)$' }),
  idempotent: z.boolean().optional().describe('A second run does no more than the first; default: read_only'),
};

const mappedArgument = z.union([
  z.strictObject({ from: z.string().min(1).describe('Name of the argument outside') }),
  z.strictObject({ value: z.unknown().describe('What it always is') }),
]);

const validationShape = {
  ...toolShape,
  mode: z
    .enum(MODES)
    .default('required')
    .describe('required: its failure keeps the gate shut; informational: it is recorded and told'),
  wraps: z.string().optional().describe('Source wrapped: the tool or validation whose output is interpreted'),
  transform: source
    .optional()
    .describe('Source wrapped: (tool_output, { args, subject, resource }) => ({ passed, message, data })'),
  argument_mapping: z
    .record(z.string(), mappedArgument)
    .optional()
    .describe('Source wrapped: arguments of the wrapped tool that are named otherwise outside, or fixed'),
  retry: z.strictObject(RETRY_FIELDS).optional().describe('How long its failure may be fixed'),
  confirm: z
    .number()
    .int()
    .min(0)
    .max(MOST_CONFIRMATIONS)
    .default(0)
    .describe('How often a failure is run again to see whether it fails every time'),
};

const skillShape = {
  kind: toolShape.kind,
  name: nameField,
  description: toolShape.description,
  tools: z
    .array(z.string())
    .min(1)
    .max(1000)
    .describe('Names of tools and validations: being in a skill makes one callable, never a gate'),
};

/** Fields of each kind of document, as a user writes them (ADR, Relationship to Tool). */
export const SHAPES = {
  tool: toolShape,
  validation: validationShape,
  skill: skillShape,
} as const satisfies Record<Kind, z.ZodRawShape>;

const OWN_SOURCES = ['validator', 'code', 'command', 'mcp_server', 'graph'];
const oneOf = (fields: readonly string[]) => ({ anyOf: fields.map((field) => ({ required: [field] })) });

const toolSchema = z.strictObject(toolShape).meta({ title: 'Sluice tool', ...oneOf(OWN_SOURCES) });
const validationSchema = z
  .strictObject(validationShape)
  .meta({ title: 'Sluice validation', ...oneOf([...OWN_SOURCES, 'wraps']) });
const skillSchema = z.strictObject(skillShape).meta({ title: 'Sluice skill' });

/** A tool as it is given to be registered. */
export type ToolInputDocument = z.input<typeof toolSchema>;
/** A validation as it is given to be registered. */
export type ValidationInputDocument = z.input<typeof validationSchema>;
/** A skill as it is given to be registered. */
export type SkillInput = z.input<typeof skillSchema>;

function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    override({ jsonSchema: made }) {
      if (made.additionalProperties === false) made.patternProperties = { '^x-': {} };
    },
  }) as Record<string, unknown>;
}

/**
 * JSON Schema (draft 2020-12) of each kind of document, from the same schemas that registering uses.
 * It cannot say everything that registering refuses, such as flags that contradict each other.
 */
export const documentJsonSchemas: Readonly<Record<Kind, () => Record<string, unknown>>> = {
  tool: () => jsonSchemaOf(toolSchema),
  validation: () => jsonSchemaOf(validationSchema),
  skill: () => jsonSchemaOf(skillSchema),
};
