// The queue of tickets: each row that is due is worked on by one process at a time, under a lease that ends by itself.
// Whatever goes wrong leaves the row where it was, with what was said.
import type { Sql, Tx } from '../database.js';
import type { Host } from '../host.js';
import { connect, type IntegrationRow } from './config.js';
import { deliver, noteAttempt, readTold, storeDelivered, tellingOf } from './deliver.js';
import { actorOf, assigneeOf, storeRead } from './sync.js';
import { textsOf } from '../templates/stored.js';
import type { Told } from './template.js';
import { neverMs, type TicketRow } from './tickets.js';
import { TrackerError } from './trackers/ask.js';
import { trackerOf } from './trackers/index.js';
import type { Connection, RemoteState } from './trackers/tracker.js';

/** Longer than all calls for one ticket take together. */
const leaseMs = 120_000;
const readEveryMs = 300_000;
const closedEveryMs = 3_600_000;
const firstWaitMs = 30_000;
const waitMsMax = 3_600_000;
const ticketWaitMsMax = 86_400_000;
/** Of one integration in a round; the rest waits for the next. */
const batch = 50;
const roundMs = 20_000;

/** Twice as long each time, and not at the same moment as everybody else. */
const grown = (times: number, most: number): number =>
  Math.min(firstWaitMs * 2 ** Math.min(times, 20), most) * (0.5 + Math.random() / 2);

/** Whether every finding is closed for good: not accepted or muted for a while. */
const isFinal = (findings: readonly Told[]): boolean =>
  findings.every(({ row }) => !row.is_open && row.status !== 'risk_accepted' && row.status !== 'muted');

const claim = async (sql: Sql, id: number, now: Date): Promise<TicketRow | null> => {
  const [row] = await sql<TicketRow[]>`
    update vm_tickets set lease_until = ${new Date(now.getTime() + leaseMs)}
    where id = ${id} and state in ('queued', 'open', 'closed') and (lease_until is null or lease_until <= ${now})
    returning *`;
  return row ?? null;
};

/** Works on one ticket. False: the integration is to be left alone for now. */
export async function workOnTicket(host: Host, integration: IntegrationRow, id: number): Promise<boolean> {
  const now = new Date(host.now());
  const ticket = await claim(host.sql, id, now);
  if (ticket === null) return true;
  const action = ticket.state === 'queued' ? (ticket.wanted_key === null ? 'create' : 'link') : 'read';
  try {
    const connection = connect(host, integration);
    if (ticket.state === 'queued') {
      const findings = await readTold(host.sql, ticket, integration);
      const texts = await textsOf(host.sql, 'ticket', integration.config.template_id ?? null);
      const made = await deliver(connection, integration, ticket, findings, texts);
      await host.sql.begin((tx) => storeDelivered(tx, ticket, made, new Date(host.now())));
    } else await follow(host, integration, ticket, connection);
    await noteSuccess(host.sql, integration);
    return true;
  } catch (error) {
    const trouble = error instanceof TrackerError ? error : new TrackerError('later', brief(error));
    return noteTrouble(host, { integration, ticket, action, trouble });
  }
}

const brief = (error: unknown): string =>
  `It failed here: ${error instanceof Error ? error.message.slice(0, 300) : 'for no known reason'}.`;

/** Reads the ticket, and tells it what became of its findings. */
async function follow(host: Host, integration: IntegrationRow, ticket: TicketRow, connection: Connection) {
  const { reads } = trackerOf(integration.type);
  const id = ticket.remote_id ?? '';
  let remote: RemoteState | null = null;
  if (reads) {
    remote = await connection.read(id);
    const read = { integration, ticket, remote, assignee: await assigneeOf(host, integration, ticket, remote) };
    await host.sql.begin((tx) => storeRead(tx, host, read, new Date(host.now())));
  }
  const findings = await readTold(host.sql, ticket, integration);
  const isOpen = await tell(host, { integration, ticket, connection, remote, findings });
  const hasOpen = findings.some(({ row }) => row.is_open);
  const waitMs = !reads || (!isOpen && !hasOpen) ? neverMs : isOpen ? readEveryMs : closedEveryMs;
  const next = new Date(host.now() + waitMs * (0.9 + Math.random() / 5));
  await host.sql`
    update vm_tickets set next_at = ${next}, lease_until = null, attempts = 0, last_error = null
    where id = ${ticket.id}`;
}

interface Following {
  readonly integration: IntegrationRow;
  readonly ticket: TicketRow;
  readonly connection: Connection;
  readonly remote: RemoteState | null;
  readonly findings: readonly Told[];
}

/** Comments once on each turn of the findings, moves the ticket where that is wanted. Returns whether it is open. */
async function tell(host: Host, { integration, ticket, connection, remote, findings }: Following): Promise<boolean> {
  const wasOpen = remote?.isOpen ?? ticket.state === 'open';
  const hasOpen = findings.some(({ row }) => row.is_open);
  if (findings.length === 0 || hasOpen === ticket.told_open) return wasOpen;
  const own = { id: ticket.remote_id ?? '', key: ticket.key ?? '', url: ticket.url ?? '' };
  const mark = `${ticket.marker}-${ticket.told + 1}`;
  const isSaid = remote?.comments.some(({ text }) => text.includes(mark)) ?? false;
  if (!isSaid) await connection.comment(own, tellingOf(findings, integration, mark));
  const moves = integration.config.close_tickets === true && wasOpen !== hasOpen && (hasOpen || isFinal(findings));
  if (moves) await connection.move(own, hasOpen ? 'open' : 'closed');
  const isOpen = moves ? hasOpen : wasOpen;
  const now = new Date(host.now());
  await host.sql.begin(async (tx) => {
    await tx`
      update vm_tickets set told_open = ${hasOpen}, told = told + 1, state = ${isOpen ? 'open' : 'closed'},
        updated_at = ${now}
      where id = ${ticket.id}`;
    const detail = `${own.key}: told that ${hasOpen ? 'a finding is open again' : 'its findings are closed'}`;
    const moved = moves ? `, and ${hasOpen ? 'opened' : 'closed'} it` : '';
    await noteAttempt(tx, ticket.id, { action: 'tell', ok: true, detail: detail + moved }, now);
  });
  return isOpen;
}

async function noteSuccess(sql: Sql, { id }: IntegrationRow): Promise<void> {
  await sql`
    update vm_integrations set state = 'ok', reason = null, failures = 0, retry_at = null
    where id = ${id} and (state <> 'ok' or failures > 0 or retry_at is not null)`;
}

interface Failed {
  readonly integration: IntegrationRow;
  readonly ticket: TicketRow;
  readonly action: string;
  readonly trouble: TrackerError;
}

async function noteTrouble(host: Host, { integration, ticket, action, trouble }: Failed): Promise<boolean> {
  const now = new Date(host.now());
  const { message } = trouble;
  return host.sql.begin(async (tx) => {
    await noteAttempt(tx, ticket.id, { action, ok: false, detail: message }, now);
    if (trouble.trouble === 'setup' || trouble.trouble === 'later') {
      const next = trouble.trouble === 'later' ? await putOff(tx, integration, trouble, now) : now;
      if (trouble.trouble === 'setup') await noteFailed(tx, host, integration, message);
      await tx`
        update vm_tickets set last_error = ${message}, next_at = ${next}, lease_until = null where id = ${ticket.id}`;
      return false;
    }
    const isGone = trouble.trouble === 'missing' && ticket.state !== 'queued';
    const state = ticket.state === 'queued' ? 'failed' : isGone ? 'gone' : ticket.state;
    const next = new Date(now.getTime() + grown(ticket.attempts, ticketWaitMsMax));
    await tx`
      update vm_tickets set state = ${state}, last_error = ${message}, attempts = attempts + 1, next_at = ${next},
        lease_until = null, updated_at = ${now}
      where id = ${ticket.id}`;
    return true;
  });
}

/** Leaves the tracker alone for as long as it asks for, or longer each time; returns until when. */
async function putOff(tx: Tx, { id }: IntegrationRow, { waitMs, message }: TrackerError, now: Date): Promise<Date> {
  const [row] = await tx<{ failures: number }[]>`select failures from vm_integrations where id = ${id} for update`;
  const wait = waitMs === null ? grown(row?.failures ?? 0, waitMsMax) : waitMs * (1 + Math.random() / 10);
  const retry = new Date(now.getTime() + wait);
  await tx`
    update vm_integrations set failures = failures + 1, retry_at = ${retry}, reason = ${message} where id = ${id}`;
  return retry;
}

/** Nothing is asked until somebody changes or tests it: more wrong logins would lock the account. */
export async function noteFailed(tx: Tx, host: Host, integration: IntegrationRow, reason: string): Promise<void> {
  const failed = await tx`
    update vm_integrations set state = 'failed', reason = ${reason}, retry_at = null
    where id = ${integration.id} and version = ${integration.version} and state <> 'failed' returning 1`;
  if (failed.length === 0) return;
  await host.audit.record(tx, {
    actor: actorOf(integration),
    action: 'vm.update',
    summary: `the integration ${integration.id} does not work any more: ${reason}`,
  });
}

/** What is due of an integration: tickets to be made first, then those to be read or told. */
const dueOf = (sql: Sql, { id }: IntegrationRow, now: Date) => sql<{ id: number }[]>`
  select t.id from vm_tickets t
  where t.integration_id = ${id} and t.state in ('queued', 'open', 'closed')
    and (t.lease_until is null or t.lease_until <= ${now})
    and (t.next_at <= ${now} or (t.state <> 'queued' and t.attempts = 0
      and exists (select 1 from vm_ticket_findings l where l.ticket_id = t.id)
      and t.told_open <> exists (select 1 from vm_ticket_findings l join vm_findings f on f.id = l.finding_id
        where l.ticket_id = t.id and f.is_open)))
  order by t.state <> 'queued', t.next_at, t.id limit ${batch}`;

async function roundOf(host: Host, integration: IntegrationRow, signal: AbortSignal): Promise<number> {
  const due = await dueOf(host.sql, integration, new Date(host.now()));
  const endMs = performance.now() + roundMs;
  let worked = 0;
  for (const { id } of due) {
    if (signal.aborted || performance.now() > endMs) break;
    worked++;
    if (!(await workOnTicket(host, integration, id))) break;
  }
  return worked;
}

export const usableIntegrations = (sql: Sql, now: Date) => sql<IntegrationRow[]>`
  select * from vm_integrations
  where enabled and state <> 'failed' and (retry_at is null or retry_at <= ${now}) order by id`;

/** All integrations at the same time: one that hangs holds up no other. Returns how many tickets were looked at. */
export async function workOnTickets(host: Host, signal: AbortSignal): Promise<number> {
  if (host.wayOut === undefined) return 0;
  const integrations = await usableIntegrations(host.sql, new Date(host.now()));
  const worked = await Promise.all(integrations.map((one) => roundOf(host, one, signal)));
  return worked.reduce((sum, one) => sum + one, 0);
}
