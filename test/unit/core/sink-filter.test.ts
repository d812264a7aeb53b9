import { describe, expect, it } from 'vitest';
import { EVENT_NAMES, type EventName, makeEvent } from '../../../src/core/events.js';
import { filterProblems, type SinkFilter, wantsEvent } from '../../../src/core/sink-filter.js';

const event = (name: EventName, data: Record<string, unknown> = {}) =>
  makeEvent({ fleet: 'f', name, subject: 's', revision: '1', sequence: 1, time: 0, data });

describe('the filter of a sink', () => {
  it.each([
    [['evaluation.failed'], 'evaluation.failed', true],
    [['evaluation.failed'], 'evaluation.passed', false],
    [['plan.*'], 'plan.gate.passed', true],
    [['plan.*'], 'plan.failed', true],
    [['plan.gate.*'], 'plan.failed', false],
    [['plan.*'], 'evaluation.passed', false],
    [['batch.completed', 'plan.*'], 'batch.completed', true],
    [['*'], 'delivery.dead', true],
  ] as const)('of types %j, asked for %s, answers %s', (types, name, wanted) => {
    expect(wantsEvent({ types: [...types] })?.(event(name))).toBe(wanted);
  });

  it.each<[SinkFilter, Record<string, unknown>, boolean]>([
    [{ projects: ['web'] }, { project: 'web' }, true],
    [{ projects: ['web'] }, { project: 'api' }, false],
    [{ projects: ['web'] }, { project: null }, false],
    [{ projects: ['web'] }, {}, false],
    [{ scenarios: ['disk-full'] }, { scenario: 'disk-full' }, true],
    [{ scenarios: ['disk-full'] }, { scenario: 'other' }, false],
    [{ projects: ['web'], scenarios: ['disk-full'] }, { project: 'web' }, true],
    [{ projects: ['web'], scenarios: ['disk-full'] }, { scenario: 'disk-full' }, true],
    [{ projects: ['web'], scenarios: ['disk-full'] }, { scenario: 'x', project: 'y' }, false],
  ])('%j, asked for data %j, answers %s', (filter, data, wanted) => {
    expect(wantsEvent(filter)?.(event('plan.failed', data))).toBe(wanted);
  });

  it('takes types and projects together as both', () => {
    const wants = wantsEvent({ types: ['plan.failed'], projects: ['web'] });
    expect(wants?.(event('plan.failed', { project: 'web' }))).toBe(true);
    expect(wants?.(event('plan.applied', { project: 'web' }))).toBe(false);
    expect(wants?.(event('plan.failed', { project: 'api' }))).toBe(false);
  });

  it('without any setting is none', () => {
    expect(wantsEvent({})).toBeUndefined();
  });

  it('accepts every event and every stem of one', () => {
    const stems = EVENT_NAMES.map((name) => `${name.slice(0, name.lastIndexOf('.'))}.*`);
    expect(filterProblems({ types: [...EVENT_NAMES, ...stems] }, 'sinks[0]')).toEqual([]);
  });

  it('tells of every unknown name, with the nearest', () => {
    const types = ['evaluation.faild', 'plans.*', 'dev.sluice.batch.complete.v1', 'plan.failed.*', '?'];
    expect(filterProblems({ types }, 'sinks[2]')).toEqual([
      expect.objectContaining({ path: 'sinks[2].types[0]', nearest: 'evaluation.failed' }),
      expect.objectContaining({ path: 'sinks[2].types[1]', nearest: 'plan.*' }),
      expect.objectContaining({ path: 'sinks[2].types[2]', nearest: 'batch.completed' }),
      expect.objectContaining({ path: 'sinks[2].types[3]' }),
      { path: 'sinks[2].types[4]', message: 'is no event of Sluice', found: '"?"' },
    ]);
  });
});
