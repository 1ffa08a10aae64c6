// Making one ticket: it is looked for by its marker before it is made, so that a call whose end nobody saw is found and
// not repeated. Nothing is asked inside a transaction.
import type { Sql, Tx } from '../database.js';
import type { DetailsRow, FindingRow } from '../findings/fields.js';
import { severityOf } from '../findings/fields.js';
import { escapeFor } from './escape.js';
import type { IntegrationRow } from './config.js';
import { attemptsKept, type TicketRow } from './tickets.js';
import { fill, write, type Templates, type Told } from './template.js';
import { TrackerError } from './trackers/ask.js';
import { trackerOf } from './trackers/index.js';
import type { Connection, Draft, Remote, RemoteState } from './trackers/tracker.js';

/** Findings of a ticket with what templates may name, the gravest first. */
export async function readTold(sql: Sql, ticket: TicketRow, { config }: IntegrationRow): Promise<Told[]> {
  const rows = await sql<FindingRow[]>`
    select f.* from vm_ticket_findings l join vm_findings f on f.id = l.finding_id
    where l.ticket_id = ${ticket.id} order by f.severity desc, f.id`;
  if (rows.length === 0) return [];
  const details = await sql<DetailsRow[]>`
    select * from vm_finding_details where finding_id in ${sql(rows.map(({ id }) => id))}`;
  const applications = await sql<{ id: number; name: string }[]>`
    select id, name from vm_applications where id in ${sql(rows.map((row) => row.application_id))}`;
  const base = config.console_url?.replace(/\/+$/, '');
  return rows.map((row) => ({
    row,
    details: details.find(({ finding_id: id }) => id === row.id) ?? null,
    application: applications.find(({ id }) => id === row.application_id)?.name ?? '',
    url: base === undefined ? '' : `${base}/vulnerabilities?status=all&finding=${row.id}`,
  }));
}

/** What is sent, in the format of the tracker; secrets are masked. */
export function draftOf(
  findings: readonly Told[],
  { type, config }: IntegrationRow,
  marker: string,
  texts: Templates,
): Draft {
  const tracker = trackerOf(type);
  const { titleMax, bodyMax } = tracker;
  const written = write(
    findings,
    { ...texts, ...config },
    { format: tracker.format(config), titleMax, bodyMax, marker },
  );
  const [first] = findings;
  if (first === undefined) throw new Error('a ticket of no finding');
  const plain = (template: string): string => fill(template, first, 'plain');
  const labels = (config.labels ?? []).map((label) =>
    plain(label)
      .replace(/[\s,]+/g, '-')
      .slice(0, 100),
  );
  const fields = Object.entries(config.fields ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string'
      ? plain(value)
      : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)])),
  ]);
  return {
    marker,
    ...written,
    labels: [...new Set(labels.filter((label) => label !== ''))],
    priority: config.priorities?.[severityOf(first.row)] ?? null,
    fields: Object.fromEntries(fields) as Draft['fields'],
  };
}

export interface Delivered {
  readonly action: 'create' | 'find' | 'link';
  readonly remote: Remote | RemoteState;
}

/** Asks the tracker for the ticket. Throws TrackerError. */
export async function deliver(
  connection: Connection,
  integration: IntegrationRow,
  ticket: TicketRow,
  findings: readonly Told[],
  texts: Templates,
): Promise<Delivered> {
  if (ticket.wanted_key !== null) return { action: 'link', remote: await connection.read(ticket.wanted_key) };
  const found = await connection.find(ticket.marker, ticket.created_at);
  if (found !== null) return { action: 'find', remote: found };
  if (findings.length === 0)
    throw new TrackerError('refused', 'Its findings are gone, so that there is nothing to tell.');
  return { action: 'create', remote: await connection.create(draftOf(findings, integration, ticket.marker, texts)) };
}

/** Trackers name addresses, which become links: nothing but http and https. */
export const linkOf = (url: string): string | null => (/^https?:\/\/[^\s]{1,1990}$/i.test(url) ? url : null);

/** Stores what `deliver` gave. Where another row has this ticket already, the findings go to that one. */
export async function storeDelivered(
  tx: Tx,
  ticket: TicketRow,
  { action, remote }: Delivered,
  now: Date,
): Promise<void> {
  const [other] = await tx<{ id: number }[]>`
    select id from vm_tickets where integration_id = ${ticket.integration_id} and remote_id = ${remote.id}
      and id <> ${ticket.id}`;
  if (other !== undefined) {
    await tx`update vm_ticket_findings set ticket_id = ${other.id} where ticket_id = ${ticket.id}`;
    await tx`delete from vm_tickets where id = ${ticket.id}`;
    return;
  }
  const seen = 'isOpen' in remote ? remote : null;
  await tx`
    update vm_tickets set state = ${seen?.isOpen === false ? 'closed' : 'open'}, remote_id = ${remote.id},
      key = ${remote.key.slice(0, 200)}, url = ${linkOf(remote.url)}, remote_state = ${seen?.state ?? null},
      attempts = 0, last_error = null, lease_until = null, next_at = ${now}, updated_at = ${now}
    where id = ${ticket.id}`;
  await noteAttempt(tx, ticket.id, { action, ok: true, detail: remote.key }, now);
}

export async function noteAttempt(
  tx: Tx,
  ticket: number,
  { action, ok, detail }: { action: string; ok: boolean; detail: string },
  now: Date,
): Promise<void> {
  await tx`
    insert into vm_ticket_attempts (ticket_id, action, ok, detail, at)
    values (${ticket}, ${action}, ${ok}, ${detail.slice(0, 500)}, ${now})`;
  await tx`
    delete from vm_ticket_attempts where ticket_id = ${ticket} and id not in (
      select id from vm_ticket_attempts where ticket_id = ${ticket} order by id desc limit ${attemptsKept})`;
}

const said = (status: string): string => status.replaceAll('_', ' ');

/** What a ticket is told when its findings are closed here, or one is open again; the mark is its own. */
export function tellingOf(findings: readonly Told[], { type, config }: IntegrationRow, mark: string): string {
  const format = trackerOf(type).format(config);
  const open = findings.filter(({ row }) => row.is_open);
  const shown = (open.length > 0 ? open : findings).slice(0, 30);
  const lines = shown.map((one) => `- ${fill('{{title}}', one, format)}: ${escapeFor(format, said(one.row.status))}`);
  const head = open.length > 0 ? 'These findings are open again:' : 'These findings are closed:';
  return `${head}\n\n${lines.join('\n')}\n\nReference: ${mark}`;
}
