// Members of a record by any of several names, whoever wrote it: `requestUri`, `request_uri` and `request.uri` are one,
// numbers may be text, and `-` means that there is none.
import { isIP } from 'node:net';
import { UnusableRecord } from '../exchange.js';

const membersMax = 400;
const depthMax = 4;
export const uriCharsMax = 16 * 1024;
const textCharsMax = 8 * 1024;

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Records of one sender have the same names again and again: what became of short ones is remembered. */
const plainNames = new Map<string, string>();
const namesMax = 5000;
const nameCharsMax = 64;

function plain(name: string): string {
  const known = plainNames.get(name);
  if (known !== undefined) return known;
  const made = plainName(name);
  if (name.length > nameCharsMax) return made;
  if (plainNames.size >= namesMax) plainNames.clear();
  plainNames.set(name, made);
  return made;
}

export class RecordReader {
  private readonly members = new Map<string, unknown>();

  constructor(readonly record: Readonly<Record<string, unknown>>) {
    this.gather(record, '', 0);
  }

  private gather(value: Readonly<Record<string, unknown>>, prefix: string, depth: number): void {
    for (const [name, member] of Object.entries(value)) {
      if (this.members.size >= membersMax) return;
      const key = prefix + plain(name);
      if (!this.members.has(key)) this.members.set(key, member);
      if (typeof member === 'object' && member !== null && !Array.isArray(member) && depth < depthMax)
        this.gather(member as Record<string, unknown>, key, depth + 1);
    }
  }

  /** The first of these that is there; undefined: none. `-` and '' are none. */
  raw(names: readonly string[]): unknown {
    for (const name of names) {
      const value = this.members.get(plain(name));
      if (value !== undefined && value !== null && value !== '' && value !== '-') return value;
    }
    return undefined;
  }

  /** Whether one of these is there, also without a value. */
  has(...names: string[]): boolean {
    return names.some((name) => this.members.has(plain(name)));
  }

  text(...names: string[]): string {
    const value = this.raw(names);
    if (typeof value === 'string') {
      if (value.length > uriCharsMax) throw new UnusableRecord(`${names[0]} is longer than ${uriCharsMax} characters`);
      return value;
    }
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  }

  /** `fallback` where there is none; throws for what is no number. */
  number(fallback: number, ...names: string[]): number {
    const value = this.raw(names);
    if (value === undefined) return fallback;
    // nginx writes a list where several upstreams were asked: `0.004, 0.010`.
    const text = typeof value === 'string' ? (value.split(/[,:]/).at(-1) ?? '').trim() : value;
    const number = typeof text === 'string' ? Number(text === '-' ? Number.NaN : text) : text;
    if (text === '-') return fallback;
    if (typeof number !== 'number' || !Number.isFinite(number))
      throw new UnusableRecord(`${names[0]} is no number; write one, or leave the member out`);
    return number;
  }

  /** Never below 0; absent or -1 (unknown, in HAR) is 0. */
  size(...names: string[]): number {
    return Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, Math.round(this.number(0, ...names))));
  }

  /** Flat list of an object of headers whose values are text or lists, or of a list of {name, value}. */
  headers(...names: string[]): string[] {
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
