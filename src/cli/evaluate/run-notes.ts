import { stat } from 'node:fs/promises';
import type { KeyNotes } from '../../inputs/key-notes.js';
import { endingsText, passedBy } from '../../inputs/passed-by.js';
import { RUN_FILE_ENDINGS } from '../../inputs/run-sources.js';
import { plain, say } from '../output.js';

/** Says which files of the folders of runs were not read. */
export async function tellPassedBy(runs: readonly string[]): Promise<void> {
  const read = RUN_FILE_ENDINGS.map((ending) => `*${ending}`).join(', ');
  for (const name of new Set(runs)) {
    const info = name === '-' ? undefined : await stat(name).catch(() => undefined);
    if (info?.isDirectory() !== true) continue;
    const text = endingsText(await passedBy(name));
    if (text !== '') say(plain(`sluice: ${name}: not read as runs: ${text}; read are ${read}`));
  }
}

/** Says which keys of the run records look like slips. */
export function tellSlips(notes: KeyNotes): void {
  for (const sentence of notes.sentences()) say(plain(`sluice: ${sentence}`));
}
