// The tables of alerts.
import type { Queryable, Tx } from '../db/client.js';
import type { AlertState, AlertStateName, Notice } from './machine.js';
import type { AlertRule } from './rule.js';

export async function listRules(sql: Queryable): Promise<AlertRule[]> {
  return sql<AlertRule[]>`select * from alert_rules order by name`;
}

export async function findRule(sql: Queryable, id: string): Promise<AlertRule | null> {
  if (!/^[0-9a-f-]{36}$/.test(id)) return null;
  const [row] = await sql<AlertRule[]>`select * from alert_rules where id::text = ${id}`;
  return row ?? null;
}

/** Written whole. A rule that measures something else, or fires elsewhere, begins with a new state. */
export async function putRule(tx: Tx, rule: AlertRule): Promise<void> {
  await tx`insert into alert_rules ${tx({ ...rule })} on conflict (id) do update set ${tx({ ...rule })}`;
}

export interface StateRow {
  readonly rule_id: string;
  readonly state: AlertStateName;
  readonly since: Date;
  readonly told_at: Date | null;
  readonly evaluated_at: Date;
  readonly value: number | null;
  readonly error: string | null;
}

export const toState = (row: StateRow): AlertState => ({
  state: row.state,
  sinceMs: row.since.getTime(),
  toldAtMs: row.told_at?.getTime() ?? null,
  evaluatedAtMs: row.evaluated_at.getTime(),
});

export async function listStates(sql: Queryable): Promise<StateRow[]> {
  return sql<StateRow[]>`select * from alert_states`;
}

/**
 * State, history and what is to be told, in one transaction; false when another server has evaluated the rule
 * meanwhile.
 */
export async function saveStep(
  tx: Tx,
  rule: AlertRule,
  before: StateRow | null,
  after: { readonly state: AlertState; readonly notice: Notice | null; readonly value: number | null },
): Promise<boolean> {
  const { state, notice, value } = after;
  const at = new Date(state.evaluatedAtMs);
  const row = {
    rule_id: rule.id,
    state: state.state,
    since: new Date(state.sinceMs),
    told_at: state.toldAtMs === null ? null : new Date(state.toldAtMs),
    evaluated_at: at,
    value,
    error: null,
  };
  const saved =
    before === null
      ? await tx`insert into alert_states ${tx(row)} on conflict do nothing`
      : await tx`
          update alert_states set ${tx(row)}
          where rule_id = ${rule.id} and state = ${before.state} and evaluated_at = ${before.evaluated_at}`;
  if (saved.count === 0) return false;
  const was = before?.state ?? 'ok';
  if (was !== state.state)
    await tx`
      insert into alert_history (rule_id, at, from_state, to_state, value)
      values (${rule.id}, ${at}, ${was}, ${state.state}, ${value})`;
  if (notice === null) return true;
  // a reminder that was not sent yet says nothing that this one does not say
  await tx`
    update alert_notices set ended_at = ${at}, outcome = 'a later notice says it'
    where rule_id = ${rule.id} and ended_at is null and action = 'repeat'`;
  await tx`
    insert into alert_notices (rule_id, action, at, value, retry_at)
    values (${rule.id}, ${notice}, ${at}, ${value}, ${at})`;
  return true;
}

export async function noteError(sql: Queryable, ruleId: string, reason: string): Promise<void> {
  await sql`update alert_states set error = ${reason.slice(0, 500)} where rule_id = ${ruleId}`;
}

export interface NoticeRow {
  readonly id: number;
  readonly rule_id: string;
  readonly action: Notice;
  readonly at: Date;
  readonly value: number | null;
  readonly attempts: number;
  readonly retry_at: Date;
  readonly ended_at: Date | null;
  readonly outcome: string | null;
}

/** The oldest notice of each rule that is not sent: the end of an alert never overtakes its beginning. */
export async function dueNotices(sql: Queryable, now: Date): Promise<NoticeRow[]> {
  return sql<NoticeRow[]>`
    select * from (
      select distinct on (rule_id) * from alert_notices where ended_at is null order by rule_id, id) as first
    where retry_at <= ${now} order by id`;
}

export async function endNotice(sql: Queryable, id: number, outcome: string, now: Date): Promise<void> {
  await sql`
    update alert_notices set attempts = attempts + 1, ended_at = ${now}, outcome = ${outcome.slice(0, 500)}
    where id = ${id}`;
}

export async function delayNotice(sql: Queryable, id: number, reason: string, retryAt: Date): Promise<void> {
  await sql`
    update alert_notices set attempts = attempts + 1, retry_at = ${retryAt}, outcome = ${reason.slice(0, 500)}
    where id = ${id}`;
}

export async function recentNotices(sql: Queryable, ruleId: string, limit: number): Promise<NoticeRow[]> {
  return sql<NoticeRow[]>`select * from alert_notices where rule_id = ${ruleId} order by id desc limit ${limit}`;
}

export interface HistoryRow {
  readonly at: Date;
  readonly from_state: AlertStateName;
  readonly to_state: AlertStateName;
  readonly value: number | null;
}

export async function recentHistory(sql: Queryable, ruleId: string, limit: number): Promise<HistoryRow[]> {
  return sql<HistoryRow[]>`
    select at, from_state, to_state, value from alert_history where rule_id = ${ruleId}
    order by id desc limit ${limit}`;
}

/** What is older than this goes: steps of states, and notices that are sent. */
export async function pruneAlerts(sql: Queryable, before: Date): Promise<void> {
  await sql`delete from alert_history where at < ${before}`;
  await sql`delete from alert_notices where ended_at < ${before}`;
}
