// Any receiver of JSON, signed as Standard Webhooks say: `webhook-signature: v1,BASE64` of HMAC-SHA256 over
// `ID.TIMESTAMP.BODY`. A receiver that gets the same `webhook-id` again has had it; nothing is read from it.
import { Type } from '@sinclair/typebox';
import { createHmac } from 'node:crypto';
import { at, str } from '../../imports/normalize.js';
import { unfit } from '../../kit/endpoint.js';
import { signedHeaders } from '../../kit/outgoing.js';
import { TrackerError, type Asker } from './ask.js';
import type { Connection, Draft, Remote, RemoteState, Tracker } from './tracker.js';

class Webhook implements Connection {
  private readonly secret: string;
  private readonly asker: Asker;
  constructor(secret: string, asker: Asker) {
    [this.secret, this.asker] = [secret, asker];
  }

  private async send(id: string, type: string, data: Readonly<Record<string, unknown>>): Promise<unknown> {
    const body = JSON.stringify({ type, ...data });
    const headers = signedHeaders(id, this.asker.now(), body, this.secret);
    return this.asker.ask('POST', '', { body, headers });
  }

  async test(): Promise<string> {
    await this.send(`test-${this.asker.now()}`, 'test', {});
    return 'The receiver took a signed test.';
  }

  async find(): Promise<null> {
    return null;
  }

  async create({ marker, ...draft }: Draft): Promise<Remote> {
    const made = await this.send(marker, 'ticket.create', { marker, ...draft });
    const key = str(at(made, 'key')) || str(at(made, 'id')) || marker;
    return { id: marker, key: key.slice(0, 100), url: str(at(made, 'url')) };
  }

  async read(): Promise<RemoteState> {
    throw new TrackerError('refused', 'Tickets of a webhook cannot be read, so that none can be linked.');
  }

  async comment({ id, key }: Remote, text: string): Promise<void> {
    await this.send(`${id}-${digest(text)}`, 'ticket.comment', { marker: id, key, text });
  }

  async move({ id, key }: Remote, to: 'open' | 'closed'): Promise<void> {
    // the same twice is done once by itself; the moment tells a second closing from a repeated one
    const minute = Math.floor(this.asker.now() / 60_000);
    await this.send(`${id}-${to}-${minute}`, to === 'closed' ? 'ticket.close' : 'ticket.reopen', { marker: id, key });
  }
}

const digest = (text: string): string => createHmac('sha256', 'comment').update(text).digest('hex').slice(0, 16);

export const webhook: Tracker = {
  title: 'Webhook',
  secret: 'key that deliveries are signed with; 24 characters or more',
  config: Type.Object({}),
  reads: false,
  titleMax: 250,
  bodyMax: 200_000,
  format: () => 'markdown',
  check({ take_assignee: takes }) {
    if (takes === true) throw unfit('/config/take_assignee', 'cannot be had: nothing is read from a webhook');
  },
  connect: (_, secret, asker) => new Webhook(secret, asker),
};
