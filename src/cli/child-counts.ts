import type { ChildProcess } from 'node:child_process';
import type { Recorder } from '../metrics/recorder.js';

/** Environment variable of a worker process that counts for the process that started it. */
export const CHILD_COUNTS = 'SLUICE_CHILD_COUNTS';
/** What a worker process is sent that is to tell what it has counted. */
const ASKED = 'tell what was counted';
/** Milliseconds that a page waits for worker processes; what comes later is on the next one. */
const PATIENCE_MS = 500;

const isTold = (message: unknown): message is { counted: unknown } =>
  typeof message === 'object' && message !== null && 'counted' in message;

/** Adds up what worker processes count. */
export class ChildCounts {
  readonly #recorder: Recorder;
  readonly #children = new Set<ChildProcess>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  watch(child: ChildProcess): void {
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    child.once('error', () => this.#children.delete(child));
    child.on('message', (message) => {
      if (isTold(message)) this.#recorder.merge(message.counted);
    });
  }

  /** Asks all of them, and waits for half a second at most. */
  async gather(): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS).unref());
    await Promise.race([Promise.all([...this.#children].map(ask)), late]);
  }
}

function ask(child: ChildProcess): Promise<void> {
  if (!child.connected) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      child.off('message', heard);
      child.off('exit', end);
      resolve();
    };
    const heard = (message: unknown) => {
      if (isTold(message)) end();
    };
    child.on('message', heard);
    child.once('exit', end);
    child.send(ASKED, (error) => {
      if (error !== null) end();
    });
  });
}

function tell(recorder: Recorder): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || process.send === undefined) return resolve();
    process.send({ counted: recorder.take() }, () => resolve());
  });
}

/** Tells the process that started this one what was counted, whenever it asks; the answer tells the rest. */
export function countForParent(recorder: Recorder): () => Promise<void> {
  process.on('message', (message) => {
    if (message === ASKED) void tell(recorder);
  });
  return () => tell(recorder);
}
