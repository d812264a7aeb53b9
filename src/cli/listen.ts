import type { Config } from '../../config/schema.js';
import type { Listen } from '../../workers/listening.js';
import type { ProblemList } from './options.js';

/** Where `sluice serve` listens when nobody says it. */
export const DEFAULT_LISTEN: Listen = { host: '127.0.0.1', port: 8080 };

/** HOST:PORT, with an IPv6 address in brackets; undefined: it is none. */
export function listenOf(text: string): Listen | undefined {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  const host = found?.[1] ?? found?.[2];
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** Where to listen by `--listen`, or by the settings; what is wrong with it goes to `problems`. */
export function listenGiven(
  option: string | undefined,
  settings: Config | undefined,
  problems: ProblemList,
): Listen | undefined {
  return endpointGiven('--listen', option, 'http.listen', settings?.http.listen, problems);
}

/** HOST:PORT of an option, or of a setting where it is not given; what is wrong with it goes to `problems`. */
export function endpointGiven(
  option: string,
  given: string | undefined,
  setting: string,
  set: string | undefined,
  problems: ProblemList,
): Listen | undefined {
  const text = given ?? set;
  if (text === undefined) return undefined;
  const listen = listenOf(text);
  if (listen !== undefined) return listen;
  const path = given === undefined ? setting : option;
  const message = 'expected HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080';
  problems.add({ code: 'USAGE', path, message, found: JSON.stringify(text) });
  return undefined;
}

const isLoopback = (host: string) => /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);

/** Why it is not wise to listen there; undefined: nothing. */
export function listenWarning({ host }: Listen, { cert }: Config['http']): string | undefined {
  if (cert !== undefined || isLoopback(host)) return undefined;
  return `${host} may be reached from other machines, and tokens are sent in the clear: set http.cert and http.key, or put a proxy with TLS in front`;
}
