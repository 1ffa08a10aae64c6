// What a ticket says, brought to its findings: closed there they wait for the proof of their fix, never more than that;
// its comments and (where the integration says so) its assignee come along.
import type { Actor } from '#http-kit';
import type { Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { transition } from '../findings/transition.js';
import type { Host } from '../host.js';
import { emit } from '../kit/events.js';
import { maskSecrets } from '../secrets/mask.js';
import type { IntegrationRow } from './config.js';
import { linkOf, noteAttempt } from './deliver.js';
import type { TicketRow } from './tickets.js';
import type { RemoteState } from './trackers/tracker.js';

export const actorOf = ({ name }: IntegrationRow): Actor => ({
  id: null,
  name: `integration ${name}`,
  role: 'system',
  sourceIp: '',
});

const textMax = 20_000;
/** From these a closed ticket leads to `fix_pending` (vm.md, states of a finding). */
const movable: readonly string[] = ['in_progress', 'confirmed', 'triaged'];
const unseen: readonly string[] = ['new', 'reopened'];

/** The active user whose address the tracker names; null: there is none, or it is not to be taken. */
export async function assigneeOf(host: Host, { config }: IntegrationRow, ticket: TicketRow, remote: RemoteState) {
  const email = remote.assigneeEmail?.toLowerCase() ?? null;
  if (config.take_assignee !== true || email === null || email === ticket.remote_assignee) return null;
  const found = await host.identity.users({ q: email });
  return found.find((user) => user.email.toLowerCase() === email && !user.suspended)?.id ?? null;
}

/** Stores what was read of a ticket, with what follows for its findings. Returns whether anything changed. */
export async function storeRead(
  tx: Tx,
  host: Host,
  { integration, ticket, remote, assignee }: Read,
  now: Date,
): Promise<boolean> {
  const [row] = await tx<TicketRow[]>`select * from vm_tickets where id = ${ticket.id} for update`;
  if (row === undefined) return false;
  const findings = await tx<FindingRow[]>`
    select f.* from vm_findings f where f.id in (select finding_id from vm_ticket_findings where ticket_id = ${row.id})
    order by f.id for update`;
  const found: string[] = [];
  if (row.state === 'open' && !remote.isOpen) found.push(await afterClosing(tx, integration, remote, findings, now));
  if (row.state === 'closed' && remote.isOpen) found.push('it was opened again');
  const comments = await takeComments(tx, integration, row, { remote, findings }, now);
  if (comments > 0) found.push(`${comments} comments were taken`);
  if (assignee !== null && (await assign(tx, row, findings, assignee, now)) > 0) found.push('its assignee was taken');
  await tx`
    update vm_tickets set state = ${remote.isOpen ? 'open' : 'closed'}, remote_state = ${remote.state.slice(0, 200)},
      remote_assignee = ${remote.assigneeEmail?.toLowerCase() ?? null}, key = ${remote.key.slice(0, 200)},
      url = ${linkOf(remote.url) ?? row.url}, synced_at = ${now}, updated_at = ${now}
    where id = ${row.id}`;
  if (found.length === 0) return false;
  const detail = `${remote.key}: ${found.join('; ')}`;
  await noteAttempt(tx, row.id, { action: 'read', ok: true, detail }, now);
  await host.audit.record(tx, {
    actor: actorOf(integration),
    action: 'vm.transition',
    summary: `read the ticket ${detail}`,
    details: { ticket_id: String(row.id), vuln_ids: findings.map(({ id }) => String(id)) },
  });
  return true;
}

export interface Read {
  readonly integration: IntegrationRow;
  readonly ticket: TicketRow;
  readonly remote: RemoteState;
  readonly assignee: string | null;
}

async function afterClosing(
  tx: Tx,
  integration: IntegrationRow,
  remote: RemoteState,
  findings: readonly FindingRow[],
  now: Date,
): Promise<string> {
  let moved = 0;
  const reason = `the ticket ${remote.key} was closed in ${integration.name}`;
  for (const row of findings)
    if (movable.includes(row.status)) {
      await transition(tx, row, { to: 'fix_pending', by: 'ticket', reason }, actorOf(integration), now);
      moved++;
    } else if (unseen.includes(row.status)) {
      const where = `${remote.key} was closed in ${integration.name}.`;
      const text = `${where} The finding stays ${row.status}: it was not triaged.`;
      await insertComment(tx, row, actorOf(integration).name, text, now);
    }
  return `it was closed, ${moved} of ${findings.length} findings wait for the proof of their fix`;
}

async function insertComment(tx: Tx, row: FindingRow, author: string, text: string, now: Date): Promise<void> {
  await tx`
    insert into vm_comments (entity, entity_id, application_id, author_id, author, text, created_at)
    values ('finding', ${row.id}, ${row.application_id}, null, ${author}, ${text}, ${now})`;
}

/** What people wrote there; what came from here has the marker in it. */
async function takeComments(
  tx: Tx,
  integration: IntegrationRow,
  ticket: TicketRow,
  { remote, findings }: { remote: RemoteState; findings: readonly FindingRow[] },
  now: Date,
): Promise<number> {
  let taken = 0;
  for (const { id, author, text } of remote.comments) {
    const said = maskSecrets(text.replaceAll('\u0000', '')).trim().slice(0, textMax);
    if (said === '' || text.includes(ticket.marker)) continue;
    const [fresh] = await tx`
      insert into vm_ticket_comments (ticket_id, remote_id) values (${ticket.id}, ${id.slice(0, 200)})
      on conflict do nothing returning 1`;
    if (fresh === undefined) continue;
    const name = `${author.slice(0, 200) || 'a person'} (${integration.name} ${remote.key})`;
    for (const row of findings) await insertComment(tx, row, name, said, now);
    taken++;
  }
  return taken;
}

/** The first that a tracker names may be its default: it is not set over somebody who was chosen here. */
async function assign(
  tx: Tx,
  ticket: TicketRow,
  findings: readonly FindingRow[],
  user: string,
  now: Date,
): Promise<number> {
  const isFirst = ticket.remote_assignee === null;
  const others = findings.filter(
    (row) => row.is_open && row.assignee_id !== user && (row.assignee_id === null || !isFirst),
  );
  for (const row of others)
    await tx`
      update vm_findings set assignee_id = ${user}, updated_at = ${now}, version = version + 1 where id = ${row.id}`;
  await emit(
    tx,
    others.map((row) => ({
      type: 'finding.assigned' as const,
      entity: 'finding' as const,
      entityId: row.id,
      applicationId: row.application_id,
      payload: { user },
    })),
    now,
  );
  return others.length;
}
