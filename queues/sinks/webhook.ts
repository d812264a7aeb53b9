import type { Problem } from '../../src/core/problem.js';
import { show } from '../../src/core/problem.js';
import { defineSink } from '../../src/ports/sink.js';
import { isLoopback, literalAddress, privateRange } from '../http/addresses.js';
import { GuardedClient, type Resolve } from '../http/client.js';
import { keepCredentials, readCredentials } from '../webhook/credentials.js';
import { LONGEST_TIMEOUT_MS, type WebhookOptions, webhookOptions } from '../webhook/options.js';
import { WebhookSink } from '../webhook/sink.js';

/** Most events in one delivery where each is a request of its own. */
const MOST_SINGLE = 50;

function problem(target: string, options: WebhookOptions): Omit<Problem, 'path'> | undefined {
  if (!URL.canParse(target) || !/^https?:\/\//i.test(target))
    return { message: 'the target is no URL', found: show(target), allowed: ['https://HOST/PATH'] };
  const url = new URL(target);
  if (url.username !== '' || url.password !== '')
    return { message: 'the URL has credentials in it; use options.headers_secret with Authorization' };
  if (url.hash !== '') return { message: 'the URL has a fragment, which is never sent', found: url.hash };
  const mayBePlain = options.allow_http || (options.allow_private && isLoopback(url));
  if (url.protocol === 'http:' && !mayBePlain)
    return {
      message: 'http:// needs allow_http: true, or allow_private: true and an address of this machine',
      found: url.origin,
      allowed: ['https://HOST/PATH'],
    };
  const address = literalAddress(url);
  const range = address === undefined ? undefined : privateRange(address);
  if (range !== undefined && !options.allow_private)
    return { message: `the address is ${range}; allow_private: true allows it`, found: url.host };
  return undefined;
}

/** The kind of sink, with its own way to find the addresses of hosts. */
export const webhookKind = (resolve?: Resolve) =>
  defineSink<WebhookOptions>({
    kind: 'webhook',
    description: 'Posts CloudEvents over HTTP, signed by Standard Webhooks.',
    target: 'https://HOST/PATH',
    options: webhookOptions,
    batch: ({ mode, batch, timeout }) =>
      mode === 'batched' ? batch : Math.min(MOST_SINGLE, Math.floor(LONGEST_TIMEOUT_MS / timeout)),
    problem,
    async open(target, options, { name, secret }) {
      const read = keepCredentials(() => readCredentials(name, options, secret));
      // What can never be used is told now, and not by the first event.
      await read();
      const { allow_private: allowPrivate } = options;
      const client = new GuardedClient({ allowPrivate, ...(resolve === undefined ? {} : { resolve }) });
      return new WebhookSink(new URL(target), options, read, client);
    },
  });

export const webhook = webhookKind();
