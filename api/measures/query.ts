// What reads the table of client measures: one list with filters, which every view of it is made from, and the lists
// that nodes get.
import { decodeCursor, listOf } from '../http-kit/index.js';
import type { Queryable } from '../db/client.js';
import { writeMeasureKey } from '#proxy/contract';
import {
  measureActions,
  type ClientMeasure,
  type MeasureAction,
  type MeasureSource,
  type MeasureState,
  type SubjectKind,
} from './model.js';
import { inForce, isPlace, principalPattern } from './store.js';

export interface MeasureFilter {
  readonly sources?: MeasureSource | readonly MeasureSource[] | undefined;
  readonly actions?: MeasureAction | readonly MeasureAction[] | undefined;
  readonly kinds?: SubjectKind | readonly SubjectKind[] | undefined;
  /** undefined: all of them. */
  readonly states?: MeasureState | readonly MeasureState[] | undefined;
  /** Beginning of the subject. */
  readonly q?: string | undefined;
  /** Only what was decided about single clients, not what lists name. */
  readonly isDecided?: boolean;
}

/** Part of a statement. */
type Fragment = ReturnType<typeof inForce>;

function conditionOf(sql: Queryable, filter: MeasureFilter, now: Date) {
  const { sources, actions, kinds, states, q, isDecided = false } = filter;
  const principal = sql`subject ~ ${principalPattern}`;
  const ofKind: Readonly<Record<SubjectKind, Fragment>> = {
    principal,
    network: sql`position('/' in subject) > 0`,
    address: sql`(position('/' in subject) = 0 and not (${principal}) and not ${isPlace(sql)})`,
    country: sql`subject like 'country:%'`,
    asn: sql`subject like 'asn:%'`,
  };
  const ofState: Readonly<Record<MeasureState, Fragment>> = {
    active: sql`(${inForce(sql, now)})`,
    ended: sql`(lifted_at is null and expires_at <= ${now})`,
    lifted: sql`lifted_at is not null`,
  };
  const either = (parts: readonly Fragment[]): Fragment =>
    parts.length === 0 ? sql`` : sql`and (${parts.reduce((all, one) => sql`${all} or ${one}`)})`;
  const kindsOf = kinds === undefined ? [] : listOf(kinds).map((kind) => ofKind[kind]);
  const statesOf = states === undefined ? [] : listOf(states).map((state) => ofState[state]);
  return sql`true
    ${isDecided ? sql`and source not in ('tor', 'feed', 'managed', 'location')` : sql``}
    ${sources === undefined ? sql`and source <> 'location'` : sql`and source in ${sql([...listOf(sources)])}`}
    ${actions === undefined ? sql`` : sql`and action in ${sql([...listOf(actions)])}`}
    ${either(kindsOf)}
    ${either(statesOf)}
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

const behind = (sql: Queryable, [subject, source, action, instance]: MeasureKey) =>
  sql`and (subject, source, action, instance) > (${subject}, ${source}, ${action}, ${instance})`;

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
    ${after === null ? sql`` : behind(sql, after)}
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
  const filter: MeasureFilter = {
    actions: 'deny',
    kinds: ['address', 'network'],
    states: 'active',
    q,
    sources: source,
  };
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
 * Every measure in force as a line of the list on the nodes, once for each action on a subject however many sources
 * decided it, in the order of that list. In pages, each joined by the database: a million rows as objects would cost
 * more than everything else on this road, and a page keeps the one connection of the embedded database for a moment.
 */
export async function* activeLines(sql: Queryable, now: Date): AsyncGenerator<MeasurePage> {
  for (const action of measureActions)
    for (let after = ''; ; ) {
      const [page] = await sql<{ text: string | null; last: string; entries: number }[]>`
        select string_agg(
            ${writeMeasureKey(action, '')}::text || subject || coalesce(' ' || ends, ''), chr(10) order by subject
          ) as text, max(subject) as last, count(*) as entries
        from (
          select subject, ${endOfMeasure(sql)} as ends from client_measures
          where subject > ${after} and ${ofAction(sql, action)} and ${inForce(sql, now)} and not ${isPlace(sql)}
          group by subject order by subject limit ${pageEntries}) page`;
      if (page === undefined || page.text === null) break;
      yield { text: `${page.text}\n`, entries: page.entries };
      after = page.last;
    }
}

/** So that the small index of what is no denial is used for it. */
const ofAction = (sql: Queryable, action: MeasureAction) =>
  action === 'deny' ? sql`action = 'deny'` : sql`action <> 'deny' and action = ${action}`;
