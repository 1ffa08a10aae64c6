// Everything that checks look at, read once for a report: the settings that serve, the nodes, what was blocked, people,
// the audit log, connectors and alert rules.
import { schemaRuleIds } from '#proxy/contract';
import type { Settings } from '#settings';
import type { Queryable } from '../db/client.js';
import type { Parts } from '../parts.js';
import { connectorsOf } from '../siem/connector.js';
import { readStatus, type LaneStatus } from '../siem/status.js';
import { lastSelfTest } from '../simulation/store.js';
import { readState } from '../settings/state.js';
import { readHead, requireVersion } from '../settings/store.js';

export type ComplianceParts = Pick<Parts, 'database' | 'now' | 'audit' | 'sealing' | 'currentSettings' | 'brandName'>;

export interface RuleGroup {
  /** The first three digits of the rules: 942 is SQL injection. */
  readonly group: number;
  readonly hits: number;
  readonly lastAt: Date;
}
export interface SeenEvent {
  readonly at: Date;
  readonly requestId: string;
}

export interface Facts {
  readonly now: Date;
  readonly daysBack: number;
  /** What serves; null: nothing was applied yet. Secrets are sealed. */
  readonly active: Settings | null;
  readonly activeId: number | null;
  /** What was saved last. It is in force at once for what the control plane itself does. */
  readonly saved: Settings;
  readonly nodes: readonly { readonly url: string; readonly serves: boolean; readonly seenAt: Date | null }[];
  readonly ruleGroups: readonly RuleGroup[];
  /** The last request that was refused, by status; absent: none of the newest. */
  readonly refused: ReadonlyMap<number, SeenEvent>;
  readonly oldest: { readonly request: Date | null; readonly audit: Date | null };
  readonly people: { readonly active: number; readonly admins: number; readonly adminsWithTotp: number };
  readonly sessions: { readonly open: number; readonly oldestIdleAt: Date | null };
  readonly audit: {
    readonly entries: number;
    /** null: too many to be verified with each report. */
    readonly intact: boolean | null;
    readonly lastAt: Date | null;
    readonly lastByAction: ReadonlyMap<string, { readonly id: number; readonly at: Date; readonly actor: string }>;
  };
  readonly connectors: readonly LaneStatus[];
  readonly alerts: { readonly enabled: number; readonly evaluated: number; readonly lastSentAt: Date | null };
  readonly feedAt: Date | null;
  /** The last request that a specification refused; null: none of the newest. */
  readonly schemaRefused: SeenEvent | null;
  /** Of the days of `daysBack`, without what people dismissed. */
  readonly abuse: { readonly findings: number; readonly lastAt: Date | null; readonly bannedUntil: Date | null };
  /** The last that ended, of the site that is named for it; null: there was none. */
  readonly selfTest: SelfTestFacts | null;
}

export interface SelfTestFacts {
  readonly id: number;
  readonly site: string;
  readonly endedAt: Date;
  readonly attacks: number;
  readonly stopped: number;
  /** Attacks that met less than in the test before. */
  readonly lost: number;
}

const daysBack = 30;
const dayMs = 86_400_000;
/** A node that was not seen for so long serves nobody knows what. */
const nodeSeenMs = 5 * 60_000;
/** Newest events that are looked through for one of a kind. */
const eventsLookedAt = 20_000;
/** Entries that are verified with each report; a longer log is verified by GET /api/audit/verify. */
const auditVerifiedMax = 50_000;
const evaluatedMs = 5 * 60_000;

export async function readFacts(parts: ComplianceParts): Promise<Facts> {
  const { sql } = parts.database;
  const now = new Date(parts.now());
  const { activeId } = await readState(sql);
  const saved = (await readHead(sql)).settings;
  const active = activeId === null ? null : (await requireVersion(sql, activeId)).settings;
  const nodes = await sql<
    { url: string; reachable: boolean; served_version: number | null; last_seen_at: Date | null }[]
  >`
    select url, reachable, served_version, last_seen_at from data_nodes order by url`;
  const groups = await sql<{ group: number; hits: number; last_at: Date }[]>`
    select (rule_id / 1000)::int as group, sum(hits)::bigint as hits, max(last_at) as last_at from rule_hits
    where day >= ${new Date(now.getTime() - daysBack * dayMs)}::timestamptz::date group by 1`;
  return {
    now,
    daysBack,
    active,
    activeId,
    saved,
    nodes: nodes.map((node) => ({
      url: node.url,
      seenAt: node.last_seen_at,
      serves:
        node.reachable &&
        node.served_version === activeId &&
        node.last_seen_at !== null &&
        now.getTime() - node.last_seen_at.getTime() <= nodeSeenMs,
    })),
    ruleGroups: groups.map(({ group, hits, last_at: lastAt }) => ({ group, hits, lastAt })),
    refused: await lastRefused(sql),
    ...(await readPeople(sql, now)),
    oldest: await readOldest(sql),
    audit: await readAudit(parts, sql),
    connectors: await readStatus(sql, connectorsOf(saved, parts.sealing)),
    alerts: await readAlerts(sql, now),
    feedAt: await readFeed(sql),
    schemaRefused: await lastSchemaRefusal(sql),
    abuse: await readAbuse(sql, new Date(now.getTime() - daysBack * dayMs)),
    selfTest: await readSelfTest(sql, saved.self_test_site),
  };
}

async function lastSchemaRefusal(sql: Queryable): Promise<SeenEvent | null> {
  const [row] = await sql<{ at: Date; request_id: string }[]>`
    select at, request_id from (
      select at, request_id, verdict, rule_id from security_events order by at desc, id desc limit ${eventsLookedAt}
    ) as newest where verdict = 'block' and rule_id in ${sql(Object.values(schemaRuleIds))} order by at desc limit 1`;
  return row === undefined ? null : { at: row.at, requestId: row.request_id };
}

async function readAbuse(sql: Queryable, since: Date): Promise<Facts['abuse']> {
  const [row] = await sql<{ findings: number; last: Date | null; banned: Date | null }[]>`
    select count(*) as findings, max(last_at) as last, max(blocked_until) as banned from api_threats
    where last_at >= ${since} and status <> 'dismissed'`;
  return { findings: row?.findings ?? 0, lastAt: row?.last ?? null, bannedUntil: row?.banned ?? null };
}

async function readSelfTest(sql: Queryable, site: string): Promise<SelfTestFacts | null> {
  const row = site === '' ? null : await lastSelfTest(sql, site);
  if (row === null || row.ended_at === null) return null;
  const seen = row.seen ?? [];
  return {
    id: row.id,
    site: row.site,
    endedAt: row.ended_at,
    attacks: seen.length,
    stopped: seen.filter(({ stopped }) => stopped > 0).length,
    lost: row.lost?.length ?? 0,
  };
}

async function lastRefused(sql: Queryable): Promise<ReadonlyMap<number, SeenEvent>> {
  const rows = await sql<{ status: number; at: Date; request_id: string }[]>`
    select distinct on (status) status, at, request_id from (
      select status, at, request_id, verdict from security_events order by at desc, id desc limit ${eventsLookedAt}
    ) as newest where verdict = 'block' order by status, at desc`;
  return new Map(rows.map(({ status, at, request_id: requestId }) => [status, { at, requestId }]));
}

async function readPeople(sql: Queryable, now: Date): Promise<Pick<Facts, 'people' | 'sessions'>> {
  const [people] = await sql<Facts['people'][]>`
    select count(*) as active, count(*) filter (where role = 'admin') as admins,
      count(*) filter (where role = 'admin' and totp_secret is not null) as "adminsWithTotp"
    from users where not suspended`;
  const [sessions] = await sql<Facts['sessions'][]>`
    select count(*) as open, min(last_seen_at) as "oldestIdleAt" from sessions
    where revoked_at is null and expires_at > ${now}`;
  return {
    people: people ?? { active: 0, admins: 0, adminsWithTotp: 0 },
    sessions: sessions ?? { open: 0, oldestIdleAt: null },
  };
}

async function readOldest(sql: Queryable): Promise<Facts['oldest']> {
  const [request] = await sql<{ at: Date }[]>`select at from request_records order by at limit 1`;
  const [entry] = await sql<{ at: Date }[]>`select at from audit_entries order by id limit 1`;
  return { request: request?.at ?? null, audit: entry?.at ?? null };
}

async function readAudit({ audit }: ComplianceParts, sql: Queryable): Promise<Facts['audit']> {
  const [count] = await sql<{ n: number; last: Date | null }[]>`
    select count(*) as n, max(at) as last from audit_entries`;
  const entries = count?.n ?? 0;
  const rows = await sql<{ action: string; id: number; at: Date; actor: string }[]>`
    select distinct on (action) action, id, at, actor from audit_entries order by action, id desc`;
  return {
    entries,
    lastAt: count?.last ?? null,
    intact: entries > auditVerifiedMax ? null : (await audit.verify(sql)).ok,
    lastByAction: new Map(rows.map(({ action, id, at, actor }) => [action, { id, at, actor }])),
  };
}

async function readAlerts(sql: Queryable, now: Date): Promise<Facts['alerts']> {
  const [row] = await sql<{ enabled: number; evaluated: number; last: Date | null }[]>`
    select (select count(*) from alert_rules where enabled) as enabled,
      (select count(*) from alert_rules r join alert_states s on s.rule_id = r.id
        where r.enabled and s.evaluated_at > ${new Date(now.getTime() - evaluatedMs)}) as evaluated,
      (select max(ended_at) from alert_notices where outcome = 'sent') as last`;
  return { enabled: row?.enabled ?? 0, evaluated: row?.evaluated ?? 0, lastSentAt: row?.last ?? null };
}

/** When an address feed was taken up last. */
async function readFeed(sql: Queryable): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`select max(succeeded_at) as at from feed_state`;
  return row?.at ?? null;
}
