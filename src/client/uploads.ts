import { ClientError } from './error.js';
import { type CallOptions, segment, type Transport } from './transport.js';
import type { RunInput, UploadAnswer } from './types.js';

/** A run record, or one as a line of JSON. */
type Run = RunInput | string;

type RunsOnce = Iterable<Run> | AsyncIterable<Run> | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

/**
 * Runs to upload: a list, anything that can be gone through (of records, or of lines), or bytes of NDJSON
 * such as a file's stream. A function makes them anew for each try. What can be gone through only once is
 * uploaded once: when the connection is lost then, the call fails.
 */
export type Runs = RunsOnce | (() => RunsOnce);

export interface UploadOptions extends CallOptions {
  /** Whether no run comes after these; default true. */
  seal?: boolean;
  /** Position of the first of these runs in the input, for a batch in several uploads; default 0. */
  offset?: number;
}

const CHUNK_UNITS = 64 * 1024;

function canBeginAgain(runs: Runs): boolean {
  if (typeof runs === 'function') return true;
  if (!(Symbol.iterator in runs)) return false;
  return runs[Symbol.iterator]() !== (runs as unknown);
}

/** Bytes of NDJSON in chunks of moderate size. */
async function* bytesOf(runs: RunsOnce): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let text = '';
  for await (const run of runs as AsyncIterable<Run | Uint8Array>) {
    if (run instanceof Uint8Array) {
      yield run;
      continue;
    }
    text += `${typeof run === 'string' ? run.replace(/\r?\n$/, '') : JSON.stringify(run)}\n`;
    if (text.length < CHUNK_UNITS) continue;
    yield encoder.encode(text);
    text = '';
  }
  if (text !== '') yield encoder.encode(text);
}

/** A stream that takes from the source only what the connection takes. */
function streamOf(source: AsyncGenerator<Uint8Array>, onFailure: (error: unknown) => void) {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await source.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onFailure(error);
          controller.error(error);
        }
      },
      async cancel() {
        await source.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Uploads runs; memory stays flat however many there are. */
export async function uploadRuns(
  transport: Transport,
  batch: string,
  runs: Runs,
  { signal, seal, offset }: UploadOptions = {},
): Promise<UploadAnswer> {
  const path = `/v1/batches/${segment(batch)}/runs`;
  const retries = canBeginAgain(runs) ? transport.retries : 0;
  let failure: { error: unknown } | undefined;
  const attempt = async () => {
    const source = bytesOf(typeof runs === 'function' ? runs() : runs);
    const body = streamOf(source, (error) => {
      failure = { error };
    });
    const response = await transport.send({ method: 'POST', path, query: { seal, offset } }, {
      headers: { accept: 'application/json', 'content-type': 'application/x-ndjson' },
      body,
      duplex: 'half',
      ...(signal === undefined ? {} : { signal }),
    } as RequestInit);
    return response.ok ? { value: (await response.json()) as UploadAnswer } : response;
  };
  try {
    return await transport.trying(signal, attempt, retries, () => failure !== undefined);
  } catch (error) {
    // The caller's own source failed: that is no trouble of the network.
    if (failure !== undefined) throw failure.error;
    if (retries > 0 || !(error instanceof ClientError) || error.code !== 'NETWORK') throw error;
    const message = `${error.message}. These runs can be gone through only once; upload them again, or give a function that makes them.`;
    throw new ClientError(message, { code: error.code, cause: error.cause });
  }
}
