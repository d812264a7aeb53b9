import { CloudEvent, HTTP } from 'cloudevents';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CloudEventMessage,
  type DecodedMessage,
  decodeMessage,
} from '../../../src/core/cloud-events.js';

const GOOD = { specversion: '1.0', id: 'e1', source: '/ci', type: 'com.example.x' };
const STRUCTURED = 'application/cloudevents+json';
const BATCH = 'application/cloudevents-batch+json';

const bytes = (text: string) => new TextEncoder().encode(text);
const message = (body: unknown, contentType?: string, attributes = {}): CloudEventMessage => ({
  body:
    typeof body === 'string' ? bytes(body) : body instanceof Uint8Array ? body : bytes(JSON.stringify(body)),
  attributes,
  ...(contentType === undefined ? {} : { contentType }),
});
const decode = (body: unknown, contentType?: string, attributes = {}) =>
  decodeMessage(message(body, contentType, attributes));
const told = (decoded: DecodedMessage) =>
  decoded.ok ? 'ok' : decoded.problems.map(({ path, message: text }) => `${path}: ${text}`);
const eventOf = (decoded: DecodedMessage) => (decoded.ok ? decoded.events[0] : undefined);

describe('a message', () => {
  it.each([
    ['structured', GOOD, STRUCTURED, {}],
    ['structured with a charset', GOOD, `${STRUCTURED}; charset="UTF-8"`, {}],
    ['structured as plain JSON', GOOD, 'application/json', {}],
    ['structured without a content type', GOOD, undefined, {}],
    ['binary', '', undefined, GOOD],
  ])('is read in %s mode', (_mode, body, contentType, attributes) => {
    const decoded = decode(body, contentType, attributes);
    expect(decoded).toMatchObject({ ok: true, isBatch: false, refused: [] });
    expect(eventOf(decoded)).toMatchObject({ index: 0, id: 'e1', source: '/ci', type: 'com.example.x' });
  });

  it.each([
    ['its content type', BATCH],
    ['being a list', undefined],
  ])('is a batch by %s: the good events are taken, the bad ones told alone', (_by, contentType) => {
    const decoded = decode([GOOD, { ...GOOD, source: '' }, 7, { ...GOOD, id: 'e4' }], contentType);
    if (!decoded.ok) throw new Error('it is none');
    expect(decoded.isBatch).toBe(true);
    expect(decoded.events.map(({ index, id }) => [index, id])).toEqual([
      [0, 'e1'],
      [3, 'e4'],
    ]);
    expect(decoded.refused).toEqual([
      {
        index: 1,
        json: { ...GOOD, source: '' },
        problems: [{ path: '[1].source', message: 'must not be empty', found: '""' }],
      },
      { index: 2, json: 7, problems: [{ path: '[2]', message: 'must be an object', found: '7' }] },
    ]);
  });

  it('may be an empty batch', () => {
    expect(decode([], BATCH)).toEqual({ ok: true, isBatch: true, events: [], refused: [] });
  });

  it.each<[string, unknown, string | undefined, Record<string, string>, RegExp[]]>([
    ['no text at all', ' \n', STRUCTURED, {}, [/^: is empty/]],
    ['bad UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), STRUCTURED, {}, [/^: is not valid UTF-8/]],
    [
      'trailing garbage',
      `${JSON.stringify(GOOD)} x`,
      STRUCTURED,
      {},
      [/^: is not valid JSON: unexpected text/],
    ],
    ['a cut text', '{"id": "a"', STRUCTURED, {}, [/^: is not valid JSON/]],
    ['too many levels', '['.repeat(5000), BATCH, {}, [/nested deeper/]],
    ['another format of events', '<event/>', 'application/cloudevents+xml', {}, [/format that is not known/]],
    ['another content', 'hello', 'text/plain', {}, [/is no CloudEvent/]],
    ['another charset', GOOD, `${STRUCTURED}; charset=latin1`, {}, [/must be in UTF-8/]],
    ['a list where one is due', [GOOD], STRUCTURED, {}, [/^: must be an object/]],
    ['one where a list is due', GOOD, BATCH, {}, [/^: must be a list/]],
    ['too many events', Array.from({ length: 1001 }, () => 1), BATCH, {}, [/1001 events; 1000 are allowed/]],
    [
      'a key twice',
      '{"id":"a","id":"b","specversion":"1.0","source":"/","type":"t"}',
      STRUCTURED,
      {},
      [/^id: the key appears twice/],
    ],
    ['binary data that is no JSON', '{', 'application/json', GOOD, [/^data: is not valid JSON/]],
    [
      'a key of binary data twice',
      '{"a":1,"a":2}',
      'application/json',
      GOOD,
      [/^data.a: the key appears twice/],
    ],
    [
      'nothing of what it needs',
      {},
      STRUCTURED,
      {},
      [/^specversion: is missing/, /^id: is missing/, /^source: is missing/, /^type: is missing/],
    ],
  ])('with %s is refused', (_what, body, contentType, attributes, expected) => {
    const problems = told(decode(body, contentType, attributes));
    expect(problems).toHaveLength(expected.length);
    expected.forEach((pattern, n) => {
      expect(problems[n]).toMatch(pattern);
    });
  });

  it('larger than the limit is refused unread', () => {
    const decoded = decodeMessage(message(GOOD, STRUCTURED), { maxBytes: 10 });
    expect(decoded).toMatchObject({ ok: false, problems: [{ code: 'TOO_LARGE' }] });
  });

  it('tells a hundred problems, and counts the rest', () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`A${n}`, 1]));
    const problems = told(decode({ ...GOOD, ...many }, STRUCTURED));
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toBe(': and 50 more problems');
  });
});

describe('the attributes of an event', () => {
  it.each<[Record<string, unknown>, RegExp]>([
    [{ specversion: '0.3' }, /^specversion: is not a version/],
    [{ specversion: 1 }, /^specversion: must be a string/],
    [{ id: 7 }, /^id: must be a string/],
    [{ id: 'a\u0000b' }, /^id: must not hold control characters/],
    [{ id: '\ud800' }, /^id: must not hold control characters or broken Unicode/],
    [{ id: 'x'.repeat(3000) }, /^id: must have at most 2048/],
    [{ source: 'a b' }, /^source: must be a URI reference/],
    [{ source: '%zz' }, /^source: must be a URI reference/],
    [{ subject: '' }, /^subject: must not be empty/],
    [{ time: 'yesterday' }, /^time: must be a time/],
    [{ time: '2030-13-41T00:00:00Z' }, /^time: must be a time/],
    [{ datacontenttype: 'json' }, /^datacontenttype: must be a media type/],
    [{ dataschema: '/relative' }, /^dataschema: must be an absolute URI/],
    [{ Upper: 'x' }, /^Upper: is no name/],
    [{ 'with-dash': 'x' }, /with-dash.*is no name/],
    [{ ext: { a: 1 } }, /^ext: must be a string, a whole number/],
    [{ ext: 1.5 }, /^ext: must be a string, a whole number/],
    [{ data: 1, data_base64: 'AA==' }, /^data_base64: stands beside data/],
    [{ data_base64: 'A' }, /^data_base64: must be a string in base64/],
    [{ data_base64: '/w==' }, /^data_base64: is not valid UTF-8/],
    [{ data_base64: btoa('{"a":1,"a":2}') }, /^data_base64.a: the key appears twice/],
  ])('%j are refused', (change, expected) => {
    const problems = told(decode({ ...GOOD, ...change }, STRUCTURED));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  it('that are null are not there', () => {
    const event = eventOf(decode({ ...GOOD, subject: null, ext: null, datacontenttype: null }, STRUCTURED));
    expect(event).not.toHaveProperty('subject');
    expect(event?.extensions).toEqual({});
  });

  it('beyond those of the specification are extensions', () => {
    const event = eventOf(decode({ ...GOOD, a: 'x', b: 1, c: true, constructor: 'd' }, STRUCTURED));
    expect(event?.extensions).toEqual({ a: 'x', b: 1, c: true, constructor: 'd' });
  });
});

describe('the data of an event', () => {
  it.each<[string, CloudEventMessage, unknown]>([
    ['structured', message({ ...GOOD, data: { a: [1] } }, STRUCTURED), { a: [1] }],
    ['base64 of JSON', message({ ...GOOD, data_base64: btoa('{"a":1}') }, STRUCTURED), { a: 1 }],
    ['base64 of anything', message({ ...GOOD, datacontenttype: 'image/png', data_base64: '/w==' }), '/w=='],
    ['binary JSON', message('{"a":1}', 'application/json; charset=utf-8', GOOD), { a: 1 }],
    ['binary JSON of a type of its own', message('[1]', 'application/vnd.x+json', GOOD), [1]],
    ['binary without a type', message('"x"', undefined, GOOD), 'x'],
    ['binary text', message('hello', 'text/plain', GOOD), 'hello'],
    ['binary bytes', message(new Uint8Array([255]), 'image/png', GOOD), '/w=='],
    ['none', message(GOOD, STRUCTURED), undefined],
    ['none in binary mode', message('', 'application/json', GOOD), undefined],
  ])('is read: %s', (_what, given, expected) => {
    expect(eventOf(decodeMessage(given))?.data).toEqual(expected);
  });
});

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme-ascii' });
const attributes = fc.record(
  {
    id: text,
    source: fc.webPath({ size: 'small' }).map((path) => `https://a.test${path}`),
    type: fc.constantFrom('com.example.x', 'dev.sluice.plan.fixed.v1'),
    subject: text,
    time: fc
      .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
      .map((date) => date.toISOString()),
    dataschema: fc.webUrl(),
    ext: fc.oneof(text, fc.integer({ min: -100, max: 100 }), fc.boolean()),
    data: fc.record({ a: fc.jsonValue({ maxDepth: 3 }) }),
  },
  { requiredKeys: ['id', 'source', 'type'] },
);
const noSecrets = (event: object) => !JSON.stringify(event).includes('__proto__');

describe('what the published package of CloudEvents sends', () => {
  it('is read as it was sent, structured and binary', () => {
    fc.assert(
      fc.property(attributes.filter(noSecrets), (given) => {
        const sent = new CloudEvent({ ...given, datacontenttype: 'application/json' } as never);
        const { headers, body } = HTTP.structured(sent);
        const structured = decode(body as string, headers['content-type'] as string);
        expect(told(structured)).toBe('ok');
        const event = eventOf(structured);
        const { ext, data, ...own } = given;
        expect(event).toMatchObject(own);
        expect(event?.extensions).toEqual(ext === undefined ? {} : { ext });
        expect(event?.data).toEqual(data === undefined ? undefined : JSON.parse(JSON.stringify(data)));
        if (data === undefined) return;
        const binary = HTTP.binary(sent);
        const named = Object.entries(binary.headers).filter(([name]) => name.startsWith('ce-'));
        const plain = Object.fromEntries(named.map(([name, value]) => [name.slice(3), String(value)]));
        const read = eventOf(decode(binary.body as string, 'application/json', plain));
        expect(read).toMatchObject({ ...own, data: JSON.parse(JSON.stringify(data)) });
      }),
      { numRuns: 300 },
    );
  });

  it('and what it refuses is refused here', () => {
    const broken = fc.constantFrom(
      { source: '' },
      { source: 'not a uri' },
      { type: '' },
      { type: 7 },
      { subject: '' },
      { time: 'soon' },
      { dataschema: 'none' },
      { ext: 1.5 },
      { Ext: 'x' },
      { id: {} },
    );
    fc.assert(
      fc.property(attributes.filter(noSecrets), broken, (given, change) => {
        const event = { specversion: '1.0', ...given, ...change };
        expect(() => new CloudEvent(event as never)).toThrow();
        expect(decode(event, STRUCTURED).ok).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it('with a hundred thousand flaws is read as soon as one without', () => {
    const body = `[{${'"a":1,'.repeat(140_000)}"a":1}${',{}'.repeat(900)}]`;
    const begun = performance.now();
    const decoded = decode(body, BATCH);
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(decoded).toMatchObject({ ok: true, events: [], refused: { length: 901 } });
    if (!decoded.ok) return;
    expect(decoded.refused[0]?.problems).toHaveLength(101);
    expect(decoded.refused[900]?.problems.map(({ path }) => path)).toContain('[900].source');
  });

  it('nothing that is sent makes reading throw', () => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.json().map(bytes),
      fc.array(fc.jsonValue()).map((value) => bytes(JSON.stringify(value))),
    );
    const names = fc.constantFrom('id', 'source', 'type', 'specversion', 'data', '__proto__', 'Ü', 'ext');
    fc.assert(
      fc.property(
        anything,
        fc.option(fc.constantFrom(STRUCTURED, BATCH, 'application/json', 'text/plain', ';;', '')),
        fc.dictionary(names, fc.string()),
        (body, contentType, own) => {
          decodeMessage({ body, attributes: own, ...(contentType === null ? {} : { contentType }) });
        },
      ),
      { numRuns: 500 },
    );
  });
});
