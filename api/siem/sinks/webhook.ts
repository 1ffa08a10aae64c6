// A webhook of anybody's: the event as a JSON body, signed as Standard Webhooks describes (`webhook-id`,
// `webhook-timestamp`, `webhook-signature: v1,BASE64(HMAC-SHA256(id.timestamp.body))`). One event a call, so that its
// id is the id of the call; with the option `batch` a list.
import { createHmac } from 'node:crypto';
import { isJsonFormat, jsonFormats } from '../formats/index.js';
import {
  later,
  outcomeOfStatus,
  post,
  reasonOf,
  type Outcome,
  type Refused,
  type Sink,
  type SinkParts,
} from './sink.js';

const batchMax = 500;

/** The three headers. `secret`: its bytes are those of the text, or of the base64 behind `whsec_`. */
export function signedHeaders(id: string, atMs: number, body: string, secret: string): Record<string, string> {
  const timestamp = Math.floor(atMs / 1000).toString();
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

export const webhook: Sink = {
  eventsMax: batchMax,
  bytesMax: 1_000_000,
  async deliver(connector, batch, parts): Promise<Outcome> {
    const format = isJsonFormat(connector.format) ? connector.format : 'native';
    const size = Math.min(batchMax, Math.max(1, Number(connector.options['batch'] ?? 1) || 1));
    const secret = connector.token ?? connector.options['shared_key'] ?? null;
    const refused: Refused[] = [];
    for (let done = 0; done < batch.length; done += size) {
      const some = batch.slice(done, done + size);
      const told = some.map((event) => jsonFormats[format](event));
      const body = JSON.stringify(size === 1 ? told[0] : told);
      const id = some[0]?.id ?? '';
      const signed = secret === null ? { 'webhook-id': id } : signedHeaders(id, parts.now(), body, secret);
      const outcome = await call(connector.target, { 'content-type': 'application/json', ...signed }, body, parts);
      if (outcome.kind === 'later') return { ...outcome, taken: done, refused };
      if (outcome.kind === 'taken') continue;
      if (size === 1) refused.push({ index: done, reason: outcome.reason });
      // what came before is taken; the rest comes again, beginning with the list that does not fit
      else if (done > 0) return { kind: 'taken', taken: done, refused };
      else return outcome;
    }
    return { kind: 'taken', taken: batch.length, refused };
  },
};

async function call(url: string, headers: Record<string, string>, body: string, parts: SinkParts): Promise<Outcome> {
  try {
    return outcomeOfStatus(await post(parts, url, headers, body), 1, parts.now());
  } catch (error) {
    return later(reasonOf(error));
  }
}
