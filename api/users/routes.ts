import { Type } from '@sinclair/typebox';
import { notifyBy } from '../auth/new-password.js';
import { passwordLengthMax } from '../auth/password.js';
import {
  checkIfMatch,
  closed,
  decodeCursor,
  Email,
  Page,
  PageQuery,
  PersonName,
  refusals,
  requirePrincipal,
  RoleName,
  toPage,
  type App,
} from '../http-kit/index.js';
import { changePerson, createPerson, deletePerson, type UserParts } from './administration.js';
import { listUsers, requireUser } from './store.js';
import { etagOf, UserId, UserView, viewUser } from './view.js';

const NewUserBody = Type.Object(
  {
    email: Email,
    name: Type.Optional(PersonName),
    role: RoleName,
    password: Type.String({ minLength: 1, maxLength: passwordLengthMax }),
    must_change_password: Type.Optional(Type.Boolean({ default: true })),
  },
  closed,
);
const UserChange = Type.Object(
  { name: Type.Optional(PersonName), role: Type.Optional(RoleName), suspended: Type.Optional(Type.Boolean()) },
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
    const { email, role, password, name = '', must_change_password: mustChangePassword = true } = request.body;
    const user = await createPerson(parts, actor, { email, name, role, password, mustChangePassword }, notifyBy(reply));
    return reply.code(201).header('etag', etagOf(user)).send(viewUser(user));
  });
  app.get('/api/users/:id', { schema: readSchema }, async (request, reply) => {
    const user = await requireUser(sql, request.params.id);
    reply.header('etag', etagOf(user));
    return viewUser(user);
  });
  app.patch('/api/users/:id', { schema: changeSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    const user = await changePerson(parts, actor, request.params.id, request.body, (before) =>
      checkIfMatch(request.headers['if-match'], etagOf(before)),
    );
    reply.header('etag', etagOf(user));
    return viewUser(user);
  });
  app.delete('/api/users/:id', { schema: deleteSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    await deletePerson(parts, actor, request.params.id, (before) =>
      checkIfMatch(request.headers['if-match'], etagOf(before)),
    );
    return reply.code(204).send(null);
  });
}
