import type { DeliveryFailure } from '../../src/ports/sink.js';

/** Parts of the client's errors: told apart by name, because its classes are loaded when they are needed. */
interface ClientError {
  name: string;
  message: string;
  cause?: ClientError;
  /** Of an error of JetStream: its own code, and the status as of HTTP. */
  code?: number;
  status?: number;
}

const NO_RESPONDERS = 'NoResponders';
/** JetStream: the message is larger than the stream takes. */
const MESSAGE_TOO_LARGE = 10054;

const asClientError = (error: unknown): ClientError =>
  error instanceof Error ? (error as ClientError) : { name: '', message: String(error) };

/** The error and what caused it, the outermost first. */
function chain(error: unknown): ClientError[] {
  const all: ClientError[] = [];
  for (let at = asClientError(error); all.length < 5; at = asClientError(at.cause)) {
    all.push(at);
    if (at.cause === undefined) break;
  }
  return all;
}

const named = (error: unknown, name: string): boolean => chain(error).some((part) => part.name === name);

export const isNoResponders = (error: unknown): boolean => named(error, NO_RESPONDERS);
export const isMissing = (error: unknown): boolean =>
  named(error, 'StreamNotFoundError') || named(error, 'ConsumerNotFoundError');

/** What went wrong, in words; never empty. */
export function natsReason(error: unknown): string {
  if (isNoResponders(error)) return 'JetStream does not answer';
  if (named(error, 'TimeoutError')) return 'the server does not answer in time';
  const message = chain(error).find((part) => part.message !== '')?.message;
  return message ?? 'the connection failed';
}

/** What becomes of an event whose publishing failed so. */
export function failureOf(
  id: string,
  error: unknown,
  { subject, mostBytes }: { subject: string; mostBytes?: number | undefined },
): DeliveryFailure {
  const reason = natsReason(error);
  const refusal = chain(error).find(({ name }) => name === 'JetStreamApiError');
  if (isNoResponders(error)) return { id, kind: 'away', reason: `no stream takes the subject ${subject}` };
  if (named(error, 'InvalidArgumentError') && reason.includes('max_payload')) {
    const most = mostBytes === undefined ? '' : ` of ${mostBytes} bytes`;
    return { id, kind: 'refused', final: true, reason: `it is larger than the server’s max_payload${most}` };
  }
  if (named(error, 'PermissionViolationError'))
    return { id, kind: 'refused', reason: `publishing to ${subject} is not allowed` };
  if (refusal !== undefined && refusal.status !== 503) {
    const response = `${refusal.status} ${refusal.code}: ${refusal.message}`;
    const final = refusal.code === MESSAGE_TOO_LARGE ? { final: true as const } : {};
    return { id, kind: 'refused', reason: `the stream refused it: ${refusal.message}`, response, ...final };
  }
  return { id, kind: 'away', reason };
}
