// What the rules of several ecosystems have in common.

export const sign = (left: number | bigint | string, right: number | bigint | string): number =>
  left < right ? -1 : left > right ? 1 : 0;

/** Whole numbers of any length, as text. */
export const byNumber = (left: string, right: string): number => sign(BigInt(left), BigInt(right));

/** The first comparison that is not 0, of positions until both are at their end. */
export function compareLists<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (one: T | undefined, other: T | undefined) => number,
): number {
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const made = compare(left[at], right[at]);
    if (made !== 0) return made;
  }
  return 0;
}

/** Pre-releases of Semantic Versioning 2.0.0, section 11: numbers before words, fewer before more. */
export const comparePrerelease = (left: string, right: string): number =>
  compareLists(left.split('.'), right.split('.'), (one, other) => {
    if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? -1 : 1;
    const [isNumber, isOther] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    if (isNumber && isOther) return byNumber(one, other);
    return isNumber === isOther ? sign(one, other) : isNumber ? -1 : 1;
  });
