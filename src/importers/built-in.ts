import type { Importer } from './importer.js';
import { intercode } from './intercode.js';
import { miniSweAgent } from './mini-swe-agent.js';
import { sweAgent } from './swe-agent.js';

/** Every importer, in the order in which they are asked whether a log is theirs. */
export const IMPORTERS: readonly Importer[] = [
  intercode, //
  miniSweAgent,
  sweAgent,
];
