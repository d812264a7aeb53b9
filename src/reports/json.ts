import type { ReportFactory } from './report.js';
import { TextOut } from './text-out.js';

/** The document of `evaluate --json`, one evaluation at a time (DESIGN 8). */
export const json: ReportFactory = () => ({
  kind: 'json',
  description: 'One JSON document: the batch, and its evaluations in input order',
  order: 'input',
  async write(batch, evaluations, out) {
    const text = new TextOut(out);
    await text.write(`{"batch":${JSON.stringify(batch)},"evaluations":[`);
    let separator = '';
    for await (const evaluation of evaluations) {
      await text.write(`${separator}${JSON.stringify(evaluation)}`);
      separator = ',\n';
    }
    await text.write(']}\n');
    await text.flush();
  },
});
