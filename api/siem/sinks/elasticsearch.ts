// Elasticsearch and OpenSearch by `_bulk`: an action line and a document for each event. Every item is created under
// the event's id, so that what was taken before answers 409, which means that it is there. Items fail one by one.
import { isJsonFormat, jsonFormats } from '../formats/index.js';
import { later, outcomeOfStatus, post, reasonOf, type Outcome, type Refused, type Sink } from './sink.js';

const defaultIndex = 'logs-gatehouse.events-default';

interface Item {
  readonly status?: number;
  readonly error?: { readonly type?: string; readonly reason?: string };
}

export const elasticsearch: Sink = {
  eventsMax: 500,
  bytesMax: 5_000_000,
  async deliver(connector, batch, parts): Promise<Outcome> {
    const { options, token, index } = connector;
    const format = isJsonFormat(connector.format) ? connector.format : 'ecs';
    const lines = batch.flatMap((event) => [
      JSON.stringify({ create: { _index: index === '' ? defaultIndex : index, _id: event.id } }),
      // a data stream takes nothing without this member
      JSON.stringify({ '@timestamp': event.at, ...jsonFormats[format](event) }),
    ]);
    const { username, pipeline } = options;
    const login =
      token === null
        ? {}
        : {
            authorization:
              username === undefined
                ? `ApiKey ${token}`
                : `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`,
          };
    try {
      const base = connector.target.replace(/\/+$/, '').replace(/\/_bulk$/, '');
      const query = pipeline === undefined ? '' : `?pipeline=${encodeURIComponent(pipeline)}`;
      const headers = { 'content-type': 'application/x-ndjson', ...login };
      const reply = await post(parts, `${base}/_bulk${query}`, headers, `${lines.join('\n')}\n`);
      if (reply.status !== 200) return outcomeOfStatus(reply, batch.length, parts.now());
      return outcomeOfItems(reply.body, batch.length);
    } catch (error) {
      return later(reasonOf(error));
    }
  },
};

/** Up to the first item that has to be tried again; what behind it was taken answers 409 the next time. */
function outcomeOfItems(body: Buffer, count: number): Outcome {
  let items: readonly Readonly<Record<string, Item>>[];
  try {
    const answer = JSON.parse(body.toString('utf8')) as { items?: unknown };
    if (!Array.isArray(answer.items) || answer.items.length !== count)
      return later(`the answer to _bulk is not about ${count} items`);
    items = answer.items as typeof items;
  } catch {
    return later('the answer to _bulk is no JSON');
  }
  const refused: Refused[] = [];
  for (const [index, item] of items.entries()) {
    const { status = 0, error } = Object.values(item)[0] ?? {};
    if ((status >= 200 && status < 300) || status === 409) continue;
    const reason = `_bulk answered ${status} for an item: ${error?.type ?? ''} ${error?.reason ?? ''}`
      .trim()
      .slice(0, 500);
    if (status === 400 || status === 413) refused.push({ index, reason });
    else return { kind: 'later', taken: index, refused, reason, afterMs: null };
  }
  return { kind: 'taken', taken: count, refused };
}
