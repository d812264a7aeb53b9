import { readFile } from 'node:fs/promises';
import type { Webhook } from 'standardwebhooks';
import { knownSecrets, type Secrets } from '../../src/core/mcp/secrets.js';
import { SluiceError } from '../../src/core/problem.js';
import type { SecretReader } from '../../src/core/secret.js';
import type { TlsContent } from '../http/client.js';
import { HEADER_VALUE, type WebhookOptions } from './options.js';

/** What a sink shows of itself to its receiver, and what hides that in answers. */
export interface Credentials {
  /** One for each live secret; empty: unsigned. */
  signers: Webhook[];
  headers: Record<string, string>;
  tls: TlsContent;
  secrets: Secrets;
}

/** How long they are used before they are read anew, in milliseconds. */
const KEPT_MS = 30_000;
const PREFIX = 'whsec_';
/** Bytes of a secret, as Standard Webhooks has it. */
const LEAST_BYTES = 24;
const MOST_BYTES = 64;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const invalid = (name: string, message: string) =>
  new SluiceError('INVALID_CONFIG', `sink ${name}: ${message}`);

function checkSecret(name: string, index: number, value: string): string {
  const text = value.trim();
  const coded = text.slice(PREFIX.length);
  const bytes = Buffer.from(coded, 'base64').length;
  if (text.startsWith(PREFIX) && BASE64.test(coded) && bytes >= LEAST_BYTES && bytes <= MOST_BYTES)
    return text;
  throw invalid(
    name,
    `options.secrets[${index}]: the secret is not one of Standard Webhooks: whsec_ and ${LEAST_BYTES} to ${MOST_BYTES} bytes in base64`,
  );
}

async function readHeaders(
  name: string,
  { headers, headers_secret }: WebhookOptions,
  read: SecretReader,
): Promise<{ headers: Record<string, string>; hidden: string[] }> {
  const secret = await Promise.all(
    Object.entries(headers_secret).map(async ([header, place]): Promise<[string, string]> => {
      const value = await read(place);
      if (HEADER_VALUE.test(value)) return [header, value];
      throw invalid(name, `options.headers_secret.${header}: the value has characters that no header takes`);
    }),
  );
  return { headers: { ...headers, ...Object.fromEntries(secret) }, hidden: secret.map(([, value]) => value) };
}

async function readTls(name: string, tls: WebhookOptions['tls']): Promise<TlsContent> {
  const given = Object.entries(tls ?? {}).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const read = given.map(async ([key, path]): Promise<[string, string]> => {
    const text = await readFile(path, 'utf8').catch((error: Error) => {
      throw invalid(name, `options.tls.${key}: the file cannot be read: ${error.message}`);
    });
    return [key, text];
  });
  return Object.fromEntries(await Promise.all(read));
}

/**
 * Reads secrets, headers and certificates as they stand now. Throws SECRET_MISSING, or INVALID_CONFIG for
 * one that cannot be used; never with its value.
 */
export async function readCredentials(
  name: string,
  options: WebhookOptions,
  read: SecretReader,
): Promise<Credentials> {
  const { Webhook } = await import('standardwebhooks');
  const texts = await Promise.all((options.secrets ?? []).map((secret) => read(secret)));
  const signers = texts.map((text, index) => new Webhook(checkSecret(name, index, text)));
  const { headers, hidden } = await readHeaders(name, options, read);
  const tls = await readTls(name, options.tls);
  return { signers, headers, tls, secrets: knownSecrets([...texts, ...hidden]) };
}

/** The same, read anew when it is older than 30 s: so that secrets are rotated without a restart. */
export function keepCredentials(read: () => Promise<Credentials>): () => Promise<Credentials> {
  let kept: { credentials: Credentials; until: number } | undefined;
  return async () => {
    if (kept === undefined || performance.now() >= kept.until)
      kept = { credentials: await read(), until: performance.now() + KEPT_MS };
    return kept.credentials;
  };
}
