import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IndexedEvaluation } from '../core/document.js';
import type { ReportFactory } from './report.js';
import { TextOut } from './text-out.js';

/** Whether the next item is already there when this turn of the event loop is over. */
async function isReady(next: Promise<unknown>): Promise<boolean> {
  return Promise.race([next.then(() => true), nextTurn(false)]);
}

async function copy(evaluations: AsyncIterator<IndexedEvaluation>, text: TextOut): Promise<void> {
  for (;;) {
    const next = evaluations.next();
    if (!(await isReady(next))) await text.flush();
    const { done, value } = await next;
    if (done) break;
    await text.write(`${JSON.stringify(value)}\n`);
  }
  await text.flush();
}

/** One evaluation a line with its `index`; what is decided is on its way before the next wait (DESIGN 8). */
export const ndjson: ReportFactory = () => ({
  kind: 'ndjson',
  description: 'One evaluation a line, as they are decided, with its index in the input',
  order: 'decision',
  async write(evaluations, out) {
    const iterator = evaluations[Symbol.asyncIterator]();
    try {
      await copy(iterator, new TextOut(out));
    } finally {
      await iterator.return?.();
    }
  },
});
