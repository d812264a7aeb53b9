/** Who is told about infrastructure trouble. */
export interface OutageTeller {
  /** Redis does not answer any more; once for each outage. */
  away(reason: string): void;
  /** It answers again; once for each outage. */
  back(): void;
  /** Trouble that is no outage. */
  other(error: Error): void;
  /** Trouble that comes with an outage that was told already. */
  repeated?(error: Error): void;
}

/** Hears of errors, as the listener of a connection, and of signs that Redis answers. */
export interface OutageListener {
  (error: Error): void;
  /** Redis has not answered though no connection broke. */
  silent(reason: string): void;
  /** Redis has answered what was asked at `askedAt` (milliseconds since the epoch; default: just now). */
  back(askedAt?: number): void;
}

const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
]);
const AWAY_WORDS = /^(?:LOADING|MASTERDOWN)\b|connection is closed|connection lost|connect ETIMEDOUT/i;

/** What an error says, also where Node leaves its message empty. */
export function reasonOf(error: Error): string {
  return error.message || (error as { code?: string }).code || error.name;
}

/** Whether an error means that Redis is not there, as opposed to an answer that it gave. */
export function isOutage(error: Error): boolean {
  return AWAY_CODES.has((error as { code?: string }).code ?? '') || AWAY_WORDS.test(error.message);
}

/** Connections of a process come back one by one: for so long an error is one of the outage that ended. */
const STRAGGLERS_MS = 5000;

/**
 * Makes one beginning and one end of the many errors of an outage, over all connections of a process.
 * Until the end everything else is taken for its consequence.
 */
export function outageListener(teller: OutageTeller, now: () => number): OutageListener {
  let since: number | undefined;
  let ended = Number.NEGATIVE_INFINITY;
  const begin = (reason: string) => {
    if (since === undefined) teller.away(reason);
    since ??= now();
  };
  const hear = (error: Error) => {
    const straggler = isOutage(error) && now() - ended < STRAGGLERS_MS;
    if (since !== undefined || straggler) teller.repeated?.(error);
    else if (isOutage(error)) begin(reasonOf(error));
    else teller.other(error);
  };
  const back = (askedAt = Number.POSITIVE_INFINITY) => {
    if (since === undefined || askedAt < since) return;
    since = undefined;
    ended = now();
    teller.back();
  };
  return Object.assign(hear, { silent: begin, back });
}
