// Hosts of a zone file (RFC 1035 section 5). Nothing is included and nothing generated: such lines are counted.
import { setImmediate } from 'node:timers/promises';
import { hostOf, isPublicAddress, type Sighting } from '../asset.js';

const lineMax = 4096;
const recordsMax = 100_000;
/** Others have their turn after so long. */
const turnMs = 10;
const hostTypes: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'MX', 'NS', 'SRV', 'HTTPS', 'SVCB', 'PTR']);
const types: ReadonlySet<string> = new Set([
  ...hostTypes,
  ...['SOA', 'TXT', 'CAA', 'DS', 'DNSKEY', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'TLSA', 'SSHFP', 'NAPTR', 'LOC'],
  ...['SPF', 'DNAME', 'HINFO', 'RP', 'CDS', 'CDNSKEY', 'URI', 'CERT', 'OPENPGPKEY', 'SMIMEA', 'ZONEMD'],
]);

export interface ZoneReading {
  readonly sightings: readonly Sighting[];
  readonly records: number;
  /** What was not understood, and lines that name other files. */
  readonly leftOut: number;
}

/** A line without its comment; texts in quotes may hold a semicolon. */
function bare(line: string): string {
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const one = line[at];
    if (one === '\\') at++;
    else if (one === '"') isQuoted = !isQuoted;
    else if (one === ';' && !isQuoted) return line.slice(0, at);
  }
  return line;
}

interface ZoneRecord {
  readonly owner: string;
  readonly type: string;
  readonly data: readonly string[];
}

class Reader {
  readonly #records: ZoneRecord[] = [];
  leftOut = 0;
  #origin: string;
  #owner = '';

  constructor(origin: string) {
    this.#origin = origin;
  }

  get records(): readonly ZoneRecord[] {
    return this.#records;
  }

  #absolute(name: string): string {
    if (name === '@') return this.#origin;
    return name.endsWith('.') ? name.slice(0, -1) : this.#origin === '' ? name : `${name}.${this.#origin}`;
  }

  /** One entry, its parentheses taken away. */
  take(entry: string): void {
    const words = entry.trim().split(/\s+/);
    const [first = ''] = words;
    if (first === '') return;
    if (/^\$origin$/i.test(first)) this.#origin = (words[1] ?? '').replace(/\.$/, '').toLowerCase();
    else if (first.startsWith('$')) this.leftOut += /^\$ttl$/i.test(first) ? 0 : 1;
    else {
      if (!/^\s/.test(entry)) this.#owner = this.#absolute(words.shift() ?? '');
      while (/^(?:\d+[smhdw]?)+$/i.test(words[0] ?? '') || /^(?:IN|CH|HS)$/i.test(words[0] ?? '')) words.shift();
      const type = (words.shift() ?? '').toUpperCase();
      if (!types.has(type) && !/^TYPE\d+$/.test(type)) this.leftOut++;
      else if (this.#records.length >= recordsMax) this.leftOut++;
      else this.#records.push({ owner: this.#owner, type, data: words.map((one) => this.#dataOf(type, one)) });
    }
  }

  #dataOf(type: string, word: string): string {
    return type === 'A' || type === 'AAAA'
      ? word
      : /^[\d"]/.test(word) && type !== 'CNAME'
        ? word
        : this.#absolute(word);
  }
}

/** `origin`: of names that end without a dot, until the file says it. */
export async function readZone(text: string, origin: string, signal: AbortSignal): Promise<ZoneReading> {
  const reader = new Reader(origin.replace(/\.$/, '').toLowerCase());
  let entry = '';
  let open = 0;
  let lines = 0;
  let began = performance.now();
  let from = 0;
  while (from <= text.length) {
    const end = text.indexOf('\n', from);
    const given = text.slice(from, end < 0 ? text.length : end);
    from = end < 0 ? text.length + 1 : end + 1;
    if (++lines % 50 === 0 && performance.now() - began > turnMs) {
      await setImmediate();
      began = performance.now();
      if (signal.aborted) break;
    }
    const line = given.length > lineMax ? '' : bare(given);
    if (given.length > lineMax) reader.leftOut++;
    open += line.split('(').length - line.split(')').length;
    if (entry.length < lineMax * 16) entry += `${line.replaceAll(/[()]/g, ' ')} `;
    if (open > 0) continue;
    open = 0;
    reader.take(entry);
    entry = '';
  }
  return { ...(await sightingsOf(reader.records, signal)), leftOut: reader.leftOut };
}

async function sightingsOf(records: readonly ZoneRecord[], signal: AbortSignal) {
  const found: Sighting[] = [];
  let read = 0;
  for (const { owner, type, data } of records) {
    if (++read % 500 === 0) await setImmediate();
    if (signal.aborted) break;
    if (!hostTypes.has(type) || type === 'PTR') continue;
    const target = data.at(-1) ?? '';
    const see = (name: string, isExposed: boolean | null): void => {
      const host = hostOf(name);
      if (host === null || !host.includes('.')) return;
      const detail = `${owner} ${type} ${target}`.slice(0, 300);
      found.push({ kind: 'host', host, port: null, url: null, source: 'zone', detail, site: null, isExposed });
    };
    if (type === 'A' || type === 'AAAA') see(owner, isPublicAddress(target));
    else if (type === 'CNAME') see(owner, null);
    else if (type === 'SRV') see(target, null);
    // name servers and exchangers of others are nobody's assets here
    else if ((type === 'MX' || type === 'NS') && target.endsWith(owner)) see(target, null);
  }
  return { sightings: found, records: records.length };
}
