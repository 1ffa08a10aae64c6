// The end of an alert whose rule goes, is switched off, or becomes another while it fires. Nobody evaluates it any
// more, so nothing would ever close the incident that it opened: the channel is told at once, by the rule as it was.
import type { Tx } from '../db/client.js';
import { noteEvent } from '../siem/store.js';
import type { AlertParts } from './job.js';
import { notify, sentenceOf, type Told } from './notify.js';
import { openTarget, type AlertRule } from './rule.js';

/** Whether a rule fires for another reason, or elsewhere, so that its state is not that of the rule before. */
export function isAnother(rule: AlertRule, before: AlertRule, { sealing }: Pick<AlertParts, 'sealing'>): boolean {
  const { metric, site, type, endpoint } = before;
  return (
    (before.enabled && !rule.enabled) ||
    rule.metric !== metric ||
    rule.site !== site ||
    rule.type !== type ||
    rule.endpoint !== endpoint ||
    openTarget(rule, sealing) !== openTarget(before, sealing)
  );
}

/**
 * Forgets the state of a rule, in the transaction that changes it. Returns what its channel has to be told once that is
 * committed; null: it did not fire, or nobody was told that it does.
 */
export async function endState(tx: Tx, before: AlertRule, because: string, now: Date): Promise<Told | null> {
  const [found] = await tx<{ isTold: boolean }[]>`
    select exists (select 1 from alert_notices n where n.rule_id = s.rule_id and n.outcome = 'sent'
      and n.action <> 'resolve' and n.at >= s.since) as "isTold"
    from alert_states s where rule_id = ${before.id} and state = 'firing'`;
  await tx`delete from alert_states where rule_id = ${before.id}`;
  if (found === undefined) return null;
  const id = `alert-${before.id}-end-${now.getTime()}`;
  const told: Told = { id, action: 'resolve', at: now, value: null, because };
  const { name, site, metric, threshold } = before;
  await noteEvent(tx, 'alert', now, {
    ...{ name, site, severity: 1, reason: sentenceOf(before, told) },
    details: { rule_id: before.id, state: 'resolved', metric, value: null, threshold },
  });
  return found.isTold ? told : null;
}

/** Once: there is no rule any more whose notices could be tried again. A channel that is away keeps its incident. */
export const tellEnd = async (parts: AlertParts, before: AlertRule, told: Told | null): Promise<void> =>
  void (told === null ? null : await notify(before, told, parts));
