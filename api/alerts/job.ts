// Every fifteen seconds, on the leader: new requests are counted, each rule is evaluated, and what is to be told is
// told. A rule that cannot be evaluated, and a channel that hangs, hold up no other.
import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { noteEvent } from '../siem/store.js';
import { reasonOf } from '../siem/sinks/sink.js';
import { pauseAfter } from '../siem/deliver.js';
import { countRequests, measure } from './counting.js';
import { firstState, step } from './machine.js';
import { notify, sentenceOf, type Told } from './notify.js';
import { timingOf, type AlertRule } from './rule.js';
import {
  delayNotice,
  dueNotices,
  endNotice,
  listRules,
  listStates,
  noteError,
  pruneAlerts,
  saveStep,
  toState,
  type NoticeRow,
  type StateRow,
} from './store.js';

export type AlertParts = Pick<
  Parts,
  'database' | 'outbound' | 'sealing' | 'now' | 'audit' | 'brandName' | 'currentSettings'
>;

/** What could not be told for so long is not news any more. */
const noticeMsMax = 24 * 3_600_000;
const dayMs = 86_400_000;
const eventSeverity: Readonly<Record<AlertRule['severity'], number>> = { critical: 10, error: 8, warning: 6, info: 3 };

export function createAlertJob(parts: AlertParts): Job {
  return {
    name: 'alerts',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs, signal }) {
      const { database } = parts;
      const now = new Date(nowMs);
      await countRequests(database, now, signal);
      const rules = await listRules(database.sql);
      const states = await listStates(database.sql);
      const failures: string[] = [];
      for (const rule of rules.filter(({ enabled }) => enabled))
        try {
          await evaluate(parts, rule, states.find(({ rule_id: id }) => id === rule.id) ?? null, now);
        } catch (error) {
          failures.push(`${rule.name}: ${reasonOf(error)}`);
          await noteError(database.sql, rule.id, reasonOf(error)).catch(() => undefined);
        }
      const told = await Promise.all(
        (await dueNotices(database.sql, now)).map((notice) =>
          tell(parts, rules.find(({ id }) => id === notice.rule_id) ?? null, notice),
        ),
      );
      const { retention_requests_days: days } = await parts.currentSettings();
      await pruneAlerts(database.sql, new Date(nowMs - days * dayMs));
      const sent = told.filter((isSent) => isSent).length;
      if (failures.length > 0) throw new Error(`${failures.length} rules were not evaluated: ${failures.join('; ')}`);
      return `${rules.length} rules, ${sent} notices sent, ${told.length - sent} wait`;
    },
  };
}

async function evaluate(parts: AlertParts, rule: AlertRule, before: StateRow | null, now: Date): Promise<void> {
  const { sql } = parts.database;
  const from = before === null ? firstState(now.getTime()) : toState(before);
  const { value, holds } = await measure(sql, rule, now, from.state === 'firing');
  const { state, notice } = step(from, holds, timingOf(rule), now.getTime());
  await sql.begin(async (tx) => {
    if (!(await saveStep(tx, rule, before, { state, notice, value }))) return;
    if (notice === null || notice === 'repeat') return;
    const told: Told = { id: '', action: notice, at: now, value };
    await noteEvent(tx, 'alert', now, {
      name: rule.name,
      severity: notice === 'resolve' ? 1 : eventSeverity[rule.severity],
      reason: sentenceOf(rule, told),
      site: rule.site,
      details: { rule_id: rule.id, state: state.state, metric: rule.metric, value, threshold: rule.threshold },
    });
  });
}

/** Whether it was sent. */
async function tell(parts: AlertParts, rule: AlertRule | null, notice: NoticeRow): Promise<boolean> {
  const { sql } = parts.database;
  const now = new Date(parts.now());
  if (rule === null || !rule.enabled) {
    await endNotice(sql, notice.id, 'the rule was switched off', now);
    return false;
  }
  const { action, at, value } = notice;
  const sent = await notify(rule, { id: `alert-${rule.id}-${notice.id}`, action, at, value }, parts);
  if (sent.kind === 'sent') await endNotice(sql, notice.id, 'sent', now);
  else if (sent.kind === 'refused') await endNotice(sql, notice.id, `refused: ${sent.reason}`, now);
  else if (now.getTime() - at.getTime() > noticeMsMax) await endNotice(sql, notice.id, `given up: ${sent.reason}`, now);
  else {
    const pauseMs = Math.max(sent.afterMs ?? 0, pauseAfter(notice.attempts + 1, Math.random()));
    await delayNotice(sql, notice.id, sent.reason, new Date(now.getTime() + Math.min(pauseMs, noticeMsMax)));
  }
  return sent.kind === 'sent';
}
