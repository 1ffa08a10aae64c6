// One weakness of one package, told by several tools: a bill of material names a package, a scanner also the file that
// asked for it, and each calls the weakness by another of its ids. Such a record is one more sighting of the finding
// that is there. The same package is the same last name of its purl, or of itself; the same weakness is one id in
// common, aliases of the advisories that are known here counted in.
import { json, type Queryable, type Tx } from '../database.js';
import type { Status } from '../findings/words.js';
import { groupBy } from '../kit/values/group-by.js';
import { packageKey, templatedUrl } from './fingerprint.js';
import type { FindingRecord, Location } from './record.js';

type PackageLocation = Extract<Location, { kind: 'package' }>;
interface Prepared {
  readonly record: FindingRecord;
  /** Of the record; the other texts are masked when they are asked for. */
  readonly ruleId: string;
  readonly kind: Location['kind'];
}
interface Scope {
  readonly applicationId: number;
  readonly family: string;
  /** Of the report. */
  readonly tool?: string;
  /** Rules with findings that another format has told of (`rulesElsewhere`); absent: any may have some. */
  readonly rulesElsewhere?: ReadonlySet<string>;
}

/** A finding of a package that shares an id with some record. */
export interface Candidate {
  readonly finding_id: number;
  readonly status: Status;
  readonly is_open: boolean;
  readonly vuln_ids: readonly string[];
  /** Of the finding and of each of its sightings. */
  readonly places: readonly (Location | null)[];
  readonly tool?: string;
  readonly cwes?: readonly number[];
  readonly fix_state?: string;
}

/** Another format of the same tool that says more: what it says counts, as its SARIF leaves out much. */
export const knowsMore = (
  record: FindingRecord,
  reportTool: string,
  { tool, cwes, fix_state: fix }: Candidate,
): boolean =>
  tool === (record.tool ?? reportTool) &&
  ((cwes?.length === 0 && record.cwes.length > 0) || (fix === 'unknown' && record.fix.state !== 'unknown'));

interface Advisory {
  readonly id: string;
  readonly aliases: readonly string[];
}

export const packageName = (location: PackageLocation): string => packageKey(location).split('/').at(-1) ?? '';
/** Empty: it says no version. */
function versionedPurl({ purl = '' }: PackageLocation): string {
  const plain = purl.replace(/[?#].*$/, '').toLowerCase();
  return /[^/]@[^/@]+$/.test(plain) ? plain : '';
}

/**
 * Of packages of an operating system the path is an image, and each format of Trivy spells it otherwise:
 * `reg.example/library/debian:12 (debian 12.1)` and `library/debian` are `debian`. Other paths stay.
 */
export function ofImage(path: string): string {
  const isNamed = / \([\w .-]{1,60}\)$/.test(path);
  if (!isNamed && !/^library\/[\w.-]+$/.test(path)) return path;
  const name = path.replace(/ \([^()]*\)$/, '').replace(/@sha256:[0-9a-f]+$/i, '');
  const parts = name.replace(/:[^/:]*$/, '').split('/');
  if (parts.length > 1 && /[.:]|^localhost$/.test(parts[0] ?? '')) parts.shift();
  if (parts[0] === 'library') parts.shift();
  return parts.join('/');
}

/**
 * How well the places of a finding go with that of a record: 3 the same path, 2 one of them has none, 1 other paths
 * with the same versioned purl, 0 not at all: two manifests are fixed one by one.
 */
export function fitOf(location: PackageLocation, places: Candidate['places']): number {
  const known = places.filter((one) => one?.kind === 'package');
  if (!known.some((one) => packageName(one) === packageName(location))) return 0;
  const paths = new Set(known.flatMap(({ path }) => (path === undefined || path === '' ? [] : [ofImage(path)])));
  const path = ofImage(location.path ?? '');
  if (path !== '' && paths.has(path)) return 3;
  if (path === '' || paths.size === 0) return 2;
  const purl = versionedPurl(location);
  return purl !== '' && known.some((one) => versionedPurl(one) === purl) ? 1 : 0;
}

/** The ids and their aliases, in capitals as findings have them. */
export function withAliases(ids: readonly string[], advisories: readonly Advisory[]): ReadonlySet<string> {
  const found = new Set(ids);
  for (const { id, aliases } of advisories) {
    const names = [id, ...aliases].map((name) => name.toUpperCase());
    if (names.some((name) => ids.includes(name))) for (const name of names) found.add(name);
  }
  return found;
}

interface Pair<One> {
  readonly prepared: One;
  readonly candidate: Candidate;
  readonly fit: number;
}

/**
 * Each record with the candidate that it is a sighting of: the best places first, then what is open, then the oldest
 * finding, then the order of the report. A finding is given to one record.
 */
export function assign<One extends Pick<Prepared, 'record'>>(
  records: readonly One[],
  candidates: readonly Candidate[],
  advisories: readonly Advisory[],
): ReadonlyMap<One, Candidate> {
  const byName = groupBy(
    candidates.flatMap((one) => namesOf(one).map((name) => [name, one] as const)),
    ([name]) => name,
  );
  const pairs: Pair<One>[] = [];
  for (const prepared of records) {
    const { location, vulnIds } = prepared.record;
    if (location.kind !== 'package' || vulnIds.length === 0) continue;
    const ids = withAliases(vulnIds, advisories);
    for (const [, candidate] of byName.get(packageName(location)) ?? []) {
      const fit = candidate.vuln_ids.some((id) => ids.has(id)) ? fitOf(location, candidate.places) : 0;
      if (fit > 0) pairs.push({ prepared, candidate, fit });
    }
  }
  pairs.sort(
    (left, right) =>
      right.fit - left.fit ||
      Number(right.candidate.is_open) - Number(left.candidate.is_open) ||
      left.candidate.finding_id - right.candidate.finding_id,
  );
  const found = new Map<One, Candidate>();
  const taken = new Set<Candidate>();
  for (const { prepared, candidate } of pairs) {
    if (found.has(prepared) || taken.has(candidate)) continue;
    found.set(prepared, candidate);
    taken.add(candidate);
  }
  return found;
}

const namesOf = ({ places }: Candidate): string[] => [
  ...new Set(places.flatMap((one) => (one?.kind === 'package' ? [packageName(one)] : []))),
];

const textsOf = (tx: Tx, ids: Iterable<string>) =>
  tx`array(select jsonb_array_elements_text(${json(tx, [...ids])}::jsonb))`;

async function readAdvisories(tx: Tx, ids: readonly string[]): Promise<Advisory[]> {
  return tx<Advisory[]>`select id, aliases from vm_osv where id in ${tx(ids)} or aliases ?| ${textsOf(tx, ids)}`;
}

/** Findings that no scope of the tool has seen: what it has seen under another key is another place of its own. */
async function readCandidates(tx: Tx, scope: Scope, ids: Iterable<string>): Promise<Candidate[]> {
  return tx<Candidate[]>`
    select f.id as finding_id, f.status, f.is_open, f.vuln_ids, f.tool, f.cwes, f.fix_state,
      jsonb_build_array(d.location) || coalesce((select jsonb_agg(o.location) from vm_occurrences o
        where o.finding_id = f.id), '[]') as places
    from vm_findings f join vm_finding_details d on d.finding_id = f.id
    where f.application_id = ${scope.applicationId} and f.vuln_ids ?| ${textsOf(tx, ids)} and f.status <> 'duplicate'
      and not exists (select 1 from vm_occurrences o where o.finding_id = f.id
        and starts_with(o.scope_key, ${scope.family}))`;
}

/**
 * Which of the records, that have no finding of their own, are of one that another scope has made. Each finding is
 * given to one record of an import: `taken` are those that records of it have already, and is added to.
 */
export async function recogniseOthers<One extends Prepared>(
  tx: Tx,
  scope: Scope,
  unknown: readonly One[],
  taken: Set<number>,
): Promise<ReadonlyMap<One, Candidate>> {
  const samePlace = await recognisePlaces(tx, scope, unknown, taken);
  const wanted = unknown.filter(
    (one) => one.kind === 'package' && one.record.vulnIds.length > 0 && !samePlace.has(one),
  );
  if (wanted.length === 0) return samePlace;
  const ids = [...new Set(wanted.flatMap(({ record }) => record.vulnIds))];
  const advisories = await readAdvisories(tx, ids);
  const candidates = await readCandidates(tx, scope, withAliases(ids, advisories));
  const free = candidates.filter(({ finding_id: id }) => !taken.has(id));
  const found = assign(wanted, free, advisories);
  for (const { finding_id: id } of found.values()) taken.add(id);
  return new Map([...samePlace, ...found]);
}

/** ZAP's own formats tell variants of an alert apart (`40018-1`), its SARIF does not. */
const alertOf = (rule: string): string => rule.replace(/^(\d{1,6})-\d{1,3}$/, '$1');

const placeOf = (rule: string, location: Location | null): string | null => {
  if (location === null || rule === '') return null;
  if (location.kind === 'web') return JSON.stringify([alertOf(rule), 'web', templatedUrl(location.url)]);
  return !('path' in location) || !('line' in location) || location.line === undefined
    ? null
    : JSON.stringify([rule, location.path, location.line]);
};

/** One format of a scanner has no parameter, no matcher or no method; what both have must be the same. */
function agree(left: Location, right: Location): boolean {
  if (left.kind !== 'web' || right.kind !== 'web') return true;
  return (['method', 'param', 'matcher'] as const).every((name) => {
    const [one = '', other = ''] = [left[name], right[name]];
    return one === '' || other === '' || one === other;
  });
}

const isOfOtherFormats = (tx: Queryable, scope: Scope) => tx`
  f.application_id = ${scope.applicationId} and f.status <> 'duplicate'
    and not exists (select 1 from vm_occurrences o where o.finding_id = f.id
      and split_part(o.scope_key, '|', 2) = split_part(${scope.family}, '|', 2))`;

/**
 * Of the findings that a record may be recognised by, the rules. Who sorts many records while nothing is written asks
 * once, and then for the places of these rules alone: most applications have each rule in one format.
 */
export async function rulesElsewhere(tx: Queryable, scope: Scope): Promise<ReadonlySet<string>> {
  const rows = await tx<{ rule_id: string }[]>`
    select distinct f.rule_id from vm_findings f where f.rule_id <> '' and ${isOfOtherFormats(tx, scope)}`;
  return new Set(rows.map((row) => alertOf(row.rule_id)));
}

/**
 * Records of a rule at a line where another format of the same tool has told of it: one format has the text of the line
 * or the name of a resource and the other has not. Other branches of the same format do not count: there the same line
 * may be another weakness, and the gate has to see it as new.
 */
async function recognisePlaces<One extends Prepared>(
  tx: Tx,
  scope: Scope,
  unknown: readonly One[],
  taken: Set<number>,
): Promise<ReadonlyMap<One, Candidate>> {
  const { rulesElsewhere: wanted } = scope;
  const named = unknown.filter(
    (one) => (wanted?.has(alertOf(one.ruleId)) ?? true) && placeOf(one.ruleId, one.record.location) !== null,
  );
  const found = new Map<One, Candidate>();
  if (named.length === 0) return found;
  const rules = [...new Set(named.map(({ record }) => alertOf(record.ruleId)))];
  const rows = await tx<(Candidate & { rule_id: string; tool: string; location: Location })[]>`
    select f.id as finding_id, f.status, f.is_open, f.vuln_ids, '[]'::jsonb as places, f.rule_id,
      f.tool, f.cwes, f.fix_state, d.location
    from vm_findings f join vm_finding_details d on d.finding_id = f.id
    where regexp_replace(f.rule_id, '^(\\d{1,6})-\\d{1,3}$', '\\1') in ${tx(rules)}
      and ${isOfOtherFormats(tx, scope)} order by f.id`;
  const byPlace = groupBy(rows, (row) => placeOf(row.rule_id, row.location) ?? '');
  for (const one of named) {
    const { record } = one;
    const same = byPlace
      .get(placeOf(record.ruleId, record.location) ?? '')
      ?.find(
        (row) =>
          !taken.has(row.finding_id) &&
          row.tool === (record.tool ?? scope.tool) &&
          agree(row.location, record.location),
      );
    if (same === undefined) continue;
    found.set(one, same);
    taken.add(same.finding_id);
  }
  return found;
}
