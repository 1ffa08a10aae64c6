// A list of bad addresses as people and feeds write it → canonical networks, or what is wrong and where.
import ipaddr from 'ipaddr.js';

export interface ParsedNetworks {
  /** Canonical, without duplicates: `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`. */
  readonly networks: readonly string[];
  readonly problems: readonly { readonly entry: number; readonly text: string; readonly reason: string }[];
}

const v4BitsMin = 8;
const v6BitsMin = 16;

/** One address or network in canonical form, or why not. Networks so wide that they mean half the internet are refused. */
export function toNetwork(text: string): { readonly network: string } | { readonly reason: string } {
  const trimmed = text.trim();
  const [base = '', bitsText] = trimmed.split('/');
  if (trimmed.split('/').length > 2 || !ipaddr.isValid(base) || /^\d+$/.test(base) || (!base.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(base))) return { reason: 'is not an IP address or network' };
  const address = ipaddr.process(base);
  const isMapped = base.includes(':') && address.kind() === 'ipv4';
  const width = address.kind() === 'ipv4' ? 32 : 128;
  const given = bitsText === undefined ? width : /^\d{1,3}$/.test(bitsText) ? Number(bitsText) - (isMapped ? 96 : 0) : -1;
  if (given < 0 || given > width) return { reason: 'has an impossible prefix length' };
  if (given < (width === 32 ? v4BitsMin : v6BitsMin)) return { reason: `is wider than /${width === 32 ? v4BitsMin : v6BitsMin}` };
  const bytes = address.toByteArray().map((byte, i) => byte & (0xff << Math.max(0, Math.min(8, (i + 1) * 8 - given))) & 0xff);
  const canonical = ipaddr.fromByteArray(bytes).toString();
  return { network: given === width ? canonical : `${canonical}/${given}` };
}

/** Newline list (`#` and `;` begin comments, the first word counts) or JSON (strings, or objects with ip, address, network or cidr). */
export function parseNetworks(text: string): ParsedNetworks {
  const json = /^\s*[[{]/.test(text) ? readJson(text) : null;
  const entries = json ?? text.split(/\r?\n/).map((line) => line.replace(/[#;].*$/, '').trim().split(/[\s,]+/)[0] ?? '');
  const networks = new Set<string>();
  const problems: { entry: number; text: string; reason: string }[] = [];
  entries.forEach((entry, index) => {
    if (entry === '' && json === null) return;
    const parsed = toNetwork(entry);
    if ('network' in parsed) networks.add(parsed.network);
    else problems.push({ entry: index + 1, text: entry.slice(0, 80), reason: parsed.reason });
  });
  return { networks: [...networks], problems };
}

function readJson(text: string): string[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
  const list = Array.isArray(value) ? value : value !== null && typeof value === 'object' ? (Object.values(value).find(Array.isArray) ?? [value]) : [value];
  return (list as unknown[]).map((item) => {
    if (typeof item === 'string') return item;
    const members = (item ?? {}) as Record<string, unknown>;
    const found = ['ip', 'address', 'network', 'cidr', 'ip_address'].map((key) => members[key]).find((member) => typeof member === 'string');
    return typeof found === 'string' ? found : '';
  });
}
