import { SluiceError } from '../../core/problem.js';
import { AwayError } from '../../ports/references.js';
import { isOutage } from '../outage.js';

/** Replies by which Redis says: not now. Its scripts say it in the middle of a sentence. */
const NOT_NOW =
  /(?:^|-|\s)(?:OOM|MISCONF|LOADING|READONLY|BUSY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|EXECABORT)\b/;

/**
 * What an error says of the command that met it. `refusal`: it will be refused again as it is; `passing`:
 * what Sluice works with is away, full or busy, which says nothing of the command; `away`: what the command
 * refers to is, which may last for ever; `unexpected`: none of these.
 */
export function kindOf(error: unknown): 'refusal' | 'passing' | 'away' | 'unexpected' {
  if (error instanceof NotYetError) return 'passing';
  if (error instanceof AwayError) return 'away';
  if (error instanceof SluiceError) return error.exitCode === 3 ? 'passing' : 'refusal';
  if (!(error instanceof Error)) return 'unexpected';
  return isOutage(error) || NOT_NOW.test(error.message) ? 'passing' : 'unexpected';
}

/** A command that must wait, because an earlier one to the same plan could not be taken yet. */
export class NotYetError extends Error {}
