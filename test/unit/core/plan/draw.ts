/** Small numbers out of one large one: each draw takes its share. */
export class Draw {
  constructor(private rest: number) {}

  below(count: number): number {
    const drawn = this.rest % count;
    this.rest = Math.floor(this.rest / count) + (this.rest % 7919) * 65_537;
    return drawn;
  }

  /** True once in so many times. */
  once(count: number): boolean {
    return this.below(count) === 0;
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
