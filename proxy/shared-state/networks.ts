// Networks as text → sorted entries, IPv4 and IPv6 apart, from which a table of addresses is packed (address-set.ts).
// Pure, and off the hot road.
import { parseIpv4, parseIpv6 } from '#engine';

/** ::ffff:0:0/96 (RFC 4291 section 2.5.5.2): IPv4 clients of an IPv6 socket. */
export const mappedPrefix = 0xffff;

export interface Range6 {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

export function compare6(left: readonly number[], right: readonly number[]): number {
  for (let word = 0; word < 4; word += 1)
    if (left[word] !== right[word]) return (left[word] as number) - (right[word] as number);
  return 0;
}

const compareRanges = (left: Range6, right: Range6): number =>
  compare6(left.from, right.from) || compare6(left.to, right.to);

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

/** Whether all of ::ffff:0:0/96, the IPv4 addresses of IPv6, lies within. */
export function coversMapped({ from, to }: Range6): boolean {
  return compare6(from, [0, 0, mappedPrefix, 0]) <= 0 && compare6(to, [0, 0, mappedPrefix, 0xffff_ffff]) >= 0;
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
