import { waitsFor } from './graph-pointer.js';
import type { GraphNode } from './model.js';

/** Nodes in an order in which each stands behind all that it waits for; the rest stands in circles. */
export function orderOf(nodes: readonly GraphNode[]): { order: GraphNode[]; rest: GraphNode[] } {
  const order: GraphNode[] = [];
  const placed = new Set<string>();
  let rest = [...nodes];
  for (;;) {
    const free = rest.filter((node) => waitsFor(node).every((id) => placed.has(id)));
    if (free.length === 0) return { order, rest };
    for (const { id } of free) placed.add(id);
    order.push(...free);
    rest = rest.filter(({ id }) => !placed.has(id));
  }
}

/** The shortest way from a name back to itself, both ends included; undefined when there is none. */
export function circleOf(
  start: string,
  nextOf: (name: string) => readonly string[],
): [string, ...string[]] | undefined {
  const before = new Map<string, string>();
  const queue = [start];
  for (const name of queue) {
    for (const next of nextOf(name)) {
      if (next === start) {
        const way: [string, ...string[]] = [name, start];
        while (way[0] !== start) way.unshift(before.get(way[0]) as string);
        return way;
      }
      if (before.has(next)) continue;
      before.set(next, name);
      queue.push(next);
    }
  }
  return undefined;
}

/** Circles among nodes, by ids, with no node in two of them. */
export function circlesIn(nodes: readonly GraphNode[]): string[][] {
  const waits = new Map(nodes.map((node) => [node.id, waitsFor(node)]));
  const circles: string[][] = [];
  for (const { id } of nodes) {
    const circle = circleOf(id, (each) => waits.get(each) ?? []);
    if (circle === undefined) continue;
    circles.push(circle);
    for (const each of circle) waits.delete(each);
  }
  return circles;
}
