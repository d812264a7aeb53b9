/** Longest wait that a receiver may ask for, in milliseconds: a day. */
const LONGEST_MS = 86_400_000;

const SECONDS = /^\d{1,12}$/;
/** An HTTP date as RFC 9110 has it; Date.parse alone takes a good deal more. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? [\w -]{6,12}\d\d:\d\d:\d\d(?: GMT| \d{4})$/;

/**
 * Milliseconds from `now` that a Retry-After header asks for: seconds, or an HTTP date. A day at most;
 * undefined where it says nothing that can be followed.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (SECONDS.test(text)) return Math.min(Number(text) * 1000, LONGEST_MS);
  if (!HTTP_DATE.test(text)) return undefined;
  const at = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - now, 0), LONGEST_MS);
}
