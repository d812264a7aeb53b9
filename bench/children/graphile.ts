import { createRequire } from 'node:module';
import { runChild } from '../harness/in-child.js';
import { RULES, runOf } from '../harness/workload.js';
import type { JudgedRun } from '../peers/judged.js';

/** What this row takes of the programming interfaces of graphile-worker and its driver. */
interface Pool {
  on(event: string, listener: () => void): void;
  query(text: string, values?: unknown[]): Promise<{ rows: { text: string }[] }>;
  end(): Promise<void>;
}
interface Helpers {
  query: Pool['query'];
}
interface Graphile {
  Logger: new (sink: () => () => void) => object;
  run(options: object): Promise<{ stop(): Promise<void>; promise: Promise<void> }>;
  runMigrations(options: object): Promise<void>;
}
interface Check {
  key: string;
  rule: number;
}

const CONCURRENCY = 50;
const compiled = RULES.map(({ pattern }) => new RegExp(pattern, 'im'));

/** Verdicts of a round, as they come. */
class Tally {
  readonly #judged = new Map<string, JudgedRun>();
  #left: number;
  #end = () => {};
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(checks: number) {
    this.#left = checks;
  }

  note(key: string, passed: boolean): void {
    const run = key.slice(key.lastIndexOf('/') + 1);
    const of = this.#judged.get(run) ?? { run, checks: 0, passed: 0 };
    this.#judged.set(run, { run, checks: of.checks + 1, passed: of.passed + Number(passed) });
    this.#left -= 1;
    if (this.#left === 0) this.#end();
  }

  list = (): JudgedRun[] => [...this.#judged.values()];
}

let tally = new Tally(0);

async function check({ key, rule }: Check, { query }: Helpers): Promise<void> {
  const { rows } = await query('select text from bench_texts where key = $1', [key]);
  tally.note(key, compiled[rule]?.test(rows[0]?.text ?? '') !== RULES[rule]?.negate);
}

/** Adds all checks of so many runs, 1,000 in one call; milliseconds until the last of them has run. */
async function judge(pool: Pool, count: number, round: string) {
  const runs = Array.from({ length: count }, (_, n) => runOf(n));
  tally = new Tally(count * RULES.length);
  const started = performance.now();
  for (let from = 0; from < count; from += 100) {
    const some = runs.slice(from, from + 100).map((run) => ({ ...run, key: `${round}/${run.id}` }));
    await pool.query('insert into bench_texts select * from unnest($1::text[], $2::text[])', [
      some.map(({ key }) => key),
      some.map(({ text }) => text),
    ]);
    const jobs = some.flatMap(({ key }) =>
      RULES.map((_, rule) => ({ identifier: 'check', payload: { key, rule }, max_attempts: 3 })),
    );
    await pool.query(
      'select count(*) from graphile_worker.add_jobs(array(select json_populate_recordset(null::graphile_worker.job_spec, $1::json)))',
      [JSON.stringify(jobs)],
    );
  }
  await tally.ended;
  return { ms: performance.now() - started, judged: tally.list() };
}

/** graphile-worker in one process, which adds the jobs and runs them. */
await runChild<{ url: string; database: string }>(async ({ url, database }) => {
  const graphile = (await import(url)) as Graphile;
  const { Pool } = createRequire(url)('pg') as { Pool: new (options: object) => Pool };
  const pool = new Pool({ connectionString: database, max: CONCURRENCY + 5 });
  await pool.query('create table bench_texts (key text primary key, text text not null)');
  // A connection that is lost shows in the jobs that do not end.
  pool.on('error', () => {});
  pool.on('connect', () => {});
  const logger = new graphile.Logger(() => () => {});
  await graphile.runMigrations({ pgPool: pool, logger });
  const runner = await graphile.run({
    pgPool: pool,
    taskList: { check },
    noHandleSignals: true,
    logger,
    preset: {
      worker: {
        concurrentJobs: CONCURRENCY,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
  let rounds = 0;
  return {
    answer: (count) => judge(pool, count as number, `round-${rounds++}`),
    async stop() {
      await runner.stop();
      await pool.end();
    },
  };
});
