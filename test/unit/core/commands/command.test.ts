import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CloudEventIn } from '../../../../src/core/cloud-events.js';
import { commandOf, commandType } from '../../../../src/core/commands/command.js';
import { commandData } from '../../../../src/core/commands/data.js';
import { COMMAND_NAMES, type CommandName } from '../../../../src/core/commands/names.js';
import { EVENT_NAMES } from '../../../../src/core/events.js';

const DIGEST = 'a'.repeat(64);
const REFERENCE = { uri: 'https://evidence.test/a.json', sha256: DIGEST };

const eventOf = (
  name: CommandName | string,
  data: unknown,
  more: Partial<CloudEventIn> = {},
): CloudEventIn => ({
  index: 0,
  id: 'e1',
  source: '/ci',
  type: `dev.sluice.${name}.v1`,
  extensions: {},
  json: {},
  data,
  ...more,
});

const told = (event: CloudEventIn) => {
  const answer = commandOf(event);
  return answer.kind === 'refused'
    ? answer.problems.map(({ path, message }) => `${path}: ${message}`)
    : answer.kind;
};

const GOOD: Record<CommandName, Record<string, unknown>> = {
  'evaluation.requested': { scenario: { validation: {} }, run_ref: REFERENCE, strict: true, from: 'gateway' },
  'plan.created': { resources: ['repo/a'], project: 'shop', revision: 0 },
  'plan.submitted': { snapshots: { 'repo/a': 1 } },
  'plan.strategized': { plan: 'p' },
  'plan.executed': { plan: 'p', references: { 'repo/a': { ...REFERENCE, as: 'text' } }, revision: 3 },
  'plan.fixed': { plan: 'p', snapshots: { 'repo/a': null } },
  'plan.responded': { plan: 'p', answer: 'retry', guidance: 'mind the gap' },
  'plan.apply.requested': { plan: 'p', digests: { 'repo/a': DIGEST } },
  'plan.cancel.requested': { plan: 'p', reason: 'no need' },
};

describe('a command', () => {
  it.each(COMMAND_NAMES)('%s is read from its CloudEvent', (name) => {
    const extensions = { correlationid: 'ticket-7', other: 1 };
    expect(commandOf(eventOf(name, GOOD[name], { extensions }))).toEqual({
      kind: 'command',
      command: {
        name,
        id: 'e1',
        source: '/ci',
        type: commandType(name),
        correlation: 'ticket-7',
        data: GOOD[name],
      },
    });
  });

  it('has a description of every field', () => {
    for (const schema of Object.values(commandData)) {
      expect(schema.description).toBeTruthy();
      const { properties } = z.toJSONSchema(schema, { io: 'input' });
      for (const [key, field] of Object.entries(properties ?? {}))
        expect(field, key).toMatchObject({ description: expect.stringMatching(/../) });
    }
  });

  it('takes the subject for its plan, unless it names one', () => {
    const read = (data: unknown) => commandOf(eventOf('plan.strategized', data, { subject: 's' }));
    expect(read({})).toMatchObject({ command: { data: { plan: 's' } } });
    expect(read({ plan: 'p' })).toMatchObject({ command: { data: { plan: 'p' } } });
    expect(commandOf(eventOf('plan.created', { resources: ['a'] }))).toMatchObject({ kind: 'command' });
    const about = eventOf('evaluation.requested', GOOD['evaluation.requested'], { subject: 's' });
    expect(commandOf(about)).toMatchObject({ command: { data: GOOD['evaluation.requested'] } });
  });

  it('is never one of the events that Sluice sends', () => {
    expect(COMMAND_NAMES.filter((name) => (EVENT_NAMES as readonly string[]).includes(name))).toEqual([]);
    for (const name of EVENT_NAMES) expect(commandOf(eventOf(name, {})).kind).toBe('ignored');
    const later = { type: 'dev.sluice.evaluation.passed.v2' };
    expect(commandOf(eventOf('', {}, later)).kind).toBe('ignored');
  });

  it.each([
    ['dev.sluice.plan.exected.v1', 'UNKNOWN_TYPE', 'dev.sluice.plan.executed.v1'],
    ['com.example.thing', 'UNKNOWN_TYPE', undefined],
    ['dev.sluice.plan.executed.v2', 'UNSUPPORTED_VERSION', 'dev.sluice.plan.executed.v1'],
    ['dev.sluice.plan.executed.v01', 'UNSUPPORTED_VERSION', 'dev.sluice.plan.executed.v1'],
  ])('%s is refused as %s', (type, code, nearest) => {
    const answer = commandOf(eventOf('', {}, { type }));
    expect(answer).toMatchObject({ kind: 'refused', problems: [{ code, path: 'type' }] });
    expect(answer.kind === 'refused' && answer.problems[0]?.nearest).toBe(nearest);
  });

  it.each<[string, CommandName, unknown, string[]]>([
    ['no data', 'plan.strategized', undefined, ['data: is missing']],
    ['data that is no object', 'plan.strategized', [1], ['data: must be an object']],
    [
      'a plan that nobody names',
      'plan.strategized',
      {},
      ['data.plan: is missing; name the plan here, or as subject of the event'],
    ],
    ['an unknown key', 'plan.strategized', { plan: 'p', plam: 'q' }, ['data.plam: unknown key']],
    [
      'neither scenario nor run',
      'evaluation.requested',
      {},
      [
        'data.scenario: is missing; give scenario or scenario_ref',
        'data.run: is missing; give run or run_ref',
      ],
    ],
    [
      'both of them',
      'evaluation.requested',
      { scenario: {}, scenario_ref: REFERENCE, run: {} },
      ['data.scenario_ref: stands beside scenario; only one of them may'],
    ],
    [
      'no snapshot at all',
      'plan.fixed',
      { plan: 'p', snapshots: {} },
      ['data.snapshots: is missing; give snapshots or references'],
    ],
    [
      'a resource twice',
      'plan.fixed',
      { plan: 'p', snapshots: { a: 1 }, references: { a: REFERENCE } },
      ['data.references.a: stands among the snapshots as well; each resource has one'],
    ],
    [
      'several at once',
      'plan.responded',
      { plan: '', answer: 'maybe', revision: -1 },
      [
        'data.plan: must not be empty',
        'data.answer: is not one of the allowed values',
        'data.revision: must be at least 0',
      ],
    ],
    [
      'a bad reference',
      'plan.fixed',
      { plan: 'p', references: { a: { uri: 'http://x', sha256: 'A' } } },
      [
        'data.references.a.uri: must be a file:// or https:// URL',
        'data.references.a.sha256: must be a SHA-256 in 64 hexadecimal digits, lower case',
      ],
    ],
  ])('with %s is refused, every problem at once', (_what, name, data, expected) => {
    expect(told(eventOf(name, data))).toEqual(expected);
  });

  it('names the nearest key for one that is unknown', () => {
    expect(commandOf(eventOf('plan.strategized', { plan: 'p', revison: 1 }))).toMatchObject({
      problems: [{ path: 'data.revison', nearest: 'revision' }],
    });
  });

  it('must have JSON for its data', () => {
    expect(told(eventOf('plan.strategized', 'x', { datacontenttype: 'text/plain' }))).toEqual([
      'datacontenttype: must be JSON',
    ]);
  });
});
