// Members of a record by any of several names, whoever wrote it: `requestUri`, `request_uri` and `request.uri` are one,
// numbers may be text, and `-` means that there is none.
import { isIP } from 'node:net';
import { UnusableRecord } from '../exchange.js';

const depthMax = 4;
export const uriCharsMax = 16 * 1024;
const textCharsMax = 8 * 1024;

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Names under which senders write one thing, the best first. */
export interface FieldNames {
  readonly first: string;
  /** Their places in the list of values of a reader. */
  readonly slots: readonly number[];
}

/** Every name that some connector asks for has a place; whatever else a record has is passed over. */
const slots = new Map<string, number>();
/** Beginnings of those names: only members that have one can have a name inside. */
const beginnings = new Set<string>();

/** To be called while modules are loaded: a reader looks for the names that are known when it reads. */
export function fieldNames(first: string, ...others: readonly string[]): FieldNames {
  const places = [first, ...others].map((name) => {
    const plain = plainName(name);
    for (let end = 1; end < plain.length; end += 1) beginnings.add(plain.slice(0, end));
    const slot = slots.get(plain) ?? slots.size;
    slots.set(plain, slot);
    return slot;
  });
  return { first, slots: places };
}

/** What a member of a name means below a prefix: a place for its value, and the prefix of what is inside it. */
interface Member {
  /** -1: nobody asks for it. */
  readonly slot: number;
  /** null: nothing that is asked for is inside. */
  readonly inside: Members | null;
}

/** Records of one sender have the same names again and again: what became of short ones is remembered. */
class Members {
  private readonly known = new Map<string, Member>();

  constructor(private readonly prefix: string) {}

  of(name: string): Member {
    return this.known.get(name) ?? this.learn(name);
  }

  private learn(name: string): Member {
    const key = this.prefix + plainName(name.length > nameCharsMax ? name.slice(0, nameCharsMax) : name);
    const slot = slots.get(key) ?? -1;
    if (slot < 0 && !beginnings.has(key)) {
      if (name.length <= nameCharsMax) this.remember(name, nothingAsked);
      return nothingAsked;
    }
    const made: Member = { slot, inside: beginnings.has(key) ? new Members(key) : null };
    if (name.length <= nameCharsMax) this.remember(name, made);
    return made;
  }

  private remember(name: string, member: Member): void {
    if (this.known.size >= namesMax) this.known.clear();
    this.known.set(name, member);
  }
}

const namesMax = 500;
const nameCharsMax = 64;
const nothingAsked: Member = { slot: -1, inside: null };
const top = new Members('');

export class RecordReader {
  /** By the places of names; undefined: the record has no such member. */
  private readonly values: unknown[] = new Array<unknown>(slots.size);

  constructor(readonly record: Readonly<Record<string, unknown>>) {
    this.gather(record, top, 0);
  }

  private gather(members: Readonly<Record<string, unknown>>, names: Members, depth: number): void {
    for (const name in members) {
      const { slot, inside } = names.of(name);
      if (slot < 0 && inside === null) continue;
      const value = members[name];
      if (slot >= 0 && this.values[slot] === undefined) this.values[slot] = value;
      if (inside !== null && depth < depthMax && typeof value === 'object' && value !== null && !Array.isArray(value))
        this.gather(value as Record<string, unknown>, inside, depth + 1);
    }
  }

  /** The first of these that is there; undefined: none. `-` and '' are none. */
  raw({ slots: places }: FieldNames): unknown {
    for (const slot of places) {
      const value = this.values[slot];
      if (value !== undefined && value !== null && value !== '' && value !== '-') return value;
    }
    return undefined;
  }

  /** Whether one of these is there, also without a value. */
  has({ slots: places }: FieldNames): boolean {
    for (const slot of places) if (this.values[slot] !== undefined) return true;
    return false;
  }

  text(names: FieldNames): string {
    const value = this.raw(names);
    if (typeof value === 'string') {
      if (value.length > uriCharsMax)
        throw new UnusableRecord(`${names.first} is longer than ${uriCharsMax} characters`);
      return value;
    }
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  }

  /** `fallback` where there is none; throws for what is no number. */
  number(fallback: number, names: FieldNames): number {
    const value = this.raw(names);
    if (value === undefined) return fallback;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    // nginx writes a list where several upstreams were asked: `0.004, 0.010`.
    const text = typeof value === 'string' ? (value.split(/[,:]/).at(-1) ?? '').trim() : value;
    const number = typeof text === 'string' ? Number(text === '-' ? Number.NaN : text) : text;
    if (text === '-') return fallback;
    if (typeof number !== 'number' || !Number.isFinite(number))
      throw new UnusableRecord(`${names.first} is no number; write one, or leave the member out`);
    return number;
  }

  /** Never below 0; absent or -1 (unknown, in HAR) is 0. */
  size(names: FieldNames): number {
    return Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, Math.round(this.number(0, names))));
  }

  /** Flat list of an object of headers whose values are text or lists, or of a list of {name, value}. */
  headers(names: FieldNames): string[] {
    return flatHeaders(this.raw(names));
  }
}

const headersMax = 200;

export function flatHeaders(value: unknown): string[] {
  const flat: string[] = [];
  const add = (name: unknown, one: unknown): void => {
    if (typeof name !== 'string' || flat.length >= headersMax * 2) return;
    const text = Array.isArray(one) ? one[0] : one;
    if (typeof text === 'string' && !name.startsWith(':')) flat.push(name.slice(0, 256), text.slice(0, textCharsMax));
  };
  if (Array.isArray(value))
    for (const one of value as unknown[]) {
      const { name, value: text } = (typeof one === 'object' && one !== null ? one : {}) as Record<string, unknown>;
      add(name, text);
    }
  else if (typeof value === 'object' && value !== null) for (const [name, one] of Object.entries(value)) add(name, one);
  return flat;
}

/** A method of RFC 9110; throws for what is none. */
export function methodOf(text: string): string {
  if (text === '') throw new UnusableRecord('method is missing');
  if (!/^[A-Za-z][A-Za-z_-]{0,31}$/.test(text)) throw new UnusableRecord('method is none');
  return text.toUpperCase();
}

/** Path and query of a request target or an address; throws for what has none. */
export function targetOf(text: string): { readonly uri: string; readonly host: string } {
  if (text === '') throw new UnusableRecord('uri is missing');
  if (text.length > uriCharsMax) throw new UnusableRecord(`uri is longer than ${uriCharsMax} characters`);
  if (text.includes('\0')) throw new UnusableRecord('uri has a NUL; no request can have one: leave the record out');
  const scheme = /^[a-z][a-z0-9+.-]{0,20}:\/\//i.exec(text);
  if (scheme === null) {
    if (!text.startsWith('/')) throw new UnusableRecord('uri is no path: it begins with "/" or is an address');
    return { uri: text, host: '' };
  }
  const rest = text.slice(scheme[0].length);
  const slash = rest.search(/[/?#]/);
  const host = slash < 0 ? rest : rest.slice(0, slash);
  const tail = slash < 0 ? '/' : rest.slice(slash);
  return { uri: tail.startsWith('/') ? tail : `/${tail}`, host: host.slice(host.lastIndexOf('@') + 1) };
}

/** A status of HTTP; throws for what is none, and for 0 (no answer). */
export function statusOf(status: number): number {
  if (!Number.isInteger(status) || status < 100 || status > 599)
    throw new UnusableRecord('status is no status of HTTP; write a number from 100 to 599');
  return status;
}

/** The address of a client, without port; '' for what is none. Of a list (X-Forwarded-For) the first. */
export function addressOf(text: string): string {
  const first = (text.split(',')[0] ?? '').trim();
  if (isIP(first) !== 0) return first;
  const bracketed = /^\[([0-9a-fA-F:.]+)\](?::\d+)?$/.exec(first)?.[1];
  if (bracketed !== undefined && isIP(bracketed) !== 0) return bracketed;
  const bare = /^([\d.]+):\d+$/.exec(first)?.[1] ?? '';
  return isIP(bare) !== 0 ? bare : '';
}

const clfMonths = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/** A moment as milliseconds, seconds, ISO 8601 or the common log format; `nowMs` where there is none that can be. */
export function momentOf(value: unknown, nowMs: number): number {
  let ms = Number.NaN;
  const number = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof number === 'number') ms = number < 1e11 ? number * 1000 : number < 1e14 ? number : number / 1e6;
  else if (typeof number === 'string') ms = Date.parse(fromClf(number));
  const isOurs = Number.isFinite(ms) && ms > 946_684_800_000 && ms < nowMs + 86_400_000;
  return isOurs ? Math.round(ms) : nowMs;
}

/** `10/Oct/2026:13:55:36 +0000` in a form that Date reads. */
function fromClf(text: string): string {
  const found = /^(\d{1,2})\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/.exec(text.trim());
  if (found === null) return text.slice(0, 64);
  const [, day = '', month = '', year = '', time = '', hours = '', minutes = ''] = found;
  const number = clfMonths.indexOf(month) / 3 + 1;
  return `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}T${time}${hours}:${minutes}`;
}
