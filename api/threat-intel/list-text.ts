// A list of bad addresses as people and feeds write it → canonical networks, or what is wrong and where.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { denyPrefixes, toDenied } from '../addresses/denied.js';
import { isCanonical } from '../addresses/network.js';

export interface ParsedNetworks {
  /** Canonical, without duplicates: `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`. */
  readonly networks: readonly string[];
  readonly problems: readonly { readonly entry: number; readonly text: string; readonly reason: string }[];
}

/** For what is hardly a list of addresses: how much is right, and the first entry that is not. */
export function noListOf({ networks, problems }: ParsedNetworks): Error {
  const [first] = problems;
  const where =
    first === undefined ? '' : `; the first is entry ${first.entry}: ${JSON.stringify(first.text)} ${first.reason}`;
  return new Error(
    `it is not a list of addresses (${networks.length} right, ${problems.length} wrong entries${where})`,
  );
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
      if (isCanonical(given, denyPrefixes)) {
        this.networks.add(given);
        continue;
      }
      const entry = this.isText ? firstWord(given) : given;
      if (entry === '' && this.isText) continue;
      const parsed = toDenied(entry);
      if ('network' in parsed) this.networks.add(parsed.network);
      else this.problems.push({ entry: this.at + 1, text: entry.slice(0, 80), reason: parsed.reason });
    }
    return this.at < this.entries.length;
  }

  result(): ParsedNetworks {
    return { networks: [...this.networks], problems: this.problems };
  }
}

function firstWord(line: string): string {
  const text = line.replace(/[#;].*$/s, '').trim();
  return text.split(/[\s,]+/)[0] ?? '';
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
