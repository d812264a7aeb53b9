import { isPlainObject } from '../json.js';
import { checkPlaceholders, readCommandFields } from './command-fields.js';
import { own, type Raw, type Report } from './fields.js';
import { readFiles } from './files.js';
import type { JsonObject, ToolDocument } from './model.js';
import { readPlaybook } from './playbook.js';

type Read = Pick<ToolDocument, 'exit_codes' | 'env' | 'paths' | 'files' | 'playbook' | 'inventory'>;

/**
 * Fields of what runs as a process, which its own schema does not say well enough; to be used only when
 * nothing was reported. `isSound`: whether nothing is wrong with `input_schema`.
 */
export function readProcessFields(
  raw: Raw,
  fields: Readonly<Record<string, unknown>>,
  isSound: boolean,
  report: Report,
): Read {
  const files = readFiles(own(raw, 'files'), report);
  const { command, input_schema: schema } = fields;
  if (Array.isArray(command)) {
    const known = schema === undefined ? undefined : isSound && isPlainObject(schema) ? schema : null;
    checkPlaceholders(
      command as string[],
      fields.shell === true,
      known as JsonObject | undefined | null,
      report,
    );
  }
  return {
    ...readCommandFields(raw, report),
    ...(files === undefined ? {} : { files }),
    ...readPlaybook(raw, files, report),
  };
}
