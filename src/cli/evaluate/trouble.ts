import { SluiceError } from '../../core/problem.js';
import { failureLines } from '../failure.js';
import { plain, say } from '../output.js';
import type { LackingSink } from './sinks.js';

/** Says what could not be written or delivered; true when something could not. */
export function tellTrouble(
  failures: readonly unknown[],
  undelivered: readonly LackingSink[],
  resume: string,
): boolean {
  for (const failure of failures) {
    if (failure instanceof SluiceError) for (const line of failureLines(failure)) say(line);
    else say(`sluice: a report could not be written: ${plain(String(failure))}`);
  }
  for (const { option, configured } of undelivered) {
    const name = configured ? `the sink ${plain(option)} of the settings` : `--sink ${plain(option)}`;
    say(`sluice: ${name} lacks events of this batch; deliver the rest with: ${resume}`);
  }
  return failures.length + undelivered.length > 0;
}
