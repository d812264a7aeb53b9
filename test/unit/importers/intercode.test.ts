import { describe, expect, it } from 'vitest';
import { runRecordSchema } from '../../../src/core/run-record.js';
import { intercode } from '../../../src/importers/intercode.js';

function entry(actions: unknown, maxReward: unknown, thoughts?: unknown) {
  return {
    query: 'Count the files',
    turn_history: { actions, observations: [], ...(thoughts === undefined ? {} : { thoughts }) },
    summary: { max_reward: maxReward },
  };
}

function records(value: unknown) {
  return [...intercode.runs(value, 'log')].map(({ run }) => runRecordSchema.parse(run));
}

describe('intercode', () => {
  it('makes one run of each entry, named by the file and the entry’s key', () => {
    const found = [...intercode.runs({ 0: entry(['ls'], 1), 7: entry([], 0) }, 'log')];
    expect(found.map(({ path, run }) => [path, runRecordSchema.parse(run).id])).toEqual([
      ['["0"]', 'log/0'],
      ['["7"]', 'log/7'],
    ]);
  });

  it('takes the query as description and the actions as commands, without inventing exit codes', () => {
    const [run] = records({ 0: entry(['ls', 'wc -l'], 1) });
    expect(run?.tasks).toEqual([{ id: '0', description: 'Count the files', commands: ['ls', 'wc -l'] }]);
  });

  it.each([
    [1, 'success'],
    [0.99, 'partial'],
    [0.01, 'partial'],
    [0, 'agentic_failure'],
    [-1, 'agentic_failure'],
    ['1', undefined],
    [undefined, undefined],
  ])('maps a best reward of %s to %s', (reward, status) => {
    expect(records({ 0: entry([], reward) })[0]?.job?.resolution_status).toBe(status);
  });

  it('unwraps execute[...] and drops submit where there are thoughts', () => {
    const actions = [
      'execute[find . -name "[ab]*"]',
      'execute[cat <<E\na\nE]\nObs',
      'ls /',
      'execute[sort -k1',
      'submit',
    ];
    const [run] = records({ 0: entry(actions, 0, ['think', ' ', 'done']) });
    expect(run?.tasks?.[0]?.commands).toEqual([
      'find . -name "[ab]*"',
      'cat <<E\na\nE',
      'ls /',
      'execute[sort -k1',
    ]);
    expect(run?.tasks?.[0]?.messages).toEqual(['think', 'done']);
  });

  it('leaves actions alone where there are no thoughts', () => {
    const [run] = records({ 0: entry(['submit', 'execute[ls]'], 0) });
    expect(run?.tasks?.[0]?.commands).toEqual(['submit', 'execute[ls]']);
  });

  it.each([[null], ['text'], [[]], [entry([5], 1)], [entry('ls', 1)], [{ query: 5 }]])(
    'hands on what it cannot read, for the schema to refuse: %j',
    (broken) => {
      const [found] = [...intercode.runs({ 0: broken }, 'log')];
      expect(runRecordSchema.safeParse(found?.run).success).toBe(false);
    },
  );

  it.each([
    [{ 0: entry([], 1) }, true],
    [{}, false],
    [[entry([], 1)], false],
    [null, false],
    [{ id: 'a' }, false],
    [{ 0: { turn_history: {} } }, false],
  ])('knows its logs from others: %j', (value, known) => {
    expect(intercode.sniff(value)).toBe(known);
  });
});
