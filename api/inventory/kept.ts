// What is kept of a batch: names, kinds and keyed hashes. Paths, names of parameters and ids of requests come from
// whoever sends requests, and people put e-mail addresses, card numbers and tokens into them. A segment that holds such
// a value stands as its kind (`/users/{email}`), as those do of which a worker keeps only the shape. Credentials and
// card numbers go in any case; with `privacy_mode` also personal data, whatever looks random, and, once a place of
// paths has turned out to hold values, all that stands there. Which objects a path asked for is kept as keyed hashes,
// so that findings of abuse do not depend on it.
import { createHmac } from 'node:crypto';
import {
  isData,
  isNamedSecret,
  maskText,
  objectHash,
  objectsOfPath,
  segmentKind,
  segmentsOf,
  type Counts,
  type MaskLevel,
  type NestedCounts,
  type Observation,
  type ObservationBatch,
  type Relation,
  type SegmentKind,
  type Sighting,
  type ViaObject,
} from '#proxy/contract';
import type { TemplateNode } from './templates/learn.js';
import { matchTemplate } from './templates/match.js';

export interface KeptObject {
  readonly noun: string;
  readonly label: string;
  /** Keyed hash of the id. */
  readonly object: string;
}

export interface KeptSighting extends Sighting {
  /** The objects of the path as it came; absent: the path still says them. */
  readonly objects?: readonly KeptObject[] | undefined;
}

export interface KeptBatch {
  readonly observations: readonly Observation[];
  readonly sightings: readonly KeptSighting[];
  readonly relations: readonly Relation[];
}

export interface Keeping {
  readonly level: MaskLevel;
  /** Of keyed hashes; the one that nodes have. */
  readonly key: Uint8Array;
  /** The templates of a site as they were learned last; null: not yet. */
  readonly treeOf: (site: string) => TemplateNode | null;
}

/** Shorter texts hold nothing that is looked for. */
const charsMin = 6;
/** So many digits are telephone numbers and national ids, not numbers of orders. */
const digitsMin = 9;

/** One pass of percent-decoding of ASCII; what was encoded twice is looked at twice. */
const decoded = (text: string): string =>
  text.replace(/%([0-7][0-9A-Fa-f])/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Whether a text shows a secret or, at the level `personal`, somebody's data by its form. */
export function showsValue(text: string, level: MaskLevel): boolean {
  if (text.length < charsMin) return false;
  for (let form = text, left = 3; left > 0; left -= 1) {
    if (maskText(form, level) !== form) return true;
    const next = form.includes('%') ? decoded(form) : form;
    if (next === form) return false;
    form = next;
  }
  return true;
}

const digitsOf = (text: string): number => text.replace(/\D/g, '').length;
const shortNumbered = /^[A-Za-z]{1,8}[-_]\d{1,8}$/;
const customMethod = /^[$@!]?[A-Za-z]{2,40}(?::[A-Za-z]{2,40})?$/;

/** Whether a value may be somebody's, by its kind alone: what is random may be a token, long numbers are people's. */
function isSomebodys(text: string, kind: SegmentKind): boolean {
  switch (kind) {
    case 'email':
    case 'token':
    case 'hex':
    case 'snowflake':
      return true;
    case 'prefixed':
      return !shortNumbered.test(text);
    case 'other':
      return !customMethod.test(text);
    case 'integer':
    case 'decimal':
    case 'slug':
      return digitsOf(text) >= digitsMin;
    default:
      return false;
  }
}

const opaque: ReadonlySet<SegmentKind> = new Set([
  ...(['uuid', 'ulid', 'objectid', 'snowflake', 'hex', 'token', 'prefixed', 'other', 'email'] as const),
]);
const plainNumbers: ReadonlySet<SegmentKind> = new Set(['integer', 'decimal', 'date', 'year']);

/** What stands behind `/sessions/` or, at the level `personal`, `/phones/`: names of values, as of parameters. */
function isNamed(kind: SegmentKind, text: string, previous: string, level: MaskLevel): boolean {
  if (previous === '' || previous.startsWith('{')) return false;
  const name = previous.replace(/s$/, '');
  if (opaque.has(kind)) return isNamedSecret(name, level);
  if (level === 'secrets') return false;
  const isValue = plainNumbers.has(kind) || (kind === 'slug' && /\d/.test(text));
  return isValue && isNamedSecret(name, level);
}

const shaped = (kind: SegmentKind): string => `{${isData(kind) ? kind : 'other'}}`;

/** A path in the form of observations (normalPath), with the kinds of what must not be kept in its place. */
export function keptPath(path: string, level: MaskLevel): string {
  let previous = '';
  let isChanged = false;
  const kept = path.split('/').map((segment) => {
    const before = previous;
    previous = segment;
    if (segment === '' || segment.startsWith('{')) return segment;
    const kind = segmentKind(segment);
    const isKept =
      !showsValue(segment, level) &&
      !isNamed(kind, segment, before, level) &&
      (level === 'secrets' || !isSomebodys(segment, kind));
    if (isKept) return segment;
    isChanged = true;
    return shaped(kind);
  });
  return isChanged ? kept.join('/') : path;
}

/** The same with values left out wherever the site's templates have a parameter. */
export function withoutValues(path: string, tree: TemplateNode | null): string {
  const segments = segmentsOf(path);
  const match = tree === null ? null : matchTemplate(tree, segments);
  if (match === null || match.parameters.length === 0) return path;
  const places = segmentsOf(match.template);
  const kept = segments.map((segment, at) => {
    const isValue = places[at]?.startsWith('{') === true && !segment.startsWith('{');
    return isValue ? `{${segmentKind(segment)}}` : segment;
  });
  return `/${kept.join('/')}`;
}

/** A name of a parameter, a member or an operation, a pointer (RFC 6901), or either behind `query:` and the like. */
export function keptName(name: string, level: MaskLevel): string {
  if (name.length < charsMin) return name;
  const head = /^(?:query|body|request|response):/.exec(name)?.[0] ?? '';
  const parts = name.slice(head.length).split('/');
  const kept = parts.map((part) => (isKeptName(part, level) ? part : shaped(segmentKind(part))));
  return head + kept.join('/');
}

function isKeptName(part: string, level: MaskLevel): boolean {
  if (part.length < charsMin || part.startsWith('{')) return true;
  if (showsValue(part, level)) return false;
  if (level === 'secrets') return true;
  const kind = segmentKind(part);
  if (kind === 'email' || kind === 'hex' || kind === 'snowflake') return false;
  // Names of members have brackets, dots and changes of case that make other kinds of them.
  return digitsOf(part) < digitsMin;
}

const mediaType = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;
/** Types are told in lower case, in which tokens are no longer what masks know. */
const tokenInType = /eyj[\w-]{8,}\.|(?:akia|asia|aiza|gh[pousr]_|xox[abeprs]-)[\w-]{10,}/;
const keptType = (type: string, level: MaskLevel): string =>
  mediaType.test(type) && !showsValue(type, level) && !tokenInType.test(type) ? type : 'other/other';

/** The id of a request or a record, by which people find it again; one with a value in it stands as a keyed hash. */
export function keptId(id: string, { level, key }: Pick<Keeping, 'level' | 'key'>): string {
  return id !== '' && showsValue(id, level) ? `masked-${hashOfId(key, id)}` : id;
}

/** A name that a record gives to a host or a workload, of which the form stays as far as it may be kept. */
export function keptText(text: string, { level, key }: Pick<Keeping, 'level' | 'key'>): string {
  const masked = maskText(text, level);
  return showsValue(masked, level) ? `masked-${hashOfId(key, text)}` : masked;
}

/** 132 bits of HMAC-SHA-256 (RFC 2104): equal for equal ids, and nobody can try values against it. */
export const hashOfId = (key: Uint8Array, id: string): string =>
  createHmac('sha256', key).update(`id\0${id}`, 'utf8').digest('base64url').slice(0, 22);

function renamed(counts: Counts, nameOf: (name: string) => string): Counts {
  if (isSame(counts, nameOf)) return counts;
  const sum = new Map<string, number>();
  for (const [name, count] of Object.entries(counts)) {
    const kept = nameOf(name);
    sum.set(kept, (sum.get(kept) ?? 0) + count);
  }
  return Object.fromEntries(sum);
}

/** Whether every name stays: then nothing is made anew, which is how nearly all of a batch is. */
function isSame(counts: Counts | NestedCounts, nameOf: (name: string) => string): boolean {
  for (const name in counts) if (nameOf(name) !== name) return false;
  return true;
}

function renamedNested(counts: NestedCounts, level: MaskLevel): NestedCounts {
  if (isSame(counts, (name) => keptName(name, level))) return counts;
  const sum = new Map<string, Counts>();
  for (const [name, inner] of Object.entries(counts)) {
    const kept = keptName(name, level);
    const before = sum.get(kept);
    sum.set(kept, before === undefined ? inner : addAll(before, inner));
  }
  return Object.fromEntries(sum);
}

const addAll = (one: Counts, other: Counts): Counts => {
  const sum = new Map(Object.entries(one));
  for (const [name, count] of Object.entries(other)) sum.set(name, (sum.get(name) ?? 0) + count);
  return Object.fromEntries(sum);
};

type Names = Pick<Observation, 'parameters' | 'pii' | 'request_types' | 'response_types'>;

/** The names among the sums of an observation or a cell. */
export function keptNames<T extends Names>(sums: T, level: MaskLevel): T {
  const typeOf = (type: string): string => keptType(type, level);
  const parameters = renamedNested(sums.parameters, level);
  const pii = renamedNested(sums.pii, level);
  const request_types = renamed(sums.request_types, typeOf);
  const response_types = renamed(sums.response_types, typeOf);
  const isKept =
    parameters === sums.parameters &&
    pii === sums.pii &&
    request_types === sums.request_types &&
    response_types === sums.response_types;
  return isKept ? sums : { ...sums, parameters, pii, request_types, response_types };
}

const keptMethod = (method: string, level: MaskLevel): string => (showsValue(method, level) ? 'OTHER' : method);

function keptSighting(sighting: Sighting, path: string, keeping: Keeping): KeptSighting {
  const { level, key } = keeping;
  const { queried, polluted } = sighting;
  const isSame = path === sighting.path || sighting.path.includes('/{');
  const objects = isSame
    ? undefined
    : objectsOfPath(sighting.path).map((id) => ({
        noun: keptName(id.noun, level),
        label: keptName(id.label, level),
        object: objectHash(key, id),
      }));
  // One literal: an object that is made of others member by member costs several microseconds, once a record.
  return {
    site: sighting.site,
    method: keptMethod(sighting.method, level),
    path,
    principal: sighting.principal,
    credential: sighting.credential,
    client_ip: sighting.client_ip,
    first_ms: sighting.first_ms,
    last_ms: sighting.last_ms,
    ok: sighting.ok,
    denied: sighting.denied,
    failed: sighting.failed,
    request_id: keptId(sighting.request_id, keeping),
    accounts: sighting.accounts,
    admitted: sighting.admitted,
    passwords: sighting.passwords,
    queried: queried?.map((one) => ({
      noun: keptName(one.noun, level),
      object: one.object,
      request_id: keptId(one.request_id, keeping),
    })),
    distinct: sighting.distinct,
    polluted: polluted === null ? null : keptName(polluted, level),
    objects,
    role: sighting.role,
  };
}

const keptObject = ({ noun, label, object }: ViaObject, level: MaskLevel): ViaObject => ({
  ...{ noun: keptName(noun, level), label: keptName(label, level), object },
});

function keptRelation(relation: Relation, keeping: Keeping): Relation {
  const { noun, label, via } = relation;
  return {
    ...relation,
    request_id: keptId(relation.request_id, keeping),
    ...(noun === undefined ? {} : { noun: keptName(noun, keeping.level) }),
    ...(label === undefined ? {} : { label: keptName(label, keeping.level) }),
    ...(via === undefined ? {} : { via: via.map((one) => keptObject(one, keeping.level)) }),
  };
}

/** What of a batch may be stored. Pure; the cost is some microseconds a path. */
export function keptBatch(
  { observations, sightings, relations }: Pick<ObservationBatch, 'observations' | 'sightings' | 'relations'>,
  keeping: Keeping,
): KeptBatch {
  const { level, treeOf } = keeping;
  const known = new Map<string, string>();
  const pathOf = (site: string, path: string): string => {
    const place = `${site}\0${path}`;
    const before = known.get(place);
    if (before !== undefined) return before;
    const masked = keptPath(path, level);
    const kept = level === 'personal' ? withoutValues(masked, treeOf(site)) : masked;
    known.set(place, kept);
    return kept;
  };
  return {
    observations: observations.map((one) => {
      const named = keptNames(one, level);
      const method = keptMethod(one.method, level);
      const path = pathOf(one.site, one.path);
      return method === one.method && path === one.path ? named : { ...named, method, path };
    }),
    sightings: sightings.map((one) => keptSighting(one, pathOf(one.site, one.path), keeping)),
    relations: relations.map((one) => keptRelation(one, keeping)),
  };
}
