// Domain events as they happen, as server-sent events that follow ids: nothing is skipped or repeated, also across
// reconnects with Last-Event-ID. A stream ends with the session, the token or the right that it was opened with.
import { ApiError } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { visibleByApplication } from '../assets/resources.js';
import type { Host } from '../host.js';
import { identify, type Reach } from '../kit/caller.js';
import { endpoint, type Call, type Endpoint } from '../kit/endpoint.js';

const closed = { additionalProperties: false } as const;
const permission = 'view_scans';
const streamsMax = 50;
const pollMs = 1000;
const rowsMax = 200;
const checkMs = 5000;
let open = 0;

interface EventRow {
  readonly id: number;
  readonly type: string;
  readonly entity: string;
  readonly entity_id: number;
  readonly application_id: number | null;
  readonly payload: unknown;
  readonly at: Date;
}

const toMessage = ({ id, type, entity, entity_id, application_id, payload, at }: EventRow): string => {
  const data = {
    ...{ id: String(id), type, entity, entity_id: String(entity_id) },
    ...{ application_id: application_id === null ? null : String(application_id), payload, at: at.toISOString() },
  };
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
};

/** What they reach now; throws ApiError where they may not look any more. */
async function stillReached(host: Host, request: FastifyRequest): Promise<Reach> {
  const reach = (await identify(host, request)).reach(permission, false);
  if (reach === null) throw new ApiError('role_denied', `This needs the permission ${permission}.`);
  return reach;
}

async function start({ sql, request }: Call): Promise<number> {
  const given = request.headers['last-event-id'];
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return Number(given);
  const [newest] = await sql<{ id: number | null }[]>`select max(id) as id from vm_events`;
  return newest?.id ?? 0;
}

/** Until the reader is gone or the server stops; a slow reader is waited for: it holds one page, never a queue. */
async function follow(call: Call, from: number, type: string | undefined, gone: AbortSignal): Promise<void> {
  const { host, sql, request, reply } = call;
  const { raw } = reply;
  let [last, reach, checkedAtMs] = [from, call.reach, host.now()];
  raw.write(`retry: 2000\n: from ${last}\n\n`);
  do {
    if (host.now() - checkedAtMs >= checkMs) {
      reach = await stillReached(host, request);
      checkedAtMs = host.now();
    }
    const rows = await sql<EventRow[]>`
      select id, type, entity, entity_id, application_id, payload, at from vm_events
      where id > ${last} and ${type === undefined ? sql`true` : sql`type = ${type}`}
        and ${visibleByApplication('vm_events')(sql, reach)} order by id limit ${rowsMax}`;
    last = rows.at(-1)?.id ?? last;
    const text = rows.map(toMessage).join('') || ': still here\n\n';
    if (!raw.write(text)) await once(raw, 'drain', { signal: gone });
    // a server that closes listens no more; one that never listened answers what there is
    if (!request.server.server.listening) return;
    if (rows.length < rowsMax) await pause(pollMs, undefined, { signal: gone });
  } while (!gone.aborted);
}

export const eventStream: Endpoint = endpoint({
  method: 'GET',
  path: '/events/stream',
  permission,
  kind: 'B',
  summary: 'What happens, as it happens (server-sent events), from Last-Event-ID on; without it only what is new',
  query: Type.Object({ type: Type.Optional(Type.String({ maxLength: 60 })) }, closed),
  mediaType: 'text/event-stream',
  handle: async (call) => {
    if (open >= streamsMax)
      throw new ApiError('busy', `There are ${streamsMax} streams already.`, { headers: { 'retry-after': '10' } });
    const { type } = call.query;
    const from = await start(call);
    const { reply, request } = call;
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    reply.hijack();
    open++;
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    try {
      reply.raw.writeHead(200, headers as Record<string, string>);
      await follow(call, from, type, gone.signal);
    } catch (error) {
      if (!gone.signal.aborted) request.log.info({ err: error }, 'a stream of events ended');
    } finally {
      open--;
      reply.raw.end();
    }
    return reply;
  },
});
