import { SluiceError } from '../core/problem.js';

/**
 * What work comes to that takes as long as it moves: it tells so by `moved`. Throws UNAVAILABLE when it stands
 * still for longer than `ms`, as it does while Redis is away or full.
 */
export async function whileMoving<T>(ms: number, work: (moved: () => void) => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let stop: (error: Error) => void = () => {};
  const still = new Promise<never>((_, reject) => {
    stop = reject;
  });
  const moved = () => {
    clearTimeout(timer);
    if (isOver) return;
    const message = `Nothing went on for ${ms / 1000} s; send the same again later.`;
    timer = setTimeout(() => stop(new SluiceError('UNAVAILABLE', message)), ms);
  };
  moved();
  const doing = work(moved);
  try {
    return await Promise.race([doing, still]);
  } finally {
    isOver = true;
    clearTimeout(timer);
    doing.catch(() => {});
  }
}

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
