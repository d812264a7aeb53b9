/** What is wrong with one part of a request. */
export interface ClientProblem {
  code?: string;
  path: string;
  message: string;
  line?: number;
  document?: string;
  found?: string;
  allowed?: string[];
  nearest?: string;
}

export interface ClientErrorParts {
  code: string;
  status?: number | undefined;
  problems?: readonly ClientProblem[] | undefined;
  body?: unknown;
  cause?: unknown;
}

/**
 * Why a call did not do what it was asked for. `code` is stable: that of the server's problem, or one of
 * the client's own: NETWORK (no answer), BAD_ANSWER (an answer that is none of the API's), TIMEOUT (the
 * wait was over), EVENTS_GONE (events that were asked for are kept no more).
 */
export class ClientError extends Error {
  readonly code: string;
  /** HTTP status; null: there was no answer. */
  readonly status: number | null;
  /** Every problem that the server found. */
  readonly problems: readonly ClientProblem[];
  /** The problem document, with what it says besides, such as `plan`. */
  readonly body: unknown;

  constructor(message: string, { code, status, problems, body, cause }: ClientErrorParts) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'ClientError';
    this.code = code;
    this.status = status ?? null;
    this.problems = problems ?? [];
    this.body = body;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Characters of a body that is no problem document, as messages quote it. */
const MOST_QUOTED = 200;

/** The error that an answer stands for. */
export async function errorOf(response: Response): Promise<ClientError> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  if (!isObject(body) || typeof body.code !== 'string') {
    const quoted = text.slice(0, MOST_QUOTED).replaceAll(/\s+/g, ' ').trim();
    const said = quoted === '' ? '' : `: ${quoted}`;
    return new ClientError(`The server answered ${status}${said}`, { code: 'BAD_ANSWER', status });
  }
  const problems = Array.isArray(body.problems) ? (body.problems as ClientProblem[]) : [];
  const told = problems.map(
    ({ path, line, message }) => `\n  ${line === undefined ? '' : `line ${line}: `}${path}: ${message}`,
  );
  const detail = typeof body.detail === 'string' ? body.detail : `The server answered ${status}`;
  return new ClientError(detail + told.join(''), { code: body.code, status, problems, body });
}
