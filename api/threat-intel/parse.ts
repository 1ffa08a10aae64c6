// A list of bad addresses as people and feeds write it → canonical networks, or what is wrong and where.
import { setImmediate as nextTurn } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';

export interface ParsedNetworks {
  /** Canonical, without duplicates: `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`. */
  readonly networks: readonly string[];
  readonly problems: readonly { readonly entry: number; readonly text: string; readonly reason: string }[];
}

const v4BitsMin = 8;
const v6BitsMin = 16;

/**
 * One address or network in canonical form, or why not. Networks so wide that they mean half the internet are refused.
 */
export function toNetwork(text: string): { readonly network: string } | { readonly reason: string } {
  return isPlain(text) ? { network: text } : readNetwork(text);
}

const plainIpv6Address = /^(?:[1-9a-f][0-9a-f]{0,3}:){7}[1-9a-f][0-9a-f]{0,3}$/;
const plainIpv6Network = /^((?:[1-9a-f][0-9a-f]{0,3}:){1,6}):\/([1-9]\d{1,2})$/;

/**
 * Whether the text is surely its own canonical form. "No" means nothing: it is for the whole reader. Lists are nearly
 * all of this kind: IPv4 addresses, IPv4 networks without host bits, IPv6 without a group that is zero, IPv6 networks
 * of such groups that are all within the prefix.
 */
function isPlain(text: string): boolean {
  return text.includes(':') ? isPlainIpv6(text) : isPlainIpv4(text);
}

function isPlainIpv6(text: string): boolean {
  const network = plainIpv6Network.exec(text);
  if (network === null) return plainIpv6Address.test(text);
  const groups = (network[1] as string).split(':').length - 1;
  const bits = Number(network[2]);
  return bits >= v6BitsMin && bits >= groups * 16 && bits < 128;
}

function isPlainIpv4(text: string): boolean {
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
  return width >= v4BitsMin && width < 32 && (address * 256 + octet) % 2 ** (32 - width) === 0;
}

/** The slow twin: every form. Exported for the test that holds both together. */
export function readNetwork(text: string): { readonly network: string } | { readonly reason: string } {
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
  const isMapped = base.includes(':') && address.kind() === 'ipv4';
  const width = address.kind() === 'ipv4' ? 32 : 128;
  const given =
    bitsText === undefined ? width : /^\d{1,3}$/.test(bitsText) ? Number(bitsText) - (isMapped ? 96 : 0) : -1;
  if (given < 0 || given > width) return { reason: 'has an impossible prefix length' };
  if (given < (width === 32 ? v4BitsMin : v6BitsMin))
    return { reason: `is wider than /${width === 32 ? v4BitsMin : v6BitsMin}` };
  const bytes = address
    .toByteArray()
    .map((byte, i) => byte & (0xff << Math.max(0, Math.min(8, (i + 1) * 8 - given))) & 0xff);
  const canonical = ipaddr.fromByteArray(bytes).toString();
  return { network: given === width ? canonical : `${canonical}/${given}` };
}

const entriesPerTurn = 20_000;

/**
 * Newline list (`#` and `;` begin comments, the first word counts) or JSON (strings, or objects with ip, address,
 * network or cidr). It may have a million entries: others get their turn in between.
 */
export async function parseNetworks(given: string | readonly string[]): Promise<ParsedNetworks> {
  const reading = new Reading(given);
  while (reading.read(entriesPerTurn)) await nextTurn();
  return reading.result();
}

class Reading {
  private readonly entries: readonly string[];
  /** Lines of text may be empty or carry comments; members of a list are what they are. */
  private readonly isText: boolean;
  private readonly networks = new Set<string>();
  private readonly problems: { entry: number; text: string; reason: string }[] = [];
  private at = 0;

  constructor(given: string | readonly string[]) {
    const list = typeof given !== 'string' ? given : /^\s*[[{]/.test(given) ? readJson(given) : null;
    this.isText = list === null;
    this.entries = list ?? (given as string).split('\n');
  }

  /** Whether there is more. */
  read(count: number): boolean {
    const end = Math.min(this.entries.length, this.at + count);
    for (; this.at < end; this.at++) {
      const given = this.entries[this.at] as string;
      if (isPlain(given)) {
        this.networks.add(given);
        continue;
      }
      const entry = this.isText
        ? (given
            .replace(/[#;].*$/s, '')
            .trim()
            .split(/[\s,]+/)[0] ?? '')
        : given;
      if (entry === '' && this.isText) continue;
      const parsed = toNetwork(entry);
      if ('network' in parsed) this.networks.add(parsed.network);
      else this.problems.push({ entry: this.at + 1, text: entry.slice(0, 80), reason: parsed.reason });
    }
    return this.at < this.entries.length;
  }

  result(): ParsedNetworks {
    return { networks: [...this.networks], problems: this.problems };
  }
}

function readJson(text: string): string[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
  const list = Array.isArray(value)
    ? value
    : value !== null && typeof value === 'object'
      ? (Object.values(value).find(Array.isArray) ?? [value])
      : [value];
  return (list as unknown[]).map((item) => {
    if (typeof item === 'string') return item;
    const members = (item ?? {}) as Record<string, unknown>;
    const found = ['ip', 'address', 'network', 'cidr', 'ip_address']
      .map((key) => members[key])
      .find((member) => typeof member === 'string');
    return typeof found === 'string' ? found : '';
  });
}
