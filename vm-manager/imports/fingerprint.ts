// What makes two findings one. Fields are written with their lengths before they are hashed, so that ("ab", "c") and
// ("a", "bc") differ. Never in it: severity, texts, dates, line numbers, versions of tools: those change while the
// weakness stays.
import { severityNames } from '../findings/words.js';
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

/** By place: across versions of a tool. */
export const placeKey = (record: FindingRecord): string => hashFields(placeOf(record));

/** Of everything that the tables keep of a record: equal means that nothing has changed. */
export const contentHash = (record: FindingRecord): string => hash('sha256', JSON.stringify(record), 'hex');

/** Of a record that is taken; asked for when something is looked up by them, as a digest costs three look-ups. */
export interface TakenKeys {
  /** Of the finding. */
  readonly fingerprint: string;
  /** Of the sighting: by the tool's own identity, within the tool, else of the finding. */
  readonly toolKey: string;
  /** Of findings of other tools that may be the same; null: none is told by it. */
  readonly cluster: string | null;
}

class RecordKeys implements TakenKeys {
  private readonly record: FindingRecord;
  private readonly place: readonly string[];
  /** Records at the same place before it. */
  private readonly ordinal: number;
  private readonly native: readonly string[] | null;
  private ownPlace: string | undefined;

  constructor(record: FindingRecord, place: readonly string[], ordinal: number, native: readonly string[] | null) {
    [this.record, this.place, this.ordinal, this.native] = [record, place, ordinal, native];
  }

  get fingerprint(): string {
    return this.record.knownAs ?? this.ofPlace;
  }
  get toolKey(): string {
    return this.native === null ? this.ofPlace : hashFields(this.native);
  }
  get cluster(): string | null {
    const { location, vulnIds } = this.record;
    if (location.kind === 'secret') return hashFields(['secret', location.hash]);
    return vulnIds[0] === undefined ? null : clusterOf(vulnIds[0], location);
  }
  private get ofPlace(): string {
    return (this.ownPlace ??= this.makePlace());
  }
  private makePlace(): string {
    const first = hashFields(this.place);
    return this.ordinal === 0 ? first : hashFields([first, String(this.ordinal)]);
  }
}

/** A report has a hundred thousand of them in memory. */
const nameMax = 300;

/** Equal for the same fields and for no others, within one process: most are short and stand for themselves. */
function nameOf(fields: readonly string[]): string {
  let name = '';
  for (const field of fields) name += `${field.length}:${field}`;
  return shortName(name);
}
/** `name` begins with a digit. */
const shortName = (name: string): string => (name.length <= nameMax ? name : `#${hash('sha256', name, 'base64')}`);

function lineOf(location: Location): string {
  if (!('line' in location)) return '';
  return `${location.line ?? ''}:${'column' in location ? (location.column ?? '') : ''}`;
}

const apartFields = (fields: readonly string[], apart: string, before: number): readonly string[] => [
  ...fields,
  'apart',
  apart,
  String(before),
];

/** A record that was taken, for a later one that says the same: what its keys are made of beside the place. */
interface Slot {
  rank: number;
  readonly ordinal: number;
  readonly isNew: boolean;
  /** What its tool key is made of: the tool's id, or which one of those with the same `apart` it is. */
  readonly native: string | null;
  readonly apart: number | null;
}

/** What the gate and people would miss most comes last; a record that was set aside is no finding at all. */
const rankOf = ({ suppressed, severity }: FindingRecord): number =>
  suppressed ? 0 : 1 + severityNames.indexOf(severity);

/** `again`: a record before it said the same and was set aside (`open`), or less grave (`graver`). */
export interface Taken {
  readonly keys: TakenKeys;
  readonly again: 'open' | 'graver' | null;
  /** The same for all records that say the same. */
  readonly slot: object;
}

/**
 * Keys within one report: a record that says what another said is a duplicate; one at the same place that says
 * something else (another line, another id of the tool's) is a finding of its own, counted in the order of the file.
 * Of duplicates the gravest counts that is not set aside: it is taken again, with the keys of the first. No two others
 * that are taken have a key in common.
 */
export class KeysOfReport {
  /** Of each place its number. */
  private readonly places = new Map<string, number>();
  /** Of each place the records that were taken. */
  private readonly counts: number[] = [];
  private readonly said = new Map<string, Slot>();
  /** Of each place the first record. */
  private readonly firsts: Slot[] = [];
  private readonly natives = new Set<string>();
  /** Of each place and what tells apart there, the records that were taken. */
  private readonly aparts = new Map<string, number>();
  private readonly tool: string;

  constructor(tool: string) {
    this.tool = tool;
  }

  /** null: said already, and no less grave. */
  take(record: FindingRecord): Taken | null {
    const { nativeId, location, title } = record;
    const fields = placeOf(record);
    const name = nameOf(fields);
    const place = this.places.get(name) ?? this.counts.length;
    const native = record.apart === undefined ? (nativeId ?? '') : `${nativeId ?? ''} ${record.apart}`;
    const rest = record.rest ?? '';
    const exact = shortName(`${place}|${lineOf(location)}|${native.length}|${native}|${rest}|${title}`);
    const same = this.said.get(exact);
    if (same !== undefined) return this.again(record, fields, same);
    const ordinal = this.counts[place] ?? 0;
    const ofTool = nativeId === null ? null : ['native', record.tool ?? this.tool, record.ruleId, nativeId];
    const named = ofTool === null ? null : nameOf(ofTool);
    const apart = this.apartOf(record, place, fields);
    if (ordinal > 0 && apart === null && rest === '' && !this.isOfItsOwn(record, named))
      return this.again(record, fields, this.firsts[place]);
    if (ordinal === 0) this.places.set(name, place);
    this.counts[place] = ordinal + 1;
    // a file has had several findings of one rule before a row's machine was read: those keep their keys
    const isNew = ordinal > 0 && location.kind !== 'code' && apart !== null;
    const own = this.isTaken(named) ? null : nativeId;
    const slot = {
      rank: rankOf(record),
      ordinal,
      isNew,
      native: own,
      apart: apart === null ? null : Number(apart.at(-1)),
    };
    this.said.set(exact, slot);
    if (ordinal === 0) this.firsts[place] = slot;
    return { keys: this.keysOf(record, fields, slot), again: null, slot };
  }

  private again(record: FindingRecord, fields: readonly string[], slot: Slot | undefined): Taken | null {
    const rank = rankOf(record);
    if (slot === undefined || rank <= slot.rank) return null;
    const again = slot.rank === 0 ? 'open' : 'graver';
    slot.rank = rank;
    return { keys: this.keysOf(record, fields, slot), again, slot };
  }

  private keysOf(
    record: FindingRecord,
    fields: readonly string[],
    { ordinal, isNew, native, apart }: Slot,
  ): RecordKeys {
    const ofApart = apart === null ? null : apartFields(fields, record.apart ?? '', apart);
    const ofTool = native === null ? null : ['native', record.tool ?? this.tool, record.ruleId, native];
    return new RecordKeys(record, isNew ? (ofApart ?? fields) : fields, isNew ? 0 : ordinal, ofTool ?? ofApart);
  }

  /** Of a record that something tells apart: its place with that, and which one there it is; null: nothing does. */
  private apartOf({ apart }: FindingRecord, place: number, fields: readonly string[]): readonly string[] | null {
    if (apart === undefined) return null;
    const name = `${place}|${apart}`;
    const before = this.aparts.get(name) ?? 0;
    this.aparts.set(name, before + 1);
    return apartFields(fields, apart, before);
  }

  /** Whether another record at the same place is more than the same weakness once more. */
  private isOfItsOwn({ location: { kind } }: FindingRecord, native: string | null): boolean {
    if (kind === 'code') return true;
    return (kind === 'web' || kind === 'resource') && native !== null && !this.natives.has(native);
  }

  /** An identity that the tool has given twice in one report tells nothing apart: the place has to. */
  private isTaken(native: string | null): boolean {
    if (native === null || this.natives.has(native)) return true;
    this.natives.add(native);
    return false;
  }
}
