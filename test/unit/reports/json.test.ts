import { describe, expect, it } from 'vitest';
import { evaluateDocumentSchema, indexedEvaluationSchema } from '../../../src/core/document.js';
import { json } from '../../../src/reports/json.js';
import { ndjson } from '../../../src/reports/ndjson.js';
import { batch, Collector, evaluation, plain, render, stream } from './fixtures.js';

describe('json report', () => {
  it.each([[0], [1], [3], [2_000]])(
    'is the document of evaluate --json with %i evaluations',
    async (count) => {
      const evaluations = Array.from({ length: count }, (_, i) => evaluation(`run-${i}`));
      const text = await render(json, evaluations);
      const parsed: unknown = JSON.parse(text);
      expect(parsed).toEqual({ batch, evaluations });
      expect(evaluateDocumentSchema.safeParse(parsed).success).toBe(true);
      expect(Object.keys(parsed as object)).toEqual(['batch', 'evaluations']);
    },
  );

  it('asks for evaluations only as fast as they are written away', async () => {
    const out = new Collector();
    let ahead = 0;
    async function* counted() {
      for (let i = 0; i < 500; i += 1) {
        ahead = Math.max(ahead, i * 1_000 - out.text.length);
        yield evaluation(`run-${i}`, { id: 'x'.repeat(1_000) });
      }
    }
    const report = json(plain);
    if (report.order !== 'input') throw new Error('wrong order');
    await report.write(batch, counted(), out);
    expect(ahead).toBeLessThan(200_000);
  });
});

describe('ndjson report', () => {
  it('is one evaluation a line with its index', async () => {
    const lines = (await render(ndjson, [evaluation('a\u2028b'), evaluation('c', { passed: false })])).split(
      '\n',
    );
    expect(lines).toHaveLength(3);
    expect(lines.slice(0, 2).map((line) => indexedEvaluationSchema.parse(JSON.parse(line)).index)).toEqual([
      0, 1,
    ]);
  });

  it('hands on what is decided before it waits for more', async () => {
    const out = new Collector();
    const report = ndjson(plain);
    if (report.order !== 'decision') throw new Error('wrong order');
    let release: () => void = () => {};
    const more = new Promise<void>((done) => {
      release = done;
    });
    const seen = new Promise<string>((done) => {
      out.on('drain', () => done(out.text));
    });
    async function* slow() {
      yield { ...evaluation('first'), index: 0 };
      await more;
    }
    const writing = report.write(slow(), out);
    expect(await seen).toContain('first');
    release();
    await writing;
  });

  it('lets go of its source when the stream breaks', async () => {
    const out = new Collector();
    out.destroy();
    const report = ndjson(plain);
    if (report.order !== 'decision') throw new Error('wrong order');
    const source = stream([{ ...evaluation('a'), index: 0 }]);
    await expect(report.write(source, out)).rejects.toThrow();
    expect(await source.next()).toEqual({ done: true, value: undefined });
  });
});
