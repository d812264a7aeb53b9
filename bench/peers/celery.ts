import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endProcess } from '../harness/child-process.js';
import type { Place } from '../harness/place.js';
import { RULES, type Run } from '../harness/workload.js';
import type { JudgedRun } from './judged.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** Debian's: celery and python3-redis are for this one, whatever else comes first on the PATH. */
const PYTHON = '/usr/bin/python3';

export interface Judged {
  ms: number;
  judged: JudgedRun[];
}

/** Celery's version; undefined: it is not installed. */
export function celeryVersion(): string | undefined {
  const asked = spawnSync(PYTHON, ['-c', 'import celery, redis; print(celery.__version__)'], {
    encoding: 'utf8',
  });
  return asked.status === 0 ? asked.stdout.trim() : undefined;
}

/** A worker that is up, with as many processes as there are cores, and a producer of chords. */
export class CeleryPeer {
  readonly #producer: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  private constructor(producer: ChildProcess) {
    this.#producer = producer;
    if (producer.stdout === null) throw new Error('the producer has no output');
    this.#answers = createInterface({ input: producer.stdout })[Symbol.asyncIterator]();
  }

  static async start(place: Place, url: string, processes: number): Promise<CeleryPeer> {
    const env = {
      ...process.env,
      BENCH_REDIS: url,
      BENCH_RULES: JSON.stringify(RULES),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONWARNINGS: 'ignore',
    };
    const options = ['--pool=prefork', `--concurrency=${processes}`, '--loglevel=ERROR'];
    const lean = ['--without-gossip', '--without-mingle', '--without-heartbeat'];
    const module = ['-m', 'celery', '-A', 'celery_peer', 'worker', ...options, ...lean];
    const worker = spawn(PYTHON, module, { cwd: FOLDER, env, stdio: ['ignore', 'ignore', 'ignore'] });
    place.later(() => endProcess(worker));
    const producer = spawn(PYTHON, ['celery_peer.py'], {
      cwd: FOLDER,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    place.later(() => endProcess(producer));
    return new CeleryPeer(producer);
  }

  /** Judges runs; resolves when every gate has run. */
  async judge(runs: readonly Run[], round: string): Promise<Judged> {
    const asked = { round, runs: runs.map(({ id, text }) => ({ id, text })) };
    this.#producer.stdin?.write(`${JSON.stringify(asked)}\n`);
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error('the producer of chords has ended');
    return JSON.parse(value) as Judged;
  }
}
