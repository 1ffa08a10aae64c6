import { Type } from '@sinclair/typebox';
import { acceptNewPassword, type NewPasswordParts } from '../auth/new-password.js';
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
import type { Parts } from '../parts.js';
import { requireUser, updateUser } from '../users/store.js';
import { requirePassword } from './confirmation.js';
import { pageSessions, SessionView } from './session-view.js';

type AccountRouteParts = NewPasswordParts & Pick<Parts, 'database' | 'now' | 'audit'>;

const AccountView = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Type.String(),
  totp_enabled: Type.Boolean(),
  origin: Type.String(),
  duty: Nullable(Type.String({ description: 'change_password or enrol_totp: to be done first' })),
  last_login_at: Nullable(Time),
});
export const Password = Type.String({ minLength: 1, maxLength: passwordLengthMax });

const readSchema = { tags: ['account'], summary: 'Who am I', response: { 200: AccountView, ...refusals } };
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

export function registerAccountRoutes(app: App, parts: AccountRouteParts): void {
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
    };
  });
  app.post('/api/account/password', { schema: passwordSchema }, async (request, reply) => {
    const { userId, sessionId, actor } = requirePrincipal(request);
    const user = await requireUser(sql, userId);
    await requirePassword(parts, user, request.body.current);
    if (request.body.password === request.body.current)
      throw new ApiError('password_refused', 'The new password is the old one.', {
        errors: [{ path: '/password', reason: 'is the current password' }],
      });
    const accepted = await acceptNewPassword(parts, request.body.password, user);
    await sql.begin(async (tx) => {
      const now = new Date(parts.now());
      await updateUser(tx, userId, { password_hash: accepted.hash, must_change_password: false }, now);
      const ended = await revokeSessions(tx, userId, { keep: sessionId ?? '' }, now);
      await parts.audit.record(tx, {
        actor,
        action: 'account.password',
        summary: `${actor.name} changed the password; ${ended} other sessions ended${accepted.note}`,
      });
    });
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
