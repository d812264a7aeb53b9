import type { Writable } from 'node:stream';
import type { BatchDocument, EvaluationDocument, IndexedEvaluation } from '../core/document.js';

interface Named {
  kind: string;
  description: string;
}

/** Written once the batch is complete, evaluations in input order. */
export interface InputOrderReport extends Named {
  order: 'input';
  write(batch: BatchDocument, evaluations: AsyncIterable<EvaluationDocument>, out: Writable): Promise<void>;
}

/** Written while the batch runs, evaluations as they are decided. */
export interface DecisionOrderReport extends Named {
  order: 'decision';
  write(evaluations: AsyncIterable<IndexedEvaluation>, out: Writable): Promise<void>;
}

/** One report format. Neither kind keeps the batch in memory; `out` is ended by the caller. */
export type Report = InputOrderReport | DecisionOrderReport;

/** How a report for people may look. */
export interface ReportOptions {
  colour: boolean;
  /** Columns at which long texts are cut. */
  width: number;
}

/** What a report's file exports: one line in built-in.ts. */
export type ReportFactory = (options: ReportOptions) => Report;
