import { normalizeText } from './patterns/text.js';
import { defaultRedactor, type Redactor, type Span, withoutSpans } from './redact.js';
import type { RunTask } from './run-record.js';
import type { Scope } from './scenario/model.js';
import { isTaskField, type TaskField, type Where } from './scenario/where.js';
import type { Subject } from './subject.js';

/** One text to be searched, and whose it is. */
export interface SearchText {
  text: string;
  /** Id of the task, or its position from 1 as text; absent for job and gateway fields. */
  task?: string;
  /** Position of the task from 0, where there is one. */
  taskIndex?: number;
}

/** Where in the evidence an offset of a searched text lies. */
export interface Place {
  task?: string;
  /** Position of the command in its task, from 0; only in executed_commands. */
  command?: number;
  /** Exit code of that command, where the run recorded one. */
  exitCode?: number;
}

/** Offsets at which the parts of a joined text start, ascending from 0. */
interface Joined {
  text: string;
  starts: number[];
}

interface TaskText extends Joined {
  task: string;
  taskIndex: number;
}

const NO_TEXTS: readonly SearchText[] = Object.freeze([]);

/** One look at the whole is several times faster than one at each part: most parts are single commands. */
function cleaned(parts: readonly string[], joined: string): readonly string[] {
  return normalizeText(joined) === joined ? parts : parts.map(normalizeText);
}

function join(parts: readonly string[]): Joined {
  const joined = parts.join('\n');
  const clean = cleaned(parts, joined);
  const starts: number[] = [];
  let at = 0;
  for (const part of clean) {
    starts.push(at);
    at += part.length + 1;
  }
  const isEmpty = at === clean.length;
  return { text: isEmpty ? '' : clean === parts ? joined : clean.join('\n'), starts };
}

function partAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function taskParts(task: RunTask, where: TaskField): readonly string[] {
  switch (where) {
    case 'executed_commands':
      return task.commands ?? [];
    case 'agent_messages':
      return task.messages ?? [];
    case 'task_summary':
      return [task.summary ?? ''];
    case 'task_description':
      return [task.description ?? ''];
    case 'task_plan':
      return [task.plan ?? ''];
  }
}

/**
 * A subject's fields as rules see them: normalised, computed on first use and kept, because many
 * rules look at the same field. An empty or missing field has no text at all (DESIGN 3.2.6).
 */
export class SubjectView {
  readonly subject: Subject;
  readonly redactor: Redactor;
  readonly #taskTexts = new Map<TaskField, readonly TaskText[]>();
  readonly #texts = new Map<Scope, Map<Where, readonly SearchText[]>>();
  readonly #joined = new Map<TaskField, Joined>();
  readonly #secrets = new Map<SearchText, Span[]>();

  constructor(subject: Subject, redactor: Redactor = defaultRedactor) {
    this.subject = subject;
    this.redactor = redactor;
  }

  /** Number of tasks under the job; 0 when the run has none. */
  get taskCount(): number {
    return this.subject.tasks?.length ?? 0;
  }

  /**
   * What a rule of `scope` searches when it says `where`: one text per task in scope tasks, all
   * tasks joined in scope job, otherwise one text. The same list for the same arguments.
   */
  texts(where: Where, scope: Scope): readonly SearchText[] {
    let ofScope = this.#texts.get(scope);
    if (ofScope === undefined) {
      ofScope = new Map();
      this.#texts.set(scope, ofScope);
    }
    let texts = ofScope.get(where);
    if (texts === undefined) {
      texts = this.#compute(where, scope);
      ofScope.set(where, texts);
    }
    return texts;
  }

  /** Whose evidence lies at `offset` (UTF-16) of the text at position `index` of `texts(where, scope)`. */
  locate(where: Where, scope: Scope, index: number, offset: number): Place {
    if (!isTaskField(where)) return {};
    const tasks = this.#tasksOf(where);
    if (scope !== 'job') return this.#placeIn(where, tasks[index], offset);
    const joined = this.#joinedOf(where);
    const part = partAt(joined.starts, offset);
    return this.#placeIn(where, tasks[part], offset - (joined.starts[part] ?? 0));
  }

  /** `start` to `end` of a searched text without its secrets, even those that the cut would split. */
  excerpt(text: SearchText, start: number, end: number): string {
    let secrets = this.#secrets.get(text);
    if (secrets === undefined) {
      secrets = this.redactor.spans(text.text);
      this.#secrets.set(text, secrets);
    }
    return withoutSpans(text.text, secrets, start, end);
  }

  #compute(where: Where, scope: Scope): readonly SearchText[] {
    if (isTaskField(where)) {
      if (scope !== 'job') return this.#tasksOf(where);
      const joined = this.#joinedOf(where).text;
      return joined === '' ? NO_TEXTS : [{ text: joined }];
    }
    if (scope === 'tasks' && this.taskCount === 0) return NO_TEXTS;
    const { text } = join(this.#plainParts(where));
    return text === '' ? NO_TEXTS : [{ text }];
  }

  #plainParts(where: Exclude<Where, TaskField>): readonly string[] {
    const { job, ticket } = this.subject;
    switch (where) {
      case 'job_resolution':
        return [job?.resolution ?? ''];
      case 'job_plan':
        return [job?.plan ?? ''];
      case 'gateway_messages':
        return ticket?.messages ?? [];
      case 'gateway_summary':
        return [ticket?.summary ?? ''];
      case 'operational_rules': {
        const rules = job?.operational_rules ?? [];
        return typeof rules === 'string' ? [rules] : rules;
      }
    }
  }

  /** Texts of the tasks that have any. */
  #tasksOf(where: TaskField): readonly TaskText[] {
    let texts = this.#taskTexts.get(where);
    if (texts === undefined) {
      texts = (this.subject.tasks ?? [])
        .map((task, taskIndex) => ({
          ...join(taskParts(task, where)),
          task: task.id ? this.redactor.redact(task.id) : String(taskIndex + 1),
          taskIndex,
        }))
        .filter(({ text }) => text !== '');
      this.#taskTexts.set(where, texts);
    }
    return texts;
  }

  #joinedOf(where: TaskField): Joined {
    let joined = this.#joined.get(where);
    if (joined === undefined) {
      joined = join(this.#tasksOf(where).map(({ text }) => text));
      this.#joined.set(where, joined);
    }
    return joined;
  }

  #placeIn(where: TaskField, owner: TaskText | undefined, offset: number): Place {
    if (owner === undefined) return {};
    if (where !== 'executed_commands') return { task: owner.task };
    const command = partAt(owner.starts, offset);
    const exitCode = this.subject.tasks?.[owner.taskIndex]?.exit_codes?.[command];
    return { task: owner.task, command, ...(typeof exitCode === 'number' ? { exitCode } : {}) };
  }
}
