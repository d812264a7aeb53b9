/** Why documents and snapshots cannot be read; one stable code for each reason. */
export const INPUT_CODES = {
  UNREADABLE: 'The file is not there, or cannot be read as text.',
  NO_DOCUMENT: 'The file or folder holds no document.',
  SYNTAX: 'The text is no valid YAML or JSON.',
  DUPLICATE_KEY: 'A key appears twice in its mapping.',
  KEY_NOT_TEXT: 'A key is a number, a boolean or a mapping of its own.',
  CUSTOM_TAG: 'A value has a tag of its own.',
  ALIASES: 'An alias has no anchor, or aliases stand for too much.',
  NOT_JSON: 'A value is one that JSON does not have.',
  TOO_DEEP: 'The text is nested deeper than 100 levels.',
  TOO_LARGE: 'The file is larger than is read, or its aliases stand for more.',
  BAD_FILE: 'A file that a document lists is not there, is none, leaves the folder or is too much.',
  BAD_SNAPSHOT: 'What is named gives no snapshot.',
  NOT_NAMED: 'What is given is not NAME=WHAT.',
} as const;
export type InputCode = keyof typeof INPUT_CODES;
