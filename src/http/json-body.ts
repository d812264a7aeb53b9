import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpProblem } from './problems.js';

/** Levels of objects and lists: what walks over a body must not run out of stack. */
const MOST_LEVELS = 100;
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 91, 93, 123, 125];

/** Whether JSON text is nested deeper than is taken. */
export function isTooDeep(bytes: Uint8Array, most = MOST_LEVELS): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > most) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

const refused = (message: string) =>
  new HttpProblem('INVALID_REQUEST', 'The body cannot be read.', { problems: [{ path: '', message }] });

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused('is not valid UTF-8');
  }
}

type Done = (error: Error | null, value?: unknown) => void;

/** Reads bodies of JSON: UTF-8, not too deep, and without keys that change prototypes. */
export function takeJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error') as (
    request: unknown,
    text: string,
    done: Done,
  ) => void;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/,
    { parseAs: 'buffer' as const },
    (request: FastifyRequest, bytes: Buffer, done: Done) => {
      try {
        const encoding = request.headers['content-encoding'];
        if (encoding !== undefined && encoding !== 'identity') {
          const headers = { 'accept-encoding': 'identity' };
          throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed.', { headers });
        }
        if (bytes.length === 0) return done(null, undefined);
        if (isTooDeep(bytes)) throw refused(`is nested deeper than ${MOST_LEVELS} levels`);
        parse(request, textOf(bytes), (error, value) => {
          if (error === null) done(null, value);
          else done(refused(`is not valid JSON: ${reasonOf(error)}`));
        });
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

/** What a parser says, on one line. */
function reasonOf(error: Error): string {
  const inner = error.cause instanceof Error ? error.cause.message : error.message;
  return inner.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 200);
}
