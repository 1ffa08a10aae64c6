// Sessions in answers, for their owner and for administrators.
import { Type } from '@sinclair/typebox';
import { listSessions, type Session } from '../auth/sessions.js';
import type { Queryable } from '../db/client.js';
import { decodeTimeCursor, Time, toPage } from '../http-kit/index.js';

export const SessionView = Type.Object({
  id: Type.String(),
  created_at: Time,
  last_seen_at: Time,
  expires_at: Time,
  source_ip: Type.String(),
  user_agent: Type.String(),
  method: Type.String(),
  current: Type.Boolean(),
});

function viewSession(session: Session, currentId: string | null) {
  const { id, source_ip, user_agent, method } = session;
  return {
    id,
    source_ip,
    user_agent,
    method,
    created_at: session.created_at.toISOString(),
    last_seen_at: session.last_seen_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
    current: id === currentId,
  };
}

/** A page of somebody's sessions, as whoever has the session `currentId` sees them. */
export async function pageSessions(
  sql: Queryable,
  { userId, currentId, now }: { readonly userId: string; readonly currentId: string | null; readonly now: Date },
  { cursor, limit = 50 }: { readonly cursor?: string; readonly limit?: number },
) {
  const before = cursor === undefined ? null : decodeTimeCursor(cursor, 'string');
  const rows = await listSessions(sql, userId, now, before, limit + 1);
  return toPage(
    rows,
    limit,
    ({ created_at, id }) => [created_at.getTime(), id],
    (session) => viewSession(session, currentId),
  );
}
