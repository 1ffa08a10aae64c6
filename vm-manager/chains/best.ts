// The best few of many, kept while they come: memory is the few, and most of the many cost one comparison.

export class Best<Item> {
  readonly #max: number;
  readonly #compare: (one: Item, other: Item) => number;
  readonly #items: Item[] = [];

  /** At most `max` items, best first by `compare`. */
  constructor(max: number, compare: (one: Item, other: Item) => number) {
    this.#max = max;
    this.#compare = compare;
  }

  /** Whether an item would be among the best so far. */
  takes(item: Item): boolean {
    const last = this.#items.at(-1);
    return this.#items.length < this.#max || (last !== undefined && this.#compare(item, last) < 0);
  }

  /** Takes an item where it is among the best so far. */
  add(item: Item): void {
    if (!this.takes(item)) return;
    const items = this.#items;
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(item, items[middle] as Item) < 0) high = middle;
      else low = middle + 1;
    }
    items.splice(low, 0, item);
    if (items.length > this.#max) items.pop();
  }

  addAll(items: Iterable<Item>): void {
    for (const item of items) this.add(item);
  }

  /** Best first. */
  items(): Item[] {
    return [...this.#items];
  }
}
