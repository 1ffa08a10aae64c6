// The receiver of a webhook (/webhooks): one event a delivery, as data, signed as Standard Webhooks say. It is no kind
// of channel that people choose; its rows are written by webhooks/endpoints.ts.
import { Type } from '@sinclair/typebox';
import { severityNames } from '../../findings/words.js';
import { eventTypes } from '../../kit/events.js';
import { signedHeaders } from '../../kit/outgoing.js';
import { textOf } from '../../kit/values/text.js';
import { maskValues } from '../../secrets/mask.js';
import type { Message, NoticedEvent } from '../message.js';
import { post } from './http.js';
import type { Sender } from './sender.js';

/** What a receiver gets; without an event it is a test. */
export function bodyOfEvent(event: NoticedEvent | undefined, message: Message): Readonly<Record<string, unknown>> {
  if (event === undefined) return { type: 'test', timestamp: message.at, data: { about: message.lines[0]?.text } };
  const { type, at, severity, payload, ...data } = event;
  const word = severity === null ? null : (severityNames[severity] ?? null);
  return {
    type,
    timestamp: at,
    data: maskValues({ ...data, about: eventTypes[type], severity: word, payload }),
  };
}

export const events: Sender = {
  title: 'Webhook of events',
  secret: 'key that deliveries are signed with',
  needsSecret: true,
  config: Type.Object({ url: Type.String() }, { additionalProperties: false }),
  receiver: (config) => new URL(textOf(config['url'])).origin,
  address: (config) => textOf(config['url']),
  send: (sending, message, [event]) => {
    const body = JSON.stringify(bodyOfEvent(event, message));
    const signed = signedHeaders(message.id, sending.nowMs, body, sending.secret ?? '');
    return post(sending, textOf(sending.config['url']), body, signed);
  },
};
