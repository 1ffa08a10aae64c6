// What an administrator does to somebody else's credentials and sessions.
import { Type } from '@sinclair/typebox';
import { pageSessions, SessionView } from '../account/session-view.js';
import { notifyBy } from '../auth/new-password.js';
import { passwordLengthMax } from '../auth/password.js';
import { revokeSessions } from '../auth/sessions.js';
import { closed, Page, PageQuery, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { setPassword, type UserParts } from './administration.js';
import { requireUser, requireUserForUpdate, storeRecoveryCodes, updateUser } from './store.js';
import { UserId } from './view.js';

const passwordSchema = {
  tags: ['users'],
  summary: 'Set a password the user has to change at the next login; ends their sessions',
  params: UserId,
  body: Type.Object({ password: Type.String({ minLength: 1, maxLength: passwordLengthMax }) }, closed),
  response: { 204: Type.Null(), ...refusals },
};
const totpSchema = {
  tags: ['users'],
  summary: 'Turn off the two-factor authentication of a user who lost the device',
  params: UserId,
  response: { 204: Type.Null(), ...refusals },
};
const sessionsSchema = {
  tags: ['users'],
  summary: 'Sessions of a user, newest first',
  params: UserId,
  querystring: Type.Object(PageQuery, closed),
  response: { 200: Page(SessionView), ...refusals },
};
const endSessionsSchema = {
  tags: ['users'],
  summary: 'End every session of a user',
  params: UserId,
  response: { 200: Type.Object({ ended: Type.Integer() }), ...refusals },
};

export function registerCredentialRoutes(app: App, parts: UserParts): void {
  const { sql } = parts.database;
  app.post('/api/users/:id/password', { schema: passwordSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    await setPassword(parts, actor, request.params.id, request.body.password, () => undefined, notifyBy(reply));
    return reply.code(204).send(null);
  });
  app.delete('/api/users/:id/totp', { schema: totpSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    await sql.begin(async (tx) => {
      const user = await requireUserForUpdate(tx, request.params.id);
      const now = new Date(parts.now());
      await updateUser(tx, user.id, { totp_secret: null, totp_pending: null }, now, true);
      await storeRecoveryCodes(tx, user.id, []);
      await revokeSessions(tx, user.id, {}, now);
      await parts.audit.record(tx, {
        actor,
        action: 'user.totp.off',
        summary: `turned off two-factor authentication of ${user.email}`,
        details: { user: user.id },
      });
    });
    return reply.code(204).send(null);
  });
  registerSessionRoutes(app, parts);
}

function registerSessionRoutes(app: App, parts: UserParts): void {
  const { sql } = parts.database;
  app.get('/api/users/:id/sessions', { schema: sessionsSchema }, async (request) => {
    const { sessionId } = requirePrincipal(request);
    const user = await requireUser(sql, request.params.id);
    return pageSessions(sql, { userId: user.id, currentId: sessionId, now: new Date(parts.now()) }, request.query);
  });
  app.delete('/api/users/:id/sessions', { schema: endSessionsSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    return sql.begin(async (tx) => {
      const user = await requireUserForUpdate(tx, request.params.id);
      const ended = await revokeSessions(tx, user.id, {}, new Date(parts.now()));
      await parts.audit.record(tx, {
        actor,
        action: 'user.sessions.end',
        summary: `ended ${ended} sessions of ${user.email}`,
        details: { user: user.id },
      });
      return { ended };
    });
  });
}
