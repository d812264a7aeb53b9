import { ClientError } from './error.js';
import { type CallOptions, type ChangeOptions, pause, segment, type Transport } from './transport.js';
import type {
  BatchInput,
  BatchPage,
  BatchState,
  EvaluationAccepted,
  EvaluationInput,
  EvaluationState,
  UploadAnswer,
} from './types.js';
import { type Runs, type UploadOptions, uploadRuns } from './uploads.js';

export interface WaitOptions extends CallOptions {
  /** Milliseconds to wait at most; default: as long as it takes. */
  timeout?: number;
}

type Decided<State extends EvaluationState> = State & {
  state: 'decided';
  decision: NonNullable<State['decision']>;
};

/** Of a run, where `plan` is null, or of a plan. */
export type DecidedEvaluation =
  | Decided<Extract<EvaluationState, { plan: null }>>
  | Decided<Extract<EvaluationState, { plan: string }>>;

/** Evaluations of runs, one by one and in batches. */
export interface EvaluationClient {
  /** Judges one run by one scenario; answers once it is accepted. */
  submitEvaluation(given: EvaluationInput, options?: ChangeOptions): Promise<EvaluationAccepted>;
  getEvaluation(evaluation: string, options?: CallOptions): Promise<EvaluationState>;
  /** Waits until it is decided. Throws ClientError TIMEOUT. */
  waitForEvaluation(evaluation: string, options?: WaitOptions): Promise<DecidedEvaluation>;
  /** Opens a batch under an id of yours; the same again is the same batch. */
  openBatch(batch: string, given: BatchInput, options?: CallOptions): Promise<BatchState>;
  /** Opens a batch under an id that is made. */
  createBatch(given: BatchInput, options?: ChangeOptions): Promise<BatchState>;
  /**
   * Uploads runs of any number; memory stays flat. Tried again from the beginning when the connection is
   * lost: runs that were accepted are not judged twice.
   */
  uploadRuns(batch: string, runs: Runs, options?: UploadOptions): Promise<UploadAnswer>;
  /** No run comes any more. */
  sealBatch(batch: string, options?: CallOptions): Promise<BatchState>;
  getBatch(batch: string, options?: CallOptions): Promise<BatchState>;
  /** Waits until every evaluation of a sealed batch is decided. Throws ClientError TIMEOUT. */
  waitForBatch(batch: string, options?: WaitOptions): Promise<BatchState>;
  /** Decided evaluations in input order, page by page. */
  listBatchEvaluations(
    batch: string,
    options?: CallOptions & { limit?: number; cursor?: string },
  ): Promise<BatchPage>;
}

const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 2000;

/** Asks again and again, more and more seldom, until it is done. */
async function waitUntil<T>(
  what: string,
  ask: () => Promise<T>,
  isDone: (found: T) => boolean,
  { signal, timeout = Number.POSITIVE_INFINITY }: WaitOptions,
): Promise<T> {
  const end = performance.now() + timeout;
  for (let wait = FIRST_POLL_MS; ; wait = Math.min(LONGEST_POLL_MS, wait * 1.5)) {
    const found = await ask();
    if (isDone(found)) return found;
    const left = end - performance.now();
    if (left <= 0)
      throw new ClientError(`${what} was not decided within ${timeout} ms.`, {
        code: 'TIMEOUT',
        body: found,
      });
    await pause(Math.min(wait, left), signal);
  }
}

export function evaluationClient(transport: Transport): EvaluationClient {
  const batchPath = (batch: string, rest = '') => `/v1/batches/${segment(batch)}${rest}`;
  const getEvaluation = (evaluation: string, options?: CallOptions) =>
    transport.read<EvaluationState>(`/v1/evaluations/${segment(evaluation)}`, undefined, options);
  const getBatch = (batch: string, options?: CallOptions) =>
    transport.read<BatchState>(batchPath(batch), undefined, options);
  return {
    submitEvaluation: (given, options) => transport.change('POST', '/v1/evaluations', given, options),
    getEvaluation,
    async waitForEvaluation(evaluation, options = {}) {
      const ask = () => getEvaluation(evaluation, options);
      const isDone = ({ state }: EvaluationState) => state === 'decided';
      return (await waitUntil(`Evaluation ${evaluation}`, ask, isDone, options)) as DecidedEvaluation;
    },
    openBatch: (batch, given, options) => transport.change('PUT', batchPath(batch), given, options),
    createBatch: (given, options) => transport.change('POST', '/v1/batches', given, options),
    uploadRuns: (batch, runs, options) => uploadRuns(transport, batch, runs, options),
    sealBatch: (batch, options) => transport.change('POST', batchPath(batch, '/seal'), undefined, options),
    getBatch,
    waitForBatch: (batch, options = {}) =>
      waitUntil(
        `Batch ${batch}`,
        () => getBatch(batch, options),
        ({ state }) => state !== 'open',
        options,
      ),
    listBatchEvaluations: (batch, { signal, ...query } = {}) =>
      transport.read(batchPath(batch, '/evaluations'), query, { signal }),
  };
}
