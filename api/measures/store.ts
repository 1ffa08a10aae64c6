// The table of client measures: what writes it. Who writes takes the rows first, then the lock of the changes, then the
// audit log, so that no two writers wait for each other.
import type { Queryable, Tx } from '../db/client.js';
import { lockUntilCommit } from '../db/lock-keys.js';
import { listSources, type MeasureAction, type MeasureSource } from './model.js';

/**
 * Entries of one statement. On the embedded database others wait for it, so a long import is a transaction for each.
 */
export const measureChunk = 20_000;
const analyzeFrom = 10_000;

/** Beyond this a change is recorded as "many", and the whole list is read and sent. */
export const touchedMax = 5000;
const changesKept = 50_000;
/** Ended measures stay that long at least, so that a server that looks less often has to read the whole list. */
export const expiryKnownMs = 3600_000;
/** How long ended measures stay that people ask for: bans and what was decided by hand or lifted. */
const historyMs = 90 * 86_400_000;

/** For statements: a list in one parameter, for both databases. */
export const asJson = (values: readonly unknown[]): string => JSON.stringify(values);

/** A condition of a statement over `client_measures`. */
export const inForce = (sql: Queryable, now: Date) =>
  sql`lifted_at is null and (expires_at is null or expires_at > ${now})`;

/** A condition of a statement: a country or autonomous system, of which nodes get the networks (places.ts). */
export const isPlace = (sql: Queryable) => sql`(subject like 'country:%' or subject like 'asn:%')`;

/**
 * For the server that sends the list on: measures on these subjects may have changed. Revisions come in the order of
 * commits, because one writer at a time takes them.
 */
async function recordTouched(tx: Tx, subjects: readonly string[]): Promise<void> {
  if (subjects.length === 0) return;
  await lockUntilCommit(tx, 'measures');
  const touched = subjects.length > touchedMax ? [null] : [...new Set(subjects)];
  await tx`
    insert into measure_changes (subject)
    select value from json_array_elements_text(${asJson(touched)}::text::json)`;
}

/** The same for more than are named: the whole list is read again. */
export async function recordMany(tx: Tx): Promise<void> {
  await lockUntilCommit(tx, 'measures');
  await tx`insert into measure_changes (subject) values (null)`;
}

/**
 * After many entries changed: reading the list in order depends on what the planner believes of the table, and the
 * embedded database looks only on request.
 */
export async function settleMeasures(sql: Queryable, changed: number): Promise<void> {
  if (changed >= analyzeFrom) await sql`analyze client_measures`;
}

export interface NewDenials {
  readonly subjects: readonly string[];
  readonly source: MeasureSource;
  readonly reason: string;
  readonly addedBy: string;
  readonly expiresAt: Date | null;
}

/** Denies all of them; ones that this source denies already get the new reason and end. Returns how many are new. */
export async function addDenials(tx: Tx, input: NewDenials, now: Date): Promise<number> {
  let added = 0;
  for (let at = 0; at < input.subjects.length; at += measureChunk) {
    const part = asJson(input.subjects.slice(at, at + measureChunk));
    await forgetOver(tx, part, input.source, now);
    // in order, so that neighbours land on the same pages of the index; counted there, not sent back row by row
    const [row] = await tx<{ added: number }[]>`
      with done as (
        insert into client_measures (subject, source, action, reason, added_by, added_at, expires_at)
        select value, ${input.source}::text, 'deny', ${input.reason}::text, ${input.addedBy}::text,
          ${now}::timestamptz, ${input.expiresAt}::timestamptz
        from json_array_elements_text(${part}::text::json) order by value
        on conflict (subject, source, action, instance) do update
        set reason = excluded.reason, expires_at = excluded.expires_at, added_by = excluded.added_by
        returning (xmax = 0) as inserted)
      select count(*) filter (where inserted) as added from done`;
    added += row?.added ?? 0;
  }
  await recordTouched(tx, input.subjects);
  return added;
}

/** Denials of a source that are over make way for new ones, which begin now. `subjects`: a list in JSON. */
async function forgetOver(tx: Tx, subjects: string, source: MeasureSource, now: Date): Promise<void> {
  await tx`
    delete from client_measures
    where source = ${source} and action = 'deny' and instance = '' and not (${inForce(tx, now)})
      and subject in (select value from json_array_elements_text(${subjects}::text::json))`;
}

export interface NewDenial {
  readonly subject: string;
  readonly reason: string;
  readonly expiresAt: Date | null;
}

/**
 * As `addDenials`, for entries with a reason and an end of their own; of two for one subject the later holds. A few
 * statements however many there are.
 */
export async function addEachDenial(
  tx: Tx,
  entries: readonly NewDenial[],
  { source, addedBy }: Pick<NewDenials, 'source' | 'addedBy'>,
  now: Date,
): Promise<void> {
  const last = [...new Map(entries.map((one) => [one.subject, one])).values()];
  const subjects = last.map(({ subject }) => subject);
  for (let at = 0; at < last.length; at += measureChunk) {
    await forgetOver(tx, asJson(subjects.slice(at, at + measureChunk)), source, now);
    await tx`
      insert into client_measures (subject, source, action, reason, added_by, added_at, expires_at)
      select n.subject, ${source}::text, 'deny', n.reason, ${addedBy}::text, ${now}::timestamptz, n."expiresAt"
      from json_to_recordset(${asJson(last.slice(at, at + measureChunk))}::text::json)
        as n(subject text, reason text, "expiresAt" timestamptz) order by n.subject
      on conflict (subject, source, action, instance) do update
      set reason = excluded.reason, expires_at = excluded.expires_at, added_by = excluded.added_by`;
  }
  await recordTouched(tx, subjects);
}

export interface Decision {
  readonly subject: string;
  /** `deny`: of a principal or a place; `addDenials` is for addresses and networks. */
  readonly action: MeasureAction;
  readonly reason: string;
  readonly expiresAt: Date;
}

/** Rows of one statement: on the embedded database others wait for it. */
const decisionChunk = 5000;

/**
 * Challenges, throttles, and denials of principals and places: the last decision on a subject holds, also where another
 * source made the one before; denials of addresses and networks stay beside it.
 */
export async function decide(
  tx: Tx,
  decisions: readonly Decision[],
  { source, addedBy }: Pick<NewDenials, 'source' | 'addedBy'>,
  now: Date,
): Promise<void> {
  const last = [...new Map(decisions.map((one) => [one.subject, one])).values()];
  for (let at = 0; at < last.length; at += decisionChunk) {
    const part = asJson(last.slice(at, at + decisionChunk));
    await tx`
      delete from client_measures m using json_to_recordset(${part}::text::json) as n(subject text, action text)
      where m.subject = n.subject and not (m.source = ${source} and m.action = n.action)
        and (m.action <> 'deny' or m.subject ~ ${principalPattern} or m.subject ~ '^(country|asn):')`;
    await tx`
      insert into client_measures (subject, source, action, reason, added_by, added_at, expires_at)
      select n.subject, ${source}::text, n.action, n.reason, ${addedBy}::text, ${now}::timestamptz, n."expiresAt"
      from json_to_recordset(${part}::text::json)
        as n(subject text, action text, reason text, "expiresAt" timestamptz) order by n.subject
      on conflict (subject, source, action, instance) do update set reason = excluded.reason,
        added_by = excluded.added_by, added_at = excluded.added_at, expires_at = excluded.expires_at,
        lifted_at = null, lifted_by = null`;
  }
  await recordTouched(
    tx,
    last.map(({ subject }) => subject),
  );
}

/** How principals are written, for statements; no address is written like that. */
export const principalPattern = '^[a-z_]{3,}:[0-9a-f]{16}$';

/**
 * A feed's new list: what it no longer names goes, what it names stays or comes. Entries of other sources are not
 * touched.
 */
export async function replaceFeed(
  tx: Tx,
  source: MeasureSource,
  networks: readonly string[],
  now: Date,
): Promise<{ readonly total: number; readonly removed: number }> {
  // a table to join with: `not in` over a million values would be compared one by one
  await tx`create temporary table feed_now (subject text collate "C" primary key) on commit drop`;
  for (let at = 0; at < networks.length; at += measureChunk) {
    const part = asJson(networks.slice(at, at + measureChunk));
    await tx`
      insert into feed_now select value from json_array_elements_text(${part}::text::json)
      order by value on conflict do nothing`;
  }
  // one more than is recorded by name says that there are too many, without all of them being read
  const touched = (rows: readonly { readonly subject: string }[]): string[] => rows.map(({ subject }) => subject);
  const isGone = tx`
    t.source = ${source} and not exists (select 1 from feed_now f where f.subject = t.subject)`;
  const gone = touched(
    await tx<{ subject: string }[]>`
      select subject from client_measures t where ${isGone} limit ${touchedMax + 1}`,
  );
  const come = touched(
    await tx<{ subject: string }[]>`
      select subject from feed_now f where not exists (
        select 1 from client_measures t where t.source = ${source} and t.subject = f.subject)
      limit ${touchedMax + 1}`,
  );
  const removed = await tx`delete from client_measures t where ${isGone}`;
  await tx`
    insert into client_measures (subject, source, action, reason, added_by, added_at)
    select subject, ${source}::text, 'deny', '', 'feed', ${now}::timestamptz from feed_now order by subject
    on conflict (subject, source, action, instance) do nothing`;
  await settleMeasures(tx, networks.length + removed.count);
  await recordTouched(tx, [...gone, ...come]);
  await tx`drop table feed_now`;
  return { total: networks.length, removed: removed.count };
}

export interface NewBan {
  readonly subject: string;
  readonly instance: string;
  readonly reason: string;
  readonly evidence: object;
  readonly added_at: Date;
  readonly expires_at: Date;
}

/** Bans of nodes, each with its history; returns ids and subjects of those that are new. */
export async function addBanMeasures(
  tx: Tx,
  bans: readonly NewBan[],
  addedBy: string,
): Promise<{ readonly id: number; readonly subject: string; readonly reason: string; readonly expires_at: Date }[]> {
  if (bans.length === 0) return [];
  const rows = await tx<{ id: number; subject: string; reason: string; expires_at: Date }[]>`
    insert into client_measures (subject, source, action, instance, reason, evidence, added_by, added_at, expires_at)
    select n.subject, 'auto-ban', 'deny', n.instance, n.reason, n.evidence, ${addedBy}::text, n.added_at, n.expires_at
    from rows from (json_to_recordset(${asJson(bans)}::text::json) as (subject text, instance text, reason text,
      evidence jsonb, added_at timestamptz, expires_at timestamptz)) with ordinality
      as n(subject, instance, reason, evidence, added_at, expires_at, place)
    order by n.place
    on conflict (subject, source, action, instance) do nothing returning id, subject, reason, expires_at`;
  await recordTouched(
    tx,
    rows.map(({ subject }) => subject),
  );
  return rows.sort((left, right) => left.id - right.id);
}

export interface Lifting {
  readonly subjects: readonly string[];
  readonly actions: readonly MeasureAction[];
  /** undefined: of every source. */
  readonly sources?: readonly string[] | undefined;
}

export interface Lifted {
  readonly subject: string;
  readonly action: MeasureAction;
  readonly source: string;
}

/**
 * Ends measures in force before their time; returns which. Those of people and of this program stay in the table with
 * who lifted them; entries of lists go, and come back with the next list that names them.
 */
export async function liftMeasures(tx: Tx, wanted: Lifting, by: string, now: Date): Promise<Lifted[]> {
  const of = tx`
    subject in (select value from json_array_elements_text(${asJson(wanted.subjects)}::text::json))
    and action in ${tx([...wanted.actions])}
    ${wanted.sources === undefined ? tx`` : tx`and source in ${tx([...wanted.sources])}`}
    and ${inForce(tx, now)}`;
  const gone = await tx<Lifted[]>`
    delete from client_measures where source in ${tx([...listSources])} and ${of} returning subject, action, source`;
  const lifted = await tx<Lifted[]>`
    update client_measures set lifted_at = ${now}, lifted_by = ${by} where ${of} returning subject, action, source`;
  const all = [...gone, ...lifted];
  await recordTouched(
    tx,
    all.map(({ subject }) => subject),
  );
  return all;
}

/**
 * Removes measures that no node needs to hear of any more and no list shows; returns how many. A measure that ends is
 * sent when it ends, as a change of changes.ts. The detection engine and API abuse have histories of their own.
 */
export async function pruneMeasures(sql: Queryable, now: Date): Promise<number> {
  await sql`delete from measure_changes where revision <= (select max(revision) from measure_changes) - ${changesKept}`;
  const known = new Date(now.getTime() - expiryKnownMs);
  const old = new Date(now.getTime() - historyMs);
  const removed = await sql`
    delete from client_measures
    where (expires_at <= ${known} and lifted_at is null and source in ('ai', 'api-abuse'))
      or (expires_at <= ${old} and coalesce(lifted_at, expires_at) <= ${old})
      or (expires_at is null and lifted_at <= ${old})`;
  return removed.count;
}
