// Measures on countries and autonomous systems. Nodes know addresses and networks alone, so a gate pays nothing for
// places: this job works out their networks from the MMDB files of the operator (docs/events.md) and keeps them as rows
// of the source `location`. It looks every 15 seconds whether a decision or a file has changed, and does nothing
// else while neither has.
import { ApiError, type Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readPlace, stateOf, type ClientMeasure, type MeasureAction, type Place } from './model.js';
import { asJson, inForce, recordMany, settleMeasures } from './store.js';

export type PlaceParts = Pick<Parts, 'database' | 'now' | 'locations' | 'measuresChanged'>;

/** In force at once. */
export const placesMax = 100;

const variables = { country: 'MMDB_COUNTRY_FILE', asn: 'MMDB_NETWORK_FILE' } as const;
export const fileOf = ({ kind }: Place) => (kind === 'country' ? 'country' : 'network');

/** Why the networks of a place cannot be worked out, and what to do; null: they can. */
export const missingFile = (place: Place, { locations }: Pick<PlaceParts, 'locations'>): string | null =>
  locations.stampOf(fileOf(place)) !== null
    ? null
    : `No database says which addresses ${place.kind === 'country' ? 'a country' : 'an autonomous system'} has. ` +
      `Set ${variables[place.kind]} to an MMDB file and start the control plane anew (docs/events.md).`;

/** null: there is no file. Throws RangeError where they are too many. */
async function networksOfPlace(
  place: Place,
  { locations }: Pick<PlaceParts, 'locations'>,
): Promise<readonly string[] | null> {
  const found = await locations.networksOf(fileOf(place), [place.value]);
  return found === null ? null : (found.get(place.value) ?? []);
}

const noNetwork = ({ kind, value }: Place): string =>
  `The file of ${variables[kind]} has no network of ${kind === 'country' ? 'country' : 'AS'} ${value}. ` +
  (kind === 'country'
    ? 'Write the two letters of ISO 3166, such as country:GB.'
    : 'Write its number, as in asn:64500.');

/** The networks of a place that people want to decide about; throws ApiError where that cannot be done. */
export async function checkPlace(place: Place, parts: PlaceParts): Promise<readonly string[]> {
  await parts.locations.refresh();
  const missing = missingFile(place, parts);
  if (missing !== null) throw new ApiError('conflict', missing);
  const wrong = (reason: string): ApiError =>
    new ApiError('validation_failed', reason, { errors: [{ path: '/network', reason }] });
  const [row] = await parts.database.sql<{ n: number }[]>`
    select count(*)::int as n from client_measures
    where (subject like 'country:%' or subject like 'asn:%') and ${inForce(parts.database.sql, new Date(parts.now()))}`;
  if ((row?.n ?? 0) >= placesMax)
    throw new ApiError('conflict', `${placesMax} countries and autonomous systems are decided about; lift one first.`);
  try {
    const networks = (await networksOfPlace(place, parts)) ?? [];
    if (networks.length === 0) throw wrong(noNetwork(place));
    return networks;
  } catch (error) {
    if (error instanceof RangeError) throw wrong(error.message);
    throw error;
  }
}

/** Rows of one statement: on the embedded database others wait for it. */
const chunk = 5000;

interface Decided {
  readonly subject: string;
  readonly action: MeasureAction;
  readonly expires_at: Date | null;
  /** Of its networks; null: none are worked out. */
  readonly stamp: string | null;
  readonly networks: number | null;
}

const decidedPlaces = ({ database: { sql } }: PlaceParts, now: Date) => sql<Decided[]>`
  select m.subject, m.action, max(m.expires_at) as expires_at, max(p.stamp) as stamp,
    max(p.networks) as networks
  from client_measures m left join measured_places p on p.subject = m.subject and p.action = m.action
  where (m.subject like 'country:%' or m.subject like 'asn:%') and ${inForce(sql, now)}
  group by m.subject, m.action order by m.subject, m.action limit ${placesMax}`;

/** A part at a time; returns whether there were any. */
async function removeNetworks(
  { database: { sql } }: PlaceParts,
  which: (tx: PlaceParts['database']['sql']) => ReturnType<typeof inForce>,
): Promise<boolean> {
  for (let isFirst = true; ; isFirst = false) {
    const { count } = await sql`
      delete from client_measures where ctid = any(array(
        select ctid from client_measures m where source = 'location' and ${which(sql)} limit ${chunk}))`;
    if (count === 0) return !isFirst;
  }
}

/**
 * Networks of what was lifted, has ended, or was decided otherwise. By what is said of places, which are few: this runs
 * every 15 seconds, and there may be a million networks.
 */
async function removeUndecided(parts: PlaceParts, now: Date): Promise<boolean> {
  const { sql } = parts.database;
  const undecided = await sql<{ subject: string; action: MeasureAction }[]>`
    select subject, action from measured_places p where not exists (
      select 1 from client_measures d where d.subject = p.subject and d.action = p.action
        and d.lifted_at is null and (d.expires_at is null or d.expires_at > ${now}))`;
  let isGone = false;
  for (const { subject, action } of undecided) {
    if (await removeNetworks(parts, (tx) => tx`instance = ${subject} and action = ${action}`)) isGone = true;
    await sql`delete from measured_places where subject = ${subject} and action = ${action}`;
  }
  return isGone;
}

/** `stamp`: of file and decision. Networks that the file no longer names go. */
async function putNetworks(
  parts: PlaceParts,
  { subject, action, expires_at: expiresAt }: Decided,
  networks: readonly string[],
  { stamp, now }: { readonly stamp: string; readonly now: Date },
): Promise<void> {
  const { sql } = parts.database;
  for (let at = 0; at < networks.length; at += chunk)
    await sql`
      insert into client_measures (subject, source, action, instance, reason, added_by, added_at, expires_at)
      select value, 'location', ${action}::text, ${subject}::text, ${stamp}::text, 'location', ${now}::timestamptz,
        ${expiresAt}::timestamptz
      from json_array_elements_text(${asJson(networks.slice(at, at + chunk))}::text::json)
      on conflict (subject, source, action, instance) do update
      set reason = excluded.reason, expires_at = excluded.expires_at`;
  await removeNetworks(parts, (tx) => tx`instance = ${subject} and action = ${action} and reason <> ${stamp}`);
}

const sayState = (
  { database: { sql } }: PlaceParts,
  { subject, action }: Decided,
  state: { readonly stamp: string; readonly networks: number; readonly problem: string | null },
) => sql`
  insert into measured_places (subject, action, stamp, networks, problem)
  values (${subject}, ${action}, ${state.stamp}, ${state.networks}, ${state.problem})
  on conflict (subject, action) do update
  set stamp = excluded.stamp, networks = excluded.networks, problem = excluded.problem`;

/** Returns whether networks changed. */
async function follow(parts: PlaceParts, decided: Decided, now: Date): Promise<boolean> {
  const place = readPlace(decided.subject);
  if (place === null) return false;
  const fileStamp = parts.locations.stampOf(fileOf(place));
  // without a file what was worked out before stays, as with a file that is gone while this runs
  if (fileStamp === null) return false;
  const stamp = `${decided.subject}, file ${fileStamp}, until ${decided.expires_at?.toISOString() ?? 'lifted'}`;
  if (stamp === decided.stamp) return false;
  try {
    const networks = (await networksOfPlace(place, parts)) ?? [];
    // no network without a line about its place, also where this ends in the midst
    await parts.database.sql`
      insert into measured_places (subject, action, stamp, networks)
      values (${decided.subject}, ${decided.action}, '', 0) on conflict do nothing`;
    await putNetworks(parts, decided, networks, { stamp, now });
    await settleMeasures(parts.database.sql, networks.length);
    const problem = networks.length === 0 ? noNetwork(place) : null;
    await sayState(parts, decided, { stamp, networks: networks.length, problem });
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // those of the file before stay in force
    await sayState(parts, decided, { stamp, networks: decided.networks ?? 0, problem: error.message });
    return false;
  }
}

/** Works out what is decided about places; returns one line about it. */
export async function followPlaces(parts: PlaceParts, now: Date): Promise<string> {
  const { sql } = parts.database;
  await parts.locations.refresh();
  let isChanged = await removeUndecided(parts, now);
  const decided = await decidedPlaces(parts, now);
  for (const one of decided) if (await follow(parts, one, now)) isChanged = true;
  if (!isChanged) return decided.length === 0 ? 'no country or network is decided about' : 'nothing new';
  await sql.begin(recordMany);
  await parts.measuresChanged();
  return `${decided.length} countries and autonomous systems followed`;
}

export const createPlaceJob = (parts: PlaceParts): Job => ({
  name: 'places',
  everyMs: 15_000,
  timeoutMs: 300_000,
  run: ({ nowMs }) => followPlaces(parts, new Date(nowMs)),
});

export interface PlaceState {
  /** null: none are worked out yet. */
  readonly networks: number | null;
  readonly problem: string | null;
}

/** Of the places among these measures that are in force, by subject and action with a blank between. */
export async function placeStates(
  parts: Pick<PlaceParts, 'database' | 'locations'>,
  measures: readonly ClientMeasure[],
  nowMs: number,
): Promise<ReadonlyMap<string, PlaceState>> {
  const active = measures.filter((one) => readPlace(one.subject) !== null && stateOf(one, nowMs) === 'active');
  if (active.length === 0) return new Map();
  await parts.locations.refresh();
  const subjects = asJson(active.map(({ subject }) => subject));
  const rows = await parts.database.sql<(PlaceState & { subject: string; action: string })[]>`
    select subject, action, case when stamp = '' then null else networks end as networks, problem
    from measured_places
    where subject in (select value from json_array_elements_text(${subjects}::text::json))`;
  return new Map(
    active.map(({ subject, action }) => {
      const known = rows.find((row) => row.subject === subject && row.action === action);
      const missing = missingFile(readPlace(subject) as Place, parts);
      const networks = known?.networks ?? null;
      return [`${subject} ${action}`, { networks, problem: missing ?? known?.problem ?? null }] as const;
    }),
  );
}
