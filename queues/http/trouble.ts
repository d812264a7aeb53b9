/**
 * `address`: the host has no address that is allowed; `timeout`: no whole answer in time; `connection`:
 * no connection, or it broke; `stopped`: the caller asked for it.
 */
export type TroubleKind = 'address' | 'timeout' | 'connection' | 'stopped';

/** Why a request got no answer. The message has neither query nor headers of the request in it. */
export class HttpTrouble extends Error {
  readonly kind: TroubleKind;

  constructor(kind: TroubleKind, message: string) {
    super(message);
    this.name = 'HttpTrouble';
    this.kind = kind;
  }
}

function wordsOf(error: Error & { code?: string; errors?: Error[] }): string {
  if (error.errors !== undefined && error.errors.length > 0)
    return [...new Set(error.errors.map(wordsOf))].join('; ');
  if (error.code === 'ENOTFOUND') return 'no address is known for it';
  if (error.code === 'EAI_AGAIN') return 'its address cannot be looked up now';
  return error.message === '' ? (error.code ?? error.name) : error.message;
}

/** What Node says of a failed connection, as trouble with `host`. */
export function troubleOf(error: unknown, host: string): HttpTrouble {
  if (error instanceof HttpTrouble) return error;
  return new HttpTrouble('connection', `${host}: ${wordsOf(error as Error)}`);
}
