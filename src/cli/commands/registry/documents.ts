import { stringify } from 'yaml';
import { registryOf } from '../../../compose.js';
import { isPlainObject } from '../../../core/json.js';
import { SluiceError } from '../../../core/problem.js';
import { builtInEntries } from '../../../core/registry/built-in.js';
import { isSkill, isValidation, type Kind, type RegistryDocument } from '../../../core/registry/model.js';
import type { GivenDocument } from '../../../core/registry/register.js';
import { documentView } from '../../../core/registry/view.js';
import { readDocuments } from '../../../inputs/documents.js';
import { type AskerOptions, askFleet, withFleet } from '../../asker.js';
import { ProblemList } from '../../options.js';
import { print, printJson, say } from '../../output.js';
import { tableOf } from '../../table.js';

/** Characters of a version that people are shown: enough to tell two apart. */
const SHORT = 12;
const DESCRIPTION = 60;

const shortVersion = (version: string) => (version === '' ? 'built in' : version.slice(0, SHORT));

const ON_INPUT_ALONE =
  "gets the snapshot on standard input alone; snapshot_files: true puts a folder's files in its working folder (snapshot_files: false says that this is meant)";

/** Whether it is a validation that runs a command which, unless it is told, finds no file of a folder: a test suite passes so. */
function readsInputAlone(given: GivenDocument | undefined): boolean {
  if (given === undefined || !isPlainObject(given.value)) return false;
  const { kind = given.kind, command, snapshot_files } = given.value;
  return kind === 'validation' && command !== undefined && snapshot_files === undefined;
}

/** `sluice tool|validation|skill add FILE…`; answers 0. Throws INVALID_DOCUMENT with every problem. */
export async function addDocuments(
  kind: Kind,
  files: readonly string[],
  options: AskerOptions,
): Promise<number> {
  const problems = new ProblemList();
  const read = await problems.take(() => readDocuments(files, kind, process.stdin));
  const registered = await withFleet(
    options,
    'write',
    problems,
    'nothing was registered.',
    async ({ engine, actor }) => {
      try {
        return await registryOf(engine).register(read?.given ?? [], actor);
      } catch (error) {
        if (!(error instanceof SluiceError) || read === undefined) throw error;
        throw new SluiceError(error.code, error.message, read.locate(error.problems));
      }
    },
  );
  for (const [i, { name, status }] of registered.entries()) {
    if (status !== 'unchanged' && readsInputAlone(read?.given[i])) say(`sluice: ${name} ${ON_INPUT_ALONE}`);
  }
  if (options.json) {
    await printJson({ registered });
    return 0;
  }
  const rows = registered.map(({ name, kind, version, status }) => [
    name,
    kind,
    shortVersion(version),
    status,
  ]);
  await print(tableOf(['name', 'kind', 'version', 'status'], rows));
  return 0;
}

const firstLine = (text: string): string => {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > DESCRIPTION ? `${line.slice(0, DESCRIPTION - 1)}…` : line;
};

/** What a list says of a document besides its name, version and description. */
function columnsOf(document: RegistryDocument): string[] {
  if (isSkill(document)) return [document.tools.join(', ')];
  if (isValidation(document)) return [document.mode, document.wraps ?? document.source];
  return [
    document.source,
    document.capability.writes ? 'writes' : document.capability.read_only ? 'read-only' : '',
  ];
}

const HEADS: Readonly<Record<Kind, string[]>> = {
  tool: ['source', 'capability'],
  validation: ['mode', 'wraps or source'],
  skill: ['tools'],
};

export interface ListOptions extends AskerOptions {
  builtIn?: boolean;
}

/** `sluice tool|validation|skill list`; answers 0. */
export async function listDocuments(kind: Kind, options: ListOptions): Promise<number> {
  const registered = await askFleet(options, 'read', ({ engine }) => registryOf(engine).entries(kind));
  const entries = options.builtIn ? [...registered, ...builtInEntries.values()] : registered;
  if (options.json) {
    const views = entries.map((entry) => {
      const { 'x-attachments': _, ...view } = documentView(entry, []);
      return view;
    });
    await printJson({ [`${kind}s`]: views });
    return 0;
  }
  if (entries.length === 0) say(`sluice: no ${kind} is registered; sluice ${kind} add FILE registers one`);
  const rows = entries.map(({ document, version }) => [
    document.name,
    ...columnsOf(document),
    shortVersion(version),
    firstLine(document.description),
  ]);
  await print(tableOf(['name', ...HEADS[kind], 'version', 'description'], rows));
  return 0;
}

/** `sluice tool|validation|skill show NAME`: YAML, or JSON; answers 0. Throws NOT_FOUND. */
export async function showDocument(kind: Kind, name: string, options: AskerOptions): Promise<number> {
  const { entry, attachments } = await askFleet(options, 'read', ({ engine }) =>
    registryOf(engine).entry(kind, name),
  );
  const view = documentView(entry, attachments);
  if (options.json) await printJson(view);
  else await print(stringify(view, { lineWidth: 0 }));
  return 0;
}

/** `sluice tool|validation|skill remove NAME`; answers 0. Throws NOT_FOUND or IN_USE. */
export async function removeDocument(kind: Kind, name: string, options: AskerOptions): Promise<number> {
  const { attachments } = await askFleet(options, 'write', ({ engine }) =>
    registryOf(engine).remove(kind, name),
  );
  if (options.json) {
    await printJson({ removed: { kind, name }, attachments });
    return 0;
  }
  await print(`removed ${kind} ${name}\n`);
  for (const id of attachments) await print(`removed its attachment ${id}\n`);
  if (attachments.length > 0)
    say(
      'sluice: gates of plans that are not ready yet go without it; a plan that is ready is validated again when it is applied',
    );
  return 0;
}
