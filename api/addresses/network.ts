// A network as people and feeds write it → its canonical form, or what is wrong with it.
import ipaddr from 'ipaddr.js';

/** Shortest prefixes that are taken. */
export interface PrefixLimits {
  readonly ipv4: number;
  readonly ipv6: number;
}
const anyPrefix: PrefixLimits = { ipv4: 0, ipv6: 0 };

export type ReadNetwork =
  /** Canonical: `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`. */
  { readonly network: string } | { readonly reason: string };

/** One address or network in canonical form, or why not. */
export function toNetwork(text: string, shortest: PrefixLimits = anyPrefix): ReadNetwork {
  return isCanonical(text, shortest) ? { network: text } : readNetwork(text, shortest);
}

const plainIpv6Address = /^(?:[1-9a-f][0-9a-f]{0,3}:){7}[1-9a-f][0-9a-f]{0,3}$/;
const plainIpv6Network = /^((?:[1-9a-f][0-9a-f]{0,3}:){1,6}):\/([1-9]\d{1,2})$/;

/**
 * Whether the text is surely its own canonical form and not wider than is taken. "No" means nothing: it is for the
 * whole reader. Lists are nearly all of this kind: IPv4 addresses, IPv4 networks without host bits, IPv6 without a
 * group that is zero, IPv6 networks of such groups that are all within the prefix.
 */
export function isCanonical(text: string, shortest: PrefixLimits): boolean {
  return text.includes(':') ? isPlainIpv6(text, shortest.ipv6) : isPlainIpv4(text, shortest.ipv4);
}

function isPlainIpv6(text: string, bitsMin: number): boolean {
  const network = plainIpv6Network.exec(text);
  if (network === null) return plainIpv6Address.test(text);
  const groups = (network[1] as string).split(':').length - 1;
  const bits = Number(network[2]);
  return bits >= bitsMin && bits >= groups * 16 && bits < 128;
}

function isPlainIpv4(text: string, bitsMin: number): boolean {
  let address = 0;
  let octet = -1;
  let dots = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      if (octet === 0) return false; // a leading zero
      octet = Math.max(octet, 0) * 10 + code - 48;
      if (octet > 255) return false;
    } else if (code === 46 && octet >= 0 && dots < 3) {
      address = address * 256 + octet;
      octet = -1;
      dots++;
    } else break;
  }
  if (dots !== 3 || octet < 0) return false;
  if (at === text.length) return true;
  if (text.charCodeAt(at) !== 47 || text.length - at > 3 || text.length - at < 2) return false;
  const bits = text.slice(at + 1);
  if (!/^[1-9]\d?$/.test(bits)) return false;
  const width = Number(bits);
  return width >= bitsMin && width < 32 && (address * 256 + octet) % 2 ** (32 - width) === 0;
}

/** The slow twin: every form. Exported for the test that holds both together. */
export function readNetwork(text: string, shortest: PrefixLimits = anyPrefix): ReadNetwork {
  const trimmed = text.trim();
  const [base = '', bitsText] = trimmed.split('/');
  if (
    trimmed.split('/').length > 2 ||
    !ipaddr.isValid(base) ||
    /^\d+$/.test(base) ||
    (!base.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(base))
  )
    return { reason: 'is not an IP address or network' };
  const address = ipaddr.process(base);
  const isIpv4 = address.kind() === 'ipv4';
  const isMapped = base.includes(':') && isIpv4;
  const width = isIpv4 ? 32 : 128;
  const bitsMin = isIpv4 ? shortest.ipv4 : shortest.ipv6;
  const given =
    bitsText === undefined ? width : /^\d{1,3}$/.test(bitsText) ? Number(bitsText) - (isMapped ? 96 : 0) : -1;
  if (given < 0 || given > width) return { reason: 'has an impossible prefix length' };
  if (given < bitsMin) return { reason: `is wider than /${bitsMin}` };
  const bytes = address
    .toByteArray()
    .map((byte, i) => byte & (0xff << Math.max(0, Math.min(8, (i + 1) * 8 - given))) & 0xff);
  const canonical = ipaddr.fromByteArray(bytes).toString();
  return { network: given === width ? canonical : `${canonical}/${given}` };
}
