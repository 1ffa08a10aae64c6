// The end of a console whose clients go on: its socket stays (systemd), so that who is let in before it closes has to
// be answered. Streams of events are ended at once, for they would go on for hours, and their clients come again.
import type { FastifyInstance } from 'fastify';

/** Answers under way get this long. */
const patienceMs = 10_000;
/** A connection that was kept for a next request is idle only after its answer. */
const sweepMs = 50;

/** Has to be called before `app` listens; returns what closes it. */
export function closeGently(app: FastifyInstance): () => Promise<void> {
  const streams = new Set<() => void>();
  app.addHook('onSend', async (_request, reply) => {
    if (!String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream')) return;
    const end = (): void => void reply.raw.destroy();
    streams.add(end);
    reply.raw.once('close', () => streams.delete(end));
  });
  return async () => {
    const closed = app.close();
    for (const end of streams) end();
    const sweep = setInterval(() => app.server.closeIdleConnections(), sweepMs);
    const force = setTimeout(() => app.server.closeAllConnections(), patienceMs);
    try {
      await closed;
    } finally {
      clearInterval(sweep);
      clearTimeout(force);
    }
  };
}
