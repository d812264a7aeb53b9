import { describe, expect, it } from 'vitest';
import { readEndpoint } from '../../../../queues/endpoints.js';
import { webhook } from '../../../../queues/sinks/webhook.js';

const secrets = [{ env: 'HOOK_SECRET' }];
const problemsOf = (target: string, options: Record<string, unknown>) =>
  readEndpoint([webhook], { kind: 'webhook', target, options }, 'sinks[0]').problems.map(
    ({ path, message }) => `${path}: ${message}`,
  );

describe('the settings of a webhook', () => {
  it.each([
    ['https://hooks.example.com/sluice', { secrets }],
    ['https://hooks.example.com/', { unsigned: true }],
    ['http://hooks.example.com/', { unsigned: true, allow_http: true }],
    ['http://127.0.0.1:8080/', { unsigned: true, allow_private: true }],
    ['http://localhost:8080/', { unsigned: true, allow_private: true }],
    ['https://10.0.0.7/', { secrets: [...secrets, { file: '/run/new' }], allow_private: true }],
    ['https://a.example/', { secrets, mode: 'batched', timeout: '50s', headers: { 'X-Team': 'a' } }],
  ])('take %s with %j', (target, options) => {
    expect(problemsOf(target, options)).toEqual([]);
  });

  it.each([
    ['nothing', { secrets }, /^sinks\[0\]: the target is no URL$/],
    ['ftp://a.example/', { secrets }, /the target is no URL/],
    ['https://user:word@a.example/', { secrets }, /has credentials in it; use options.headers_secret/],
    ['https://a.example/#x', { secrets }, /fragment/],
    ['http://a.example/', { secrets }, /http:\/\/ needs allow_http/],
    ['http://a.example/', { secrets, allow_private: true }, /http:\/\/ needs allow_http/],
    ['http://127.0.0.1/', { secrets, allow_http: true }, /of this machine; allow_private/],
    ['https://0x7f.1/', { secrets }, /of this machine; allow_private/],
    ['https://2852039166/', { secrets }, /link-local; allow_private/],
    ['https://[::ffff:10.0.0.1]/', { secrets }, /reserved \(ipv4Mapped\); allow_private/],
  ])('refuse the target %s with %j', (target, options, message) => {
    const problems = problemsOf(target, options);
    expect(problems).toEqual([expect.stringMatching(message)]);
    expect(problems.join()).not.toContain('word');
  });

  it.each([
    [{}, ['secrets: lacks the secrets that sign; give one or two, or unsigned: true']],
    [{ secrets, unsigned: true }, [/^unsigned: secrets sign/]],
    [{ secrets: [] }, [/^secrets: /]],
    [{ secrets: [...secrets, ...secrets, ...secrets] }, [/^secrets: /]],
    [{ secrets: ['whsec_x'] }, [/^secrets\[0\]: expected \{env: NAME\}/]],
    [{ unsigned: true, timeout: '51s' }, [/^timeout: expected 100ms to 50s/]],
    [{ unsigned: true, headers: { Authorization: 'x' } }, [/belongs in headers_secret/]],
    [{ unsigned: true, headers: { 'Webhook-Id': 'x' } }, [/set by the sink itself/]],
    [{ unsigned: true, headers: { 'bad name': 'x' } }, [/the name of a header/]],
    [
      { unsigned: true, headers: { a: 'b\r\nc: d' } },
      [/^headers.a: expected text without control characters/],
    ],
    [
      { unsigned: true, headers: { a: 'x' }, headers_secret: { A: { env: 'B' } } },
      [/one header is given twice/],
    ],
    [{ unsigned: true, tls: { cert: '/a' } }, [/^tls: cert and key go together/]],
    [{ unsigned: true, tls: { rejectUnauthorized: false } }, [/^tls/]],
    [{ secret: 'x', mode: 'text' }, [/^mode: /, /^secret: unknown key/, /^secrets: lacks/]],
  ])('refuse the options %j', (options, expected) => {
    const problems = problemsOf('https://a.example/', options).map((text) =>
      text.replace('sinks[0].options.', ''),
    );
    expect(problems).toHaveLength(expected.length);
    for (const each of expected)
      expect(problems).toContainEqual(typeof each === 'string' ? each : expect.stringMatching(each));
  });

  it.each([
    [{ unsigned: true }, 3],
    [{ unsigned: true, timeout: '50s' }, 1],
    [{ unsigned: true, timeout: '500ms' }, 50],
    [{ unsigned: true, mode: 'batched', batch: 200 }, 200],
  ])('%j: at most %i events a delivery', (options, most) => {
    expect(webhook.batch?.(webhook.options.parse(options))).toBe(most);
  });
});
