import { nearestName, type Problem, SluiceError } from '../core/problem.js';

/** Options that every command on a fleet has. */
export interface FleetOptions {
  redis?: string;
  config?: string;
  fleet?: string;
  logLevel?: string;
  json?: boolean;
}

/** Collects what is wrong with several things that the user gave, to say it all at once. */
export class ProblemList {
  readonly problems: Problem[] = [];
  /** Message of the first refusal, for a list with nothing but that. */
  #first: SluiceError | undefined;

  add(...problems: Problem[]): void {
    this.problems.push(...problems);
  }

  /** Runs a step; a refusal of what the user gave is noted, anything else is thrown. */
  async take<T>(step: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof SluiceError) || error.exitCode !== 2) throw error;
      this.#first ??= error;
      if (error.problems.length > 0) this.add(...error.problems);
      else this.add({ path: '', message: error.message });
      return undefined;
    }
  }

  /** Throws when anything was noted: the first refusal's code, every problem, and what did not happen. */
  throwIfAny(code: 'USAGE' | 'INVALID_RUNS', consequence: string, total = this.problems.length): void {
    if (total === 0) return;
    const count = total === 1 ? '1 problem' : `${total} problems`;
    throw new SluiceError(this.#first?.code ?? code, `${count}; ${consequence}`, this.problems);
  }
}

/** The value of an option with a fixed choice, or the problem with it. */
export function choice<T extends string>(
  option: string,
  value: string | undefined,
  allowed: readonly T[],
  problems: ProblemList,
): T | undefined {
  if (value === undefined) return undefined;
  const found = allowed.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  const nearest = nearestName(value, allowed);
  problems.add({
    code: 'USAGE',
    path: option,
    message: 'is not one of its values',
    found: value,
    allowed: [...allowed],
    ...(nearest === undefined ? {} : { nearest }),
  });
  return undefined;
}

/** A whole number from `least` to 1,024, or the problem with it. */
export function wholeNumber(
  option: string,
  value: string | undefined,
  least: number,
  problems: ProblemList,
  most = 1024,
): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d{1,4}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  const message = `expected a whole number from ${least} to ${most}`;
  problems.add({ code: 'USAGE', path: option, message, found: value });
  return undefined;
}
