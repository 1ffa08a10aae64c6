// TX of one transaction: a frozen base that all transactions of a rule set share (constants folded at compile time)
// under the few variables that this transaction writes. Copying fifty constants into every request would cost more than
// matching its rules.

const nothing: ReadonlyMap<string, string> = new Map();

/**
 * Keys are lower-case. Iterates the base's keys first, in order, then the transaction's own in order of first writing.
 */
export class TxVariables {
  private readonly own = new Map<string, string>();
  /** Base keys that were unset here; null as long as there are none. */
  private unset: Set<string> | null = null;

  constructor(private readonly base: ReadonlyMap<string, string> = nothing) {}

  get(key: string): string | undefined {
    const value = this.own.get(key);
    if (value !== undefined) return value;
    return this.unset !== null && this.unset.has(key) ? undefined : this.base.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: string): void {
    this.own.set(key, value);
  }

  delete(key: string): void {
    this.own.delete(key);
    if (this.base.has(key)) (this.unset ??= new Set()).add(key);
  }

  /** At least the number of variables (a base key that was overwritten counts twice): for limits only. */
  get sizeMax(): number {
    return this.base.size + this.own.size;
  }

  *[Symbol.iterator](): Generator<[string, string]> {
    for (const key of this.base.keys()) {
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
    for (const [key, value] of this.own) if (!this.base.has(key)) yield [key, value];
  }

  /**
   * Pairs whose key `selector` takes, in iteration order. Which keys of the shared base it takes is worked out once per
   * base and selector, so that a regular expression over TX costs a transaction only its own few variables.
   */
  select(selector: KeySelector): [string, string][] {
    const found: [string, string][] = [];
    for (const key of baseKeys(this.base, selector)) {
      const value = this.get(key);
      if (value !== undefined) found.push([key, value]);
    }
    for (const [key, value] of this.own) if (selector.takes(key) && !this.base.has(key)) found.push([key, value]);
    return found;
  }
}

/** A pure test of lower-case keys; its identity is the memory's key. */
export interface KeySelector {
  readonly takes: (key: string) => boolean;
}

const known = new WeakMap<ReadonlyMap<string, string>, WeakMap<KeySelector, readonly string[]>>();

function baseKeys(base: ReadonlyMap<string, string>, selector: KeySelector): readonly string[] {
  let ofBase = known.get(base);
  if (ofBase === undefined) known.set(base, (ofBase = new WeakMap()));
  let keys = ofBase.get(selector);
  if (keys === undefined) ofBase.set(selector, (keys = [...base.keys()].filter(selector.takes)));
  return keys;
}
