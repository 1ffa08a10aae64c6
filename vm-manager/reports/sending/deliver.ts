// Mails with reports, sent: a mail for each mailbox, so that one that is refused holds up no other and nobody reads who
// else got it. A mail that came twice, as the answer was lost, has the same Message-ID.
import { brandNameOf } from '../../branding/current.js';
import type { Sql } from '../../database.js';
import type { Host } from '../../host.js';
import { emit } from '../../kit/events.js';
import { noteFailed, sendTo, type ChannelRow } from '../../notifications/deliver.js';
import { cleanText, type Message } from '../../notifications/message.js';
import { SendError } from '../../notifications/senders/sender.js';
import { showIn } from '../time-zone.js';
import { mediaTypes, type Format } from '../build.js';
import type { DeliveryRow } from './queue.js';
import { mayReceive } from './receivers.js';

const firstWaitMs = 30_000;
const waitMsMax = 3_600_000;
/** With these waits the last one is some five hours after the first. */
const attemptsMax = 12;
const batch = 50;
const keptDays = 400;
const queuedDaysMax = 7;
const dayMs = 86_400_000;
const high = 3;

async function giveUp(host: Host, row: DeliveryRow, reason: string): Promise<void> {
  const now = new Date(host.now());
  await host.sql.begin(async (tx) => {
    const ended = await tx`
      update vm_report_deliveries set state = 'failed', last_error = ${reason}
      where id = ${row.id} and state = 'queued'`;
    if (ended.count === 0) return;
    const summary = `${row.title}, to ${row.recipient}: ${reason}`.slice(0, 500);
    const { report_id: entityId, application_id: applicationId } = row;
    const payload = { summary, severity: high, delivery: String(row.id) };
    await emit(tx, [{ type: 'report.failed', entity: 'report', entityId: entityId ?? 0, applicationId, payload }], now);
  });
}

/** What is over: a channel or a report that is gone, a queue that nobody took anything from. */
async function endLost(host: Host, now: Date): Promise<void> {
  const { sql } = host;
  await sql`
    delete from vm_report_deliveries
    where state <> 'queued' and created_at < ${new Date(now.getTime() - keptDays * dayMs)}`;
  const since = new Date(now.getTime() - queuedDaysMax * dayMs);
  const lost = await sql<DeliveryRow[]>`
    select * from vm_report_deliveries
    where state = 'queued' and (report_id is null or channel_id is null or created_at < ${since})
    order by id limit ${batch}`;
  for (const row of lost) {
    const why = row.last_error === null ? '' : ` It said: ${row.last_error}`;
    const reason =
      row.report_id === null
        ? 'The report was deleted before it was sent.'
        : row.channel_id === null
          ? `The channel ${row.channel} was deleted before it was sent.`
          : `The channel did not take it for ${queuedDaysMax} days, or is switched off.${why}`;
    await giveUp(host, row, reason);
  }
}

interface Attached {
  readonly reportId: number;
  readonly content: Buffer;
  readonly built: Date;
}

async function attachedOf(sql: Sql, reportId: number): Promise<Attached | null> {
  const [row] = await sql<{ content: Buffer; created_at: Date }[]>`
    select c.content, r.created_at from vm_report_contents c join vm_reports r on r.id = c.report_id
    where c.report_id = ${reportId}`;
  return row === undefined ? null : { reportId, content: Buffer.from(row.content), built: row.created_at };
}

async function messageOf(host: Host, channel: ChannelRow, row: DeliveryRow, file: Attached): Promise<Message> {
  const brand = await brandNameOf(host);
  const console = channel.config['console_url'];
  const url = typeof console === 'string' ? `${console.replace(/\/+$/, '')}/vulnerabilities/reports` : null;
  const line = { title: null, application: null, severity: null, url: null };
  const built = showIn('UTC', file.built);
  const why = row.schedule_id === null ? 'sent it to you' : 'has it sent to you by a schedule';
  return {
    id: `gatehouse-report-${row.id}`,
    subject: cleanText(row.title),
    to: [row.recipient],
    lines: [
      { ...line, text: `A report of ${brand} is attached`, title: cleanText(row.title), url },
      { ...line, text: `It says what was known at ${built}. ${row.created_by_name} ${why}.` },
    ],
    more: 0,
    severity: null,
    at: new Date(host.now()).toISOString(),
    attachment: {
      name: `report-${file.reportId}-${file.built.toISOString().slice(0, 10)}.${row.format}`,
      mediaType: mediaTypes[row.format as Format],
      content: file.content,
    },
  };
}

/** False: the channel is left alone until the next round. */
async function noteTrouble(host: Host, channel: ChannelRow, row: DeliveryRow, error: SendError): Promise<boolean> {
  const { sql } = host;
  await sql`
    update vm_report_deliveries set attempts = attempts + 1, last_error = ${error.message} where id = ${row.id}`;
  if (error.trouble === 'refused') {
    await giveUp(host, row, error.message);
    return true;
  }
  if (error.trouble === 'setup') {
    await noteFailed(sql, channel, error.message);
    return false;
  }
  if (row.attempts + 1 >= attemptsMax) await giveUp(host, row, error.message);
  const wait = error.waitMs ?? Math.min(firstWaitMs * 2 ** Math.min(row.attempts, 20), waitMsMax);
  const next = new Date(host.now() + wait * (1 + Math.random() / 10));
  await sql`update vm_report_deliveries set not_before = ${next} where id = ${row.id} and state = 'queued'`;
  return false;
}

async function roundOf(host: Host, channel: ChannelRow, signal: AbortSignal): Promise<number> {
  const { sql } = host;
  const due = await sql<DeliveryRow[]>`
    select * from vm_report_deliveries
    where channel_id = ${channel.id} and state = 'queued' and report_id is not null
      and not_before <= ${new Date(host.now())}
    order by not_before, id limit ${batch}`;
  let sent = 0;
  let file: Attached | null = null;
  for (const row of due) {
    if (signal.aborted || row.report_id === null) break;
    if (file?.reportId !== row.report_id) file = await attachedOf(sql, row.report_id);
    if (file === null) continue;
    if (!mayReceive(channel, row.recipient)) {
      await giveUp(host, row, `The channel ${channel.name} sends no reports to ${row.recipient} any more.`);
      continue;
    }
    try {
      await sendTo(host, channel, await messageOf(host, channel, row, file));
      await sql`
        update vm_report_deliveries set state = 'sent', sent_at = ${new Date(host.now())}, attempts = attempts + 1,
          last_error = null where id = ${row.id}`;
      sent += 1;
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      if (!(await noteTrouble(host, channel, row, error))) break;
    }
  }
  return sent;
}

/** Channels at the same time: one that hangs holds up no other. Returns how many mails were sent. */
export async function sendReports(host: Host, signal: AbortSignal): Promise<number> {
  const now = new Date(host.now());
  await endLost(host, now);
  if (host.wayOut === undefined) return 0;
  const channels = await host.sql<ChannelRow[]>`
    select * from vm_channels c where type = 'email' and enabled and state <> 'failed' and exists (
      select 1 from vm_report_deliveries d
      where d.channel_id = c.id and d.state = 'queued' and d.not_before <= ${now})
    order by id`;
  const ended = await Promise.allSettled(channels.map((one) => roundOf(host, one, signal)));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return ended.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0);
}
