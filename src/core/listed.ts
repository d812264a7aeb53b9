/** How a list is cut and put together. */
interface Listing {
  /** Items that are told; 3. */
  most?: number;
  /** Between two of them; a comma. */
  between?: string;
  /** Before the count of the others; a space. */
  last?: string;
}

/** The first few of a list in words: `a, b, c and 4 more`. */
export function listed<T>(
  items: readonly T[],
  word: (item: T) => string,
  { most = 3, between = ', ', last = ' ' }: Listing = {},
): string {
  const told = items.slice(0, most).map(word).join(between);
  const more = items.length - most;
  return more > 0 ? `${told}${last}and ${more} more` : told;
}
