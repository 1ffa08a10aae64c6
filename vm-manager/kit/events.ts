// What has happened, written in the transaction in which it happened: for readers with a cursor of their own
// (`GET /api/v1/events`; `prune-events.ts` says for how long), and for the outbox, from which `outbox.ts` hands it to
// the server.
import { json, type Tx } from '../database.js';

/** Every event that there is. A name is never given another meaning: programs filter by them. */
export const eventTypes = {
  'finding.created': 'a finding was added by hand',
  'finding.transition': 'a finding changed its state',
  'finding.assigned': 'a finding was assigned to a user, or unassigned',
  'finding.risk': 'the risk of a finding was overridden, or the override was taken back',
  'vpatch.active': 'a virtual patch was put in force before a finding, and proven',
  'vpatch.stale': 'the proof of a virtual patch failed: its finding is no longer protected by it',
  'vpatch.disabled': 'a virtual patch was taken out',
  'import.done': 'a report was imported',
  'import.rolled_back': 'an import was undone',
  'intel.imported': 'a set of what is known of vulnerabilities was imported, and findings have followed',
  'intel.rose': 'open findings rise in risk, since a set of what is known of vulnerabilities changed',
  'acceptance.requested': 'a user asked for a risk to be accepted',
  'acceptance.decided': 'a risk was accepted, rejected or revoked',
  'acceptance.expiring': 'the acceptance of a risk ends within a week, or a fifth of its time is left',
  'acceptance.expired': 'the acceptance of a risk has expired',
  'gate.failed': 'the gate refuses a commit that it had not refused before',
  'chain.danger': 'a chain of findings is dangerous that was not there before, or was not dangerous',
  'policy.notice': 'a policy that gives notice holds for a finding',
  'rule.notice': 'a rule that gives notice holds for a finding',
  'sla.at_risk': 'a fifth of the time to fix a finding is left',
  'sla.breached': 'a finding was not fixed in time',
  'health.failing': 'a component of the installation does not work any more, or does not do what it is for',
  'health.recovered': 'a component of the installation works again',
  'report.failed': 'a report could not be sent, or its schedule could not build it',
  'schedule.refused': 'a schedule could not start what it is for',
} as const;
export type EventType = keyof typeof eventTypes;

export interface NewEvent {
  readonly type: EventType;
  readonly entity: 'finding' | 'run' | 'acceptance' | 'evaluation' | 'chain' | 'component' | 'report' | 'schedule';
  readonly entityId: number | string;
  readonly applicationId: number | string | null;
  /** `summary` is the title of what has no name of its own; `severity` (0 to 4) that of what is no finding. */
  readonly payload?: Readonly<Record<string, unknown>>;
  /** An event with a key happens once while it is kept; what is never to be said again is remembered elsewhere. */
  readonly key?: string;
}

const batchMax = 500;

/** Writes events with the transaction, in the order given; for readers and for the outbox. */
export async function emit(tx: Tx, events: readonly NewEvent[], now: Date): Promise<void> {
  for (let at = 0; at < events.length; at += batchMax) {
    const rows = events.slice(at, at + batchMax).map((event) => ({
      type: event.type,
      entity: event.entity,
      entity_id: Number(event.entityId),
      application_id: event.applicationId === null ? null : Number(event.applicationId),
      payload: json(tx, event.payload ?? {}),
      unique_key: event.key ?? null,
      at: now,
    }));
    await tx`
      with made as (insert into vm_events ${tx(rows as never)} on conflict (unique_key) do nothing returning *)
      insert into vm_outbox (at, body)
      select m.at, jsonb_build_object('id', m.id::text, 'type', m.type, 'entity', m.entity,
        'entity_id', m.entity_id::text, 'application_id', m.application_id::text, 'application', a.name,
        'title', coalesce(f.title, c.title, h.name, 'commit ' || g.commit, m.payload ->> 'summary'),
        'severity', case when m.type in
          ('import.done', 'intel.rose', 'health.failing', 'report.failed', 'schedule.refused')
          then (m.payload ->> 'severity')::integer else f.severity end,
        'is_open', f.is_open, 'payload', m.payload)
      from made m left join vm_applications a on a.id = m.application_id
        left join vm_findings f on m.entity = 'finding' and f.id = m.entity_id
        left join vm_acceptances c on m.entity = 'acceptance' and c.id = m.entity_id
        left join vm_gate_evaluations g on m.entity = 'evaluation' and g.id = m.entity_id
        left join vm_chain_history h on m.entity = 'chain' and h.id = m.entity_id
      order by m.id`;
  }
}
