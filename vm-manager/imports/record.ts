// What every importer makes of a report: one record for each finding, in one shape, with bounded texts.
import type { ListedComponent } from '../components/listed.js';
import type { CvssValue } from '../findings/fields.js';
import type { FixState, Severity, Source } from '../findings/words.js';
import type { Supposed } from './roots/lifts.js';
import type { Looked } from './run/looked-at.js';

export type Location =
  | {
      readonly kind: 'code';
      readonly path: string;
      readonly line?: number;
      readonly end_line?: number;
      readonly column?: number;
      readonly symbol?: string;
      readonly snippet?: string;
      /** Where the snippet begins, if not at `line`: it shows what is around it. */
      readonly snippet_line?: number;
    }
  | {
      readonly kind: 'web';
      readonly url: string;
      readonly method?: string;
      readonly param?: string;
      readonly matcher?: string;
    }
  | {
      readonly kind: 'package';
      readonly name: string;
      readonly version?: string;
      readonly purl?: string;
      readonly path?: string;
    }
  | { readonly kind: 'resource'; readonly address: string; readonly path?: string; readonly line?: number }
  | { readonly kind: 'secret'; readonly path: string; readonly line?: number; readonly hash: string };

export interface FindingRecord {
  readonly title: string;
  readonly description: string;
  readonly severity: Severity;
  /** Why the severity is assumed; absent: the report says it. */
  readonly severityProblem?: string;
  readonly cwes: readonly number[];
  /** CVE first. */
  readonly vulnIds: readonly string[];
  readonly cvss: CvssValue | null;
  readonly source: Source;
  readonly ruleId: string;
  /** A fingerprint that the tool itself calls stable. */
  readonly nativeId: string | null;
  readonly location: Location;
  readonly fix: { readonly state: FixState; readonly version?: string; readonly text?: string };
  readonly references: readonly string[];
  readonly evidence: readonly unknown[];
  readonly tags: readonly string[];
  readonly reachable: boolean | null;
  /** 0.6 (heuristic) to 1.0 (exploited). */
  readonly quality: number;
  /** The report says that somebody has set it aside. */
  readonly suppressed: boolean;
  readonly extra: Readonly<Record<string, unknown>>;
  /** Fingerprint of a finding that is known to be the same; what another tool says of it stays. */
  readonly knownAs?: string;
  /** What the tool itself calls the secret: stored nowhere, and masked in every other text. */
  readonly secrets?: readonly string[];
  /** A secret that its tool has masked is told apart by rule, path and this; its hash is made of them. */
  readonly placed?: string;
  /** What tells it from another one of the same rule at the same place, such as the machine that a row names. */
  readonly apart?: string;
  /** Of a row: its cells that no field is made of. Rows that differ in them are no duplicates. */
  readonly rest?: string;
  /** Of a report that several tools have written; absent: the report's. */
  readonly tool?: string;
}

/** Keys of an earlier path, and what stands behind them where they are stored. */
export interface FormerKeys {
  readonly keys: { readonly fingerprint: string; readonly toolKey: string };
  readonly mark: string;
}
/** Of records that may be stored under an earlier path, in the order of the report. */
export interface Former {
  keysOf(record: FindingRecord, tool: string, enrich: (record: FindingRecord) => FindingRecord): readonly FormerKeys[];
}

/** What the report says beside findings; importers fill it while they read. */
export interface ReportFacts {
  tool: string;
  version: string;
  /** False where the tool did not look at everything: then nothing is closed. */
  complete: boolean;
  /** It never claims to look at everything (VEX, one category of tests): no reason for a gate to stop. */
  isPartial?: boolean;
  /** By its nature it is no scan (VEX, a bill of components alone): by itself it evaluates no commit. */
  isNoScan?: boolean;
  /** Paths that were looked at; null: the report does not list them. */
  inventory: Set<string> | null;
  /** Which hosts, kinds of files or tools it is of; null or absent: the report does not say. */
  looked?: Looked | null;
  /** The image, directory or repository that it is of (run/subject.ts); '': the report does not say. */
  subject?: string;
  /** What releases before this one took for it, where that is another one: its scope is kept where there is one. */
  formerSubject?: string;
  /** The subject is a directory, which may be named in several ways. */
  isDirectory?: boolean;
  /** Of a report that several tools have written, all of them. */
  tools?: readonly string[];
  /** Absolute directories that the report calls its bases, such as `originalUriBaseIds` of SARIF. */
  roots?: readonly string[];
  /** The directory of the checkout, which is no part of the stored paths; null: all paths are relative. */
  root?: string | null;
  /** Of findings that may be stored under an earlier path. */
  former?: Former | null;
  /** Lifts that a preview supposes. */
  supposed?: readonly Supposed[];
  /** When the report says that it was made. */
  scannedAt: Date | null;
  /** What a bill of material lists; null: it is no bill. */
  components: readonly ListedComponent[] | null;
}

/** A record that is not taken, and why. */
export interface Dropped {
  readonly dropped: string;
  /** Where in the report: a JSON pointer, or a line. */
  readonly at: string;
  /** It may be a finding that nobody can name: then the lack of a finding in this report proves nothing. */
  readonly isUnread: boolean;
  /** The tool itself says that it did not read or check something: the report is not complete. */
  readonly isFault?: true;
}
export const unread = (dropped: string, at: string): Dropped => ({ dropped, at, isUnread: true });
/** Understood, and no finding: a check that passed, say. */
export const noFinding = (dropped: string, at: string): Dropped => ({ dropped, at, isUnread: false });

/** `what`: the file, and the tool's own words. */
export const fault = (what: string): Dropped => ({
  dropped: 'the tool could not read or check this',
  at: cut(what.replace(/\s+/g, ' ').trim(), 300),
  isUnread: false,
  isFault: true,
});

export type Item = FindingRecord | Dropped;
export const isDropped = (item: Item): item is Dropped => 'dropped' in item;
/** Some, in the order of the report: a step of an asynchronous loop for each record was a seventh of an import. */
export type Items = readonly Item[];

const isSeveral = (given: Item | Items): given is Items => Array.isArray(given);

/** What a format reads, one by one or many at a time, as many at a time. */
export async function* severalAtOnce(read: AsyncIterable<Item | Items>): AsyncGenerator<Items> {
  for await (const given of read) yield isSeveral(given) ? given : [given];
}

type Needed = Pick<FindingRecord, 'title' | 'severity' | 'source' | 'ruleId' | 'location'>;

/** Each once, in a list of its own; most lists of records have one member or none. */
const unlike = <T>(all: readonly T[]): T[] => (all.length < 2 ? [...all] : [...new Set(all)]);

const isSpaced = /[^\S ]|\s\s|^\s|\s$/;
const oneLine = (text: string): string => (isSpaced.test(text) ? text.replace(/\s+/g, ' ').trim() : text);

/** A record with what is known; texts are cut to what the tables take. */
export function record(given: Needed & Partial<FindingRecord>): FindingRecord {
  const all = blankWith(given);
  all.title = cut(oneLine(all.title) || all.ruleId || 'Untitled', 300);
  all.description = cut(all.description, 20_000);
  all.ruleId = cut(all.ruleId, 300);
  if (all.nativeId !== null) all.nativeId = cut(all.nativeId, 500);
  if (all.vulnIds.length > 0)
    all.vulnIds = unlike(all.vulnIds.map((id) => cut(id.toUpperCase(), 60)))
      .sort(byCveFirst)
      .slice(0, 50);
  if (all.cwes.length > 0) all.cwes = unlike(all.cwes).slice(0, 20);
  if (all.references.length > 0)
    all.references = unlike(all.references.filter((link) => /^https?:\/\//i.test(link)))
      .slice(0, 50)
      .map((one) => cut(one, 2000));
  if (all.tags.length > 0) all.tags = unlike(all.tags.map((tag) => cut(tag, 60))).slice(0, 50);
  if (all.evidence.length > 0) all.evidence = all.evidence.slice(0, 20);
  all.location = cutLocation(all.location);
  return all;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * With what the importer leaves out. One literal, so that all records have one shape: spreads of spreads were a seventh
 * of what an import of SARIF took. The order of the members is part of the hash of a record: it stays.
 */
function blankWith(given: Needed & Partial<FindingRecord>): Writable<FindingRecord> {
  const all: Writable<FindingRecord> = {
    description: given.description ?? '',
    cwes: given.cwes ?? [],
    vulnIds: given.vulnIds ?? [],
    cvss: given.cvss ?? null,
    nativeId: given.nativeId ?? null,
    fix: given.fix ?? { state: 'unknown' },
    references: given.references ?? [],
    evidence: given.evidence ?? [],
    tags: given.tags ?? [],
    reachable: given.reachable ?? null,
    quality: given.quality ?? 0.7,
    suppressed: given.suppressed ?? false,
    extra: given.extra ?? {},
    title: given.title,
    severity: given.severity,
    source: given.source,
    ruleId: given.ruleId,
    location: given.location,
  };
  if (given.severityProblem !== undefined) all.severityProblem = given.severityProblem;
  if (given.knownAs !== undefined) all.knownAs = given.knownAs;
  if (given.secrets !== undefined) all.secrets = given.secrets;
  if (given.placed !== undefined) all.placed = given.placed;
  if (given.apart !== undefined) all.apart = given.apart;
  if (given.rest !== undefined) all.rest = given.rest;
  if (given.tool !== undefined) all.tool = given.tool;
  return all;
}

/** What most reports call a vulnerability stands first, as it tells findings apart. */
const rankOfId = (id: string): number => (id.startsWith('CVE-') ? 0 : id.startsWith('GHSA-') ? 1 : 2);
const byCveFirst = (left: string, right: string): number =>
  rankOfId(left) - rankOfId(right) || (left < right ? -1 : left > right ? 1 : 0);

const isOdd = /[\0\ud800-\udfff]/;

/** At most so many characters, with a mark where something is missing; without what no column takes. */
export function cut(text: string, most: number): string {
  if (text.length <= most && !isOdd.test(text)) return text;
  const clean = text
    .replace(/\0/g, '')
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
  if (clean.length <= most) return clean;
  return `${clean.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function cutLocation(location: Location): Location {
  const made: Record<string, unknown> = {};
  for (const name of Object.keys(location)) {
    const value: unknown = location[name as keyof Location];
    if (value === undefined) continue;
    made[name] = typeof value === 'string' ? cut(value, name === 'snippet' ? 1000 : 1500) : value;
  }
  return made as unknown as Location;
}

/** One line for people. */
export function showLocation(location: Location): string {
  const line = (at?: number): string => (at === undefined ? '' : `:${at}`);
  switch (location.kind) {
    case 'code':
    case 'secret':
      return `${location.path}${line(location.line)}`;
    case 'web':
      return [location.method, location.url, location.param === undefined ? '' : `[${location.param}]`]
        .filter(Boolean)
        .join(' ');
    case 'package':
      return (
        location.name +
        (location.version === undefined ? '' : `@${location.version}`) +
        (location.path === undefined ? '' : ` (${location.path})`)
      );
    case 'resource':
      return location.path === undefined
        ? location.address
        : `${location.address} (${location.path}${line(location.line)})`;
  }
}
