/** How full the Redis of a fleet is. */
export interface MemoryUse {
  /** Bytes in use. */
  used: number;
  /** Bytes that it may use at most (`maxmemory`); 0: no limit. */
  limit: number;
}

/** How much weighs on a fleet; what is not known is absent. */
export interface Load {
  memory?: MemoryUse;
  /** Jobs that nobody has taken yet. */
  waiting?: number;
}

/** Where producers begin to wait; what is absent holds up nobody. */
export interface PressureMarks {
  /** A share of the limit in percent, or bytes, which hold without a limit too. */
  memory?: { percent: number } | { bytes: number };
  /** Jobs. */
  waiting?: number;
}

/** Why producers wait: what was found, and the mark, in bytes or jobs. */
export interface Hold {
  kind: 'memory' | 'backlog';
  found: number;
  mark: number;
}

/** Once producers wait, they go on below this share of the mark. */
const GO_ON_BELOW = 0.9;
const NEAR = 0.7;
/** What may come while nobody looks, in bytes and jobs: a mark that is no farther away is near too. */
const SOON: Readonly<Record<Hold['kind'], number>> = { memory: 64 * 2 ** 20, backlog: 5000 };

function memoryMark(marks: PressureMarks, limit: number): number | undefined {
  if (marks.memory === undefined) return undefined;
  if ('bytes' in marks.memory) return marks.memory.bytes;
  return limit === 0 ? undefined : (limit * marks.memory.percent) / 100;
}

/** What is found, and its mark; absent where one of them is not known. */
function measured({ memory, waiting }: Load, marks: PressureMarks): Hold[] {
  const all = [
    { kind: 'memory' as const, found: memory?.used, mark: memoryMark(marks, memory?.limit ?? 0) },
    { kind: 'backlog' as const, found: waiting, mark: marks.waiting },
  ];
  return all.filter((each): each is Hold => each.found !== undefined && each.mark !== undefined);
}

/** Whether a mark is so near that it may be reached soon. */
export function isNear(load: Load, marks: PressureMarks): boolean {
  return measured(load, marks).some(
    ({ kind, found, mark }) => found >= mark * NEAR || mark - found < SOON[kind],
  );
}

/** Whether producers are to wait, and why; `before`: why they wait now. */
export function holdOf(load: Load, marks: PressureMarks, before?: Hold): Hold | undefined {
  return measured(load, marks).find(
    ({ kind, found, mark }) => found >= (before?.kind === kind ? mark * GO_ON_BELOW : mark),
  );
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;

/** Why producers wait, as a sentence without its end: `Redis uses 83 MiB, and new work waits from 80 MiB on`. */
export function holdWords({ kind, found, mark }: Hold): string {
  return kind === 'memory'
    ? `Redis uses ${mebibytes(found)}, and new work waits from ${mebibytes(mark)} on (backpressure.redis_memory)`
    : `${found} jobs wait, and new work waits from ${mark} on (backpressure.backlog)`;
}
