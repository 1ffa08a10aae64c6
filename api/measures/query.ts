// What reads the table of client measures: one list with filters, which every view of it is made from, and the lists
// that nodes get.
import { decodeCursor, listOf } from '../http-kit/index.js';
import type { Queryable } from '../db/client.js';
import {
  listSources,
  type ClientMeasure,
  type MeasureAction,
  type MeasureSource,
  type MeasureState,
  type SubjectKind,
} from './model.js';
import { inForce, principalPattern } from './store.js';

export interface MeasureFilter {
  readonly sources?: MeasureSource | readonly MeasureSource[] | undefined;
  readonly actions?: MeasureAction | readonly MeasureAction[] | undefined;
  readonly kinds?: SubjectKind | readonly SubjectKind[] | undefined;
  /** undefined: all of them. */
  readonly state?: MeasureState | undefined;
  /** Beginning of the subject. */
  readonly q?: string | undefined;
  /** Only what was decided about single clients, not what lists name. */
  readonly isDecided?: boolean;
}

/** Part of a statement. */
type Fragment = ReturnType<typeof inForce>;

function conditionOf(sql: Queryable, filter: MeasureFilter, now: Date) {
  const { sources, actions, kinds, state, q, isDecided = false } = filter;
  const principal = sql`subject ~ ${principalPattern}`;
  const ofKind: Readonly<Record<SubjectKind, Fragment>> = {
    principal,
    network: sql`position('/' in subject) > 0`,
    address: sql`(position('/' in subject) = 0 and not (${principal}))`,
  };
  const ofState: Readonly<Record<MeasureState, Fragment>> = {
    active: sql`and ${inForce(sql, now)}`,
    ended: sql`and lifted_at is null and expires_at <= ${now}`,
    lifted: sql`and lifted_at is not null`,
  };
  const kindsOf = kinds === undefined ? [] : listOf(kinds).map((kind) => ofKind[kind]);
  return sql`true
    ${isDecided ? sql`and source not in ('tor', 'feed', 'managed')` : sql``}
    ${sources === undefined ? sql`` : sql`and source in ${sql([...listOf(sources)])}`}
    ${actions === undefined ? sql`` : sql`and action in ${sql([...listOf(actions)])}`}
    ${kindsOf.length === 0 ? sql`` : sql`and (${kindsOf.reduce((all, one) => sql`${all} or ${one}`)})`}
    ${state === undefined ? sql`` : ofState[state]}
    ${q === undefined || q === '' ? sql`` : sql`and starts_with(subject, ${q})`}`;
}

/** What tells a row from all others, in the order of the table. */
export type MeasureKey = readonly [subject: string, source: string, action: string, instance: string];
export const keyOf = ({ subject, source, action, instance }: ClientMeasure): MeasureKey => [
  subject,
  source,
  action,
  instance,
];

/** Of a cursor that was made of `keyOf`; throws ApiError `validation_failed` for another one. */
export const readKey = (cursor: string): MeasureKey =>
  decodeCursor(cursor, ['string', 'string', 'string', 'string'] as const);

/** In the order of subjects. `after`: the last of the page before; null: from the first on. */
export async function listMeasures(
  sql: Queryable,
  filter: MeasureFilter,
  after: MeasureKey | null,
  now: Date,
  limit: number,
): Promise<ClientMeasure[]> {
  return sql<ClientMeasure[]>`
    select * from client_measures where ${conditionOf(sql, filter, now)}
    ${after === null ? sql`` : sql`and (subject, source, action, instance) > (${after[0]}, ${after[1]}, ${after[2]}, ${after[3]})`}
    order by subject, source, action, instance limit ${limit}`;
}

/** The newest first, without what lists name. `before`: the id of the last of the page before. */
export async function listNewest(
  sql: Queryable,
  filter: MeasureFilter,
  before: number | null,
  now: Date,
  limit: number,
): Promise<(ClientMeasure & { readonly id: number })[]> {
  return sql<(ClientMeasure & { readonly id: number })[]>`
    select * from client_measures where ${conditionOf(sql, { ...filter, isDecided: true }, now)}
    ${before === null ? sql`` : sql`and id < ${before}`}
    order by id desc limit ${limit}`;
}

export interface DeniedNetwork {
  readonly network: string;
  readonly source: string;
  readonly reason: string;
  readonly added_by: string;
  readonly added_at: Date;
  readonly expires_at: Date | null;
}

export interface DeniedQuery {
  /** Network and source of the last row of the page before; '' and '' for the first. */
  readonly after: readonly [network: string, source: string];
  readonly source: MeasureSource | readonly MeasureSource[] | undefined;
  /** Beginning of the network. */
  readonly q: string | undefined;
  readonly now: Date;
}

/**
 * Addresses and networks that are denied, in their order: each once for every source that names it, with what ends
 * last.
 */
export async function listDenied(
  sql: Queryable,
  { after, source, q, now }: DeniedQuery,
  limit: number,
): Promise<DeniedNetwork[]> {
  const filter: MeasureFilter = { actions: 'deny', kinds: ['address', 'network'], state: 'active', q, sources: source };
  return sql<DeniedNetwork[]>`
    select distinct on (subject, source) subject as network, source, reason, added_by, added_at, expires_at
    from client_measures where ${conditionOf(sql, filter, now)}
      and (subject, source) > (${after[0]}, ${after[1]})
    order by subject, source, expires_at desc nulls first limit ${limit}`;
}

export interface MeasurePage {
  /** One a line, with its end behind a blank where it has one, each line ended. */
  readonly text: string;
  readonly entries: number;
}

/**
 * When a subject is let in again, of all measures of one action on it, as the data plane reads it: milliseconds since
 * 1970 as text; null where one of them never ends. For queries that group by subject.
 */
export const endOfMeasure = (sql: Queryable) =>
  sql`case when bool_or(expires_at is null) then null
    else (extract(epoch from max(expires_at)) * 1000)::bigint::text end`;

const pageEntries = 50_000;

/**
 * Every network that is denied, once however many sources name it, in order. In pages, each joined by the database: a
 * million rows as objects would cost more than everything else on this road, and a page keeps the one connection of
 * the embedded database for a moment only.
 */
export async function* activeDenials(sql: Queryable, now: Date): AsyncGenerator<MeasurePage> {
  for (let after = ''; ; ) {
    const [page] = await sql<{ text: string | null; last: string; entries: number }[]>`
      select string_agg(subject || coalesce(' ' || ends, ''), chr(10) order by subject) as text,
        max(subject) as last, count(*) as entries
      from (
        select subject, ${endOfMeasure(sql)} as ends from client_measures
        where subject > ${after} and action = 'deny' and subject !~ ${principalPattern} and ${inForce(sql, now)}
        group by subject order by subject limit ${pageEntries}) page`;
    if (page === undefined || page.text === null) return;
    yield { text: `${page.text}\n`, entries: page.entries };
    after = page.last;
  }
}

/** What nodes get besides the deny list, by subject: challenges, throttles and denials of principals. */
export async function listDecisions(sql: Queryable, now: Date, limit: number) {
  return sql<{ readonly subject: string; readonly action: MeasureAction; readonly expires_at: Date }[]>`
    select subject, action, max(expires_at) as expires_at from client_measures
    where (action <> 'deny' or subject ~ ${principalPattern}) and expires_at is not null and ${inForce(sql, now)}
    group by subject, action order by subject, action limit ${limit}`;
}

export const isOfList = (source: string): boolean => (listSources as readonly string[]).includes(source);
