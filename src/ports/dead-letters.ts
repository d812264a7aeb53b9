import type { OutboxEvent } from '../core/events.js';

/** What could not be brought on its way: an event that a sink did not take, or a message that is no command. */
export interface DeadLetter {
  /** `out`: of a sink; `in`: of a source. */
  direction: 'out' | 'in';
  /** Name of the sink or source. */
  endpoint: string;
  /** Of the event; of a message one that is the same for the same message. One letter for each endpoint and id. */
  id: string;
  /** Of the CloudEvent; null where a message has none. */
  type: string | null;
  /** CloudEvents `subject`: evaluation, plan or batch. */
  subject: string | null;
  /** Why, in one sentence. */
  reason: string;
  /** Stable word for the reason: `refused`, `away`, `gone`, `projection`, or the code of what was wrong. */
  code: string;
  /** The last answer of the other side, 2 KiB at most; null: none. */
  response: string | null;
  /** Milliseconds since the epoch at which it was set aside. */
  at: number;
  /** Tries before that. */
  tries: number;
  /** Times that it was redriven without success. */
  redriven: number;
  /** The CloudEvent as JSON; of a source the message as JSON (`{body, content_type, attributes, place}`). */
  content: string;
}

export interface LetterFilter {
  direction?: 'out' | 'in';
  endpoint?: string;
  /** As of sinks: names such as evaluation.failed, or plan.* */
  types?: readonly string[];
  code?: string;
  /** Only set aside at or after, in milliseconds since the epoch. */
  since?: number;
  /** Only set aside before. */
  before?: number;
  ids?: readonly string[];
}

/** Dead letters, kept until they are delivered or dropped. */
export interface DeadLetterStore {
  /**
   * Keeps a letter, and writes the event that says so (not when the letter is there already); one of the
   * same endpoint and id is put in its place, with `redriven` + 1.
   */
  put(letter: DeadLetter, notice?: OutboxEvent): Promise<void>;
  /** The oldest first; `cursor` '' for the beginning, null when there are no more. A page may be empty. */
  list(
    filter: LetterFilter,
    cursor: string,
    limit: number,
  ): Promise<{ letters: DeadLetter[]; cursor: string | null }>;
  get(direction: DeadLetter['direction'], endpoint: string, ids: readonly string[]): Promise<DeadLetter[]>;
  /** How many there are, by direction and endpoint. */
  counts(): Promise<{ direction: DeadLetter['direction']; endpoint: string; count: number }[]>;
  /** How many of these were there. */
  remove(direction: DeadLetter['direction'], endpoint: string, ids: readonly string[]): Promise<number>;
}

/** A sink as operators see it. */
export interface SinkState {
  name: string;
  kind: string;
  /** Without credentials. */
  target: string;
  /** `away`: deliveries are paused and tried again from time to time; `disabled`: until it is enabled. */
  state: 'delivering' | 'away' | 'disabled';
  /** Why it is not delivering. */
  reason: string | null;
  /** Milliseconds since the epoch at which it came into this state. */
  since: number;
  /** When it is tried next; null: not by itself. */
  nextTry: number | null;
}

/** States of sinks, kept over restarts of dispatchers. */
export interface SinkStateStore {
  /**
   * Notes a state; a change of `state` writes the event with it, the same state does not and keeps its
   * `since`. `away` does not take the place of `disabled`: that stands until the sink is enabled.
   */
  note(state: SinkState, event?: OutboxEvent): Promise<void>;
  get(name: string): Promise<SinkState | undefined>;
  list(): Promise<SinkState[]>;
  /** Forgets a sink that is configured no more. */
  remove(name: string): Promise<boolean>;
}
