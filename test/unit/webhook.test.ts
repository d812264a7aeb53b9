import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { verifyWebhook, WebhookVerificationError } from '../../src/webhook.js';
import { testEvent, testEvents } from '../support/bus-events.js';

const KEYS = [Buffer.alloc(24, 1), Buffer.alloc(64, 2)] as const;
const [ONE, OTHER] = KEYS.map((key) => `whsec_${key.toString('base64')}`) as [string, string];
const NOW = new Date('2026-01-02T03:04:05Z');
const SECONDS = NOW.getTime() / 1000;
const event = testEvent(1);

/** Signs as the specification says, without the package. */
function signature(key: Buffer, id: string, seconds: number | string, body: string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
}

function signedHeaders(body = event.json, id = event.id, seconds: number | string = SECONDS) {
  return {
    'content-type': 'application/cloudevents+json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature(KEYS[0], id, seconds, body),
  };
}

function codeOf(verify: () => unknown): string {
  try {
    verify();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
  return 'verified';
}

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('verifyWebhook', () => {
  it('returns the event of a request that was signed by the specification', () => {
    const [found] = verifyWebhook({ body: event.json, headers: signedHeaders(), secrets: ONE });
    expect(found).toEqual(JSON.parse(event.json));
  });

  it('agrees with the published package', () => {
    const headers = signedHeaders();
    expect(new Webhook(ONE).sign(event.id, NOW, event.json)).toBe(headers['webhook-signature']);
    expect(new Webhook(ONE).verify(event.json, headers)).toEqual(JSON.parse(event.json));
  });

  it.each([
    [
      'a record of lists',
      (all: Record<string, string>) => Object.fromEntries(Object.entries(all).map(([k, v]) => [k, [v]])),
    ],
    [
      'other case',
      (all: Record<string, string>) =>
        Object.fromEntries(Object.entries(all).map(([k, v]) => [k.toUpperCase(), v])),
    ],
    ['Headers of fetch', (all: Record<string, string>) => new Headers(all)],
  ])('takes headers as %s', (_, make) => {
    expect(verifyWebhook({ body: event.json, headers: make(signedHeaders()), secrets: ONE })).toHaveLength(1);
  });

  it('takes the body as bytes', () => {
    const body = new Uint8Array(Buffer.from(event.json));
    expect(verifyWebhook({ body, headers: signedHeaders(), secrets: ONE })).toHaveLength(1);
  });

  it('takes either secret while they rotate, and either signature', () => {
    const headers = signedHeaders();
    expect(verifyWebhook({ body: event.json, headers, secrets: [OTHER, ONE] })).toHaveLength(1);
    const both = `${signature(KEYS[1], event.id, SECONDS, event.json)} ${headers['webhook-signature']} v1a,other`;
    for (const secrets of [ONE, OTHER])
      expect(
        verifyWebhook({ body: event.json, headers: { ...headers, 'webhook-signature': both }, secrets }),
      ).toHaveLength(1);
  });

  it('returns all events of a batch', () => {
    const events = testEvents(3);
    const body = `[${events.map(({ json }) => json).join(',')}]`;
    const headers = {
      ...signedHeaders(body, 'a-digest'),
      'content-type': 'application/cloudevents-batch+json; charset=utf-8',
    };
    expect(verifyWebhook({ body, headers, secrets: ONE }).map(({ id }) => id)).toEqual(
      events.map(({ id }) => id),
    );
  });

  const binary = (body: string, id = event.id) => ({
    ...signedHeaders(body, id),
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': event.id,
    'ce-source': '/sluice/test',
    'ce-type': event.type,
    'ce-subject': 'caf%C3%A9',
  });

  it('puts an event of binary mode together', () => {
    const body = '{"n":1}';
    expect(verifyWebhook({ body, headers: binary(body), secrets: ONE })).toEqual([
      {
        specversion: '1.0',
        id: event.id,
        source: '/sluice/test',
        type: event.type,
        subject: 'café',
        datacontenttype: 'application/json',
        data: { n: 1 },
      },
    ]);
  });

  it.each([
    ['another id', binary('{"n":1}', 'stolen'), '{"n":1}'],
    ['an event as its data', binary(event.json), event.json],
    ['events as its data', binary(`[${event.json}]`), `[${event.json}]`],
  ])('refuses unsigned headers that make something else of the body: %s', (_, headers, body) => {
    expect(codeOf(() => verifyWebhook({ body, headers, secrets: ONE }))).toBe('bad_body');
  });

  it.each([
    [{ 'webhook-id': undefined }, 'missing_header'],
    [{ 'webhook-timestamp': '' }, 'missing_header'],
    [{ 'webhook-signature': undefined }, 'missing_header'],
    [{ 'webhook-timestamp': 'soon' }, 'bad_timestamp'],
    [{ 'webhook-timestamp': '1e9' }, 'bad_timestamp'],
    [{ 'webhook-timestamp': `${SECONDS}abc` }, 'bad_timestamp'],
    [{ 'webhook-id': 'another' }, 'no_match'],
    [{ 'webhook-timestamp': String(SECONDS + 1) }, 'no_match'],
    [{ 'webhook-signature': 'v1,' }, 'no_match'],
    [{ 'webhook-signature': 'rubbish' }, 'no_match'],
    [{ 'webhook-signature': signedHeaders()['webhook-signature'].replace('v1,', 'v2,') }, 'no_match'],
    [{ 'webhook-signature': signature(KEYS[1], event.id, SECONDS, event.json) }, 'no_match'],
  ])('with the headers %j: %s', (changed, code) => {
    const headers = { ...signedHeaders(), ...changed };
    expect(codeOf(() => verifyWebhook({ body: event.json, headers, secrets: ONE }))).toBe(code);
  });

  it('refuses a body that was changed', () => {
    const body = event.json.replace('passed', 'failed');
    expect(codeOf(() => verifyWebhook({ body, headers: signedHeaders(), secrets: ONE }))).toBe('no_match');
  });

  it.each([
    [-300, undefined, 'verified'],
    [-301, undefined, 'too_old'],
    [300, undefined, 'verified'],
    [301, undefined, 'too_new'],
    [-11, 10, 'too_old'],
    [-3600, 3600, 'verified'],
  ])('signed %i s from now, %s s tolerated: %s', (offset, toleranceSeconds, code) => {
    const headers = signedHeaders(event.json, event.id, SECONDS + offset);
    const request = { body: event.json, headers, secrets: ONE };
    const tolerated = toleranceSeconds === undefined ? request : { ...request, toleranceSeconds };
    expect(codeOf(() => verifyWebhook(tolerated))).toBe(code);
  });

  it.each([
    ['not JSON', '{', 'bad_body'],
    ['no event', '{"a":1}', 'bad_body'],
    ['nothing', '', 'bad_body'],
  ])('a signed body with %s: bad_body', (_, body, code) => {
    expect(codeOf(() => verifyWebhook({ body, headers: signedHeaders(body), secrets: ONE }))).toBe(code);
  });

  it('refuses bytes that are no UTF-8', () => {
    const body = new Uint8Array([0xff]);
    expect(codeOf(() => verifyWebhook({ body, headers: signedHeaders(), secrets: ONE }))).toBe('bad_body');
  });

  it.each(['whsec_?', '', 'whsec_'])('says that the secret %j is none, and never shows one', (secret) => {
    const verify = () =>
      verifyWebhook({ body: event.json, headers: signedHeaders(), secrets: [ONE, secret] });
    expect(codeOf(verify)).toBe('bad_secret');
    expect(verify).toThrow(/^a secret is not whsec_ and base64$/);
  });

  it('does not verify without any secret', () => {
    const verify = () => verifyWebhook({ body: event.json, headers: signedHeaders(), secrets: [] });
    expect(codeOf(verify)).toBe('bad_secret');
  });
});
