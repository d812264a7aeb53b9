/** Queues of a fleet on one shard; BullMQ adds the prefix. */
export const QUEUES = {
  /** Packs of pure checks. */
  pure: 'pure',
  /** Checks that need a runner. */
  runner: 'runner',
  /** Decisions: the parents of the flows. */
  decide: 'decide',
  /** The sweeper's schedule. */
  sweep: 'sweep',
} as const;

/** The delivery queue of one sink; of one that keeps order, that of a lane. */
export function deliveryQueue(reader: string, lane?: number): string {
  return lane === undefined ? `deliver-${reader}` : `deliver-${reader}.${lane}`;
}

/**
 * BullMQ's prefix for a shard of a fleet, 0 being its home; the hash tag keeps a shard's queues together in a
 * cluster (DESIGN 5.8).
 */
export function queuePrefix(fleet: string, shard = 0): string {
  return `${fleet}:{${shard}}`;
}

/** `<evaluation>-<attempt>-<generation>`, the id of a flow's parent; children append `-<n>`. */
export function flowId(chunk: { id: string; attempt: number }, generation: number): string {
  return `${chunk.id}-${chunk.attempt}-${generation}`;
}
