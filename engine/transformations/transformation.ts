/**
 * A ModSecurity transformation over bytes held as a latin1 string (one code unit per byte, 0–255).
 * Must be pure, total (never throws), and return the SAME string object when nothing changed.
 */
export interface Transformation {
  /** Canonical seclang name, e.g. `urlDecodeUni`. */
  readonly name: string;
  readonly apply: (value: string, context: TransformationContext) => string;
  /**
   * A necessary condition for a change: bytes of which at least one must occur in a value that `apply` changes.
   * A value without any of them is returned as it is; the engine then skips the call. `null` = may change any value.
   * Checked by a property test for every transformation.
   */
  readonly triggers: readonly number[] | null;
}
export interface TransformationContext {
  /** Code point → byte for `%uXXXX` (SecUnicodeMapFile), or null. */
  readonly unicodeMap: ReadonlyMap<number, number> | null;
}
