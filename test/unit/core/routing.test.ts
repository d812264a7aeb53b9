import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ManifestEntry } from '../../../src/core/manifest.js';
import { isServed, lackingOf, servedBy, servesOf, unservedShape } from '../../../src/core/routing.js';
import { unservedEvent } from '../../../src/core/routing-events.js';
import { chunkOf } from '../../support/evidence.js';
import { check, chunkWith, NOW } from './plan/build.js';
import { bytes, EVENT_BYTES, expectSchema, parsed } from './plan/event-shape.js';

describe('what a worker says that it serves', () => {
  it.each([
    ['all that its host has', ['pure', 'command', 'ansible'], 2, ['ansible', 'command', 'graph', 'pure']],
    ['graphs, where it has no runner at all', ['pure'], 2, ['graph', 'pure']],
    ['pure checks alone, where it takes no job of a runner', ['ansible', 'pure'], 0, ['pure']],
  ])('%s', (_name, runners, concurrency, serves) => {
    expect(servesOf(runners, concurrency)).toEqual(serves);
  });

  it('goes with the reasons of its host for the rest, and with the setting where it takes no such job', () => {
    const host = { serves: ['command', 'pure'], missing: { ansible: 'not in PATH' } };
    expect(servedBy(host, 1)).toEqual({ serves: ['command', 'graph', 'pure'], missing: host.missing });
    const why = 'worker.runner_concurrency is 0 in the settings';
    expect(servedBy(host, 0)).toEqual({
      serves: ['pure'],
      missing: { ansible: why, command: why, graph: why, mcp: why, plugin: why },
    });
  });
});

describe('what no worker has for a check', () => {
  const command = ['command', 'graph', 'pure'];
  const ansible = ['ansible', 'graph', 'pure'];
  it.each<[string, string[], string[][], string[]]>([
    ['everything, without any worker', ['ansible'], [], ['ansible']],
    [
      'everything, where none takes jobs of runners',
      ['ansible', 'command'],
      [['pure']],
      ['ansible', 'command'],
    ],
    ['nothing, where one has it', ['ansible'], [['pure'], command, ansible], []],
    ['what is nowhere, and not what is somewhere', ['ansible', 'mcp:x'], [ansible, command], ['mcp:x']],
    ['another server than the one that is there', ['mcp:x'], [['graph', 'mcp:y', 'pure']], ['mcp:x']],
    ['all of it, where each has a part', ['ansible', 'command'], [ansible, command], ['ansible', 'command']],
    ['nothing, where one has all of it', ['ansible', 'command'], [['ansible', 'command', 'graph']], []],
    ['nothing, for a graph of code on any worker with runners', [], [command], []],
    ['graphs, where none takes jobs of runners', [], [['pure']], ['graph']],
  ])('is %s', (_name, needs, workers, lacking) => {
    expect(lackingOf(needs, workers)).toEqual(lacking);
    expect(isServed(needs, workers)).toBe(lacking.length === 0);
  });

  const need = fc.constantFrom<string>('ansible', 'command', 'mcp:x', 'plugin:p');
  const lists = fc.array(
    fc.uniqueArray(need).map((serves) => [...serves, 'graph', 'pure']),
    { maxLength: 4 },
  );
  it('is never more than what it needs, and nothing once a worker with all of it comes', () => {
    fc.assert(
      fc.property(fc.uniqueArray(need, { minLength: 1 }), lists, (needs, workers) => {
        const lacking = lackingOf(needs, workers);
        expect(lacking.filter((each) => !needs.includes(each))).toEqual([]);
        expect(lackingOf(needs, [...workers, [...needs, 'graph']])).toEqual([]);
      }),
    );
  });
});

describe('evaluation.unserved', () => {
  const workers = [{ worker: 'w1', serves: ['graph', 'pure'] }];
  const found = { needs: ['ansible'], checks: 2, since: NOW, workers };

  it('of a run says which one, what is lacking, since when, until when, and who is there', () => {
    const chunk = chunkOf('b', 'e', 1, { deadline: NOW + 60_000 });
    const entry = chunk.evaluations[0] as ManifestEntry;
    const event = parsed(unservedEvent('f', chunk, entry, 'disk', found));
    expect(event).toMatchObject({
      type: 'dev.sluice.evaluation.unserved.v1',
      source: '/sluice/f',
      subject: 'e-0',
      correlationid: 'b',
      sequence: '2',
      data: {
        evaluation: 'e-0',
        batch: 'b',
        run: 'e-run-0',
        scenario: 'disk',
        needs: ['ansible'],
        checks: 2,
        since: new Date(NOW).toISOString(),
        deadline: new Date(NOW + 60_000).toISOString(),
        workers,
        workers_total: 1,
        truncated: false,
      },
    });
    for (const [name, schema] of Object.entries(unservedShape)) schema.parse(event.data[name]);
  });

  it('of a plan names the plan, and has another id for another time or other needs', () => {
    const chunk = chunkWith([check('tests')]);
    const entry = chunk.evaluations[0] as ManifestEntry;
    const event = unservedEvent('f', chunk, entry, '', found);
    expectSchema(event);
    expect(parsed(event)).toMatchObject({ correlationid: 'p', data: { plan: 'p', evaluation: chunk.id } });
    const again = (more: object) => unservedEvent('f', chunk, entry, '', { ...found, ...more }).id;
    expect(again({})).toBe(event.id);
    expect(new Set([event.id, again({ since: NOW + 1 }), again({ needs: ['mcp:x'] })]).size).toBe(3);
  });

  it('stays below the size of an event, however many workers and needs there are', () => {
    const many = Array.from({ length: 5000 }, (_, n) => ({ worker: `worker-${n}`, serves: ['pure'] }));
    const needs = Array.from({ length: 2000 }, (_, n) => `mcp:server-${n}`);
    const chunk = chunkWith([check('tests')]);
    const entry = chunk.evaluations[0] as ManifestEntry;
    const event = unservedEvent('f', chunk, entry, '', { ...found, needs, workers: many });
    expect(bytes(event.json)).toBeLessThan(EVENT_BYTES);
    expect(parsed(event).data).toMatchObject({ workers_total: 5000, truncated: true });
    expectSchema(event);
  });
});
