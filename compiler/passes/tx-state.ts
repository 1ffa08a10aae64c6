// The abstract TX collection of the constant folding pass: what is known of each variable at one point of the rule
// list.

/** A known value, or UNKNOWN (set to something, or perhaps not set at all). An absent key is known to be unset. */
export const UNKNOWN = Symbol('unknown');
export type Known = string | typeof UNKNOWN;

export class TxState {
  private readonly values: Map<string, Known>;
  /** Literal beginnings of keys written through macros (`tx.header_%{…}` → "header_"): any such key may be set. */
  private readonly dynamicPrefixes: Set<string>;
  /** Rules whose run-time removals (`ctl:ruleRemove…`) may be in force: indexes into the pass's list. */
  readonly removals: Set<number>;

  constructor(values?: ReadonlyMap<string, Known>, prefixes?: ReadonlySet<string>, removals?: ReadonlySet<number>) {
    this.values = new Map(values);
    this.dynamicPrefixes = new Set(prefixes);
    this.removals = new Set(removals);
  }

  clone(): TxState {
    return new TxState(this.values, this.dynamicPrefixes, this.removals);
  }

  equals(other: TxState): boolean {
    if (
      this.values.size !== other.values.size ||
      this.dynamicPrefixes.size !== other.dynamicPrefixes.size ||
      this.removals.size !== other.removals.size
    )
      return false;
    for (const [key, value] of this.values) if (other.values.get(key) !== value) return false;
    for (const prefix of this.dynamicPrefixes) if (!other.dynamicPrefixes.has(prefix)) return false;
    for (const removal of this.removals) if (!other.removals.has(removal)) return false;
    return true;
  }

  /** null = known to be unset. TX:0–9 are captures and never known. */
  read(key: string): Known | null {
    if (/^[0-9]$/.test(key)) return UNKNOWN;
    const value = this.values.get(key);
    if (value !== undefined) return value;
    for (const prefix of this.dynamicPrefixes) if (key.startsWith(prefix)) return UNKNOWN;
    return null;
  }

  write(key: string, value: Known | null): void {
    if (value === null) this.values.delete(key);
    else this.values.set(key, value);
  }

  writeDynamic(prefix: string): void {
    this.dynamicPrefixes.add(prefix);
    for (const key of this.values.keys()) if (key.startsWith(prefix)) this.values.set(key, UNKNOWN);
  }

  /** Keys that may exist, for regex selectors; false when keys written through macros make the list incomplete. */
  possibleKeys(): { readonly keys: readonly string[]; readonly complete: boolean } {
    return { keys: [...this.values.keys()], complete: this.dynamicPrefixes.size === 0 };
  }

  possiblePrefixes(): readonly string[] {
    return [...this.dynamicPrefixes];
  }

  /** What holds on both roads. */
  join(other: TxState): TxState {
    const joined = new Map<string, Known>();
    for (const key of new Set([...this.values.keys(), ...other.values.keys()])) {
      const here = this.values.get(key);
      const there = other.values.get(key);
      joined.set(key, here !== undefined && here === there ? here : UNKNOWN);
    }
    return new TxState(
      joined,
      new Set([...this.dynamicPrefixes, ...other.dynamicPrefixes]),
      new Set([...this.removals, ...other.removals]),
    );
  }
}
