import { describe, expect, it } from 'vitest';
import { parseAmqpTarget } from '../../../../queues/amqp/target.js';
import { readEndpoint } from '../../../../queues/endpoints.js';
import { amqp as amqpSink } from '../../../../queues/sinks/amqp.js';
import { mqtt as mqttSink } from '../../../../queues/sinks/mqtt.js';
import { amqp as amqpSource } from '../../../../queues/sources/amqp.js';
import { mqtt as mqttSource } from '../../../../queues/sources/mqtt.js';

const kinds = { amqpSink, amqpSource, mqttSink, mqttSource };
const LOGIN = { user: 'me', password: { env: 'SECRET' } };

function problemOf(which: keyof typeof kinds, target: string, options: Record<string, unknown>) {
  const kind = kinds[which] as typeof amqpSink;
  const read = readEndpoint([kind], { kind: kind.kind, target, options }, '--it');
  return read.problems[0];
}

describe('a target of amqp or mqtt', () => {
  it.each<[keyof typeof kinds, string, Record<string, unknown>]>([
    ['amqpSink', 'amqp://127.0.0.1:5672/#events', {}],
    ['amqpSink', 'amqp://localhost#', {}],
    ['amqpSink', 'amqps://rabbit.example.com/prod%2Fa#events', { ...LOGIN, tls: {} }],
    ['amqpSink', 'amqp://[::1]:5673/#events', { routing_key: 'a.{type}.{subject}' }],
    ['amqpSource', 'amqp://127.0.0.1#queue#with', { bind: [{ exchange: 'x' }] }],
    ['mqttSink', 'mqtt://broker.example.com#sluice/{type}/{subject}', {}],
    ['mqttSink', 'mqtts://[::1]:8884/#x', { ...LOGIN, qos: 2, timeout: '2s' }],
    ['mqttSource', 'mqtt://h#commands/+/x/#', { session_expiry: '1h' }],
    ['mqttSource', 'mqtt://h#$share/group/commands/#', {}],
    ['mqttSource', 'mqtt://h##', { user: { env: 'NAME' }, password: { file: '/p' } }],
  ])('of %s: %s is good', (kind, target, options) => {
    expect(problemOf(kind, target, options)).toBeUndefined();
  });

  it.each<[keyof typeof kinds, string, Record<string, unknown>, RegExp]>([
    ['amqpSink', 'mqtt://127.0.0.1#x', {}, /does not begin with amqp:\/\/ or amqps:\/\//],
    ['amqpSink', '127.0.0.1#x', {}, /does not begin/],
    ['amqpSink', 'amqp://#x', {}, /lacks its host/],
    ['amqpSink', 'amqp://127.0.0.1:99999#x', {}, /host|port/],
    ['amqpSink', 'amqp://127.0.0.1:0#x', {}, /port/],
    ['amqpSink', 'amqp://127.0.0.1', {}, /behind #/],
    ['amqpSink', 'amqp://me:hidden@127.0.0.1#x', {}, /holds credentials/],
    ['amqpSink', 'amqp://127.0.0.1?heartbeat=1#x', {}, /query/],
    ['amqpSink', 'amqp://127.0.0.1/a/b#x', {}, /virtual host/],
    ['amqpSink', 'amqp://127.0.0.1/%zz#x', {}, /virtual host/],
    ['amqpSink', `amqp://127.0.0.1#${'x'.repeat(256)}`, {}, /255 bytes/],
    ['amqpSink', 'amqp://rabbit.example.com#x', {}, /lacks the options user and password/],
    ['amqpSink', 'amqp://127.0.0.1#x', { user: 'me' }, /lacks the option password/],
    ['amqpSink', 'amqp://127.0.0.1#x', { password: { env: 'A' } }, /lacks the option user/],
    ['amqpSink', 'amqp://127.0.0.1#x', { tls: {} }, /without TLS/],
    ['amqpSink', 'amqps://127.0.0.1#x', { tls: { cert: 'c' } }, /both are needed/],
    ['amqpSink', 'amqp://127.0.0.1#x', { routing_key: '{kind}' }, /braces/],
    ['amqpSink', 'amqp://127.0.0.1#x', { routing_key: 'a}' }, /braces/],
    ['amqpSink', 'amqp://127.0.0.1#x', { timeout: '1h' }, /15s at most/],
    ['amqpSink', 'amqp://127.0.0.1#x', { password: 'plain' }, /expected \{env: NAME\}/],
    ['amqpSource', 'amqp://127.0.0.1#', {}, /lacks its queue/],
    ['amqpSource', 'amqp://127.0.0.1#q', { declare: false, bind: [{ exchange: 'x' }] }, /bind/],
    ['mqttSink', 'mqtt://h', {}, /behind #/],
    ['mqttSink', 'mqtt://h#', {}, /lacks its topic/],
    ['mqttSink', 'mqtt://h/path#x', {}, /path/],
    ['mqttSink', 'mqtt://h#a/#', {}, /\+ or #/],
    ['mqttSink', 'mqtt://h#a/{id}', {}, /braces/],
    ['mqttSink', 'mqtt://h#a', { qos: 0 }, /expected 1 or 2/],
    ['mqttSource', 'mqtt://h#a#', {}, /whole level/],
    ['mqttSource', 'mqtt://h#a/#/b', {}, /last one/],
    ['mqttSource', 'mqtt://h#a+/b', {}, /whole level/],
    ['mqttSource', 'mqtt://h#$share/group', {}, /\$share\/GROUP\/TOPIC/],
    ['mqttSource', 'mqtt://h#$share/g+/x', {}, /\$share\/GROUP\/TOPIC/],
    ['mqttSource', 'mqtt://h#a', { session_expiry: '10ms' }, /1s at least/],
  ])('of %s: %s %j is told', (kind, target, options, message) => {
    const problem = problemOf(kind, target, options);
    expect(problem?.message).toMatch(message);
    expect(JSON.stringify(problem)).not.toContain('hidden');
  });

  it.each([
    ['amqp://h#x', { host: 'h', port: 5672, isTls: false, vhost: '/', place: 'x' }],
    ['amqps://h/#x', { host: 'h', port: 5671, isTls: true, vhost: '/', place: 'x' }],
    ['amqp://h:80/prod#x', { host: 'h', port: 80, isTls: false, vhost: 'prod', place: 'x' }],
    ['amqp://[::1]:1/%2F#a#b', { host: '::1', port: 1, isTls: false, vhost: '/', place: 'a#b' }],
  ])('%s is read part by part', (target, parts) => {
    expect(parseAmqpTarget(target)).toMatchObject(parts);
  });
});
