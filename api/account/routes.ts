import { Type } from '@sinclair/typebox';
import { notifyBy } from '../auth/new-password.js';
import { passwordLengthMax } from '../auth/password.js';
import { revokeSessions } from '../auth/sessions.js';
import {
  ApiError,
  closed,
  Nullable,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  Time,
  type App,
} from '../http-kit/index.js';
import { requireUser, timeZones, type TimeZone } from '../users/store.js';
import { changeOwnPassword, type AccountParts } from './own-credentials.js';
import { pageSessions, SessionView } from './session-view.js';

const Zone = Type.Unsafe<TimeZone>({
  type: 'string',
  enum: [...timeZones],
  description: 'in which the console shows times; local: that of the browser',
});
const AccountView = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Type.String(),
  totp_enabled: Type.Boolean(),
  origin: Type.String(),
  duty: Nullable(Type.String({ description: 'change_password or enrol_totp: to be done first' })),
  last_login_at: Nullable(Time),
  time_zone: Zone,
});
export const Password = Type.String({ minLength: 1, maxLength: passwordLengthMax });

const readSchema = { tags: ['account'], summary: 'Who am I', response: { 200: AccountView, ...refusals } };
const changeSchema = {
  tags: ['account'],
  summary: 'Choose the time zone in which the console shows times',
  body: Type.Object({ time_zone: Zone }, closed),
  response: { 204: Type.Null(), ...refusals },
};
const passwordSchema = {
  tags: ['account'],
  summary: 'Change the password; every other session ends',
  body: Type.Object({ current: Password, password: Password }, closed),
  response: { 204: Type.Null(), ...refusals },
};
const sessionsSchema = {
  tags: ['account'],
  summary: 'My sessions, newest first',
  querystring: Type.Object(PageQuery, closed),
  response: { 200: Page(SessionView), ...refusals },
};
const endSessionSchema = {
  tags: ['account'],
  summary: 'End one of my sessions',
  params: Type.Object({ id: Type.String({ maxLength: 100 }) }),
  response: { 204: Type.Null(), ...refusals },
};

export function registerAccountRoutes(app: App, parts: AccountParts): void {
  const { sql } = parts.database;
  app.get('/api/account', { schema: readSchema }, async (request) => {
    const principal = requirePrincipal(request);
    const user = await requireUser(sql, principal.userId);
    return {
      id: user.id,
      email: user.email,
      name: user.name,
      role: user.role,
      totp_enabled: user.totp_secret !== null,
      origin: user.origin,
      duty: principal.duty,
      last_login_at: user.last_login_at?.toISOString() ?? null,
      time_zone: user.time_zone ?? 'GMT+4',
    };
  });
  app.patch('/api/account', { schema: changeSchema }, async (request, reply) => {
    const { userId } = requirePrincipal(request);
    await sql`update users set time_zone = ${request.body.time_zone} where id = ${userId}`;
    return reply.code(204).send(null);
  });
  app.post('/api/account/password', { schema: passwordSchema }, async (request, reply) => {
    await changeOwnPassword(
      parts,
      requirePrincipal(request),
      request.body.current,
      request.body.password,
      notifyBy(reply),
    );
    return reply.code(204).send(null);
  });
  app.get('/api/account/sessions', { schema: sessionsSchema }, async (request) => {
    const { userId, sessionId } = requirePrincipal(request);
    return pageSessions(sql, { userId, currentId: sessionId, now: new Date(parts.now()) }, request.query);
  });
  app.delete('/api/account/sessions/:id', { schema: endSessionSchema }, async (request, reply) => {
    const { userId, actor } = requirePrincipal(request);
    await sql.begin(async (tx) => {
      if ((await revokeSessions(tx, userId, { id: request.params.id }, new Date(parts.now()))) === 0)
        throw new ApiError('not_found', 'You have no such session.');
      await parts.audit.record(tx, {
        actor,
        action: 'account.session.end',
        summary: `${actor.name} ended one of their sessions`,
      });
    });
    return reply.code(204).send(null);
  });
}
