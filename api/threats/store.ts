// Findings as rows: one for what one principal does at one operation in one way, however often.
import { listOf as wordsOf } from '../http-kit/index.js';
import type { CredentialKind } from '#proxy/contract';
import type { Queryable, Tx } from '../db/client.js';
import { evidenceMax, severities, type Evidence, type Finding, type ThreatKind } from './engine/finding.js';

export const threatStatuses = ['open', 'acknowledged', 'dismissed'] as const;
export type ThreatStatus = (typeof threatStatuses)[number];

/** Beyond that the ones seen longest ago go, dismissed ones first. */
export const threatsMax = 10_000;
const addressesMax = 50;
const threatsOfMax = 1000;

export interface ThreatRow {
  readonly id: string;
  readonly kind: string;
  readonly owasp: string;
  readonly site: string;
  readonly method: string;
  readonly template: string;
  readonly principal: string;
  readonly credential: string;
  /** JSON: a list of texts. */
  readonly client_ips: string;
  readonly severity: string;
  readonly confidence: string;
  readonly reason: string;
  readonly count: number;
  /** JSON: a list of Evidence. */
  readonly evidence: string;
  readonly first_at: Date;
  readonly last_at: Date;
  readonly found_at: Date;
  readonly status: ThreatStatus;
  readonly status_by: string | null;
  readonly status_at: Date | null;
  readonly status_note: string | null;
  readonly blocked_until: Date | null;
  readonly block_note: string | null;
}

export interface SavedThreat {
  readonly row: ThreatRow;
  readonly isNew: boolean;
  /** There are requests in it that were not known before. */
  readonly hasNews: boolean;
}

const listOf = <T>(text: string): T[] => JSON.parse(text) as T[];

/** Adds a finding, or adds it to the one that is there; a dismissed one stays dismissed. */
export async function saveFinding(tx: Tx, finding: Finding, owasp: string, now: Date): Promise<SavedThreat> {
  const { kind, site, method, template, principal } = finding;
  const [before] = await tx<ThreatRow[]>`
    select * from api_threats where kind = ${kind} and site = ${site} and method = ${method}
      and template = ${template} and principal = ${principal} for update`;
  const known = before === undefined ? [] : listOf<Evidence>(before.evidence);
  const ids = new Set(known.map(({ request_id: id }) => id));
  const fresh = finding.evidence.filter(({ request_id: id }) => !ids.has(id));
  const evidence = JSON.stringify([...known, ...fresh].slice(0, evidenceMax));
  const ips = [...new Set([...listOf<string>(before?.client_ips ?? '[]'), ...finding.clientIps])].slice(
    0,
    addressesMax,
  );
  const isCounted = kind === 'bola_ownership' || kind === 'parameter_pollution';
  const had = before?.count ?? 0;
  const count = isCounted ? had + (before === undefined ? finding.count : fresh.length) : Math.max(had, finding.count);
  const severity =
    before === undefined ? finding.severity : worse(before.severity as Finding['severity'], finding.severity);
  const [row] = await tx<ThreatRow[]>`
    insert into api_threats (kind, owasp, site, method, template, principal, credential, client_ips, severity,
      confidence, reason, count, evidence, first_at, last_at, found_at)
    values (${kind}, ${owasp}, ${site}, ${method}, ${template}, ${principal}, ${finding.credential},
      ${JSON.stringify(ips)}, ${severity}, ${finding.confidence}, ${finding.reason}, ${count}, ${evidence},
      ${new Date(finding.firstMs)}, ${new Date(finding.lastMs)}, ${now})
    on conflict (kind, site, method, template, principal) do update set client_ips = excluded.client_ips,
      severity = excluded.severity, confidence = excluded.confidence, reason = excluded.reason,
      count = excluded.count, evidence = excluded.evidence, credential = excluded.credential,
      first_at = least(api_threats.first_at, excluded.first_at),
      last_at = greatest(api_threats.last_at, excluded.last_at)
    returning *`;
  return { row: row as ThreatRow, isNew: before === undefined, hasNews: before === undefined || fresh.length > 0 };
}

const worse = (one: Finding['severity'], other: Finding['severity']): Finding['severity'] =>
  severities.indexOf(one) <= severities.indexOf(other) ? one : other;

export interface ThreatFilter {
  readonly status?: string | readonly string[] | undefined;
  readonly kind?: string | readonly string[] | undefined;
  readonly site?: string | undefined;
  readonly severity?: string | readonly string[] | undefined;
}

const narrowed = (sql: Queryable, { status, kind, site, severity }: ThreatFilter) => sql`
  ${status === undefined ? sql`` : sql`and status in ${sql([...wordsOf(status)])}`}
  ${kind === undefined ? sql`` : sql`and kind in ${sql([...wordsOf(kind)])}`}
  ${site === undefined ? sql`` : sql`and site = ${site}`}
  ${severity === undefined ? sql`` : sql`and severity in ${sql([...wordsOf(severity)])}`}`;

/** How many findings a filter has, on all pages; there are at most `threatsMax`. */
export async function countThreats(sql: Queryable, filter: ThreatFilter): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from api_threats where true ${narrowed(sql, filter)}`;
  return row?.n ?? 0;
}

/** The latest first; behind `after`. */
export async function listThreats(
  sql: Queryable,
  filter: ThreatFilter,
  after: readonly [at: Date, id: string] | null,
  limit: number,
): Promise<ThreatRow[]> {
  return sql<ThreatRow[]>`
    select * from api_threats where true
    ${after === null ? sql`` : sql`and (last_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    ${narrowed(sql, filter)}
    order by last_at desc, id desc limit ${limit}`;
}

export async function noteBlock(tx: Queryable, id: string, until: Date | null, note: string): Promise<void> {
  await tx`
    update api_threats set block_note = ${note}, blocked_until = coalesce(${until}, blocked_until) where id = ${id}`;
}

export interface ClientThreat {
  readonly address: string;
  readonly id: string;
  readonly kind: ThreatKind;
  readonly severity: Finding['severity'];
  readonly count: number;
  /** Key of the principal, of one that only its owner can be: its credential as a whole. */
  readonly principal?: string;
}

/** Credentials whose hash in observations is that of the whole value; others are claims that nobody verified. */
const wholeCredentials: ReadonlySet<string> = new Set<CredentialKind>(['api_key', 'bearer', 'session']);

/** What is found of clients since a time, by address, the latest first; what people dismissed is not among it. */
export async function threatsOf(sql: Queryable, since: Date): Promise<ClientThreat[]> {
  const rows = await sql<ThreatRow[]>`
    select * from api_threats where last_at >= ${since} and status <> 'dismissed'
    order by last_at desc, id desc limit ${threatsOfMax}`;
  return rows.flatMap(({ id, kind, severity, count, client_ips: ips, credential, principal }) =>
    listOf<string>(ips).map((address) => ({
      ...{ address, id, count: Number(count) },
      ...(wholeCredentials.has(credential) ? { principal: `${credential}:${principal}` } : {}),
      kind: kind as ThreatKind,
      severity: severity as Finding['severity'],
    })),
  );
}

/** What has no room, and ties that are more than the evaluation keeps. */
export async function boundThreats(sql: Queryable, tiesMax: number): Promise<void> {
  await sql`
    delete from api_threats where id in (
      select id from api_threats order by (status = 'dismissed'), last_at desc, id offset ${threatsMax})`;
  await sql`
    delete from api_ties where at < (select at from api_ties order by at desc offset ${tiesMax} limit 1)`;
}

/** Of one operation, the latest first. */
export const threatsAt = (
  sql: Queryable,
  { site, method, template }: { readonly site: string; readonly method: string; readonly template: string },
  limit: number,
): Promise<ThreatRow[]> => sql<ThreatRow[]>`
  select * from api_threats where site = ${site} and method = ${method} and template = ${template}
  order by last_at desc, id limit ${limit}`;
