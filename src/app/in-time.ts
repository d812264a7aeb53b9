/**
 * What work comes to, or what `late` makes of it when it takes longer than `ms` milliseconds. What comes later
 * is passed over, its failure too.
 */
export async function inTime<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work, over.then(late)]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
