// User administration. Every change that alters what a session may do ends the user's sessions.
import { Type } from '@sinclair/typebox';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { decodeCursor, Page, PageQuery, toPage } from '../http-kit/page.js';
import { checkIfMatch } from '../http-kit/etag.js';
import { closed, Nullable, refusals, Time } from '../http-kit/schema.js';
import { pageSessions, SessionView } from '../account/routes.js';
import { requirePrincipal } from '../auth/guard.js';
import { acceptNewPassword } from '../auth/new-password.js';
import { passwordLengthMax } from '../auth/password.js';
import {
  insertUser,
  requireAnotherAdmin,
  requireUser,
  requireUserForUpdate,
  storeRecoveryCodes,
  updateUser,
  type User,
} from './store.js';
import { RoleName } from './role-name.js';
import { revokeSessions } from '../auth/sessions.js';

const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f]+@[^\\s@\\u0000-\\u001f]+$',
});
const Name = Type.String({ maxLength: 200, pattern: '^[^\\u0000-\\u001f]*$' });
const Password = Type.String({ minLength: 1, maxLength: passwordLengthMax });
const Id = Type.Object({ id: Type.String({ maxLength: 64 }) });

const UserView = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: RoleName,
  suspended: Type.Boolean(),
  totp_enabled: Type.Boolean(),
  must_change_password: Type.Boolean(),
  origin: Type.String(),
  created_at: Time,
  updated_at: Time,
  last_login_at: Nullable(Time),
  etag: Type.String(),
});

const etagOf = (user: User): string => `"${user.id.slice(0, 8)}-${user.revision}"`;

function viewUser(user: User) {
  const { id, email, name, role, suspended, must_change_password, origin } = user;
  return {
    id,
    email,
    name,
    role,
    suspended,
    must_change_password,
    origin,
    totp_enabled: user.totp_secret !== null,
    created_at: user.created_at.toISOString(),
    updated_at: user.updated_at.toISOString(),
    last_login_at: user.last_login_at?.toISOString() ?? null,
    etag: etagOf(user),
  };
}

export function registerUserRoutes(app: App, house: House): void {
  const { sql } = house.database;
  app.get(
    '/api/users',
    {
      schema: {
        tags: ['users'],
        summary: 'Users',
        querystring: Type.Object(PageQuery, closed),
        response: { 200: Page(UserView), ...refusals },
      },
    },
    async (request) => {
      const limit = request.query.limit ?? 50;
      const [after] =
        request.query.cursor === undefined ? [''] : decodeCursor(request.query.cursor, ['string'] as const);
      const rows = await sql<
        User[]
      >`select * from users where email_key > ${after} order by email_key limit ${limit + 1}`;
      return toPage(rows, limit, (user) => [(user as User & { email_key: string }).email_key], viewUser);
    },
  );
  app.post(
    '/api/users',
    {
      schema: {
        tags: ['users'],
        summary: 'Create a user',
        body: Type.Object(
          {
            email: Email,
            name: Type.Optional(Name),
            role: RoleName,
            password: Password,
            must_change_password: Type.Optional(Type.Boolean({ default: true })),
          },
          closed,
        ),
        response: { 201: UserView, ...refusals },
      },
    },
    async (request, reply) => {
      const { actor } = requirePrincipal(request);
      const { email, role, password } = request.body;
      const name = request.body.name ?? '';
      const accepted = await acceptNewPassword(house, password, { email, name });
      const user = await sql.begin(async (tx) => {
        const made = await insertUser(
          tx,
          {
            email,
            name,
            role,
            passwordHash: accepted.hash,
            mustChangePassword: request.body.must_change_password ?? true,
            origin: 'local',
            ssoSubject: null,
          },
          new Date(house.now()),
        );
        await house.audit.record(tx, {
          actor,
          action: 'user.create',
          summary: `created ${role} ${email}${accepted.note}`,
          details: { user: made.id },
        });
        return made;
      });
      return reply.code(201).header('etag', etagOf(user)).send(viewUser(user));
    },
  );
  app.get(
    '/api/users/:id',
    { schema: { tags: ['users'], summary: 'One user', params: Id, response: { 200: UserView, ...refusals } } },
    async (request, reply) => {
      const user = await requireUser(sql, request.params.id);
      reply.header('etag', etagOf(user));
      return viewUser(user);
    },
  );
  app.patch(
    '/api/users/:id',
    {
      schema: {
        tags: ['users'],
        summary: 'Change name or role, suspend or reactivate',
        params: Id,
        body: Type.Object(
          { name: Type.Optional(Name), role: Type.Optional(RoleName), suspended: Type.Optional(Type.Boolean()) },
          { ...closed, minProperties: 1 },
        ),
        response: { 200: UserView, ...refusals },
      },
    },
    async (request, reply) => {
      const { actor } = requirePrincipal(request);
      const change = request.body;
      const user = await sql.begin(async (tx) => {
        const before = await requireUserForUpdate(tx, request.params.id);
        checkIfMatch(request.headers['if-match'], etagOf(before));
        const losesAdmin =
          before.role === 'admin' &&
          !before.suspended &&
          ((change.role !== undefined && change.role !== 'admin') || change.suspended === true);
        if (losesAdmin) await requireAnotherAdmin(tx, before.id);
        const endSessions =
          (change.role !== undefined && change.role !== before.role) ||
          (change.suspended === true && !before.suspended);
        const after = await updateUser(tx, before.id, change, new Date(house.now()), endSessions);
        if (endSessions) await revokeSessions(tx, before.id, {}, new Date(house.now()));
        const what = (['name', 'role', 'suspended'] as const)
          .filter((key) => before[key] !== after[key])
          .map((key) => `${key}: ${String(before[key])} → ${String(after[key])}`);
        await house.audit.record(tx, {
          actor,
          action: 'user.update',
          summary: `changed user ${before.email}: ${what.join(', ') || 'nothing'}`,
          details: { user: before.id },
        });
        return after;
      });
      reply.header('etag', etagOf(user));
      return viewUser(user);
    },
  );
  app.delete(
    '/api/users/:id',
    {
      schema: {
        tags: ['users'],
        summary: 'Delete a user, with sessions and tokens',
        params: Id,
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const { actor } = requirePrincipal(request);
      await sql.begin(async (tx) => {
        const user = await requireUserForUpdate(tx, request.params.id);
        checkIfMatch(request.headers['if-match'], etagOf(user));
        if (user.role === 'admin' && !user.suspended) await requireAnotherAdmin(tx, user.id);
        await tx`delete from users where id = ${user.id}`;
        await house.audit.record(tx, {
          actor,
          action: 'user.delete',
          summary: `deleted ${user.role} ${user.email}`,
          details: { user: user.id },
        });
      });
      return reply.code(204).send(null);
    },
  );
  registerUserCredentialRoutes(app, house);
}

function registerUserCredentialRoutes(app: App, house: House): void {
  const { sql } = house.database;
  app.post(
    '/api/users/:id/password',
    {
      schema: {
        tags: ['users'],
        summary: 'Set a password the user has to change at the next login; ends their sessions',
        params: Id,
        body: Type.Object({ password: Password }, closed),
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const { actor } = requirePrincipal(request);
      const user = await requireUser(sql, request.params.id);
      if (user.origin === 'sso')
        throw new ApiError('conflict', 'This user logs in through single sign-on and has no password here.');
      const accepted = await acceptNewPassword(house, request.body.password, user);
      await sql.begin(async (tx) => {
        await updateUser(
          tx,
          user.id,
          { password_hash: accepted.hash, must_change_password: true },
          new Date(house.now()),
          true,
        );
        await revokeSessions(tx, user.id, {}, new Date(house.now()));
        await house.audit.record(tx, {
          actor,
          action: 'user.password',
          summary: `set a new password for ${user.email}${accepted.note}`,
          details: { user: user.id },
        });
      });
      return reply.code(204).send(null);
    },
  );
  app.delete(
    '/api/users/:id/totp',
    {
      schema: {
        tags: ['users'],
        summary: 'Turn off the two-factor authentication of a user who lost the device',
        params: Id,
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const { actor } = requirePrincipal(request);
      await sql.begin(async (tx) => {
        const user = await requireUserForUpdate(tx, request.params.id);
        await updateUser(tx, user.id, { totp_secret: null, totp_pending: null }, new Date(house.now()), true);
        await storeRecoveryCodes(tx, user.id, []);
        await revokeSessions(tx, user.id, {}, new Date(house.now()));
        await house.audit.record(tx, {
          actor,
          action: 'user.totp.off',
          summary: `turned off two-factor authentication of ${user.email}`,
          details: { user: user.id },
        });
      });
      return reply.code(204).send(null);
    },
  );
  app.get(
    '/api/users/:id/sessions',
    {
      schema: {
        tags: ['users'],
        summary: 'Sessions of a user, newest first',
        params: Id,
        querystring: Type.Object(PageQuery, closed),
        response: { 200: Page(SessionView), ...refusals },
      },
    },
    async (request) => {
      const { sessionId } = requirePrincipal(request);
      const user = await requireUser(sql, request.params.id);
      return pageSessions(house, user.id, sessionId, request.query);
    },
  );
  app.delete(
    '/api/users/:id/sessions',
    {
      schema: {
        tags: ['users'],
        summary: 'End every session of a user',
        params: Id,
        response: { 200: Type.Object({ ended: Type.Integer() }), ...refusals },
      },
    },
    async (request) => {
      const { actor } = requirePrincipal(request);
      return sql.begin(async (tx) => {
        const user = await requireUserForUpdate(tx, request.params.id);
        const ended = await revokeSessions(tx, user.id, {}, new Date(house.now()));
        await house.audit.record(tx, {
          actor,
          action: 'user.sessions.end',
          summary: `ended ${ended} sessions of ${user.email}`,
          details: { user: user.id },
        });
        return { ended };
      });
    },
  );
}
