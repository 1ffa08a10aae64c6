// "Why did it not fire?": everything that decides over a rule at this moment, in numbers and in sentences.
import type { Queryable } from '../db/client.js';
import { measure, metricsBesideRequests, type Measured } from './counting.js';
import { cooldownEndsMs } from './machine.js';
import { rounded } from './notify.js';
import { timingOf, type AlertRule } from './rule.js';
import { recentHistory, recentNotices, toState, type HistoryRow, type NoticeRow, type StateRow } from './store.js';

const recentMax = 20;
/** Without an evaluation for so long, the background loop is not at work. */
const staleMs = 120_000;

export interface Why {
  readonly measured: Measured;
  readonly cooldownUntil: Date | null;
  readonly pendingUntil: Date | null;
  readonly reasons: readonly string[];
  readonly history: readonly HistoryRow[];
  readonly notices: readonly NoticeRow[];
}

export async function explain(sql: Queryable, rule: AlertRule, row: StateRow | null, now: Date): Promise<Why> {
  const measured = await measure(sql, rule, now, row?.state === 'firing');
  const timing = timingOf(rule);
  const cooldownMs = row === null ? 0 : cooldownEndsMs(toState(row), timing, now.getTime());
  const cooldownUntil = cooldownMs > now.getTime() ? new Date(cooldownMs) : null;
  const isPending = row?.state === 'pending';
  const pendingMs = isPending ? row.since.getTime() + timing.forMs : 0;
  const pendingUntil = pendingMs > now.getTime() ? new Date(pendingMs) : null;
  const notices = await recentNotices(sql, rule.id, recentMax);
  return {
    measured,
    cooldownUntil,
    pendingUntil,
    reasons: reasonsOf(rule, row, { measured, cooldownUntil, pendingUntil, notices }, now),
    history: await recentHistory(sql, rule.id, recentMax),
    notices,
  };
}

function reasonsOf(
  rule: AlertRule,
  row: StateRow | null,
  {
    measured,
    cooldownUntil,
    pendingUntil,
    notices,
  }: Pick<Why, 'measured' | 'cooldownUntil' | 'pendingUntil' | 'notices'>,
  now: Date,
): string[] {
  const reasons: string[] = [];
  const { value, holds, requests, hadTraffic } = measured;
  const of = rule.site === null ? 'of all sites' : `of site ${rule.site}`;
  if (!rule.enabled) reasons.push('The rule is switched off.');
  if (row === null) reasons.push('It was not evaluated yet; that happens about every 15 seconds.');
  else if (now.getTime() - row.evaluated_at.getTime() > staleMs)
    reasons.push(`It was evaluated last at ${row.evaluated_at.toISOString()}: GET /api/jobs says what keeps the loop.`);
  if (row !== null && row.error !== null) reasons.push(`The last evaluation failed: ${row.error}.`);
  if (requests === 0 && !metricsBesideRequests.has(rule.metric) && rule.metric !== 'missing_data')
    reasons.push(`The request log has no requests ${of} in the window.`);
  if (value === null) reasons.push('There is nothing to make a share of.');
  else if (rule.metric === 'missing_data') {
    if (!hadTraffic && !holds)
      reasons.push(`There were no requests ${of} before the window either: nothing is missing.`);
    else if (!holds) reasons.push(`${requests} requests came, more than ${rule.threshold}.`);
  } else if (!holds)
    reasons.push(`${rule.metric} is ${rounded(value)}, which is not ${rule.comparison} ${rule.threshold}.`);
  if (holds && rule.enabled && row?.state !== 'firing') {
    if (pendingUntil !== null) reasons.push(`It has to hold until ${pendingUntil.toISOString()} (for_min).`);
    if (cooldownUntil !== null)
      reasons.push(`It told last time less than cooldown_min ago: until ${cooldownUntil.toISOString()}.`);
    if (pendingUntil === null && row?.state !== 'pending' && rule.for_min > 0)
      reasons.push(`It has to hold for ${rule.for_min} min (for_min), counted from the next evaluation on.`);
    else if (pendingUntil === null && cooldownUntil === null) reasons.push('It fires with the next evaluation.');
  }
  if (row?.state === 'firing') reasons.push(`It has been firing since ${row.since.toISOString()}.`);
  const [last] = notices;
  if (last !== undefined && last.outcome !== null && last.outcome !== 'sent')
    reasons.push(`The last notice (${last.action}, ${last.at.toISOString()}) was not sent: ${last.outcome}.`);
  return reasons;
}
