// Roles, and grants: which role somebody has in which project or application.
import { ApiError, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { isUnconfined, reachable } from '../kit/caller.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { builtInRoles, permissionNames, permissionTable, type VmPermission } from '../kit/permissions.js';
import { resourceEndpoints, type Resource } from '../kit/resource.js';
import { requireHeld } from './held.js';

const closed = { additionalProperties: false } as const;

const roles: Resource = {
  path: '/rbac/roles',
  noun: 'role',
  table: 'vm_roles',
  view: 'view_users',
  edit: 'manage_roles',
  visible: (sql, reach) => (isUnconfined(reach) ? sql`true` : sql`false`),
  columns: {
    name: {
      schema: Type.String({ minLength: 1, maxLength: 60, pattern: '^[a-z][a-z0-9_-]*$' }),
      as: 'plain',
      write: 'create',
      required: true,
      sort: 'text',
    },
    permissions: {
      schema: Type.Array(OneOf(permissionNames), { minItems: 1, uniqueItems: true }),
      as: 'json',
      write: 'always',
      required: true,
    },
  },
  check: async (_tx, call, values) => {
    const { name, permissions } = values as { name?: string; permissions?: VmPermission[] };
    if (name !== undefined && Object.hasOwn(builtInRoles, name))
      throw new ApiError('conflict', `${name} is a built-in role.`);
    requireHeld(call, permissions ?? []);
  },
  beforeDelete: async (tx, _call, row) => {
    const [used] = await tx`select 1 from vm_grants where role = ${row['name'] as string} limit 1`;
    if (used !== undefined) throw new ApiError('conflict', 'The role is granted to somebody. Take it back first.');
  },
};

const Grant = Type.Object(
  {
    scope: OneOf(['org', 'project', 'application']),
    scope_id: Type.Optional(Type.String({ maxLength: 20 })),
    role: Type.String({ minLength: 1, maxLength: 60 }),
  },
  closed,
);

export const roleEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/rbac/permissions',
    permission: 'self',
    kind: 'A',
    summary: 'Permissions, and the built-in roles that have them',
    answer: Type.Object({
      items: Type.Array(
        Type.Object({ name: Type.String(), description: Type.String(), roles: Type.Array(Type.String()) }),
      ),
    }),
    handle: async () => ({
      items: permissionNames.map((name) => ({
        name,
        description: permissionTable[name],
        roles: Object.keys(builtInRoles).filter((role) => builtInRoles[role]?.includes(name)),
      })),
    }),
  }),
  ...resourceEndpoints(roles),
  endpoint({
    method: 'POST',
    path: '/rbac/check',
    permission: 'self',
    kind: 'B',
    reads: true,
    summary: 'May I do this',
    body: Type.Object(
      { permission: OneOf(permissionNames), application_id: Type.Optional(Type.String({ maxLength: 20 })) },
      closed,
    ),
    answer: Type.Object({ allowed: Type.Boolean(), via: Type.Array(Type.String()) }),
    handle: async ({ caller, sql, body }) => {
      const reach = caller.reach(body.permission, !body.permission.startsWith('view_'));
      if (reach === null) return { allowed: false, via: [] };
      if (body.application_id === undefined) return { allowed: true, via: caller.roles };
      const id = toId(body.application_id, 'application');
      const [row] = await sql`
        select 1 from vm_applications where id = ${id} and ${reachable(sql, reach, sql`id`, sql`project_id`)}`;
      return { allowed: row !== undefined, via: row === undefined ? [] : caller.roles };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/rbac/grants/:user_id',
    permission: 'view_users',
    kind: 'C',
    summary: 'Grants of somebody; without any the role of the account counts everywhere',
    answer: Type.Object({ items: Type.Array(Grant) }),
    handle: async ({ sql, params }) => ({ items: await readGrants(sql, params['user_id'] ?? '') }),
  }),
  endpoint({
    method: 'PUT',
    path: '/rbac/grants/:user_id',
    permission: 'manage_roles',
    kind: 'B',
    summary: 'Replace the grants of somebody',
    body: Type.Object({ items: Type.Array(Grant, { maxItems: 500 }) }, closed),
    answer: Type.Object({ items: Type.Array(Grant) }),
    handle: async (call) => {
      const id = call.params['user_id'] ?? '';
      if ((await call.host.identity.users({ id })).length === 0) throw notFound('user', id.slice(0, 60));
      const rows = await Promise.all(call.body.items.map((grant, index) => toGrantRow(call as Call, id, grant, index)));
      await call.audited(
        'vm.access',
        `replaced the grants of ${id}`,
        async (tx) => {
          await tx`delete from vm_grants where user_id = ${id}`;
          if (rows.length > 0) await tx`insert into vm_grants ${tx(rows)} on conflict do nothing`;
        },
        () => call.body.items,
      );
      return { items: await readGrants(call.sql, id) };
    },
  }),
];

async function toGrantRow(
  call: Call,
  user: string,
  grant: { readonly scope: string; readonly scope_id?: string; readonly role: string },
  index: number,
) {
  const path = `/items/${index}`;
  const [custom] = await call.sql<{ permissions: string[] }[]>`
    select permissions from vm_roles where name = ${grant.role}`;
  const held = builtInRoles[grant.role] ?? custom?.permissions;
  if (held === undefined)
    throw unfit(`${path}/role`, 'is no role', `there are ${Object.keys(builtInRoles).join(', ')}`);
  requireHeld(call, held);
  if (grant.scope === 'org') return { user_id: user, scope: 'org', scope_id: 0, role: grant.role };
  const table = grant.scope === 'project' ? 'vm_projects' : 'vm_applications';
  const given = grant.scope_id ?? '';
  const [row] = /^\d{1,18}$/.test(given) ? await call.sql`select 1 from ${call.sql(table)} where id = ${given}` : [];
  if (row === undefined) throw unfit(`${path}/scope_id`, `names no ${grant.scope}`);
  return { user_id: user, scope: grant.scope, scope_id: Number(given), role: grant.role };
}

async function readGrants(sql: Call['sql'], user: string) {
  const rows = await sql<{ scope: string; scope_id: number; role: string }[]>`
    select scope, scope_id, role from vm_grants where user_id = ${user} order by scope, scope_id, role`;
  return rows.map(({ scope, scope_id, role }) => ({
    scope,
    ...(scope === 'org' ? {} : { scope_id: String(scope_id) }),
    role,
  }));
}
