import { Readable } from 'node:stream';
import type { Submission } from '../../app/submit.js';
import { type Problem, SluiceError } from '../../core/problem.js';
import type { Scenario } from '../../core/scenario/model.js';
import { subjectOf } from '../../core/subject.js';
import { type MatchedOrProblem, matchRuns } from '../../inputs/match-runs.js';
import { readRuns } from '../../inputs/run-files.js';
import { OWN_FORMAT } from '../../inputs/run-items.js';
import { MOST_PROBLEMS } from '../problems.js';
import { SeenIds } from './seen-ids.js';
import type { Spool } from './spool.js';

/** The name says that it is read line by line. */
const SOURCE = { file: 'runs.ndjson', path: '-' };

/** A run record a line, with its scenario; ids are not compared. */
function matched(
  stream: Readable,
  scenarios: readonly Scenario[],
  maxBytes: number,
): AsyncGenerator<MatchedOrProblem> {
  const runs = readRuns([SOURCE], { format: OWN_FORMAT, stdin: stream, maxBytes });
  return matchRuns(runs, scenarios, new Set(), { sameIds: true });
}

function withoutFile({ file: _file, ...problem }: Problem): Problem {
  return problem;
}

/** Problems that are told, in the order of lines, and how many there are. */
class Found {
  readonly problems: Problem[] = [];
  count = 0;

  add(problem: Problem): void {
    this.count += 1;
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
  }

  throwIfAny(): void {
    if (this.count === 0) return;
    const count = this.count === 1 ? '1 problem' : `${this.count} problems`;
    const told = this.count > MOST_PROBLEMS ? ` The first ${MOST_PROBLEMS} are told.` : '';
    const sorted = this.problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    throw new SluiceError('INVALID_RUNS', `The runs have ${count}; nothing was stored.${told}`, sorted);
  }
}

/**
 * Keeps an upload and validates every run of it meanwhile. Throws INVALID_RUNS with every problem and its
 * line; answers with the number of runs.
 */
export async function checkUpload(
  body: AsyncIterable<Buffer>,
  spool: Spool,
  scenarios: readonly Scenario[],
  lineLimit: number,
): Promise<number> {
  const found = new Found();
  let failure: unknown;
  const kept = async function* () {
    try {
      for await (const chunk of body) {
        // What is refused anyway needs no room.
        if (found.count === 0) await spool.write(chunk);
        yield chunk;
      }
    } catch (error) {
      failure = error;
    }
  };
  const seen = new SeenIds(() => spool.file());
  const stream = Readable.from(kept(), { objectMode: false });
  let total = 0;
  for await (const item of matched(stream, scenarios, lineLimit)) {
    if (failure !== undefined) break;
    if ('problem' in item) found.add(withoutFile(item.problem));
    else {
      total += 1;
      await seen.add(`${item.scenario.key}\u0000${item.run.id}`, item.line ?? total);
    }
  }
  if (failure !== undefined) throw failure;
  for await (const { line, before } of seen.twins()) {
    found.add({ line, path: 'id', message: `is taken by the run in line ${before}` });
  }
  found.throwIfAny();
  return total;
}

/** The runs of an upload that was checked, in input order. */
export async function* submissionsOf(
  spool: Spool,
  scenarios: readonly Scenario[],
  lineLimit: number,
  firstIndex: number,
): AsyncGenerator<Submission> {
  let index = firstIndex;
  for await (const item of matched(spool.read(), scenarios, lineLimit)) {
    if ('problem' in item) throw new Error('an upload that was checked cannot be read again');
    const { run, scenario } = item;
    yield { index, run: run.id, case: run.case ?? run.id, scenario, subject: subjectOf(run) };
    index += 1;
  }
}
