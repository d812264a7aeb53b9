/** What a worker process is sent that is to end without finishing what it has in hand. */
export const END_AT_ONCE = 'end at once';
/** What a worker process that was started to wait is sent when it is to take work. */
export const BEGIN = 'begin';
/** What a worker process is sent that is to end if it has nothing in hand. */
export const END_WHEN_IDLE = 'end when idle';

/** Environment variable of a worker process that is to load everything and then wait for `BEGIN`. */
export const CHILD_WAITS = 'SLUICE_CHILD_WAITS';

/** What a worker process tells the process that started it. */
export type ChildNews =
  /** Everything is loaded; it takes nothing yet. */
  | { state: 'ready' }
  /** It takes work; `id` is its name in the roster. */
  | { state: 'up'; id: string }
  /** It was to end when idle, and is not. */
  | { state: 'busy' }
  /** It takes nothing any more, and ends. */
  | { state: 'ending' };

const STATES = new Set(['ready', 'up', 'busy', 'ending']);

/** News of a worker process; undefined: it is none. */
export function newsIn(message: unknown): ChildNews | undefined {
  const state = (message as { state?: unknown } | null)?.state;
  return typeof state === 'string' && STATES.has(state) ? (message as ChildNews) : undefined;
}

/** Tells the process that started this one, where there is one. */
export function tellParent(news: ChildNews): void {
  if (process.connected) process.send?.(news, () => {});
}
