import { once } from 'node:events';
import { PassThrough, type Writable } from 'node:stream';
import { EvaluationReader } from '../../app/read.js';
import type { BatchDocument, EvaluationDocument, IndexedEvaluation } from '../../core/document.js';
import type { DecidedEntry, Store } from '../../ports/store.js';
import { builtInReports } from '../../reports/built-in.js';
import { type OpenReport, openReport } from '../../reports/open-report.js';
import type { ReportTarget } from '../../reports/report-target.js';
import { ProblemList } from '../options.js';
import { isStdoutGone } from '../output.js';

/** Evaluations on their way to a report that grows while the batch runs. */
const AHEAD = 256;

interface Growing {
  feed: PassThrough;
  /** The report takes no more, because it is complete or because it broke. */
  closed: Promise<unknown>;
  /** undefined once written, else why not. */
  written: Promise<unknown>;
}

/** Columns at which reports for people are cut: terminals fold, and what is folded is not lost. */
export const REPORT_WIDTH = 400;

/** What goes to standard output when nothing else was asked for. */
function standardTarget(json: boolean): ReportTarget {
  const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const look = { colour, width: REPORT_WIDTH };
  const report = builtInReports(look).find(({ kind }) => kind === (json ? 'json' : 'text'));
  if (report === undefined) throw new Error('the report for standard output is missing');
  return { report, file: '-' };
}

async function* withoutIndex(
  evaluations: AsyncIterable<IndexedEvaluation>,
): AsyncGenerator<EvaluationDocument> {
  for await (const { index: _index, ...evaluation } of evaluations) yield evaluation;
}

/** The reports of one batch: opened before it, fed while it runs, finished after it. */
export class BatchReports {
  readonly #reports: readonly OpenReport[];
  #reader: EvaluationReader | undefined;
  readonly #growing: Growing[] = [];

  private constructor(reports: readonly OpenReport[]) {
    this.#reports = reports;
  }

  /**
   * `standard` is where a report to `-` goes. Throws USAGE or IO when a place cannot be written; nothing is left behind then.
   */
  static async open(
    targets: readonly ReportTarget[],
    json: boolean,
    standard: Writable = process.stdout,
  ): Promise<BatchReports> {
    const all = [...targets];
    if (!all.some(({ file }) => file === '-')) all.push(standardTarget(json));
    const opened: OpenReport[] = [];
    const problems = new ProblemList();
    try {
      for (const target of all) {
        const report = await problems.take(() => openReport(target, standard));
        if (report !== undefined) opened.push(report);
      }
      problems.throwIfAny('USAGE', 'nothing was judged.');
    } catch (error) {
      for (const report of opened) await report.abort();
      throw error;
    }
    return new BatchReports(opened);
  }

  /** Whether some report reads the whole batch once it is over. */
  get needWhole(): boolean {
    return this.#reports.some(({ order }) => order === 'input');
  }

  /** Begins the reports that grow while the batch runs. */
  begin(store: Store): void {
    this.#reader = new EvaluationReader(store);
    for (const report of this.#reports) {
      if (report.order !== 'decision') continue;
      const feed = new PassThrough({ objectMode: true, highWaterMark: AHEAD });
      feed.on('error', () => {});
      const written = report.write(feed).then(
        () => undefined,
        (error: unknown) => (report.file === '-' && isStdoutGone() ? undefined : error),
      );
      this.#growing.push({ feed, closed: once(feed, 'close').catch(() => {}), written });
    }
  }

  /** Hands on what was decided, at the speed of the slowest report. */
  async add({ chunk, positions }: DecidedEntry): Promise<void> {
    const open = this.#growing.filter(({ feed }) => !feed.destroyed);
    if (open.length === 0 || this.#reader === undefined) return;
    for (const evaluation of await this.#reader.ofChunk(chunk, positions)) {
      for (const { feed, closed } of open) {
        if (!feed.destroyed && !feed.write(evaluation)) await Promise.race([once(feed, 'drain'), closed]);
      }
    }
  }

  async #endGrowing(): Promise<unknown[]> {
    for (const { feed } of this.#growing) feed.end();
    return Promise.all(this.#growing.map(({ written }) => written));
  }

  /** Writes the reports of the whole batch; answers with what could not be written, and why. */
  async finish(batch: BatchDocument): Promise<unknown[]> {
    const failures = await this.#endGrowing();
    for (const report of this.#reports) {
      if (report.order !== 'input' || this.#reader === undefined) continue;
      try {
        await report.write(batch, withoutIndex(this.#reader.inInputOrder(batch.id)));
      } catch (error) {
        if (!(report.file === '-' && isStdoutGone())) failures.push(error);
      }
    }
    return failures.filter((error) => error !== undefined);
  }

  /** Gives the reports up: what grew stays as it is, nothing else is left behind. */
  async abort(): Promise<void> {
    await this.#endGrowing();
    for (const report of this.#reports) await report.abort();
  }
}
