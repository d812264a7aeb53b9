import { z } from 'zod';
import { isOutage } from '../app/outage.js';
import { planDocument } from '../app/plan/documents.js';
import { PlanRefusedError } from '../app/plan/service.js';
import { type ErrorCode, type Problem, SluiceError } from '../core/problem.js';
import { problemSchema as partSchema } from './schemas/common.js';

/** Codes of problems: those of Sluice, and what HTTP alone knows. */
export type ProblemCode =
  | ErrorCode
  | 'INTERNAL'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_ACCEPTABLE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'GONE';

/** Status and title of each code. */
export const PROBLEMS: Readonly<Record<ProblemCode, readonly [status: number, title: string]>> = {
  USAGE: [400, 'The request cannot be carried out'],
  INVALID_REQUEST: [400, 'The request is not valid'],
  INVALID_EVENT: [422, 'This is no event that can be taken'],
  INVALID_SCENARIO: [422, 'The scenario is not valid'],
  INVALID_RUNS: [422, 'The runs are not valid'],
  INVALID_DOCUMENT: [422, 'The document is not valid'],
  INVALID_ATTACHMENT: [422, 'The attachment is not valid'],
  INVALID_SNAPSHOT: [422, 'The snapshot is not valid'],
  BAD_REFERENCE: [422, 'The reference cannot be used'],
  UNAUTHORIZED: [401, 'A token is needed'],
  FORBIDDEN: [403, 'The token does not allow this'],
  NOT_FOUND: [404, 'Not found'],
  METHOD_NOT_ALLOWED: [405, 'The method is not allowed here'],
  NOT_ACCEPTABLE: [406, 'There is no answer of this type'],
  PLAN_REFUSED: [409, 'The plan does not take this command'],
  COMMAND_CONFLICT: [409, 'The command was sent before with other content'],
  IDEMPOTENCY_CONFLICT: [409, 'The key was used before with other content'],
  BATCH_CONFLICT: [409, 'The batch does not take this'],
  IN_USE: [409, 'It is in use'],
  GONE: [410, 'It is kept no longer'],
  TOO_LARGE: [413, 'The request is too large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'This type is not taken'],
  RATE_LIMITED: [429, 'Too many requests'],
  INTERNAL: [500, 'Something went wrong'],
  INVALID_CONFIG: [500, 'Something went wrong'],
  SECRET_MISSING: [500, 'Something went wrong'],
  IO: [500, 'Something went wrong'],
  UNAVAILABLE: [503, 'Not available now'],
  NO_WORKERS: [503, 'Not available now'],
  INTERRUPTED: [503, 'Not available now'],
  REDIS_UNREACHABLE: [503, 'Not available now'],
  SHARDS_CHANGED: [503, 'Not available now'],
  REDIS_POLICY: [503, 'Not available now'],
  REDIS_VERSION: [503, 'Not available now'],
};

/** A failure that HTTP knows more about than its code. */
export class HttpProblem extends Error {
  readonly code: ProblemCode;
  readonly problems: readonly Problem[];
  readonly headers: Readonly<Record<string, string>>;
  /** Another status than that of the code. */
  readonly status: number | undefined;

  constructor(
    code: ProblemCode,
    message: string,
    more: { problems?: readonly Problem[]; headers?: Record<string, string>; status?: number } = {},
  ) {
    super(message);
    this.code = code;
    this.problems = more.problems ?? [];
    this.headers = more.headers ?? {};
    this.status = more.status;
  }
}

/** A failure as it is answered (RFC 9457). */
export const problemDocumentSchema = z
  .object({
    type: z.string().describe('urn:sluice:problem: and the code in kebab case'),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().describe('What happened, for people'),
    code: z.string().describe('Stable code, for programs'),
    instance: z.string().describe('Names this request in the server’s log'),
    problems: z.array(partSchema).describe('Every single thing that is wrong'),
    plan: z.record(z.string(), z.json()).optional().describe('Of PLAN_REFUSED: the plan as it stands'),
  })
  .describe('Why a request was not carried out');
export type ProblemDocument = z.output<typeof problemDocumentSchema>;

/** Single problems that one answer tells. */
export const MOST_PROBLEMS = 1000;
/** Seconds after which it may be tried again. */
const RETRY_AFTER_S = 5;
const INTERNAL_DETAIL = 'The server met an error of its own; its log says more under the instance.';
const REDIS_REPLIES =
  /(?:^|[\s-])(?:MISCONF|OOM|EXECABORT|READONLY|NOREPLICAS|BUSY|LOADING|MASTERDOWN|CLUSTERDOWN|NOAUTH|WRONGPASS|NOPERM)\b/;

interface Told {
  code: ProblemCode;
  detail: string;
  problems?: readonly Problem[];
  headers?: Readonly<Record<string, string>>;
  status?: number | undefined;
  plan?: unknown;
}

/** What Fastify refuses by itself. */
function refusedByFastify({ code = '', statusCode = 500, message }: Error & FastifyFields): Told | undefined {
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return { code: 'TOO_LARGE', detail: 'The body is too large.' };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return { code: 'UNSUPPORTED_MEDIA_TYPE', detail: 'The body has no Content-Type that is taken here.' };
  }
  if (statusCode < 400 || statusCode > 499) return undefined;
  return { code: 'INVALID_REQUEST', detail: message, status: statusCode };
}

interface FastifyFields {
  code?: string;
  statusCode?: number;
}

function told(error: unknown): Told {
  if (error instanceof HttpProblem) {
    const { code, message, problems, headers, status } = error;
    return { code, detail: message, problems, headers, status };
  }
  if (error instanceof SluiceError) {
    const { code, message, problems } = error;
    // What these say is about files and settings of the server.
    if (PROBLEMS[code][0] === 500) return { code: 'INTERNAL', detail: INTERNAL_DETAIL };
    const plan =
      error instanceof PlanRefusedError && error.plan !== undefined ? { plan: planDocument(error.plan) } : {};
    return { code, detail: message, problems, ...plan };
  }
  if (!(error instanceof Error)) return { code: 'INTERNAL', detail: INTERNAL_DETAIL };
  if (isOutage(error) || REDIS_REPLIES.test(error.message)) {
    return { code: 'UNAVAILABLE', detail: 'Redis does not take this now; try again later.' };
  }
  return refusedByFastify(error) ?? { code: 'INTERNAL', detail: INTERNAL_DETAIL };
}

/** What is answered to a failure; nothing of an internal one but where to look. */
export function problemOf(
  error: unknown,
  request: string,
): { status: number; headers: Record<string, string>; document: ProblemDocument } {
  const { code, detail, problems = [], headers = {}, status: own, plan } = told(error);
  const [usual, title] = PROBLEMS[code];
  const status = own ?? usual;
  const retry: Record<string, string> = status === 503 ? { 'retry-after': String(RETRY_AFTER_S) } : {};
  const document = {
    type: `urn:sluice:problem:${code.toLowerCase().replaceAll('_', '-')}`,
    title,
    status,
    detail,
    code,
    instance: `urn:sluice:request:${request}`,
    problems: problems.slice(0, MOST_PROBLEMS).map((problem) => ({ ...problem })),
    ...(plan === undefined ? {} : { plan: plan as ProblemDocument['plan'] & object }),
  };
  return { status, headers: { ...retry, ...headers }, document };
}
