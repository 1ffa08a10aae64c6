import { Type } from '@sinclair/typebox';
import type { RouteMatrix } from '../auth/route-matrix.js';
import {
  ApiError,
  closed,
  decodeTimeCursor,
  Nullable,
  Page,
  PageQuery,
  permissions,
  refusals,
  requirePrincipal,
  RoleName,
  Time,
  toPage,
  type App,
  type Permission,
  type Role,
  type RouteAccess,
} from '../http-kit/index.js';
import type { HttpParts, Parts } from '../parts.js';
import { insertApiToken, listApiTokens, revokeApiToken, type ApiToken } from './store.js';

export type TokenParts = Pick<Parts, 'database' | 'now' | 'audit'> & Pick<HttpParts, 'matrix'>;

/** What needs a person who is logged in is no scope. */
const Scope = Type.Unsafe<Permission>({
  type: 'string',
  enum: permissions.filter((name) => !['users', 'tokens', 'account'].includes(name)),
});
const TokenView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  role: RoleName,
  scopes: Type.Array(Type.String()),
  created_by: Type.String(),
  created_at: Time,
  expires_at: Nullable(Time),
  last_used_at: Nullable(Time),
  revoked_at: Nullable(Time),
});
const NewToken = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f]+$' }),
    role: RoleName,
    scopes: Type.Array(Scope, { minItems: 1, maxItems: permissions.length, uniqueItems: true }),
    expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
  },
  closed,
);
const MatrixRow = Type.Object({
  route: Type.String(),
  public: Type.Boolean(),
  permission: Nullable(Type.String()),
  roles: Type.Array(Type.String()),
  tokens: Type.Boolean(),
});

const listSchema = {
  tags: ['tokens'],
  summary: 'API tokens, newest first',
  querystring: Type.Object(PageQuery, closed),
  response: { 200: Page(TokenView), ...refusals },
};
const createSchema = {
  tags: ['tokens'],
  summary: 'Make a token for automation; its text is shown once',
  body: NewToken,
  response: { 201: Type.Object({ token: Type.String(), details: TokenView }), ...refusals },
};
const revokeSchema = {
  tags: ['tokens'],
  summary: 'Revoke a token',
  params: Type.Object({ id: Type.String({ maxLength: 64 }) }),
  response: { 204: Type.Null(), ...refusals },
};
const matrixSchema = {
  tags: ['people'],
  summary: 'Who may call what',
  response: { 200: Type.Object({ items: Type.Array(MatrixRow) }), ...refusals },
};

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

function viewToken(token: ApiToken) {
  const { id, name, role, scopes, created_by } = token;
  return {
    id,
    name,
    role,
    scopes: [...scopes],
    created_by,
    created_at: token.created_at.toISOString(),
    expires_at: iso(token.expires_at),
    last_used_at: iso(token.last_used_at),
    revoked_at: iso(token.revoked_at),
  };
}

export function registerTokenRoutes(app: App, parts: TokenParts): void {
  const { sql } = parts.database;
  app.get('/api/tokens', { schema: listSchema }, async (request) => {
    const { cursor, limit = 50 } = request.query;
    const before = cursor === undefined ? null : decodeTimeCursor(cursor, 'string');
    const rows = await listApiTokens(sql, before, limit + 1);
    return toPage(rows, limit, ({ created_at, id }) => [created_at.getTime(), id], viewToken);
  });
  registerCreate(app, parts);
  app.delete('/api/tokens/:id', { schema: revokeSchema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    await sql.begin(async (tx) => {
      if (!(await revokeApiToken(tx, request.params.id, new Date(parts.now()))))
        throw new ApiError('not_found', 'There is no such token that works.');
      await parts.audit.record(tx, {
        actor,
        action: 'token.revoke',
        summary: `revoked API token ${request.params.id}`,
        details: { token: request.params.id },
      });
    });
    return reply.code(204).send(null);
  });
  app.get('/api/roles/matrix', { schema: matrixSchema }, async () => ({
    items: Object.entries(parts.matrix.rows).map(([route, access]) => viewAccess(route, access)),
  }));
}

function registerCreate(app: App, parts: TokenParts): void {
  app.post('/api/tokens', { schema: createSchema }, async (request, reply) => {
    const { actor, userId } = requirePrincipal(request);
    const { name, role, scopes, expires_in_days } = request.body;
    refuseUseless(parts.matrix, scopes, role);
    const now = new Date(parts.now());
    const expiresAt = expires_in_days === undefined ? null : new Date(now.getTime() + expires_in_days * 86_400_000);
    const made = await parts.database.sql.begin(async (tx) => {
      const token = await insertApiToken(tx, { name, role, scopes, createdBy: userId, expiresAt }, now);
      await parts.audit.record(tx, {
        actor,
        action: 'token.create',
        summary: `made API token ${name} (${role}: ${scopes.join(', ')})`,
        details: { token: token.token.id },
      });
      return token;
    });
    return reply.code(201).send({ token: made.text, details: viewToken(made.token) });
  });
}

/** A scope with which a token of this role could call nothing is a mistake. */
function refuseUseless(matrix: RouteMatrix, scopes: readonly Permission[], role: Role): void {
  const useless = scopes.filter((scope) => !matrix.isUseful(scope, role));
  if (useless.length > 0)
    throw new ApiError('validation_failed', `The role ${role} may not do what ${useless.join(', ')} stands for.`, {
      errors: useless.map((scope) => ({
        path: `/scopes/${scopes.indexOf(scope)}`,
        reason: `is nothing that the role ${role} may do`,
      })),
    });
}

const viewAccess = (route: string, access: RouteAccess) =>
  access.kind === 'guarded'
    ? { route, public: false, permission: access.permission, roles: [...access.roles], tokens: access.tokens }
    : { route, public: access.kind === 'public', permission: null, roles: [], tokens: false };
