// Addresses and networks as a set that answers "is this address in it?". Sorted, disjoint ranges of each family, looked
// up by halves.
import { rangeOf, readAddress, type AddressRange } from './address.js';
import { toNetwork } from './network.js';

export interface AddressSet {
  /** False for what is no address. */
  has(address: string): boolean;
  /** Whether a canonical network (network.ts) and the set have an address in common. */
  overlaps(network: string): boolean;
}

/** Throws Error for an entry that is no address and no network. */
export function createAddressSet(entries: readonly string[]): AddressSet {
  const ranges = entries.map((entry): AddressRange => {
    const read = toNetwork(entry);
    if ('reason' in read) throw new Error(`${JSON.stringify(entry)} ${read.reason}`);
    return rangeOf(read.network);
  });
  const ipv4 = merge(ranges.flatMap((range) => (range.family === 4 ? [range] : [])));
  const ipv6 = merge(ranges.flatMap((range) => (range.family === 6 ? [range] : [])));
  const touches = (range: AddressRange): boolean =>
    range.family === 4 ? isTouched(ipv4, range.from, range.to) : isTouched(ipv6, range.from, range.to);
  return {
    has(text) {
      const address = readAddress(text);
      if (address === null) return false;
      return address.family === 4
        ? isTouched(ipv4, address.value, address.value)
        : isTouched(ipv6, address.value, address.value);
    },
    overlaps: (network) => touches(rangeOf(network)),
  };
}

interface Range<N extends number | bigint> {
  readonly from: N;
  readonly to: N;
}

function merge<N extends number | bigint>(ranges: readonly Range<N>[]): Range<N>[] {
  const merged: Range<N>[] = [];
  for (const range of [...ranges].sort((left, right) =>
    left.from < right.from ? -1 : left.from > right.from ? 1 : 0,
  )) {
    const last = merged.at(-1);
    if (last === undefined || range.from > last.to) merged.push(range);
    else if (range.to > last.to) merged[merged.length - 1] = { from: last.from, to: range.to };
  }
  return merged;
}

/** Whether one of the disjoint, sorted ranges reaches into `from` to `to`. */
function isTouched<N extends number | bigint>(ranges: readonly Range<N>[], from: N, to: N): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as Range<N>).to < from) low = middle + 1;
    else high = middle;
  }
  const first = ranges[low];
  return first !== undefined && first.from <= to;
}
