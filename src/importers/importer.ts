/** One recorded run that an importer found. */
export interface ImportedRun {
  /** JSON path of the run inside the log; empty when the log is one run. */
  path: string;
  /** A run record (DESIGN 8) that nobody has checked yet. */
  run: unknown;
}

/**
 * Turns a foreign log into run records. Pure, and never throws: what a log gets wrong is passed on
 * as it is, and the run record's schema refuses it. Ids are `<file stem>/<index>` (DESIGN 3.1).
 */
export interface Importer {
  /** What `--format` calls it. */
  name: string;
  description: string;
  /** Whether a parsed JSON document looks like such a log; looks at its outside only. */
  sniff(value: unknown): boolean;
  /** The runs of a document that `sniff` accepted, in the log's order. */
  runs(value: unknown, fileStem: string): Iterable<ImportedRun>;
}
