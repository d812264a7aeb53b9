import type { Problem } from '../problem.js';

/** Why a document is refused or cannot go; one stable code for each reason (DESIGN 4.1 to 4.3, 4.11). */
export const REGISTRY_CODES = {
  NOT_JSON: 'The document holds something that JSON cannot carry.',
  TOO_LARGE: 'The document is larger than 256 KiB.',
  TOO_DEEP: 'The document is nested deeper than 64 levels.',
  FORBIDDEN_KEY: 'A key of this name is refused everywhere: it could change what an object is.',
  NOT_AN_OBJECT: 'The document is not an object.',
  UNKNOWN_KIND: 'The kind is none of tool, validation and skill.',
  UNKNOWN_KEY: 'The document has a key that its kind does not know.',
  MISSING_FIELD: 'A field is missing that the kind or the source needs.',
  WRONG_TYPE: 'A field has a value of another type than it takes.',
  NOT_ALLOWED: 'A field has a value that is none of those it takes.',
  BAD_VALUE: 'A field has a value out of its bounds or against its form.',
  BAD_NAME: 'The name is against the grammar namespace/name.',
  RESERVED_NAME: 'The namespace belongs to Sluice itself.',
  NAME_TAKEN: 'The name belongs to a document of another kind.',
  DUPLICATE_NAME: 'Two documents of one registration have the same name.',

  CAPABILITY_CONFLICT: 'Two declarations of what the tool may do contradict each other.',
  VALIDATION_WRITES: 'A validation never writes.',
  VALIDATION_CHECKPOINTABLE: 'A validation changes nothing, so there is nothing to checkpoint.',
  VALIDATION_NOT_READ_ONLY: 'A validation is always read-only.',
  MCP_NOT_READ_ONLY:
    'The annotations of the MCP tool say, or by the protocol’s defaults mean, that it writes.',
  MCP_UNDECLARED: 'Nothing says whether the MCP tool writes: it has no annotations and no declaration.',

  SOURCE_MISSING: 'Nothing says what runs.',
  SOURCE_CONFLICT: 'The document names several sources, or a source that its fields contradict.',
  FOREIGN_FIELD: 'The field belongs to another source, or to another kind.',
  UNKNOWN_VALIDATOR: 'There is no built-in tool for a validator of this name.',
  NO_FUNCTION: 'A source is not a JavaScript function expression.',

  UNKNOWN_PLACEHOLDER: 'A command has a placeholder that nothing can fill in.',
  PLACEHOLDER_IN_SCRIPT: 'A script has a placeholder: its value would be read as code.',
  BAD_VARIABLE: 'A variable of a command has a name that is none, or one that is Sluice’s.',
  BAD_PATH: 'A path is not of the form that it must have, or leads where it must not.',
  FILES_LISTED: 'Files are named by a list of paths where there is no folder to read them from.',
  FILE_MISSING: 'A playbook or an inventory is not among the files of its document.',

  TOO_MANY_REQUIRED: 'A validation has two required resource slots, and an attachment binds one resource.',

  BAD_TIMEOUT: 'The timeout is no duration.',
  TIMEOUT_TOO_LONG: 'The timeout is longer than the source, or the wrapped tool, allows.',

  BAD_SCHEMA: 'A schema is no valid JSON Schema (draft 2020-12).',
  SCHEMA_REFERENCE: 'A schema refers to something outside itself.',
  SCHEMA_PATTERN: 'A schema has a pattern that RE2 does not know.',

  TRANSFORM_MISSING: 'A validation that wraps a tool says by a transform what its output means.',
  INHERITED_FIELD: 'The field is inherited from the wrapped tool and cannot be given.',
  WRAPS_UNKNOWN: 'No tool or validation of the wrapped name is registered.',
  WRAPS_WRITING: 'The wrapped tool writes, or nothing says that it does not.',
  WRAPS_CYCLE: 'A validation would wrap itself.',
  WRAPS_TOO_DEEP: 'More than ten validations would be wrapped around each other.',
  MAPPING_UNKNOWN: 'The wrapped tool has no argument of the mapped name.',
  MAPPING_VALUE: 'The fixed value of an argument does not fit the wrapped tool.',
  MAPPING_INCOMPLETE: 'A required argument of the wrapped tool could never be given.',
  MAPPING_UNSUPPORTED: 'The schema of the wrapped tool says things that a mapping cannot follow.',

  UNKNOWN_TOOL: 'The skill lists, or the graph calls, a tool that is not registered.',
  DUPLICATE_MEMBER: 'The skill lists a tool twice.',

  BAD_POINTER: 'What a graph takes a value from is no JSON pointer, or leads nowhere.',
  UNKNOWN_NODE: 'The graph has no node of this id.',
  GRAPH_CYCLE: 'A node would wait for itself, or a graph would contain itself.',
  GRAPH_TOO_DEEP: 'More than five graphs would be nested in each other.',
  GRAPH_TOO_LARGE: 'A graph would make more than 1000 calls, or be larger than 4 MiB with all that it calls.',
  GRAPH_WRITING:
    'A graph that is read-only calls a tool that writes, or of which nothing says that it does not.',
  GRAPH_UNDECIDED: 'Nothing in the graph of a validation says whether it passes.',
  ARGUMENT_UNKNOWN: 'The tool of a node, or the graph itself, has no argument of this name.',
  ARGUMENT_MISSING: 'An argument that the tool of a node requires is not given.',
  ARGUMENT_VALUE: 'The fixed value of an argument does not fit the tool of a node.',

  BREAKS_WRAPPER: 'A validation that wraps the tool could no longer be registered.',
  BREAKS_GRAPH: 'A graph that calls the tool could no longer be registered.',
  BREAKS_ATTACHMENT: 'An attachment’s arguments or slot would no longer fit.',
  IN_USE: 'The document is wrapped by a validation, called by a graph, or listed by a skill.',
  NOT_FOUND: 'There is no document of this kind and name that could be removed.',

  VALUE_MISSING: 'A value is missing that the schema requires.',
  VALUE_UNKNOWN: 'The schema knows no value of this name.',
  VALUE_TYPE: 'A value has another type than the schema says.',
  VALUE_NOT_ALLOWED: 'A value is none of those that the schema lists.',
  VALUE_INVALID: 'A value is against a bound or a form that the schema sets.',
  VALUE_TOO_COSTLY: 'Checking the value against the schema takes more steps than are allowed.',
} as const;
export type RegistryCode = keyof typeof REGISTRY_CODES;

/** A problem that has one of these codes. */
export type CodedProblem = Problem & { code: RegistryCode };
