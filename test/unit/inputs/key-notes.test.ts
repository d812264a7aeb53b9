import { describe, expect, it } from 'vitest';
import { KeyNotes } from '../../../src/inputs/key-notes.js';

function sentences(...records: unknown[]): string[] {
  const notes = new KeyNotes();
  for (const record of records) notes.look(record);
  return notes.sentences();
}

describe('keys that look like slips', () => {
  it.each([
    [{ id: 'a', task: [] }, 'task', 'tasks'],
    [{ id: 'a', job: { resolution_state: 'x' } }, 'job.resolution_state', 'resolution_status'],
    [{ id: 'a', job: { Plan: 'x' } }, 'job.Plan', 'plan'],
    [{ id: 'a', tasks: [{ command: ['ls'] }] }, 'tasks[].command', 'commands'],
    [{ id: 'a', tasks: [{}, { exit_code: [0] }] }, 'tasks[].exit_code', 'exit_codes'],
    [{ id: 'a', tasks: [{ desc: 'x' }] }, 'tasks[].desc', 'description'],
    [{ id: 'a', ticket: { message: ['x'] } }, 'ticket.message', 'messages'],
    [{ id: 'a', target: { host: 'x' } }, 'target.host', 'hosts'],
  ])('are told with the key that was meant: %j', (record, path, nearest) => {
    expect(sentences(record)).toEqual([
      `${path} is not a key of a run record and is ignored (in 1 run); did you mean "${nearest}"?`,
    ]);
  });

  it.each([
    [{ id: 'a', name: 'x', model: 'y', note: 'z', host: 'h', created_at: 1 }],
    [{ id: 'a', tasks: [{ commands: [], command: 'x', plan_id: 1 }] }],
    [{ id: 'a', job: 'x', tasks: [1, null], ticket: [] }],
    [null],
  ])('are not made up: %j', (record) => {
    expect(sentences(record)).toEqual([]);
  });

  it('are counted once a run, and told five kinds at the most, the most frequent first', () => {
    const slips = ['task', 'jobs', 'tickets', 'scenarios', 'cases', 'targets'];
    const records = slips.map((_key, n) => ({
      id: 'a',
      ...Object.fromEntries(slips.slice(n).map((k) => [k, 1])),
    }));
    const told = sentences(...records, { id: 'b', tasks: [{ command: 1 }, { command: 2 }] });
    expect(told).toHaveLength(6);
    expect(told[0]).toMatch(/^targets .*\(in 6 runs\)/);
    expect(told.at(-1)).toBe('... and 2 more keys that look like slips');
  });

  it('are looked for in the first thousand records', () => {
    const records = Array.from({ length: 1500 }, () => ({ id: 'a', task: [] }));
    expect(sentences(...records)[0]).toContain('(in 1000 of the first 1000 runs)');
  });
});
