/** Where messages go or come from: `nats://HOST:PORT[,HOST:PORT]#SUBJECT`. */
export interface NatsTarget {
  /** Each as HOST:PORT. */
  servers: string[];
  subject: string;
  /** `tls://`: connections without TLS are refused. */
  tls: boolean;
}

export const NATS_TARGET = 'nats://HOST:PORT[,HOST:PORT]#SUBJECT';

const SERVER = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:[\]@/?#]+)(?::(\d{1,5}))?$/;
const DEFAULT_PORT = 4222;

/** HOST:PORT with the default port where there is none; undefined when it is no server. */
function serverOf(text: string): string | undefined {
  const found = SERVER.exec(text);
  if (found === null) return undefined;
  if (found[1] === undefined) return `${text}:${DEFAULT_PORT}`;
  const port = Number(found[1]);
  return port >= 1 && port <= 65_535 ? text : undefined;
}

/** Reads a target; a text says what is wrong with it, without showing it: it may hold a password. */
export function parseNatsTarget(target: string): NatsTarget | string {
  const found = /^(nats|tls):\/\/([^#]*)#(.*)$/s.exec(target);
  if (found === null) return `is no target of NATS; write ${NATS_TARGET}`;
  const [, scheme, places = '', subject = ''] = found;
  if (places.includes('@')) return 'holds credentials; put them into the options user and password, or token';
  const servers = places.replace(/\/$/, '').split(',').map(serverOf);
  if (servers.includes(undefined)) return `lacks a server, or one is not HOST:PORT; write ${NATS_TARGET}`;
  if (subject === '') return `lacks its subject; write ${NATS_TARGET}`;
  return { servers: servers as string[], subject, tls: scheme === 'tls' };
}

/** What is wrong with a subject as servers take it: tokens with dots between them. */
export function subjectProblem(subject: string, { wildcards }: { wildcards: boolean }): string | undefined {
  const tokens = subject.split('.');
  if (tokens.includes('') || /[\s\u0000-\u001f\u007f]/.test(subject))
    return 'has a subject with an empty part or a space';
  if (!wildcards && /[*>]/.test(subject)) return 'has a subject with * or >: events go to one subject each';
  const strange = tokens.some((token, n) =>
    token === '>' ? n < tokens.length - 1 : token.length > 1 && /[*>]/.test(token),
  );
  return strange ? 'has a subject in which * is not a whole part, or > not the last one' : undefined;
}
