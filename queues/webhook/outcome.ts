import { redact } from '../../src/core/redact.js';
import type { DeliveryFailure } from '../../src/ports/sink.js';
import type { HttpAnswer } from '../http/client.js';
import { retryAfterMs } from '../http/retry-after.js';

/** What became of a request that did not deliver. */
export type Failure = Omit<DeliveryFailure, 'id'>;

/** Most of an answer that is kept, in bytes of UTF-8. */
const MOST_RESPONSE = 2048;
const MOST_LOCATION = 200;
/** Statuses below 500 that say "not now". */
const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429]);
/** What steers terminals; tabs and line ends stay. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function cut(text: string, most: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= most
    ? text
    : bytes
        .subarray(0, most)
        .toString('utf8')
        .replace(/\ufffd+$/, '');
}

const plain = (text: string, hide: (text: string) => string) =>
  redact(hide(text.replace(/\r\n?/g, '\n').replace(CONTROL, '')));

function responseOf({ status, statusText, body }: HttpAnswer, hide: (text: string) => string): string {
  const line = `HTTP ${status} ${statusText}`.trimEnd();
  const text = body.toString('utf8').trim();
  return cut(plain(text === '' ? line : `${line}\n${text}`, hide), MOST_RESPONSE);
}

/** Where a redirect points to, without its query and what else may be secret in it. */
function pointed(location: string | undefined, hide: (text: string) => string): string {
  if (location === undefined) return 'nowhere';
  return cut(plain(location.replace(/[?#].*$/s, ''), hide), MOST_LOCATION);
}

/**
 * What an answer means for the events of its request; undefined: they have arrived. `hide` takes out of
 * the answer what the request had of secrets in it.
 */
export function outcomeOf(
  answer: HttpAnswer,
  now: number,
  hide: (text: string) => string,
): Failure | undefined {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return undefined;
  const response = responseOf(answer, hide);
  if (status === 410) return { kind: 'gone', reason: 'the receiver says that it is gone (410)', response };
  if (status >= 500 || NOT_NOW.has(status)) {
    const wait = retryAfterMs(headers['retry-after'], now);
    const asked = wait === undefined ? {} : { retryAfterMs: wait };
    return { kind: 'away', reason: `the receiver answered ${status}`, ...asked, response };
  }
  if (status === 413)
    return { kind: 'refused', reason: 'it is too large for the receiver (413)', final: true, response };
  if (status >= 300 && status < 400) {
    const reason = `the receiver answered ${status} and points to ${pointed(headers.location, hide)}; redirects are not followed`;
    return { kind: 'refused', reason, response };
  }
  return { kind: 'refused', reason: `the receiver answered ${status}`, response };
}
