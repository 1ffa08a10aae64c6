// The queue of notices: what is due of a channel is sent in its order, digests as one message. Nothing is asked inside
// a transaction; a message that came twice, as its answer was lost, has the same id.
import { brandNameOf } from '../branding/current.js';
import type { Sql } from '../database.js';
import type { Host } from '../host.js';
import { textsOf } from '../templates/stored.js';
import { messageOf, type Message, type NoticedEvent } from './message.js';
import { isQuiet, urgentFrom, type Quiet } from './quiet.js';
import { SendError } from './senders/sender.js';
import { senderOf } from './senders/index.js';

export interface ChannelRow {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  readonly secret: string | null;
  readonly quiet: Quiet | null;
  readonly state: 'untested' | 'ok' | 'failed';
  readonly failures: number;
  readonly version: number;
}

interface Due {
  readonly id: number;
  readonly route_id: number;
  readonly digest: boolean;
  readonly template_id: number | null;
  readonly event: NoticedEvent;
}

const firstWaitMs = 30_000;
const waitMsMax = 3_600_000;
/** Attempts of a message before it is given up. While a channel is away only its first message is tried. */
const attemptsMax = 8;
const digestMax = 500;
const batch = 50;
const keptDays = 30;
const dayMs = 86_400_000;
/** A channel that has failed is not waited for longer: its queue has an end, and a repair sends no old news. */
const queuedDaysMax = 7;

/** What receivers know a notice by, in each attempt. */
export const deliveryId = (notice: number): string => `gatehouse-notice-${notice}`;

/** The place that a secret is sealed for: a change of the receiver needs the secret again. */
export const placeOfSecret = (type: string, config: Readonly<Record<string, unknown>>): string =>
  `vm_channels:/${type}/${senderOf(type).receiver(config)}`;

/** Throws SendError. */
export async function sendTo(
  host: Host,
  { type, config, secret }: ChannelRow,
  message: Message,
  events: readonly NoticedEvent[] = [],
): Promise<void> {
  const { wayOut: way } = host;
  if (way === undefined) throw new SendError('setup', 'This server sends nothing to other systems.');
  let plain: string | null;
  try {
    plain = secret === null ? null : host.secrets.open(secret, placeOfSecret(type, config));
  } catch {
    throw new SendError('setup', 'The secret cannot be opened with the key of this installation: give it again.');
  }
  await senderOf(type).send({ way, config, secret: plain, nowMs: host.now() }, message, events);
}

const dueOf = (sql: Sql, channel: ChannelRow, now: Date) => sql<Due[]>`
  select n.id, n.route_id, r.digest_minutes > 0 as digest, r.template_id, n.event
  from vm_notices n join vm_notice_routes r on r.id = n.route_id
  where n.channel_id = ${channel.id} and n.state = 'queued' and n.not_before <= ${now}
    and ${
      channel.quiet !== null && isQuiet(channel.quiet, now)
        ? sql`coalesce(n.severity, -1) >= ${urgentFrom(channel.quiet)}`
        : sql`true`
    }
  order by n.not_before, n.id limit ${digestMax}`;

/** Due notices as messages: those of a route with a digest together. */
function messagesOf(due: readonly Due[]): readonly (readonly Due[])[] {
  const digests = new Map<number, Due[]>();
  const made: Due[][] = [];
  for (const one of due) {
    const gathered = one.digest ? digests.get(one.route_id) : undefined;
    if (gathered !== undefined) {
      gathered.push(one);
      continue;
    }
    const fresh = [one];
    if (one.digest) digests.set(one.route_id, fresh);
    made.push(fresh);
  }
  return made.slice(0, batch);
}

async function noteSent(sql: Sql, channel: ChannelRow, ids: readonly number[], now: Date): Promise<void> {
  await sql`
    update vm_notices set state = 'sent', sent_at = ${now}, attempts = attempts + 1, last_error = null
    where id in ${sql(ids)}`;
  await sql`
    update vm_channels set state = 'ok', reason = null, failures = 0, retry_at = null
    where id = ${channel.id} and version = ${channel.version}`;
}

/** False: the channel is left alone for now. */
async function noteTrouble(
  host: Host,
  channel: ChannelRow,
  ids: readonly number[],
  error: SendError,
): Promise<boolean> {
  const { sql } = host;
  const now = new Date(host.now());
  if (error.trouble === 'refused') {
    await sql`
      update vm_notices set attempts = attempts + 1, last_error = ${error.message}, state = 'failed'
      where id in ${sql(ids)}`;
    return true;
  }
  await sql`update vm_notices set last_error = ${error.message}, attempts = attempts + 1 where id in ${sql(ids)}`;
  if (error.trouble === 'setup') {
    await noteFailed(sql, channel, error.message);
    return false;
  }
  const wait = error.waitMs ?? Math.min(firstWaitMs * 2 ** Math.min(channel.failures, 20), waitMsMax);
  await sql`
    update vm_channels set failures = failures + 1, reason = ${error.message},
      retry_at = ${new Date(now.getTime() + wait * (1 + Math.random() / 10))}
    where id = ${channel.id} and version = ${channel.version}`;
  await sql`update vm_notices set state = 'failed' where id in ${sql(ids)} and attempts >= ${attemptsMax}`;
  return false;
}

/** Nothing is sent until the channel is changed or tested. */
export const noteFailed = async (sql: Sql, { id, version }: ChannelRow, reason: string): Promise<void> =>
  void (await sql`
    update vm_channels set state = 'failed', reason = ${reason}, retry_at = null
    where id = ${id} and version = ${version}`);

async function roundOf(host: Host, channel: ChannelRow, signal: AbortSignal): Promise<number> {
  let sent = 0;
  const due = await dueOf(host.sql, channel, new Date(host.now()));
  for (const gathered of messagesOf(due)) {
    if (signal.aborted) return sent;
    const ids = gathered.map(({ id }) => id);
    const events = gathered.map(({ event }) => event);
    const console = channel.config['console_url'];
    const id = deliveryId(ids[0] ?? 0);
    try {
      const base = typeof console === 'string' ? console : undefined;
      const texts = await textsOf(host.sql, 'notice', gathered[0]?.template_id ?? null);
      const text = messageOf(id, await brandNameOf(host), events, base, texts);
      await sendTo(host, channel, text, events);
      await noteSent(host.sql, channel, ids, new Date(host.now()));
      sent++;
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      if (!(await noteTrouble(host, channel, ids, error))) return sent;
    }
  }
  return sent;
}

/** Channels at the same time: one that hangs holds up no other. Returns how many messages were sent. */
export async function sendNotices(host: Host, signal: AbortSignal): Promise<number> {
  const { sql } = host;
  const now = new Date(host.now());
  await sql`
    delete from vm_notices where created_at < ${new Date(now.getTime() - keptDays * dayMs)} and state <> 'queued'`;
  await sql`
    update vm_notices set state = 'failed',
      last_error = ${`It waited for ${queuedDaysMax} days: the channel did not take it, or is switched off.`}
    where state = 'queued' and not_before < ${new Date(now.getTime() - queuedDaysMax * dayMs)}`;
  if (host.wayOut === undefined) return 0;
  const channels = await sql<ChannelRow[]>`
    select * from vm_channels where enabled and state <> 'failed' and (retry_at is null or retry_at <= ${now})
    order by id`;
  // all have ended before an error of one ends the round: the next round may not run beside them and send twice
  const ended = await Promise.allSettled(channels.map((one) => roundOf(host, one, signal)));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return ended.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0);
}
