import { isPlainObject } from '../core/json.js';
import { field, hasText, isText, list } from './fields.js';
import type { ImportedRun, Importer } from './importer.js';

const WRAPPED = /^\s*execute\[([\s\S]*)\]/;

/** ReAct wraps commands as `execute[...]` and ends with `submit`, which is no command. */
function reactCommands(actions: unknown[]): unknown[] {
  return actions
    .filter((action) => !(isText(action) && action.trim() === 'submit'))
    .map((action) => (isText(action) ? (WRAPPED.exec(action)?.[1] ?? action) : action));
}

/** A reward of 1 is a solved task, anything above 0 a part of one. */
function status(maxReward: unknown): string | undefined {
  if (typeof maxReward !== 'number') return undefined;
  if (maxReward >= 1) return 'success';
  return maxReward > 0 ? 'partial' : 'agentic_failure';
}

function runRecord(entry: unknown, id: string): unknown {
  if (!isPlainObject(entry)) return entry;
  const history = field(entry, 'turn_history');
  const actions = field(history, 'actions');
  const thoughts = field(history, 'thoughts');
  const react = thoughts !== undefined;
  return {
    id,
    job: { resolution_status: status(field(field(entry, 'summary'), 'max_reward')) },
    tasks: [
      {
        id: '0',
        description: entry.query,
        commands: react && Array.isArray(actions) ? reactCommands(actions) : actions,
        messages: Array.isArray(thoughts) ? list(thoughts).filter((t) => !isText(t) || hasText(t)) : thoughts,
      },
    ],
  };
}

function* runs(value: unknown, fileStem: string): Iterable<ImportedRun> {
  if (!isPlainObject(value)) return;
  for (const key of Object.keys(value)) {
    yield { path: `[${JSON.stringify(key)}]`, run: runRecord(value[key], `${fileStem}/${key}`) };
  }
}

/** InterCode's results: an object of runs by index. The logs hold no exit codes, so neither do the runs. */
export const intercode: Importer = {
  name: 'intercode',
  description: 'InterCode results, multi-turn and ReAct',
  sniff(value) {
    if (!isPlainObject(value)) return false;
    const first = Object.keys(value)[0];
    const entry = first === undefined ? undefined : value[first];
    return isPlainObject(field(entry, 'turn_history')) && isPlainObject(field(entry, 'summary'));
  },
  runs,
};
