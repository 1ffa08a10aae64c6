import { Type } from '@sinclair/typebox';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { decodeTimeCursor, Page, PageQuery, toPage } from '../http-kit/page.js';
import { closed, Nullable, refusals, Time } from '../http-kit/schema.js';
import { insertApiToken, listApiTokens, revokeApiToken, type ApiToken } from './store.js';
import { requirePrincipal } from '../auth/guard.js';
import { RoleName } from '../users/role-name.js';
import { permissions, routeMatrix, type Permission, type Role } from '../http-kit/access.js';

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

/** Whether a token of this role can call anything with this scope. */
function isUseful(scope: Permission, role: Role): boolean {
  return Object.values(routeMatrix).some(
    (access) =>
      access.kind === 'guarded' && access.tokens && access.permission === scope && access.roles.includes(role),
  );
}

export function registerTokenRoutes(app: App, house: House): void {
  const { sql } = house.database;
  app.get(
    '/api/tokens',
    {
      schema: {
        tags: ['tokens'],
        summary: 'API tokens, newest first',
        querystring: Type.Object(PageQuery, closed),
        response: { 200: Page(TokenView), ...refusals },
      },
    },
    async (request) => {
      const { cursor, limit = 50 } = request.query;
      const rows = await listApiTokens(
        sql,
        cursor === undefined ? null : decodeTimeCursor(cursor, 'string'),
        limit + 1,
      );
      return toPage(rows, limit, ({ created_at, id }) => [created_at.getTime(), id], viewToken);
    },
  );
  app.post(
    '/api/tokens',
    {
      schema: {
        tags: ['tokens'],
        summary: 'Make a token for automation; its text is shown once',
        body: Type.Object(
          {
            name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f]+$' }),
            role: RoleName,
            scopes: Type.Array(Scope, { minItems: 1, maxItems: permissions.length, uniqueItems: true }),
            expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
          },
          closed,
        ),
        response: { 201: Type.Object({ token: Type.String(), details: TokenView }), ...refusals },
      },
    },
    async (request, reply) => {
      const { actor, userId } = requirePrincipal(request);
      const { name, role, scopes, expires_in_days } = request.body;
      const useless = scopes.filter((scope) => !isUseful(scope, role));
      if (useless.length > 0)
        throw new ApiError('validation_failed', `The role ${role} may not do what ${useless.join(', ')} stands for.`, {
          errors: useless.map((scope) => ({
            path: `/scopes/${scopes.indexOf(scope)}`,
            reason: `is nothing that the role ${role} may do`,
          })),
        });
      const now = new Date(house.now());
      const made = await sql.begin(async (tx) => {
        const token = await insertApiToken(
          tx,
          {
            name,
            role,
            scopes,
            createdBy: userId,
            expiresAt: expires_in_days === undefined ? null : new Date(now.getTime() + expires_in_days * 86_400_000),
          },
          now,
        );
        await house.audit.record(tx, {
          actor,
          action: 'token.create',
          summary: `made API token ${name} (${role}: ${scopes.join(', ')})`,
          details: { token: token.token.id },
        });
        return token;
      });
      return reply.code(201).send({ token: made.text, details: viewToken(made.token) });
    },
  );
  app.delete(
    '/api/tokens/:id',
    {
      schema: {
        tags: ['tokens'],
        summary: 'Revoke a token',
        params: Type.Object({ id: Type.String({ maxLength: 64 }) }),
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const { actor } = requirePrincipal(request);
      await sql.begin(async (tx) => {
        if (!(await revokeApiToken(tx, request.params.id, new Date(house.now()))))
          throw new ApiError('not_found', 'There is no such token that works.');
        await house.audit.record(tx, {
          actor,
          action: 'token.revoke',
          summary: `revoked API token ${request.params.id}`,
          details: { token: request.params.id },
        });
      });
      return reply.code(204).send(null);
    },
  );
  app.get(
    '/api/roles/matrix',
    {
      schema: {
        tags: ['people'],
        summary: 'Who may call what',
        response: {
          200: Type.Object({
            items: Type.Array(
              Type.Object({
                route: Type.String(),
                public: Type.Boolean(),
                permission: Nullable(Type.String()),
                roles: Type.Array(Type.String()),
                tokens: Type.Boolean(),
              }),
            ),
          }),
          ...refusals,
        },
      },
    },
    async () => ({
      items: Object.entries(routeMatrix).map(([route, access]) =>
        access.kind !== 'guarded'
          ? { route, public: access.kind === 'public', permission: null, roles: [], tokens: false }
          : { route, public: false, permission: access.permission, roles: [...access.roles], tokens: access.tokens },
      ),
    }),
  );
}
