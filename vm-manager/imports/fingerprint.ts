// What makes two findings one. Fields are written with their lengths before they are hashed, so that ("ab", "c") and
// ("a", "bc") differ. Never in it: severity, texts, dates, line numbers, versions of tools: those change while the
// weakness stays.
import { hash } from 'node:crypto';
import type { FindingRecord, Location } from './record.js';

/** Fields of most records fit; nothing waits between writing and hashing. */
const scratch = Buffer.alloc(16_384);
scratch.write('v1');
const versionBytes = 2;

/** sha256 over "v1" and, of each field, its length in bytes (32 bits, big end first) and its UTF-8. */
export function hashFields(fields: readonly string[]): string {
  // three bytes of UTF-8 for each code unit at most
  const most = fields.reduce((sum, field) => sum + 4 + field.length * 3, versionBytes);
  const bytes = most <= scratch.length ? scratch : Buffer.alloc(most, 'v1');
  let at = versionBytes;
  for (const field of fields) {
    const length = bytes.write(field, at + 4, 'utf8');
    bytes.writeUInt32BE(length, at);
    at += 4 + length;
  }
  return hash('sha256', bytes.subarray(0, at), 'hex');
}

/** A path whose parts that look like ids stand for any. */
export function templatedUrl(url: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)([^?#]*)/i.exec(url);
  const [host, rest] =
    path === null ? ['', url.split(/[?#]/)[0] ?? ''] : [(path[1] ?? '').toLowerCase(), path[2] ?? ''];
  const parts = rest
    .split('/')
    .map((part) => (/^(\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,})$/i.test(part) ? '{id}' : part));
  return host + (parts.join('/').replace(/\/+$/, '') || '/');
}

/** A package without its version and without what tells builds apart. */
export const packageKey = (location: Extract<Location, { kind: 'package' }>): string =>
  (location.purl === undefined
    ? location.name
    : location.purl.replace(/[?#].*$/, '').replace(/@[^/@]*$/, '')
  ).toLowerCase();

/** The fields that stay the same while lines move and tools are upgraded. */
function placeOf(record: FindingRecord): readonly string[] {
  const { location, ruleId } = record;
  // without a rule its name: two weaknesses of one class behind one address stay two
  const weakness = ruleId === '' ? record.title : ruleId;
  switch (location.kind) {
    case 'code':
      return [
        'code',
        weakness,
        location.path,
        (location.snippet ?? '').replace(/\s+/g, ' ').trim(),
        location.symbol ?? '',
      ];
    case 'web':
      return [
        'web',
        weakness,
        location.method ?? '',
        templatedUrl(location.url),
        location.param ?? '',
        location.matcher ?? '',
      ];
    case 'package':
      return ['package', record.vulnIds[0] ?? weakness, packageKey(location), location.path ?? ''];
    case 'resource':
      return ['resource', weakness, location.address, location.path ?? ''];
    case 'secret':
      return ['secret', location.hash];
  }
}

/** Findings of other tools with it are of the same weakness in a package of the same name; null: it is no package. */
export const clusterOf = (vulnId: string, location: Location): string | null =>
  location.kind === 'package' ? hashFields(['package', vulnId, packageKey(location).split('/').at(-1) ?? '']) : null;

export interface Keys {
  /** By place: across versions of a tool. */
  readonly place: string;
  /** By the tool's own identity, within the tool. */
  readonly native: string | null;
  /** Equal for two records that say the same twice; 32 bytes, of one report only. */
  readonly exact: string;
  /** Of findings of other tools that may be the same; null: none is told by it. */
  readonly cluster: string | null;
}

export function keysOf(record: FindingRecord, tool: string): Keys {
  const { location } = record;
  const line =
    'line' in location ? `${location.line ?? ''}:${'column' in location ? (location.column ?? '') : ''}` : '';
  const place = hashFields(placeOf(record));
  const native = record.nativeId ?? '';
  return {
    place,
    native: record.nativeId === null ? null : hashFields(['native', tool, record.ruleId, record.nativeId]),
    exact: hash('sha256', `${place}|${line}|${native.length}|${native}|${record.title}`, 'binary'),
    cluster:
      location.kind === 'secret'
        ? hashFields(['secret', location.hash])
        : record.vulnIds[0] === undefined
          ? null
          : clusterOf(record.vulnIds[0], location),
  };
}

/** Of everything that the tables keep of a record: equal means that nothing has changed. */
export const contentHash = (record: FindingRecord): string => hash('sha256', JSON.stringify(record), 'hex');

export type TakenKeys = Readonly<Record<'fingerprint' | 'toolKey', string>> & Pick<Keys, 'cluster'>;

const shortened = (digest: string): string => Buffer.from(digest, 'hex').toString('base64url', 0, 16);

/**
 * Keys within one report: a record that says what another said is a duplicate; one at the same place that says
 * something else (another line, another id of the tool's) is a finding of its own, counted in the order of the file.
 * No two that are taken have a key in common.
 */
export class KeysOfReport {
  /** By sixteen bytes of the hashes: a report has a hundred thousand of them. */
  private readonly places = new Map<string, number>();
  private readonly said = new Set<string>();
  private readonly natives = new Set<string>();
  private readonly tool: string;

  constructor(tool: string) {
    this.tool = tool;
  }

  /** null: said already. `toolKey` names the sighting, `fingerprint` the finding. */
  take(record: FindingRecord): TakenKeys | null {
    const keys = keysOf(record, record.tool ?? this.tool);
    const { exact } = keys;
    const place = shortened(keys.place);
    if (this.said.has(exact)) return null;
    const ordinal = this.places.get(place) ?? 0;
    if (ordinal > 0 && !this.isOfItsOwn(record, keys.native)) return null;
    this.said.add(exact);
    this.places.set(place, ordinal + 1);
    const own = ordinal === 0 ? keys.place : hashFields([keys.place, String(ordinal)]);
    const native = this.takeNative(keys.native);
    return { fingerprint: record.knownAs ?? own, toolKey: native ?? own, cluster: keys.cluster };
  }

  /** Whether another record at the same place is more than the same weakness once more. */
  private isOfItsOwn({ location: { kind } }: FindingRecord, native: string | null): boolean {
    if (kind === 'code') return true;
    return (kind === 'web' || kind === 'resource') && native !== null && !this.natives.has(shortened(native));
  }

  /** An identity that the tool has given twice in one report tells nothing apart: the place has to. */
  private takeNative(native: string | null): string | null {
    if (native === null || this.natives.has(shortened(native))) return null;
    this.natives.add(shortened(native));
    return native;
  }
}
