import { untilTold } from '../../workers/lifecycle.js';

/** Milliseconds that a child takes to stop at most. */
const LONGEST_STOP_MS = 10_000;

/** What a child of the bench does. */
export interface ChildBody {
  answer?(question: unknown): unknown;
  stop?(): Promise<unknown>;
}

/** Runs the body of a child: opens it with what it was told, answers, and ends when it is told to. */
export async function runChild<T>(open: (what: T) => Promise<ChildBody>): Promise<void> {
  const told = untilTold();
  const body = await open(JSON.parse(process.argv[2] ?? '{}') as T);
  process.on('message', async ({ n, question }: { n: number; question: unknown }) => {
    try {
      process.send?.({ n, answer: (await body.answer?.(question)) ?? null });
    } catch (error) {
      process.send?.({ n, error: (error as Error).stack ?? String(error) });
    }
  });
  process.send?.('ready');
  await told;
  // What it stops may wait for a Redis that is gone for good.
  await Promise.race([body.stop?.(), new Promise((resolve) => setTimeout(resolve, LONGEST_STOP_MS))]);
  process.exit(0);
}
