// From an event, or an exploit that worked, to the finding that it shows: the one of the same weakness at the same
// place, or a new one. Of a confirmed event the proof stays with the finding. A proof beats an opinion: a finding that
// was closed comes back.
import { createHash } from 'node:crypto';
import { escapeLike, type Actor } from '#http-kit';
import { json, type Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { refreshFindings } from '../findings/refresh.js';
import { insertManual } from '../findings/store.js';
import { transition } from '../findings/transition.js';
import { isOpen, severityNumbers, type Status } from '../findings/words.js';
import { findingsAt, type EventPlace } from './same-place.js';

export interface ShownEvent {
  /** Of the event, or of the run of the exploit. */
  readonly id: number;
  /** runtime: of a sensor in an application; cluster: of Falco or the audit log of Kubernetes; exploit: of a run. */
  readonly kind: 'runtime' | 'cluster' | 'exploit';
  /** What it shows, in a word. */
  readonly name: string;
  readonly attack: { readonly cwe: number | null; readonly severity: string; readonly title: string };
  /** How the place may stand in a finding; the first that is found counts. */
  readonly places: readonly string[];
  /** Where the application was, as the sensor in it says: the findings of this operation and of this line. */
  readonly within?: Omit<EventPlace, 'cwe'>;
  /** Of the finding where none is there yet. */
  readonly location: string;
  /** What makes two events of one finding of their own. */
  readonly of: readonly string[];
  readonly requestId: string | null;
  /** The finding that the exploit was begun for: of several at the place it is the one. */
  readonly given?: number | null;
  /** Masked. */
  readonly proof: unknown;
  readonly at: Date;
}
export interface Place {
  readonly applicationId: number;
  readonly projectId: number | null;
}

/** What a finding that is made of an event says of where it comes from. */
const origins = {
  runtime: { source: 'iast', tool: 'runtime-sensor' },
  cluster: { source: 'k8s', tool: 'cluster-events' },
  exploit: { source: 'dast', tool: 'gatehouse-exploit' },
} as const;

/** Proofs that are kept with one finding; the oldest go first. */
const proofsMax = 20;

async function match(tx: Tx, { applicationId }: Place, event: ShownEvent): Promise<FindingRow | null> {
  const { cwe } = event.attack;
  const given = event.given ?? null;
  if (given !== null) {
    const [row] = await tx<FindingRow[]>`
      select * from vm_findings where application_id = ${applicationId} and id = ${given} and location = ''
        and cwes @> ${json(tx, [cwe])} for update`;
    if (row !== undefined) return row;
  }
  const places = cwe === null ? [] : event.places.filter((place) => place.length > 1);
  for (const place of places) {
    // The place as a whole: /orders is not /orders/archive and not /my/orders.
    const pattern = `(^|[^[:alnum:]_/.-])${place.replace(/[^\w/ -]/g, '\\$&')}($|[^[:alnum:]_/.-])`;
    const [row] = await tx<FindingRow[]>`
      select * from vm_findings where application_id = ${applicationId} and cwes @> ${json(tx, [cwe])}
        and location like ${`%${escapeLike(place)}%`} and location ~ ${pattern}
      order by (id is not distinct from ${given}::bigint) desc, is_open desc, priority_score desc, id
      limit 1 for update`;
    if (row !== undefined) return row;
  }
  const [own] = await tx<FindingRow[]>`
    select * from vm_findings
    where application_id = ${applicationId} and fingerprint = ${fingerprintOf(event)} for update`;
  return own ?? null;
}

const fingerprintOf = ({ kind, of }: ShownEvent): string =>
  `${kind === 'exploit' ? kind : 'runtime'}:${createHash('sha256').update(JSON.stringify(of)).digest('hex')}`;

async function create(tx: Tx, place: Place, event: ShownEvent, actor: Actor, now: Date): Promise<FindingRow> {
  const { cwe, severity, title } = event.attack;
  const made = await insertManual(
    tx,
    {
      ...place,
      title,
      severity: severityNumbers[severity] ?? 0,
      cwes: cwe === null ? [] : [cwe],
      vulnIds: [],
      location: event.location,
      description: '',
      cvss: null,
      tags: [],
      reachable: true,
      references: [],
    },
    actor,
    now,
  );
  await tx`
    update vm_findings set ${tx({ ...origins[event.kind], fingerprint: fingerprintOf(event) })}
    where id = ${made.id}`;
  return made;
}

export const afterProof = (status: Status): Status | null => {
  if (!isOpen(status)) return 'reopened';
  return status === 'new' || status === 'triaged' || status === 'reopened' ? 'confirmed' : null;
};

/** Marks a finding as proven, at run time by the event or by the exploit, and keeps the proof. */
export async function prove(tx: Tx, row: FindingRow, event: ShownEvent, actor: Actor, now: Date): Promise<void> {
  const to = afterProof(row.status);
  const isExploit = event.kind === 'exploit';
  const reason = isExploit ? `proven by the exploit run ${event.id}` : `proven at run time by event ${event.id}`;
  if (to !== null) await transition(tx, row, { to, by: 'proof', reason }, actor, now);
  // specification, part 2: exploit_confirmed is "runtime or exploit proof"
  await tx`
    update vm_findings set runtime_confirmed = runtime_confirmed or ${!isExploit}, exploit_confirmed = true,
      updated_at = ${now}, version = version + 1
    where id = ${row.id}`;
  const proof = {
    kind: event.kind,
    [isExploit ? 'run_id' : 'event_id']: String(event.id),
    attack_type: event.name,
    request_id: event.requestId,
    at: event.at.toISOString(),
    proof: event.proof,
  };
  await tx`
    insert into vm_finding_details (finding_id, evidence) values (${row.id}, ${json(tx, [proof])})
    on conflict (finding_id) do update set evidence = (
      select coalesce(jsonb_agg(one order by place), '[]') from (
        select one, place from jsonb_array_elements(vm_finding_details.evidence || ${json(tx, [proof])})
          with ordinality as all_of_them (one, place) order by place desc limit ${proofsMax}) newest)`;
  await refreshFindings(tx, [row.id], now);
}

/**
 * Proves the finding of the event, which is made where there is none, and returns its id. One that a scan of the code
 * has at the same line is proven as well.
 */
export async function confirm(tx: Tx, place: Place, event: ShownEvent, actor: Actor, now: Date): Promise<number> {
  const { cwe } = event.attack;
  const at =
    event.within === undefined || cwe === null
      ? []
      : await findingsAt(tx, place.applicationId, { ...event.within, cwe });
  for (const row of at) await prove(tx, row, event, actor, now);
  if (at[0] !== undefined) return at[0].id;
  const row = (await match(tx, place, event)) ?? (await create(tx, place, event, actor, now));
  await prove(tx, row, event, actor, now);
  return row.id;
}

/** The finding of an event that proves nothing; made where there is none, and opened again where it was resolved. */
export async function note(tx: Tx, place: Place, event: ShownEvent, actor: Actor, now: Date): Promise<number> {
  const row = (await match(tx, place, event)) ?? (await create(tx, place, event, actor, now));
  if (row.status === 'resolved') {
    const reason = `seen at run time in event ${event.id}`;
    await transition(tx, row, { to: 'reopened', by: 'proof', reason }, actor, now);
  }
  await refreshFindings(tx, [row.id], now);
  return row.id;
}

/** The findings that an event proves, beside the one that it is tied to. */
export async function alsoProven(tx: Tx, applicationId: number, eventId: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select f.id from vm_findings f join vm_finding_details d on d.finding_id = f.id
    where f.application_id = ${applicationId} and f.runtime_confirmed
      and d.evidence @> ${json(tx, [{ kind: 'runtime', event_id: String(eventId) }])}
    order by f.id limit 10 for update of f`;
  return rows.map(({ id }) => id);
}

/**
 * Takes the proof of an event from a finding. It stays proven where another confirmed event, or an exploit, proves it.
 */
export async function disprove(tx: Tx, finding: number, eventId: number, now: Date): Promise<void> {
  await tx`
    update vm_finding_details set evidence = coalesce((
      select jsonb_agg(one order by place) from jsonb_array_elements(evidence) with ordinality as held (one, place)
      where not (one ->> 'kind' = 'runtime' and one ->> 'event_id' = ${String(eventId)})), '[]')
    where finding_id = ${finding}`;
  const [left] = await tx<{ runtime: boolean; other: boolean }[]>`
    select
      exists (select 1 from vm_runtime_events where finding_id = ${finding} and confirmed and id <> ${eventId}) or
        exists (select 1 from vm_finding_details d, jsonb_array_elements(d.evidence) one
          where d.finding_id = ${finding} and one ->> 'kind' in ('cluster', 'runtime')) as runtime,
      exists (select 1 from vm_findings f left join vm_finding_details d on d.finding_id = f.id
        where f.id = ${finding} and (f.source = 'dast' or exists (
          select 1 from jsonb_array_elements(coalesce(d.evidence, '[]')) one
          where one ->> 'kind' not in ('runtime', 'cluster')))) as other`;
  await tx`
    update vm_findings set runtime_confirmed = ${left?.runtime ?? false},
      exploit_confirmed = exploit_confirmed and (${left?.runtime ?? false} or ${left?.other ?? false}),
      updated_at = ${now}, version = version + 1
    where id = ${finding}`;
  await refreshFindings(tx, [finding], now);
}
