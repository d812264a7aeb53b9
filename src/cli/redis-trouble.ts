import { isOutage, reasonOf } from '../app/outage.js';
import { type ErrorCode, SluiceError } from '../core/problem.js';

interface Kind {
  code: ErrorCode;
  /** What is the matter and what to do, in sentences. */
  advice: string;
}

const FULL_DISK =
  'Redis cannot write its file (MISCONF): its disk is full or not writable. Make room; `redis-cli INFO persistence` says more.';
const FULL_MEMORY =
  'Redis has no memory left (OOM). Raise maxmemory, or let decided batches expire sooner (--retention).';
const ABORTED =
  'Redis refused a transaction (EXECABORT), as it does when it is out of memory. Raise maxmemory, or look at its log.';
const LOCKED =
  'Redis wants a user and password that it accepts, and that may use every command: redis://USER:PASSWORD@HOST:PORT.';
const READ_ONLY = 'This Redis is a replica and takes no writes (READONLY). Give the address of its primary.';
const STARTING = 'Redis is still loading its data (LOADING). Wait until it has.';

const KINDS: Readonly<Record<string, Kind>> = {
  MISCONF: { code: 'IO', advice: FULL_DISK },
  OOM: { code: 'IO', advice: FULL_MEMORY },
  EXECABORT: { code: 'IO', advice: ABORTED },
  READONLY: { code: 'IO', advice: READ_ONLY },
  NOREPLICAS: { code: 'IO', advice: 'Redis lacks the replicas that it wants before it writes (NOREPLICAS).' },
  BUSY: { code: 'IO', advice: 'Redis is busy with a script (BUSY). Wait, or end it: redis-cli SCRIPT KILL.' },
  NOAUTH: { code: 'REDIS_UNREACHABLE', advice: LOCKED },
  WRONGPASS: { code: 'REDIS_UNREACHABLE', advice: LOCKED },
  NOPERM: { code: 'REDIS_UNREACHABLE', advice: LOCKED },
  LOADING: { code: 'REDIS_UNREACHABLE', advice: STARTING },
  MASTERDOWN: { code: 'REDIS_UNREACHABLE', advice: 'This Redis has lost its primary (MASTERDOWN).' },
  CLUSTERDOWN: { code: 'REDIS_UNREACHABLE', advice: 'The Redis cluster is down (CLUSTERDOWN).' },
};

/** A script of ours repeats the reply that it met behind its own: `ERR Error running script …: -OOM …`; so does BullMQ. */
const REPLY = new RegExp(`^(?:(?:ERR|Failed) .*?[\\s-])?(${Object.keys(KINDS).join('|')})\\b`, 's');

function kindOf(error: unknown): Kind | undefined {
  if (!(error instanceof Error)) return undefined;
  const kind = KINDS[REPLY.exec(error.message)?.[1] ?? ''];
  if (kind !== undefined) return kind;
  if (isOutage(error))
    return {
      code: 'REDIS_UNREACHABLE',
      advice: `Redis does not answer: ${reasonOf(error)}. Start it again.`,
    };
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.map(kindOf).find((found) => found !== undefined);
}

/** What Redis refused, without what follows from it; undefined when it is away, or no reply of Redis. */
export function refusalOf(error: Error): string | undefined {
  return KINDS[REPLY.exec(error.message)?.[1] ?? '']?.advice;
}

/**
 * What Redis refused, or that it is away, as a person needs to hear it: with exit code 3 and what to do,
 * and with the call that goes on. undefined when the error is neither.
 */
export function redisTrouble(error: unknown, resume?: string): SluiceError | undefined {
  if (error instanceof SluiceError) return undefined;
  const kind = kindOf(error);
  if (kind === undefined) return undefined;
  const rest = resume === undefined ? '' : ` Then finish the batch with: ${resume}`;
  return new SluiceError(kind.code, `${kind.advice}${rest}`);
}
