// Which mailboxes a report may go to: those that the channel names. Whoever manages channels decides it, and nobody who
// only builds reports: a report holds what an attacker would like to know.
import { ApiError } from '#http-kit';
import type { Queryable } from '../../database.js';
import { unfit } from '../../kit/endpoint.js';
import type { ChannelRow } from '../../notifications/deliver.js';

interface MailConfig {
  readonly from: string;
  readonly to: readonly string[];
  readonly report_recipients?: readonly string[];
}
export const mailOf = ({ config }: Pick<ChannelRow, 'config'>): MailConfig => config as unknown as MailConfig;

export const recipientsMax = 20;

/** The part before the @ may be of either case, by RFC 5321; no mail server in use tells them apart. */
const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** An entry that begins with @ is every mailbox of exactly that domain. */
export function mayReceive(channel: Pick<ChannelRow, 'config'>, address: string): boolean {
  const { to, report_recipients: more = [] } = mailOf(channel);
  const domain = address.slice(address.lastIndexOf('@'));
  return [...to, ...more].some((one) => same(one, one.startsWith('@') ? domain : address));
}

/** Channels of e-mail, the oldest first. */
export const mailChannels = (sql: Queryable) => sql<ChannelRow[]>`
  select * from vm_channels where type = 'email' order by id`;

/** The channel that is named; without a name the only one there is. Throws 422 and 409. */
async function requireChannel(sql: Queryable, id: string | undefined, path: string): Promise<ChannelRow> {
  const all = await mailChannels(sql);
  if (all.length === 0)
    throw new ApiError('conflict', 'There is no channel of e-mail: an operator makes one under Notifications.');
  const found = id === undefined ? (all.length === 1 ? all[0] : undefined) : all.find((one) => String(one.id) === id);
  if (found === undefined)
    throw unfit(
      `${path}/channel_id`,
      id === undefined ? 'is missing' : 'is the id of no channel of e-mail',
      'GET /api/v1/reports/channels lists them',
    );
  return found;
}

export interface Receivers {
  readonly channel: ChannelRow;
  readonly recipients: readonly string[];
}

/**
 * The channel and the mailboxes; without mailboxes those of the channel. Throws 422 for one that the channel does not
 * allow, 409 for a channel that sends nothing now. `path` is where both stand in what was given.
 */
export async function requireReceivers(
  sql: Queryable,
  given: { readonly channelId?: string | undefined; readonly recipients?: readonly string[] | undefined },
  path = '',
): Promise<Receivers> {
  const channel = await requireChannel(sql, given.channelId, path);
  const wanted = given.recipients ?? mailOf(channel).to;
  const recipients = wanted.filter((one, at) => wanted.findIndex((other) => same(one, other)) === at);
  for (const [at, one] of recipients.entries())
    if (!mayReceive(channel, one))
      throw unfit(
        `${path}/recipients/${at}`,
        `${one} gets no reports through the channel ${channel.name}`,
        'a user who manages notifications adds the address or its @domain to the channel',
      );
  if (recipients.length > recipientsMax)
    throw unfit(`${path}/recipients`, `are more than ${recipientsMax}`, 'name a mailing list');
  return { channel, recipients };
}

/** Throws 409 where nothing would be sent. */
export function requireWorking({ name, enabled, state }: ChannelRow, reason: string | null): void {
  if (!enabled) throw new ApiError('conflict', `The channel ${name} is switched off.`);
  if (state === 'failed')
    throw new ApiError('conflict', `The channel ${name} does not work: ${reason ?? ''} Fix it, then test it.`);
}
