// The outbox: what has happened, written in the transaction in which it happened. Readers (event streams, webhooks,
// notifications) have a cursor of their own; nothing is sent from here.
import { json, type Tx } from '../database.js';

/** Every event that there is. A name is never given another meaning: programs filter by them. */
export const eventTypes = {
  'finding.created': 'a finding was seen for the first time',
  'finding.transition': 'a finding changed its state',
  'finding.assigned': 'a finding was given to somebody, or taken from them',
  'finding.risk': 'the risk of a finding was overridden, or the override was taken back',
  'vpatch.active': 'a virtual patch was put in force before a finding, and proven',
  'vpatch.stale': 'the proof of a virtual patch failed: its finding is no longer protected by it',
  'vpatch.disabled': 'a virtual patch was taken out',
  'import.done': 'a report was imported',
  'import.rolled_back': 'an import was undone',
  'intel.imported': 'a set of what is known of vulnerabilities was imported, and findings have followed',
  'acceptance.requested': 'somebody asked for a risk to be accepted',
  'acceptance.decided': 'a risk was accepted, rejected or revoked',
  'acceptance.expired': 'the acceptance of a risk has expired',
  'sla.at_risk': 'a fifth of the time to mend a finding is left',
  'sla.breached': 'a finding was not mended in time',
} as const;
export type EventType = keyof typeof eventTypes;

export interface NewEvent {
  readonly type: EventType;
  readonly entity: 'finding' | 'run' | 'acceptance';
  readonly entityId: number | string;
  readonly applicationId: number | string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
  /** An event with a key happens once. */
  readonly key?: string;
}

const batchMax = 500;

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
    await tx`insert into vm_events ${tx(rows as never)} on conflict (unique_key) do nothing`;
  }
}
