import { SluiceError } from '../core/problem.js';

/**
 * What work comes to. Throws UNAVAILABLE when it takes longer than it may, as it does while Redis is away;
 * `goesOn` is asked then, and lets it.
 */
export async function within<T>(
  work: Promise<T>,
  ms: number,
  goesOn: () => boolean = () => false,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      if (goesOn()) return;
      reject(new SluiceError('UNAVAILABLE', `There was no answer within ${ms / 1000} s; try again later.`));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
