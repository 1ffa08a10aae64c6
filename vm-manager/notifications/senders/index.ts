// Every kind of channel.
import { email } from './email.js';
import { events } from './events.js';
import { pagerduty, slack, teams, webhook } from './http.js';
import type { Sender } from './sender.js';

export const senders = { email, slack, teams, pagerduty, webhook } satisfies Record<string, Sender>;
export type ChannelType = keyof typeof senders;
export const channelTypes = Object.keys(senders) as ChannelType[];

/** Webhooks are in the table of channels, and have their own endpoints. */
const everySender: Readonly<Record<string, Sender>> = { ...senders, events };

export function senderOf(type: string): Sender {
  const found = Object.hasOwn(everySender, type) ? everySender[type] : undefined;
  if (found === undefined) throw new Error(`there are no channels of the type ${type}`);
  return found;
}
