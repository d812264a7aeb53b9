import { z } from 'zod';
import { wholeNumber } from './schemas/common.js';

/** What every list takes in the address. */
export const pageQuery = {
  limit: wholeNumber(1, 1000).optional().describe('Items of a page, at most; default 100'),
  cursor: z.string().min(1).max(1024).optional().describe('`cursor` of the page before'),
};

interface PageQuery {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** One page of a list that is sorted by `keyOf`; the cursor is the key of the last item. */
export function pageOf<T>(
  sorted: readonly T[],
  keyOf: (item: T) => string,
  { limit = 100, cursor }: PageQuery,
): { items: T[]; cursor: string | null } {
  const first = cursor === undefined ? 0 : sorted.findIndex((item) => keyOf(item) > cursor);
  if (first < 0) return { items: [], cursor: null };
  const items = sorted.slice(first, first + limit);
  const last = items.at(-1);
  const isMore = first + limit < sorted.length;
  return { items, cursor: isMore && last !== undefined ? keyOf(last) : null };
}
