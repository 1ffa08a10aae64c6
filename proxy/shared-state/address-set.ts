// Bad addresses as one flat table in shared memory: sorted, disjoint intervals, IPv4 and IPv6 apart. Main (or whoever
// gets the list) builds it off the road; every worker reads the same bytes; a new list is a new table and one
// assignment.
// A million IPv4 networks are 8 MB for all workers together and 20 steps of a binary search.
import { parseIpv4, parseIpv6 } from '#engine';

const magic = 0x67684950; // "ghIP"
const headerWords = 4; // magic, layout version, IPv4 intervals, IPv6 intervals
const layoutVersion = 1;
const mappedPrefix = 0xffff; // ::ffff:0:0/96 (RFC 4291 section 2.5.5.2): IPv4 clients of an IPv6 socket

export interface IpSet {
  /** Whether the text is an address in the set; false for what is no address. Allocates nothing for IPv4. */
  contains(address: string): boolean;
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

export interface Range6 {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

function compare6(left: readonly number[], right: readonly number[]): number {
  for (let word = 0; word < 4; word += 1)
    if (left[word] !== right[word]) return (left[word] as number) - (right[word] as number);
  return 0;
}

const compareRanges = (left: Range6, right: Range6): number =>
  compare6(left.from, right.from) || compare6(left.to, right.to);

function joinIpv6(ranges: readonly Range6[]): Range6[] {
  const joined: Range6[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last === undefined || compare6(range.from, last.to) > 0) joined.push(range);
    else if (compare6(range.to, last.to) > 0) joined[joined.length - 1] = { from: last.from, to: range.to };
  }
  return joined;
}

function range6(words: readonly number[], bits: number): Range6 {
  const from: number[] = [];
  const to: number[] = [];
  for (let word = 0; word < 4; word += 1) {
    const kept = Math.min(32, Math.max(0, bits - word * 32));
    const hosts = 2 ** (32 - kept);
    const base = Math.floor((words[word] as number) / hosts) * hosts;
    from.push(base);
    to.push(base + hosts - 1);
  }
  return { from, to };
}

/**
 * The networks of a list, sorted, as they were given: what a changed list is made from without reading all of it again.
 */
export interface Networks {
  /** Base × 64 + prefix length. */
  readonly ipv4: Float64Array;
  readonly ipv6: readonly Range6[];
}

/**
 * Networks as the control plane has them: `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`. Throws RangeError naming the
 * entry that is none.
 */
export function readNetworks(networks: Iterable<string>): Networks {
  let keys = new Float64Array(1024);
  let keyCount = 0;
  const ipv6: Range6[] = [];
  const addIpv4 = (address: number, bits: number): void => {
    if (keyCount === keys.length) {
      const wider = new Float64Array(keys.length * 2);
      wider.set(keys);
      keys = wider;
    }
    const hosts = 2 ** (32 - bits);
    keys[keyCount++] = Math.floor(address / hosts) * hosts * 64 + bits;
  };
  for (const network of networks) {
    const slash = network.indexOf('/');
    const host = slash < 0 ? network : network.slice(0, slash);
    const address = parseIpv4(host);
    const words = address >= 0 ? null : parseIpv6(host);
    const width = address >= 0 ? 32 : 128;
    const bitsText = slash < 0 ? String(width) : network.slice(slash + 1);
    const bits = /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : Number.NaN;
    if ((address < 0 && words === null) || !(bits <= width))
      throw new RangeError(`"${network.slice(0, 60)}" is no address or network; write 192.0.2.0/24 or 2001:db8::/32`);
    if (words === null) addIpv4(address, bits);
    else if (words[0] === 0 && words[1] === 0 && words[2] === mappedPrefix && bits >= 96) addIpv4(words[3], bits - 96);
    else ipv6.push(range6(words, bits));
  }
  return { ipv4: keys.slice(0, keyCount).sort(), ipv6: ipv6.sort(compareRanges) };
}

/** Each entry of `removed` takes one equal entry out; those that are not there are passed over. */
export function changeNetworks(networks: Networks, added: Networks, removed: Networks): Networks {
  return {
    ipv4: changeIpv4(networks.ipv4, added.ipv4, removed.ipv4),
    ipv6: changeIpv6(networks.ipv6, added.ipv6, removed.ipv6),
  };
}

function changeIpv4(keys: Float64Array, added: Float64Array, removed: Float64Array): Float64Array {
  if (added.length + removed.length === 0) return keys;
  const next = new Float64Array(keys.length + added.length);
  let count = 0;
  let gone = 0;
  let come = 0;
  for (const key of keys) {
    while (gone < removed.length && (removed[gone] as number) < key) gone += 1;
    while (come < added.length && (added[come] as number) <= key) next[count++] = added[come++] as number;
    if (gone < removed.length && removed[gone] === key) gone += 1;
    else next[count++] = key;
  }
  while (come < added.length) next[count++] = added[come++] as number;
  return next.slice(0, count);
}

function changeIpv6(
  ranges: readonly Range6[],
  added: readonly Range6[],
  removed: readonly Range6[],
): readonly Range6[] {
  if (added.length + removed.length === 0) return ranges;
  let gone = 0;
  const kept = ranges.filter((range) => {
    while (gone < removed.length && compareRanges(removed[gone] as Range6, range) < 0) gone += 1;
    if (gone === removed.length || compareRanges(removed[gone] as Range6, range) !== 0) return true;
    gone += 1;
    return false;
  });
  return [...kept, ...added].sort(compareRanges);
}

export const buildIpSet = (networks: Iterable<string>): SharedArrayBuffer => packNetworks(readNetworks(networks));

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

/** A view of a table; cheap. Throws RangeError for bytes that are no table of this layout. */
export function openIpSet(buffer: SharedArrayBuffer): IpSet {
  const table =
    buffer.byteLength >= headerWords * 4 && buffer.byteLength % 4 === 0
      ? new Uint32Array(buffer)
      : new Uint32Array(headerWords);
  const [found, version, count4 = 0, count6 = 0] = table;
  if (found !== magic || version !== layoutVersion || table.length !== headerWords + count4 * 2 + count6 * 8)
    throw new RangeError('these bytes are no table of addresses; build it with buildIpSet');
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
    contains(address) {
      const number = count4 === 0 && count6 === 0 ? -1 : parseIpv4(address);
      if (number >= 0) return containsIpv4(number);
      if (count4 === 0 && count6 === 0) return false;
      const words = parseIpv6(address);
      if (words === null) return false;
      return words[0] === 0 && words[1] === 0 && words[2] === mappedPrefix
        ? containsIpv4(words[3]) || containsIpv6(words)
        : containsIpv6(words);
    },
  };
}

/**
 * What a worker holds: `swap` is one assignment between two requests, so a look-up sees the old list or the new one,
 * never both.
 */
export class IpSetHolder {
  private current: IpSet = openIpSet(buildIpSet([]));
  /** Of the list in force; 0 = none was given yet. */
  version = 0;

  /** Lists may arrive out of order; an older one is ignored. Returns whether it is in force now. */
  swap(version: number, buffer: SharedArrayBuffer): boolean {
    if (version <= this.version) return false;
    const next = openIpSet(buffer);
    this.current = next;
    this.version = version;
    return true;
  }

  contains(address: string): boolean {
    return this.current.contains(address);
  }

  get intervals(): number {
    return this.current.intervals;
  }
}
