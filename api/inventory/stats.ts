// The sums of an observation, as they are stored and added up. Every map has a bound: names come from whoever sends
// requests.
import type {
  CredentialCounts,
  CredentialKind,
  Counts,
  NestedCounts,
  Observation,
  ObservationSource,
} from '#proxy/contract';

export interface Stats {
  readonly count: number;
  readonly statuses: Counts;
  readonly credentials: CredentialCounts;
  readonly clients: Counts;
  readonly sources: Counts;
  readonly parameters: NestedCounts;
  readonly request_types: Counts;
  readonly response_types: Counts;
  readonly pii: NestedCounts;
  readonly request_bytes: number;
  readonly response_bytes: number;
  readonly latency_us: number;
  readonly latency_us_max: number;
}

const entriesMax = 40;
const parametersMax = 200;
const kindsMax = 10;

/** Of an endpoint that nobody asked yet. */
export const emptyStats: Stats = {
  count: 0,
  statuses: {},
  credentials: {},
  clients: {},
  sources: {},
  parameters: {},
  request_types: {},
  response_types: {},
  pii: {},
  request_bytes: 0,
  response_bytes: 0,
  latency_us: 0,
  latency_us_max: 0,
};

/** No `u`: halves of surrogate pairs match also within whole ones, which the replacement tells apart. */
const unstorable = /[\0\ud800-\udfff]/;
/** NUL and halves of surrogate pairs, which no text of PostgreSQL has. */
export const storable = (text: string): string =>
  unstorable.test(text) ? text.replace(/[\0\ud800-\udfff]/gu, '\ufffd') : text;

export function statsOf(observation: Observation, source: ObservationSource): Stats {
  const { count, statuses, credentials, clients, parameters, request_types, response_types, pii } = observation;
  const { request_bytes, response_bytes, latency_us, latency_us_max } = observation;
  return addStats(emptyStats, {
    ...{ count, statuses, credentials, clients, parameters, request_types, response_types, pii },
    ...{ request_bytes, response_bytes, latency_us, latency_us_max },
    sources: { [source]: count },
  });
}

/** The two together. */
export function addStats(one: Stats, other: Stats): Stats {
  return {
    count: one.count + other.count,
    statuses: addCounts(one.statuses, other.statuses, entriesMax),
    credentials: addCredentials(one.credentials, other.credentials),
    clients: addCounts(one.clients, other.clients, 4),
    sources: addCounts(one.sources, other.sources, 10),
    parameters: addNested(one.parameters, other.parameters),
    request_types: addCounts(one.request_types, other.request_types, entriesMax),
    response_types: addCounts(one.response_types, other.response_types, entriesMax),
    pii: addNested(one.pii, other.pii),
    request_bytes: one.request_bytes + other.request_bytes,
    response_bytes: one.response_bytes + other.response_bytes,
    latency_us: one.latency_us + other.latency_us,
    latency_us_max: Math.max(one.latency_us_max, other.latency_us_max),
  };
}

/** Whether these counts can stand as they are: few names, each of which can be stored. Most are. */
function isPlain(counts: NestedCounts | Counts, most: number): boolean {
  let names = 0;
  for (const name in counts) {
    names += 1;
    if (names > most || unstorable.test(name)) return false;
  }
  return true;
}

function isEmpty(counts: NestedCounts | Counts): boolean {
  for (const _ in counts) return false;
  return true;
}

/** Nearly always nothing new comes. */
function hasAll(one: Counts, other: Counts): boolean {
  for (const name in other) if (!Object.hasOwn(one, name)) return false;
  return true;
}

function addCounts(one: Counts, other: Counts, most: number): Counts {
  if (isEmpty(other)) return one;
  if (isEmpty(one) && isPlain(other, most)) return other;
  if (hasAll(one, other)) {
    const sum = { ...one };
    for (const name in other) sum[name] = (sum[name] as number) + (other[name] as number);
    return sum;
  }
  const sum = new Map(Object.entries(one));
  for (const [name, count] of Object.entries(other)) {
    const before = sum.get(name);
    if (before !== undefined || sum.size < most) sum.set(storable(name), (before ?? 0) + count);
  }
  return Object.fromEntries(sum);
}

function addNested(one: NestedCounts, other: NestedCounts): NestedCounts {
  if (isEmpty(other)) return one;
  const sum = new Map(Object.entries(one));
  for (const [name, counts] of Object.entries(other)) {
    const before = sum.get(name);
    if (before !== undefined || sum.size < parametersMax)
      sum.set(storable(name), addCounts(before ?? {}, counts, kindsMax));
  }
  return Object.fromEntries(sum);
}

function addCredentials(one: CredentialCounts, other: CredentialCounts): CredentialCounts {
  if (isEmpty(one as Counts)) return other;
  const sum: CredentialCounts = { ...one };
  for (const [name, [ok, denied, rest]] of Object.entries(other)) {
    const kind = name as CredentialKind;
    const before = sum[kind] ?? [0, 0, 0];
    sum[kind] = [before[0] + ok, before[1] + denied, before[2] + rest];
  }
  return sum;
}

/** Requests that were answered 2xx or 3xx. */
export function answeredWell({ statuses }: Pick<Stats, 'statuses'>): number {
  let sum = 0;
  for (const status in statuses) {
    const first = status.charCodeAt(0);
    if (first === 50 || first === 51) sum += statuses[status] as number;
  }
  return sum;
}
