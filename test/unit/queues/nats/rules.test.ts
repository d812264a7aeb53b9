import { describe, expect, it } from 'vitest';
import { contentOf } from '../../../../queues/buses/content.js';
import { headersOf, readHeaders } from '../../../../queues/nats/cloudevent.js';
import { coveringSubject, fillSubject, templateProblem } from '../../../../queues/nats/subject.js';
import { parseNatsTarget, subjectProblem } from '../../../../queues/nats/target.js';
import { failureOf, natsReason } from '../../../../queues/nats/trouble.js';
import { nats as sink } from '../../../../queues/sinks/nats.js';
import { nats as source } from '../../../../queues/sources/nats.js';
import { encodeAttribute } from '../../../../src/core/http-binding.js';
import { testEvent } from '../../../support/bus-events.js';

describe('targets of NATS', () => {
  it.each([
    ['nats://localhost#a.b', { servers: ['localhost:4222'], subject: 'a.b', tls: false }],
    ['nats://a:1,b:2#x', { servers: ['a:1', 'b:2'], subject: 'x', tls: false }],
    ['tls://[::1]:4443#x', { servers: ['[::1]:4443'], subject: 'x', tls: true }],
    ['nats://a/#x#y', { servers: ['a:4222'], subject: 'x#y', tls: false }],
  ])('reads %s', (target, expected) => {
    expect(parseNatsTarget(target)).toEqual(expected);
  });

  it.each([
    ['localhost:4222#x', /is no target/],
    ['nats://#x', /lacks a server/],
    ['nats://a:0#x', /not HOST:PORT/],
    ['nats://a:70000#x', /not HOST:PORT/],
    ['nats://a,,b#x', /not HOST:PORT/],
    ['nats://a', /is no target/],
    ['nats://a#', /lacks its subject/],
    ['nats://user:hunter2@a#x', /holds credentials/],
  ])('refuses %s', (target, message) => {
    const found = parseNatsTarget(target);
    expect(found).toMatch(message);
    expect(found).not.toContain('hunter2');
  });

  it.each([
    ['a.b', true, undefined],
    ['a.*.c', true, undefined],
    ['a.>', true, undefined],
    ['a.>', false, /one subject each/],
    ['a.>.b', true, /not the last/],
    ['a.b*', true, /not a whole part/],
    ['a..b', true, /empty part/],
    ['a b', true, /space/],
    ['a\r\nPUB', false, /space/],
  ])('judges the subject %j (wildcards: %s)', (subject, wildcards, message) => {
    const found = subjectProblem(subject, { wildcards });
    if (message === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(message);
  });
});

describe('subjects of events', () => {
  const event = testEvent(7);

  it.each([
    ['sluice.{type}', 'sluice.evaluation.passed', 'sluice.>'],
    ['sluice.{subject}', 'sluice.evaluation-7', 'sluice.*'],
    ['a.x-{subject}.b', 'a.x-evaluation-7.b', 'a.*.b'],
    ['a.{subject}.{type}', 'a.evaluation-7.evaluation.passed', 'a.*.>'],
    ['plain', 'plain', 'plain'],
  ])('fills and covers %s', (template, filled, covering) => {
    expect(templateProblem(template)).toBeUndefined();
    expect(fillSubject(template, event)).toBe(filled);
    expect(coveringSubject(template)).toBe(covering);
  });

  it('makes one safe part of any subject and type', () => {
    const evil = { ...event, type: 'a b\r\nPUB x', json: JSON.stringify({ subject: 'a.b >*\r\né' }) };
    expect(fillSubject('s.{subject}', evil)).toBe('s.a_b______');
    expect(fillSubject('s.{type}', evil)).not.toMatch(/\s/);
    expect(fillSubject('s.{subject}', { ...event, json: '{}' })).toBe('s._');
  });

  it.each([
    ['sluice.{typ}', /allowed: \{type\}/],
    ['{type}', /begins with a placeholder/],
    ['a.{type', /brace/],
  ])('refuses the template %s', (template, message) => {
    expect(templateProblem(template)).toMatch(message);
  });
});

describe('CloudEvents in NATS headers', () => {
  it('escapes as the binding says', () => {
    expect(encodeAttribute('Euro € 😀 "50%"')).toBe('Euro%20%E2%82%AC%20%F0%9F%98%80%20%2250%25%22');
    expect(encodeAttribute('a\r\nb')).toBe('a%0D%0Ab');
  });

  it('reads what it writes', () => {
    const content = contentOf(testEvent(1), 'binary');
    const headers = headersOf(content).map(([name, value]): [string, string[]] => [name, [value]]);
    const { attributes, contentType } = readHeaders(headers);
    const { data, ...expected } = JSON.parse(testEvent(1).json);
    expect(attributes).toEqual(expected);
    expect(contentType).toBe('application/json');
    expect(JSON.parse(content.body.toString())).toEqual(data);
  });

  it.each<[string, [string, string[]][], object]>([
    ['nothing said', [], { contentType: 'application/cloudevents+json', attributes: {} }],
    [
      'structured, in any case',
      [
        ['Content-Type', ['Application/CloudEvents+JSON; charset=utf-8']],
        ['ce-id', ['1']],
      ],
      { contentType: 'Application/CloudEvents+JSON; charset=utf-8', attributes: {} },
    ],
    [
      'binary with quotes and escapes',
      [
        ['CE-Id', ['"a \\"b\\""']],
        ['ce-specversion', ['1.0']],
        ['ce-subject', ['%c3%a9%20100%']],
      ],
      { attributes: { id: 'a "b"', specversion: '1.0', subject: 'é 100%' } },
    ],
    [
      'what is no UTF-8 stays as it is',
      [
        ['ce-id', ['%C0%A0']],
        ['ce-specversion', ['1.0']],
      ],
      { attributes: { id: '%C0%A0', specversion: '1.0' } },
    ],
    [
      'plain JSON',
      [['content-type', ['application/json']]],
      { contentType: 'application/json', attributes: {} },
    ],
  ])('reads headers: %s', (_, headers, expected) => {
    expect(readHeaders(headers)).toEqual(expected);
  });
});

/** An error as the client makes it. */
function clientError(name: string, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { name, ...more });
}
const away = clientError('JetStreamNotEnabled', 'jetstream is not enabled', {
  cause: clientError('RequestError', '', { cause: clientError('NoResponders', 'no responders') }),
});

describe('what becomes of an event that fails', () => {
  it.each<[string, Error, object]>([
    ['no stream', away, { kind: 'away', reason: expect.stringContaining('s.x') }],
    ['no answer', clientError('TimeoutError', 'timeout'), { kind: 'away' }],
    ['a lost connection', clientError('RequestError', 'connection closed'), { kind: 'away' }],
    [
      'too large for the server',
      clientError('InvalidArgumentError', "'payload' max_payload size exceeded"),
      { kind: 'refused', final: true, reason: expect.stringContaining('1000 bytes') },
    ],
    [
      'too large for the stream',
      clientError('JetStreamApiError', 'message size exceeds maximum allowed', { code: 10054, status: 400 }),
      { kind: 'refused', final: true, response: '400 10054: message size exceeds maximum allowed' },
    ],
    [
      'another refusal',
      clientError('JetStreamApiError', 'expected stream does not match', { code: 10060, status: 400 }),
      { kind: 'refused', response: '400 10060: expected stream does not match' },
    ],
    [
      'a full stream',
      clientError('JetStreamApiError', 'maximum messages exceeded', { code: 10077, status: 503 }),
      { kind: 'away', reason: 'maximum messages exceeded' },
    ],
    [
      'no permission',
      clientError('RequestError', '', { cause: clientError('PermissionViolationError', 'Permissions…') }),
      { kind: 'refused' },
    ],
  ])('%s', (_, error, expected) => {
    const failure = failureOf('id', error, { subject: 's.x', mostBytes: 1000 });
    expect(failure).toEqual({ id: 'id', reason: expect.stringMatching(/\S/), ...expected });
  });

  it('always has a reason', () => {
    expect(natsReason(new Error(''))).toMatch(/\S/);
    expect(natsReason(undefined)).toMatch(/\S/);
  });
});

describe('settings of NATS', () => {
  const secret = { env: 'X' };

  it.each<[string, typeof sink | typeof source, Record<string, unknown>, string[]]>([
    ['defaults', sink, {}, []],
    ['a user without a password', sink, { user: 'u' }, ['password']],
    ['a password without a user', source, { password: secret }, ['user']],
    ['two ways to log in', sink, { token: secret, nkey: secret }, ['nkey']],
    ['a stream that cannot be named', sink, { stream: 'a.b' }, ['stream']],
    ['a timeout beyond what a delivery has', sink, { timeout: '1m' }, ['timeout']],
    ['a stream to make without its name', source, { create: true }, ['stream']],
    ['a wait that is no duration', source, { ack_wait: 'soon' }, ['ack_wait']],
    ['a certificate without its key', sink, { tls: { cert: 'c.pem' } }, ['tls']],
    ['a user that is a secret', sink, { user: secret, password: secret }, []],
    ['several at once', source, { user: 'u', create: true }, ['password', 'stream']],
  ])('%s', (_, kind, given, paths) => {
    const parsed = kind.options.safeParse(given);
    expect((parsed.error?.issues ?? []).map(({ path }) => path.join('.'))).toEqual(paths);
  });

  it('refuses wildcards where events leave, and takes them where messages come from', () => {
    expect(sink.problem('nats://a#b.>', {})?.message).toMatch(/one subject/);
    expect(source.problem('nats://a#b.>', {})).toBeUndefined();
    expect(sink.problem('nats://a#b.{type}', {})).toBeUndefined();
    expect(source.problem('nats://a', {})?.message).toMatch(/is no target/);
  });
});
