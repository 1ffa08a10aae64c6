// Tickets of findings: what is asked for is a row, which waits until its ticket is made. One finding has one ticket
// with each integration, so that asking twice asks for nothing more.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { randomBytes } from 'node:crypto';
import type { Queryable, Sql, Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import type { Reach } from '../kit/caller.js';
import { unfit } from '../kit/endpoint.js';
import type { IntegrationRow } from './config.js';

export const ticketStates = ['queued', 'open', 'closed', 'failed', 'gone'] as const;

export interface TicketRow {
  readonly id: number;
  readonly integration_id: number;
  readonly marker: string;
  readonly state: (typeof ticketStates)[number];
  readonly wanted_key: string | null;
  readonly remote_id: string | null;
  readonly key: string | null;
  readonly url: string | null;
  readonly remote_state: string | null;
  readonly remote_assignee: string | null;
  readonly told_open: boolean;
  readonly told: number;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly next_at: Date;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly synced_at: Date | null;
}

export const TicketView = Type.Object({
  id: Type.String(),
  integration_id: Type.String(),
  integration: Type.String({ description: 'name of the integration' }),
  state: OneOf(ticketStates),
  key: Nullable(Type.String({ description: 'as the tracker shows it; null: it is not made yet' })),
  url: Nullable(Type.String({ description: 'http or https; null: the tracker named none' })),
  remote_state: Nullable(Type.String({ description: 'in the words of the tracker' })),
  last_error: Nullable(Type.String()),
  next_at: Nullable(Type.Union([Time], { description: 'when it is tried or read again; null: not by itself' })),
  synced_at: Nullable(Time),
  created_by: Type.String(),
  created_at: Time,
  vulns: Type.Array(Type.Object({ id: Type.String(), title: Type.String(), status: Type.String() }), {
    description: 'its findings that the caller may see, the first 200',
  }),
  attempts: Type.Array(Type.Object({ action: Type.String(), ok: Type.Boolean(), detail: Type.String(), at: Time }), {
    description: 'what was tried, the newest first; the last 20',
  }),
});

export const attemptsKept = 20;
const shownMax = 200;
/** Beyond it nothing is planned: a closed ticket of closed findings. */
export const neverMs = 10 * 365 * 86_400_000;

interface Linked {
  readonly ticket_id: number;
  readonly id: number;
  readonly title: string;
  readonly status: string;
}
interface AttemptRow {
  readonly ticket_id: number;
  readonly action: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly at: Date;
}

/** Tickets as somebody may see them: of their findings only those within reach. */
export async function viewTickets(sql: Sql, rows: readonly TicketRow[], reach: Reach, now: Date) {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const linked = await sql<Linked[]>`
    select l.ticket_id, f.id, f.title, f.status from vm_ticket_findings l
      join (select * from vm_findings where ${visibleFindings(sql, reach)}) f on f.id = l.finding_id
    where l.ticket_id in ${sql(ids)} order by f.id`;
  const attempts = await sql<AttemptRow[]>`
    select * from vm_ticket_attempts where ticket_id in ${sql(ids)} order by id desc`;
  const names = await sql<{ id: number; name: string }[]>`select id, name from vm_integrations`;
  return rows.map((row) => ({
    id: String(row.id),
    integration_id: String(row.integration_id),
    integration: names.find(({ id }) => id === row.integration_id)?.name ?? '',
    state: row.state,
    key: row.key,
    url: row.url,
    remote_state: row.remote_state,
    last_error: row.last_error,
    next_at: isPlanned(row, now) ? row.next_at.toISOString() : null,
    synced_at: row.synced_at?.toISOString() ?? null,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    vulns: linked
      .filter(({ ticket_id: id }) => id === row.id)
      .slice(0, shownMax)
      .map(({ id, title, status }) => ({ id: String(id), title, status })),
    attempts: attempts
      .filter(({ ticket_id: id }) => id === row.id)
      .slice(0, attemptsKept)
      .map(({ action, ok, detail, at }) => ({ action, ok, detail, at: at.toISOString() })),
  }));
}

const isPlanned = ({ state, next_at: at }: TicketRow, now: Date): boolean =>
  ['queued', 'open', 'closed'].includes(state) && at.getTime() - now.getTime() < neverMs / 2;

/** Rows of vm_tickets of which somebody sees at least one finding. */
export const visibleTickets = (sql: Queryable, reach: Reach) => sql`exists (
  select 1 from vm_ticket_findings l join vm_findings f on f.id = l.finding_id
  where l.ticket_id = vm_tickets.id
    and f.id in (select id from vm_findings where id = l.finding_id and ${visibleFindings(sql, reach)}))`;

export interface Wanted {
  /** One ticket for all that have none yet. */
  readonly grouped: boolean;
  /** Of a ticket that stands there already; null: new ones are made. */
  readonly key: string | null;
  readonly by: string;
}

/** A finding with its ticket. */
export interface Given {
  readonly finding: number;
  readonly ticket: number;
  /** It had none with this integration before. */
  readonly isNew: boolean;
}

/**
 * Asks for tickets of findings that the caller may see, which are locked; returns one for each. What failed or is gone
 * is asked for once more.
 */
export async function askFor(
  tx: Tx,
  integration: IntegrationRow,
  findings: readonly FindingRow[],
  wanted: Wanted,
  now: Date,
): Promise<Given[]> {
  const { id } = integration;
  await tx`select 1 from vm_integrations where id = ${id} for update`; // one asks after the other
  const had = await tx<{ finding_id: number; ticket_id: number; state: TicketRow['state'] }[]>`
    select l.finding_id, l.ticket_id, t.state from vm_ticket_findings l join vm_tickets t on t.id = l.ticket_id
    where l.integration_id = ${id} and l.finding_id in ${tx(findings.map((one) => one.id))}`;
  const again = had.filter(({ state }) => state === 'failed' || state === 'gone').map((one) => one.ticket_id);
  if (again.length > 0) await requeue(tx, again, now);
  const given: Given[] = had.map(({ finding_id, ticket_id }) => ({
    finding: finding_id,
    ticket: ticket_id,
    isNew: false,
  }));
  const rest = findings.filter((one) => !had.some(({ finding_id: found }) => found === one.id));
  for (const [at, one] of findings.entries())
    if (rest.includes(one) && !one.is_open)
      throw unfit(`/vuln_ids/${at}`, `is ${one.status}: tickets are for what is open`, 'reopen it, or leave it out');
  const isOne = wanted.grouped || wanted.key !== null;
  const groups = rest.length === 0 ? [] : isOne ? [rest] : rest.map((one) => [one]);
  for (const group of groups) {
    const ticket = await ticketFor(tx, id, wanted, now);
    for (const { id: finding } of group) {
      await tx`
        insert into vm_ticket_findings (integration_id, finding_id, ticket_id) values (${id}, ${finding}, ${ticket})`;
      given.push({ finding, ticket, isNew: true });
    }
  }
  return findings.map((one) => {
    const found = given.find(({ finding }) => finding === one.id);
    if (found === undefined) throw new ApiError('internal', 'A finding was left out.');
    return found;
  });
}

async function requeue(tx: Tx, ids: readonly number[], now: Date): Promise<void> {
  await tx`
    update vm_tickets set attempts = 0, last_error = null, next_at = ${now}, updated_at = ${now}, state = 'queued',
      remote_id = null, key = null, url = null, remote_state = null, told_open = true
    where id in ${tx(ids)}`;
}

async function ticketFor(tx: Tx, integration: number, { key, by }: Wanted, now: Date): Promise<number> {
  const [stands] =
    key === null
      ? []
      : await tx<{ id: number }[]>`
          select id from vm_tickets where integration_id = ${integration} and key = ${key} and state <> 'gone'`;
  if (stands !== undefined) return stands.id;
  const marker = `gatehouse-${randomBytes(12).toString('hex')}`;
  const [made] = await tx<{ id: number }[]>`
    insert into vm_tickets (integration_id, marker, wanted_key, next_at, created_by, created_at, updated_at)
    values (${integration}, ${marker}, ${key}, ${now}, ${by}, ${now}, ${now}) returning id`;
  if (made === undefined) throw new ApiError('internal', 'The ticket was not stored.');
  return made.id;
}
