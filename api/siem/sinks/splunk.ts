// Splunk HTTP Event Collector: JSON objects one behind the other, without an array around them; the answer has a code
// of its own beside the status.
import { isJsonFormat, jsonFormats } from '../formats/index.js';
import { later, outcomeOfStatus, pauseOf, post, reasonOf, type Outcome, type Sink } from './sink.js';

const path = '/services/collector/event';

/** Codes that say that the body does not fit: no data, wrong format, an event without text, too large, wrong fields. */
const unfitCodes: ReadonlySet<number> = new Set([5, 6, 12, 13, 15, 27]);

export const splunk: Sink = {
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
      const headers = { authorization: `Splunk ${token ?? ''}`, 'content-type': 'application/json' };
      const reply = await post(parts, url, headers, body);
      const code = codeOf(reply.body);
      if (reply.status === 400 && code !== null && !unfitCodes.has(code))
        return later(`Splunk answered 400 with code ${code.toString()}: ${reply.body.toString('utf8').slice(0, 200)}`);
      if (reply.status === 200 && code !== 0)
        return later(`Splunk answered 200 with code ${String(code)}, which is no success`, pauseOf(reply, parts.now()));
      return outcomeOfStatus(reply, batch.length, parts.now());
    } catch (error) {
      return later(reasonOf(error));
    }
  },
};

function codeOf(body: Buffer): number | null {
  try {
    const { code } = JSON.parse(body.toString('utf8')) as { code?: unknown };
    return typeof code === 'number' ? code : null;
  } catch {
    return null;
  }
}
