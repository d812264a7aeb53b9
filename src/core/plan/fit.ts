const encoder = new TextEncoder();

/** Bytes that the value takes as JSON in UTF-8. */
export function bytesOf(value: unknown): number {
  return encoder.encode(JSON.stringify(value) ?? '').length;
}

/** What of a list was kept. */
export interface Fitted<T> {
  items: T[];
  cut: boolean;
}

/** The first items that together take at most so many bytes of JSON. */
export function fitting<T>(items: readonly T[], bytes: number): Fitted<T> {
  let left = bytes;
  for (const [n, item] of items.entries()) {
    left -= bytesOf(item) + 1;
    if (left < 0) return { items: items.slice(0, n), cut: true };
  }
  return { items: [...items], cut: false };
}

/** The text, cut to so many UTF-16 units on a code point, with an ellipsis where it was cut. */
export function clipped(text: string, units: number): string {
  if (text.length <= units) return text;
  const cut = text.slice(0, units - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
