// Splunk HTTP Event Collector: JSON objects one behind the other, without an array around them; the answer has a code
// of its own beside the status.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isJsonFormat, jsonFormats } from '../formats/index.js';
import { later, outcomeOfStatus, pauseOf, post, reasonOf, type Outcome, type Sink, type SinkParts } from './sink.js';

const path = '/services/collector/event';

/** Codes that say that the body does not fit: no data, wrong format, an event without text, too large, wrong fields. */
const unfitCodes: ReadonlySet<number> = new Set([5, 6, 12, 13, 15, 27]);

/** How long an indexer may take to say that it has written what it took. */
const ackMsDefault = 30_000;
const ackEveryMs = 500;

/**
 * A token may ask for acknowledgements: the answer then has a number, and only the endpoint beside says whether what it
 * stands for is written. Both need a channel, which other tokens take no notice of.
 */
export const createSplunk = (ackMs = ackMsDefault): Sink => ({
  eventsMax: 500,
  bytesMax: 800_000,
  async deliver(connector, batch, parts): Promise<Outcome> {
    const { options, index, token } = connector;
    const format = isJsonFormat(connector.format) ? connector.format : 'native';
    const body = batch
      .map((event) =>
        JSON.stringify({
          time: Date.parse(event.at) / 1000,
          host: options['host'] ?? event.node ?? 'gatehouse',
          source: options['source'] ?? 'gatehouse',
          sourcetype: options['sourcetype'] ?? `gatehouse:${format}`,
          ...(index === '' ? {} : { index }),
          event: jsonFormats[format](event),
          fields: { event_id: event.id },
        }),
      )
      .join('\n');
    try {
      const base = connector.target.replace(/\/+$/, '');
      const url = /\/services\/collector(\/event)?$/.test(base) ? base : `${base}${path}`;
      const headers = {
        authorization: `Splunk ${token ?? ''}`,
        'content-type': 'application/json',
        'x-splunk-request-channel': channel,
      };
      const reply = await post(parts, url, headers, body);
      const code = codeOf(reply.body);
      if (reply.status === 400 && code !== null && !unfitCodes.has(code))
        return later(`Splunk answered 400 with code ${code.toString()}: ${reply.body.toString('utf8').slice(0, 200)}`);
      if (reply.status === 200 && code !== 0)
        return later(`Splunk answered 200 with code ${String(code)}, which is no success`, pauseOf(reply, parts.now()));
      const ackId = reply.status === 200 ? memberOf(reply.body, 'ackId') : null;
      if (typeof ackId === 'number' && !(await isWritten(url, headers, ackId, ackMs, parts)))
        return later(`Splunk did not acknowledge in ${ackMs} ms that events were written`);
      return outcomeOfStatus(reply, batch.length, parts.now());
    } catch (error) {
      return later(reasonOf(error));
    }
  },
});

/** Of this process: what another asks about is none of its own. */
const channel = randomUUID();

async function isWritten(
  url: string,
  headers: Readonly<Record<string, string>>,
  ackId: number,
  ackMs: number,
  parts: SinkParts,
): Promise<boolean> {
  const asked = `${url.replace(/\/event$/, '')}/ack?channel=${channel}`;
  const endMs = performance.now() + ackMs;
  while (performance.now() < endMs) {
    const reply = await post(parts, asked, headers, JSON.stringify({ acks: [ackId] }));
    const acks = reply.status === 200 ? memberOf(reply.body, 'acks') : null;
    if (typeof acks === 'object' && acks !== null && (acks as Record<string, unknown>)[ackId] === true) return true;
    await pause(Math.min(ackEveryMs, ackMs));
  }
  return false;
}

/** A member of an answer in JSON; null: there is none. */
function memberOf(body: Buffer, name: string): unknown {
  try {
    const answer = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>> | null;
    return answer?.[name] ?? null;
  } catch {
    return null;
  }
}

function codeOf(body: Buffer): number | null {
  const code = memberOf(body, 'code');
  return typeof code === 'number' ? code : null;
}
