import { AwayError } from '../../src/ports/references.js';
import type { GuardedClient, HttpAnswer, TlsContent } from '../http/client.js';
import { HttpTrouble } from '../http/trouble.js';
import { badReference } from './text.js';

interface HostSettings {
  max_bytes: number;
  timeout: number;
}

const HTTPS_PORT = '443';
/** Statuses below 500 that say "not now". */
const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429]);

const withPort = (host: string) => (/:\d+$/.test(host) ? host : `${host}:${HTTPS_PORT}`);

/** Whether `*.example.com` or `example.com` stands for this host, with its port. */
function stands(pattern: string, host: string): boolean {
  const wanted = withPort(pattern.toLowerCase());
  if (!wanted.startsWith('*.')) return wanted === host;
  return host.length > wanted.length - 1 && host.endsWith(wanted.slice(1));
}

/** Throws BAD_REFERENCE when commands may not name this host. */
export function allowedHost(url: URL, hosts: readonly string[]): void {
  if (url.username !== '' || url.password !== '')
    throw badReference('uri', 'a reference carries no credentials');
  const host = `${url.hostname.replace(/\.$/, '')}:${url.port || HTTPS_PORT}`;
  if (hosts.some((pattern) => stands(pattern, host))) return;
  if (hosts.length === 0)
    throw badReference('uri', 'URLs are not allowed; references.hosts names no host', { found: url.host });
  throw badReference('uri', 'the host is not allowed', { found: url.host, allowed: hosts });
}

const unavailable = (message: string) => new AwayError(`The reference cannot be read: ${message}.`);

async function fetched(
  url: URL,
  { max_bytes, timeout }: HostSettings,
  client: GuardedClient,
  tls: TlsContent | undefined,
): Promise<HttpAnswer> {
  try {
    return await client.request({
      url,
      method: 'GET',
      headers: { accept: '*/*' },
      timeoutMs: timeout,
      maxBytes: max_bytes,
      ...(tls === undefined ? {} : { tls }),
    });
  } catch (error) {
    if (!(error instanceof HttpTrouble)) throw error;
    if (error.kind === 'address')
      throw badReference('uri', `${error.message}; references.allow_private: true allows them`);
    throw unavailable(error.message);
  }
}

/** Origin and path: queries may hold signatures. */
const shown = (url: URL) => url.origin + url.pathname;

/** Where a redirect points to, so that it can be named directly. */
function pointed(location: string | undefined, from: URL): string {
  return location !== undefined && URL.canParse(location, from.href)
    ? shown(new URL(location, from.href))
    : 'nowhere';
}

/**
 * The bytes of an https URL whose host is allowed. Throws BAD_REFERENCE for what will not change, and
 * UNAVAILABLE when the host does not answer now.
 */
export async function readHostReference(
  url: URL,
  settings: HostSettings,
  client: GuardedClient,
  tls: TlsContent | undefined,
): Promise<Buffer> {
  const { status, headers, body, cut } = await fetched(url, settings, client, tls);
  if (status >= 500 || NOT_NOW.has(status)) throw unavailable(`${url.host} answered ${status}`);
  if (status >= 300 && status < 400)
    throw badReference('uri', `${url.host} answered ${status}, and redirects are not followed`, {
      found: pointed(headers.location, url),
    });
  if (status < 200 || status >= 300)
    throw badReference('uri', `${url.host} answered ${status}`, { found: shown(url) });
  if (cut)
    throw badReference(
      'uri',
      `the answer is too large; ${settings.max_bytes} bytes are allowed (references.max_bytes)`,
    );
  return body;
}
