// Networks as sorted, disjoint intervals in typed arrays: 8 bytes per IPv4 and 32 per IPv6 interval, one binary search
// per look-up. A trie would be no faster (20 steps for a million networks) and several times larger.
import { parseIpv4, parseIpv6 } from './ip-address.js';
import { OperatorArgumentError } from '../operator.js';

type Words = readonly number[]; // big-endian 32-bit words: one for IPv4, four for IPv6
interface Interval {
  readonly from: Words;
  readonly to: Words;
}

function compareWords(left: Words, right: Words): number {
  for (let index = 0; index < left.length; index += 1) {
    const difference = (left[index] as number) - (right[index] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** First and last address of the network. */
function intervalOf(address: Words, prefixBits: number): Interval {
  const from: number[] = [];
  const to: number[] = [];
  for (const [index, word] of address.entries()) {
    const kept = Math.min(32, Math.max(0, prefixBits - index * 32));
    const hostCount = 2 ** (32 - kept);
    const base = Math.floor(word / hostCount) * hostCount;
    from.push(base);
    to.push(base + hostCount - 1);
  }
  return { from, to };
}

/** null for a prefix longer than the address: no address can agree with it, so that the entry never matches. */
function parseNetwork(text: string): Interval | null {
  const slash = text.indexOf('/');
  const host = slash < 0 ? text : text.slice(0, slash);
  const ipv4 = parseIpv4(host);
  const words: Words | null = ipv4 >= 0 ? [ipv4] : parseIpv6(host);
  if (words === null)
    throw new OperatorArgumentError(
      `${text} is no IP address or network; write 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32`,
    );
  const bits = words.length * 32;
  if (slash < 0) return intervalOf(words, bits);
  const prefixText = text.slice(slash + 1);
  const prefixBits = /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : Number.NaN;
  if (Number.isNaN(prefixBits))
    throw new OperatorArgumentError(`${text}: the prefix length must be a number from 0 to ${bits}`);
  return prefixBits > bits ? null : intervalOf(words, prefixBits);
}

/** Sorts, joins what overlaps and lays the bounds out flat. */
function flatten(intervals: Interval[], width: number): { from: Uint32Array; to: Uint32Array } {
  intervals.sort((left, right) => compareWords(left.from, right.from));
  const joined: Interval[] = [];
  for (const interval of intervals) {
    const last = joined.at(-1);
    if (last === undefined || compareWords(interval.from, last.to) > 0) joined.push(interval);
    else if (compareWords(interval.to, last.to) > 0) joined[joined.length - 1] = { from: last.from, to: interval.to };
  }
  const from = new Uint32Array(joined.length * width);
  const to = new Uint32Array(joined.length * width);
  for (const [index, interval] of joined.entries()) {
    from.set(interval.from, index * width);
    to.set(interval.to, index * width);
  }
  return { from, to };
}

/** Sign of bound − address, where `bounds` holds bound number `index`. */
function compareAt(bounds: Uint32Array, index: number, address: Words): number {
  const base = index * address.length;
  for (let word = 0; word < address.length; word += 1) {
    const difference = (bounds[base + word] as number) - (address[word] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

function within({ from, to }: { from: Uint32Array; to: Uint32Array }, address: Words): boolean {
  let low = 0;
  let high = from.length / address.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAt(from, middle, address) <= 0) low = middle + 1;
    else high = middle;
  }
  return low > 0 && compareAt(to, low - 1, address) >= 0;
}

export interface NetworkSet {
  /** Whether the text is an address in one of the networks; false for anything that is no address. */
  contains(text: string): boolean;
  /** Entries that no address can match, their prefix being longer than the address. */
  readonly neverMatching: readonly string[];
}

/**
 * Throws OperatorArgumentError naming the entry that is no network. An IPv4-mapped IPv6 address belongs to IPv6
 * networks only.
 */
export function compileNetworks(entries: Iterable<string>): NetworkSet {
  const intervals4: Interval[] = [];
  const intervals6: Interval[] = [];
  const neverMatching: string[] = [];
  for (const entry of entries) {
    const interval = parseNetwork(entry);
    if (interval === null) neverMatching.push(entry);
    else (interval.from.length === 1 ? intervals4 : intervals6).push(interval);
  }
  const ipv4 = flatten(intervals4, 1);
  const ipv6 = flatten(intervals6, 4);
  return {
    neverMatching,
    contains: (text) => {
      const number = parseIpv4(text);
      if (number >= 0) return within(ipv4, [number]);
      const words = ipv6.from.length === 0 ? null : parseIpv6(text);
      return words !== null && within(ipv6, words);
    },
  };
}
