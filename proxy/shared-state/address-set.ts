// The one answer to "is this address in this set", for the deny list, the trusted proxies and whatever comes: sorted,
// disjoint intervals in one flat table, IPv4 and IPv6 apart. The table is shared memory: who gets a list builds it off
// the road, every worker reads the same bytes, a new list is a new table and one assignment (address-set-holder.ts).
// A million IPv4 networks are 8 MB for all workers together and 20 steps of a binary search. Pure: it needs nothing but
// the parsers of addresses, and could move to where they are.
import { parseIpv4, parseIpv6 } from '#engine';
import { compare6, mappedPrefix, readNetworks, type Networks, type Range6 } from './networks.js';

const magic = 0x67684950; // "ghIP"
const headerWords = 4; // magic, layout version, IPv4 intervals, IPv6 intervals
const layoutVersion = 1;

export interface AddressSet {
  /** Whether the text is an address in the set; false for what is no address. Allocates nothing for IPv4. */
  contains(address: string): boolean;
  /** The same of an address that was read: IPv4 as a number, IPv6 as four words. */
  hasIpv4(address: number): boolean;
  hasIpv6(words: readonly number[]): boolean;
  /** Disjoint intervals after joining what overlaps or touches. */
  readonly intervals: number;
}

/** Highest address of an IPv4 network. */
const lastOf = (base: number, bits: number): number => base + 2 ** (32 - bits) - 1;

/** Sorted keys (base × 64 + prefix length) → joined intervals, flat. Both parts fit a double exactly. */
function joinIpv4(keys: Float64Array): {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly count: number;
} {
  const from = new Uint32Array(keys.length);
  const to = new Uint32Array(keys.length);
  let count = 0;
  for (const key of keys) {
    const bits = key % 64;
    const base = (key - bits) / 64;
    const last = lastOf(base, bits);
    if (count > 0 && base <= (to[count - 1] as number) + 1) {
      if (last > (to[count - 1] as number)) to[count - 1] = last;
      continue;
    }
    from[count] = base;
    to[count] = last;
    count += 1;
  }
  return { from, to, count };
}

function joinIpv6(ranges: readonly Range6[]): Range6[] {
  const joined: Range6[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last === undefined || compare6(range.from, last.to) > 0) joined.push(range);
    else if (compare6(range.to, last.to) > 0) joined[joined.length - 1] = { from: last.from, to: range.to };
  }
  return joined;
}

export const buildAddressSet = (networks: Iterable<string>): SharedArrayBuffer => packNetworks(readNetworks(networks));

export function packNetworks({ ipv4, ipv6 }: Networks): SharedArrayBuffer {
  return pack(joinIpv4(ipv4), joinIpv6(ipv6));
}

function pack(ipv4: ReturnType<typeof joinIpv4>, ipv6: readonly Range6[]): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer((headerWords + ipv4.count * 2 + ipv6.length * 8) * 4);
  const table = new Uint32Array(buffer);
  table.set([magic, layoutVersion, ipv4.count, ipv6.length]);
  table.set(ipv4.from.subarray(0, ipv4.count), headerWords);
  table.set(ipv4.to.subarray(0, ipv4.count), headerWords + ipv4.count);
  const at = headerWords + ipv4.count * 2;
  for (const [index, { from, to }] of ipv6.entries()) {
    table.set(from, at + index * 4);
    table.set(to, at + (ipv6.length + index) * 4);
  }
  return buffer;
}

/** An IPv6 address without its zone (`fe80::1%eth0`, RFC 4007 section 11), as link-local clients are named. */
export function withoutZone(address: string): string {
  const at = address.indexOf('%');
  return at > 0 && at < address.length - 1 && address.lastIndexOf('%') === at ? address.slice(0, at) : address;
}

/** A view of a table; cheap. Throws RangeError for bytes that are no table of this layout. */
export function openAddressSet(buffer: SharedArrayBuffer): AddressSet {
  const table =
    buffer.byteLength >= headerWords * 4 && buffer.byteLength % 4 === 0
      ? new Uint32Array(buffer)
      : new Uint32Array(headerWords);
  const [found, version, count4 = 0, count6 = 0] = table;
  if (found !== magic || version !== layoutVersion || table.length !== headerWords + count4 * 2 + count6 * 8)
    throw new RangeError('these bytes are no table of addresses; build it with buildAddressSet');
  const from4 = table.subarray(headerWords, headerWords + count4);
  const to4 = table.subarray(headerWords + count4, headerWords + count4 * 2);
  const from6 = table.subarray(headerWords + count4 * 2, headerWords + count4 * 2 + count6 * 4);
  const to6 = table.subarray(headerWords + count4 * 2 + count6 * 4);
  const containsIpv4 = (address: number): boolean => {
    let low = 0;
    let high = count4;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((from4[middle] as number) <= address) low = middle + 1;
      else high = middle;
    }
    return low > 0 && (to4[low - 1] as number) >= address;
  };
  const compareAt = (bounds: Uint32Array, index: number, words: readonly number[]): number => {
    for (let word = 0; word < 4; word += 1) {
      const difference = (bounds[index * 4 + word] as number) - (words[word] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  };
  const containsIpv6 = (words: readonly number[]): boolean => {
    let low = 0;
    let high = count6;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareAt(from6, middle, words) <= 0) low = middle + 1;
      else high = middle;
    }
    return low > 0 && compareAt(to6, low - 1, words) >= 0;
  };
  return {
    intervals: count4 + count6,
    hasIpv4: containsIpv4,
    hasIpv6: containsIpv6,
    contains(address) {
      const number = count4 === 0 && count6 === 0 ? -1 : parseIpv4(address);
      if (number >= 0) return containsIpv4(number);
      if (count4 === 0 && count6 === 0) return false;
      const words = parseIpv6(withoutZone(address));
      if (words === null) return false;
      return words[0] === 0 && words[1] === 0 && words[2] === mappedPrefix
        ? containsIpv4(words[3]) || containsIpv6(words)
        : containsIpv6(words);
    },
  };
}
