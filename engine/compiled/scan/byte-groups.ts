// One pass over a value answers, for every transformation and every automaton at once, "is there any byte in it that
// matters to you?". Bytes that all askers treat alike share one of at most 31 groups; a value's flags are the OR of its
// bytes' group bits. When there would be more than 31 groups, groups are merged: a merged group only makes an answer
// "maybe" where it could have been "no", never the other way round.

export interface ByteGroups {
  /** Group bit of each byte value. */
  readonly bitOf: Int32Array; // 256
  /** OR of the bits of the groups that hold any of these bytes. */
  maskOf(bytes: Iterable<number>): number;
}

/** `sets`: every set of bytes that somebody asks about. */
export function createByteGroups(sets: readonly (readonly number[])[]): ByteGroups {
  const signatures = new Map<string, number[]>();
  const members = sets.map((set) => new Set(set));
  for (let byte = 0; byte < 256; byte += 1) {
    const signature = members.map((set) => (set.has(byte) ? '1' : '0')).join('');
    const group = signatures.get(signature);
    if (group === undefined) signatures.set(signature, [byte]);
    else group.push(byte);
  }
  const groups = [...signatures.values()];
  while (groups.length > 31) {
    // Merge the two smallest: fewest bytes lose precision.
    groups.sort((a, b) => b.length - a.length);
    const last = groups.pop() as number[];
    (groups[groups.length - 1] as number[]).push(...last);
  }
  const bitOf = new Int32Array(256);
  groups.forEach((group, index) => {
    for (const byte of group) bitOf[byte] = 1 << index;
  });
  return {
    bitOf,
    maskOf(bytes) {
      let mask = 0;
      for (const byte of bytes) mask |= bitOf[byte] as number;
      return mask;
    },
  };
}
