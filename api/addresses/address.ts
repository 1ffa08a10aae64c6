// One meaning of an address for the whole control plane: a number in its family. IPv6 forms that carry an IPv4 address
// (::ffff:192.0.2.1) are that IPv4 address. IPv4 has numbers and IPv6 bigints, because lists have a million entries.
import ipaddr from 'ipaddr.js';

export type Address =
  | { readonly family: 4; readonly value: number; readonly text: string }
  | { readonly family: 6; readonly value: bigint; readonly text: string };

/** First and last address of a network. */
export type AddressRange =
  | { readonly family: 4; readonly from: number; readonly to: number }
  | { readonly family: 6; readonly from: bigint; readonly to: bigint };

/** null: it is no address. `text` is canonical. */
export function readAddress(text: string): Address | null {
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.process(text);
  const canonical = address.toString();
  if (address.kind() === 'ipv4') return { family: 4, value: ipv4Value(canonical), text: canonical };
  return { family: 6, value: ipv6Value(address as ipaddr.IPv6), text: canonical };
}

/**
 * What it is: `unicast` (public), `loopback`, `private`, `linkLocal`, a form that carries an IPv4 address …; null: no
 * address.
 */
export function kindOf(text: string): string | null {
  return ipaddr.isValid(text) ? ipaddr.process(text).range() : null;
}

/**
 * The range of a canonical network (network.ts). Whatever is not canonical has no meaning here: nothing is checked,
 * because a list of a million is read with it.
 */
export function rangeOf(network: string): AddressRange {
  const slash = network.indexOf('/');
  const base = slash < 0 ? network : network.slice(0, slash);
  if (!network.includes(':')) {
    const from = ipv4Value(base);
    return { family: 4, from, to: slash < 0 ? from : from + 2 ** (32 - Number(network.slice(slash + 1))) - 1 };
  }
  const from = ipv6Value(ipaddr.IPv6.parse(base));
  const bits = slash < 0 ? 128 : Number(network.slice(slash + 1));
  return { family: 6, from, to: from + (1n << BigInt(128 - bits)) - 1n };
}

/** Whether canonical networks hold this address. IPv6 networks are read only for a client that has such an address. */
export function isHeldBy(address: Address): (network: string) => boolean {
  if (address.family === 4)
    return (network) => {
      if (network.includes(':')) return false;
      if (!network.includes('/')) return network === address.text;
      const range = rangeOf(network);
      return range.family === 4 && range.from <= address.value && address.value <= range.to;
    };
  return (network) => {
    if (network === address.text) return true;
    if (!network.includes(':') || !network.includes('/')) return false;
    const range = rangeOf(network);
    return range.family === 6 && range.from <= address.value && address.value <= range.to;
  };
}

/**
 * What stands for one client where clients are counted: its IPv4 address, or the /64 that an IPv6 client owns (counting
 * single addresses of it would count nothing). It is stored with accounts, so its form never changes.
 */
export function toSourceKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const groups = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(':')}::/64`;
}

/** What is shown in place of an address (or /64): its /24, or its /48 of IPv6. null: it is no address. */
export function clientNetwork(ip: string): string | null {
  const [bare = ''] = ip.split(/[%/]/, 1);
  if (!ipaddr.isValid(bare)) return null;
  const address = ipaddr.process(bare);
  if (address.kind() === 'ipv4') return address.toString().replace(/\d+$/, '0/24');
  const groups = (address as ipaddr.IPv6).parts.slice(0, 3).map((part) => part.toString(16));
  return `${groups.join(':')}::/48`;
}

/** Of four decimal parts, by character codes: splitting a million texts costs more than all else about a list. */
function ipv4Value(text: string): number {
  let value = 0;
  let octet = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 46) {
      value = value * 256 + octet;
      octet = 0;
    } else octet = octet * 10 + code - 48;
  }
  return value * 256 + octet;
}

function ipv6Value(address: ipaddr.IPv6): bigint {
  return BigInt(`0x${address.parts.map((part) => part.toString(16).padStart(4, '0')).join('')}`);
}
