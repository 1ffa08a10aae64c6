// Server-sent events that follow ids: nothing is skipped or repeated, also across reconnects with Last-Event-ID.
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Queryable } from '../db/client.js';
import { ApiError, closed, refusals, type App } from '../http-kit/index.js';
import type { HttpParts, Parts } from '../parts.js';
import { viewRecord } from './query.js';
import { viewEvent, type RecordedEvent } from './view.js';

export type StreamParts = Pick<Parts, 'database' | 'now'> & Pick<HttpParts, 'requireStillAdmitted'>;

const streamsMax = 50;
const pollMs = 1000;
const rowsMax = 200;
/** How long a stream outlives the session, the token or the role it was opened with. */
const checkMs = 5000;

const schema = {
  tags: ['events'],
  summary: 'Security events as they come (server-sent events); ends with the session or token it was asked with',
  querystring: Type.Object(
    {
      after: Type.Optional(
        Type.Integer({ minimum: 0, description: 'id of the last event seen; without it only new ones' }),
      ),
    },
    closed,
  ),
  response: { ...refusals },
};

export function registerStream(app: App, parts: StreamParts): void {
  const { sql } = parts.database;
  let open = 0;
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  app.get('/api/events/stream', { exposeHeadRoute: false, schema }, async (request, reply) => {
    if (open >= streamsMax)
      throw new ApiError('busy', `There are ${streamsMax} streams already.`, { headers: { 'retry-after': '10' } });
    const resumed = Number(request.headers['last-event-id'] ?? request.query.after ?? NaN);
    const [newest] = await sql<{ id: number | null }[]>`select max(id) as id from security_events`;
    const after = Number.isSafeInteger(resumed) && resumed >= 0 ? resumed : (newest?.id ?? 0);
    reply.hijack();
    const { raw } = reply;
    open++;
    const gone = new AbortController();
    raw.on('close', () => gone.abort());
    raw.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    try {
      await follow(parts, request, raw, after, AbortSignal.any([gone.signal, closing.signal]));
    } catch (error) {
      if (error instanceof ApiError) request.log.info(`an event stream ended: ${error.message}`);
      else request.log.error({ err: error }, 'an event stream ended');
    } finally {
      open--;
      raw.end();
    }
  });
}

/**
 * Until `stop`; throws when the caller may not look any more. A slow reader is waited for: it holds one page, never a
 * queue.
 */
async function follow(
  { database, now, requireStillAdmitted }: StreamParts,
  request: FastifyRequest,
  raw: ServerResponse,
  after: number,
  stop: AbortSignal,
): Promise<void> {
  let last = after;
  raw.write(`retry: 2000\n: from ${last}\n\n`);
  let checkedAtMs = now();
  while (!stop.aborted) {
    if (now() - checkedAtMs >= checkMs) {
      await requireStillAdmitted(request);
      checkedAtMs = now();
    }
    const rows = await eventsAfter(database.sql, last);
    for (const row of rows) last = row.id;
    const text = rows.map(toMessage).join('') || ': still here\n\n';
    if (!raw.write(text)) await drained(raw, stop);
    if (rows.length < rowsMax) await pause(pollMs, stop);
  }
}

type EventRow = Omit<RecordedEvent, 'at'> & { readonly at: Date };

async function eventsAfter(sql: Queryable, id: number): Promise<EventRow[]> {
  return sql<EventRow[]>`select * from security_events where id > ${id} order by id limit ${rowsMax}`;
}

function toMessage(row: EventRow): string {
  const event = viewEvent(viewRecord<RecordedEvent>(row));
  return `id: ${row.id}\nevent: security\ndata: ${JSON.stringify(event)}\n\n`;
}

function drained(raw: ServerResponse, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    raw.once('drain', resolve);
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
