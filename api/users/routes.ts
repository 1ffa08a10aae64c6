import { Type, type Static } from '@sinclair/typebox';
import { acceptNewPassword, type NewPasswordParts } from '../auth/new-password.js';
import { passwordLengthMax } from '../auth/password.js';
import { revokeSessions } from '../auth/sessions.js';
import type { Tx } from '../db/client.js';
import {
  checkIfMatch,
  closed,
  decodeCursor,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  RoleName,
  toPage,
  type App,
} from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import {
  deleteUser,
  insertUser,
  listUsers,
  requireAnotherAdmin,
  requireUser,
  requireUserForUpdate,
  updateUser,
  type User,
} from './store.js';
import { etagOf, UserId, UserView, viewUser } from './view.js';

export type UserParts = NewPasswordParts & Pick<Parts, 'database' | 'now' | 'audit'>;

const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f]+@[^\\s@\\u0000-\\u001f]+$',
});
const Name = Type.String({ maxLength: 200, pattern: '^[^\\u0000-\\u001f]*$' });
const NewUserBody = Type.Object(
  {
    email: Email,
    name: Type.Optional(Name),
    role: RoleName,
    password: Type.String({ minLength: 1, maxLength: passwordLengthMax }),
    must_change_password: Type.Optional(Type.Boolean({ default: true })),
  },
  closed,
);
const UserChange = Type.Object(
  { name: Type.Optional(Name), role: Type.Optional(RoleName), suspended: Type.Optional(Type.Boolean()) },
  { ...closed, minProperties: 1 },
);

const listSchema = {
  tags: ['users'],
  summary: 'Users',
  querystring: Type.Object(PageQuery, closed),
  response: { 200: Page(UserView), ...refusals },
};
const createSchema = {
  tags: ['users'],
  summary: 'Create a user',
  body: NewUserBody,
  response: { 201: UserView, ...refusals },
};
const readSchema = { tags: ['users'], summary: 'One user', params: UserId, response: { 200: UserView, ...refusals } };
const changeSchema = {
  tags: ['users'],
  summary: 'Change name or role, suspend or reactivate',
  params: UserId,
  body: UserChange,
  response: { 200: UserView, ...refusals },
};
const deleteSchema = {
  tags: ['users'],
  summary: 'Delete a user, with sessions and tokens',
  params: UserId,
  response: { 204: Type.Null(), ...refusals },
};

export function registerUserRoutes(app: App, parts: UserParts): void {
  const { sql } = parts.database;
  app.get('/api/users', { schema: listSchema }, async (request) => {
    const { cursor, limit = 50 } = request.query;
    const [after] = cursor === undefined ? [''] : decodeCursor(cursor, ['string'] as const);
    return toPage(await listUsers(sql, after, limit + 1), limit, (user) => [user.email_key], viewUser);
  });
  app.post('/api/users', { schema: createSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const { email, role, password, name = '', must_change_password = true } = request.body;
    const accepted = await acceptNewPassword(parts, password, { email, name });
    const user = await sql.begin(async (tx) => {
      const made = await insertUser(
        tx,
        {
          email,
          name,
          role,
          passwordHash: accepted.hash,
          mustChangePassword: must_change_password,
          origin: 'local',
          ssoSubject: null,
        },
        new Date(parts.now()),
      );
      await parts.audit.record(tx, {
        actor,
        action: 'user.create',
        summary: `created ${role} ${email}${accepted.note}`,
        details: { user: made.id },
      });
      return made;
    });
    return reply.code(201).header('etag', etagOf(user)).send(viewUser(user));
  });
  app.get('/api/users/:id', { schema: readSchema }, async (request, reply) => {
    const user = await requireUser(sql, request.params.id);
    reply.header('etag', etagOf(user));
    return viewUser(user);
  });
  registerChange(app, parts);
}

function registerChange(app: App, parts: UserParts): void {
  const { sql } = parts.database;
  app.patch('/api/users/:id', { schema: changeSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const user = await sql.begin(async (tx) => {
      const before = await requireUserForUpdate(tx, request.params.id);
      checkIfMatch(request.headers['if-match'], etagOf(before));
      const after = await changeUser(tx, before, request.body, new Date(parts.now()));
      const what = (['name', 'role', 'suspended'] as const)
        .filter((key) => before[key] !== after[key])
        .map((key) => `${key}: ${String(before[key])} → ${String(after[key])}`);
      await parts.audit.record(tx, {
        actor,
        action: 'user.update',
        summary: `changed user ${before.email}: ${what.join(', ') || 'nothing'}`,
        details: { user: before.id },
      });
      return after;
    });
    reply.header('etag', etagOf(user));
    return viewUser(user);
  });
  app.delete('/api/users/:id', { schema: deleteSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    await sql.begin(async (tx) => {
      const user = await requireUserForUpdate(tx, request.params.id);
      checkIfMatch(request.headers['if-match'], etagOf(user));
      if (user.role === 'admin' && !user.suspended) await requireAnotherAdmin(tx, user.id);
      await deleteUser(tx, user.id);
      await parts.audit.record(tx, {
        actor,
        action: 'user.delete',
        summary: `deleted ${user.role} ${user.email}`,
        details: { user: user.id },
      });
    });
    return reply.code(204).send(null);
  });
}

/** Throws `last_admin`. Ends the user's sessions where they may do something else afterwards. */
async function changeUser(tx: Tx, before: User, change: Static<typeof UserChange>, now: Date): Promise<User> {
  const isOtherRole = change.role !== undefined && change.role !== before.role;
  const isSuspended = change.suspended === true && !before.suspended;
  const wasAdmin = before.role === 'admin' && !before.suspended;
  if (wasAdmin && (isOtherRole || change.suspended === true)) await requireAnotherAdmin(tx, before.id);
  const endSessions = isOtherRole || isSuspended;
  const after = await updateUser(tx, before.id, change, now, endSessions);
  if (endSessions) await revokeSessions(tx, before.id, {}, now);
  return after;
}
