import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { endpointName, readEndpoint } from '../../../queues/endpoints.js';
import { builtInSinks } from '../../../queues/sinks/built-in.js';
import { sinkObjectOf } from '../../../src/core/endpoints.js';
import { secretSchema, tlsSchema } from '../../../src/core/secret.js';
import { defineSink } from '../../../src/ports/sink.js';

const bus = defineSink({
  kind: 'bus',
  description: 'For tests.',
  target: 'HOST',
  options: z.strictObject({
    size: z.int().min(1).default(7),
    password: secretSchema.optional(),
    tls: tlsSchema.optional(),
    lists: z.array(z.string()).default([]),
  }),
  problem: (target) => (target.includes(' ') ? { message: 'has a space' } : undefined),
  open: () => Promise.reject(new Error('not in this test')),
});

const read = (setting: { kind: string; target: string; options?: Record<string, unknown>; name?: string }) =>
  readEndpoint([bus], { options: {}, ...setting }, 'sinks[3]');

describe('the setting of a sink', () => {
  it('becomes its kind, target and options, with their defaults', () => {
    expect(read({ kind: 'bus', target: 'h' })).toEqual({
      endpoint: {
        name: expect.stringMatching(/^bus-[0-9a-f]{12}$/),
        kind: bus,
        target: 'h',
        options: { size: 7, lists: [] },
      },
      problems: [],
    });
  });

  it.each([
    [
      { kind: 'bos', target: 'h' },
      [{ path: 'sinks[3]', message: 'unknown kind "bos"', found: 'bos=h', allowed: ['bus'], nearest: 'bus' }],
    ],
    [
      { kind: 'bus', target: '' },
      [
        {
          path: 'sinks[3]',
          message: 'lacks its target; write bus=TARGET, where TARGET is HOST',
          found: 'bus',
        },
      ],
    ],
    [{ kind: 'bus', target: 'a b' }, [{ path: 'sinks[3]', message: 'has a space', found: 'bus=a b' }]],
    [
      { kind: 'bus', target: '', options: { size: 0, siz: 1, tls: { caa: 'x' }, lists: ['a', 2] } },
      [
        expect.objectContaining({ path: 'sinks[3]', message: expect.stringContaining('lacks its target') }),
        expect.objectContaining({ path: 'sinks[3].options.size', found: '0' }),
        expect.objectContaining({
          path: 'sinks[3].options.tls.caa',
          message: 'unknown key',
          allowed: ['ca', 'cert', 'key'],
          nearest: 'ca',
        }),
        expect.objectContaining({ path: 'sinks[3].options.lists[1]', found: '2' }),
        expect.objectContaining({ path: 'sinks[3].options.siz', message: 'unknown key', nearest: 'size' }),
      ],
    ],
  ])('%j has every problem told at once', (setting, problems) => {
    expect(read(setting).problems).toEqual(problems);
  });

  it('never shows what stands where a secret is named', () => {
    const { problems } = read({ kind: 'bus', target: 'h', options: { password: 'hunter2' } });
    expect(problems).toEqual([
      { path: 'sinks[3].options.password', message: 'expected {env: NAME} or {file: PATH}' },
    ]);
  });

  it('shows a target without its credentials', () => {
    const { problems } = read({ kind: 'bos', target: 'redis://u:hunter2@h:1#k' });
    expect(problems[0]).toMatchObject({ found: 'bos=redis://***@h:1#k' });
  });

  it('has a name that stays the same, told apart by what it is read for', () => {
    const setting = { kind: 'ndjson', target: 'f', options: {} };
    expect(endpointName(setting)).toBe(endpointName({ ...setting }));
    expect(endpointName(setting, 'batch')).not.toBe(endpointName(setting));
    expect(endpointName({ ...setting, name: 'audit' })).toBe('audit');
    expect(endpointName({ ...setting, name: 'audit' }, 'b')).toMatch(/^audit-[0-9a-f]{12}$/);
  });
});

describe('KIND=TARGET', () => {
  it.each([
    ['ndjson=a=b.ndjson', 'ndjson', 'a=b.ndjson'],
    ['ndjson=', 'ndjson', ''],
    ['ndjson', 'ndjson', ''],
    ['nats=nats://h#a.b=c', 'nats', 'nats://h#a.b=c'],
  ])('%s is split at the first sign alone', (text, kind, target) => {
    expect(sinkObjectOf(text)).toEqual({ kind, target, order: 'none', options: {} });
  });
});

describe('the kinds of sinks', () => {
  it('have names of their own', () => {
    const names = builtInSinks.map(({ kind }) => kind);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(builtInSinks.map((kind) => [kind.kind, kind] as const))(
    'take no unknown option, of %s',
    (_, kind) => {
      const given = { name: 'n', kind: kind.kind, target: 'x', options: { no_such_option: 1 } };
      expect(readEndpoint(builtInSinks, given, '--sink').problems).toContainEqual(
        expect.objectContaining({ path: '--sink.options.no_such_option', message: 'unknown key' }),
      );
    },
  );
});
