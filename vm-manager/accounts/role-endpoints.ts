// Roles, and grants: which role somebody has in which project or application.
import { ApiError, OneOf } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { isUnconfined, reachable } from '../kit/caller.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { builtInRoles, permissionNames, permissionTable, type VmPermission } from '../kit/permissions.js';
import { List, ListQuery } from '../kit/list.js';
import { resourceEndpoints, toView, viewSchema, type Resource, type Row } from '../kit/resource.js';
import { requireOverChange } from './grant-changes.js';
import { requireHeld } from './held.js';
import { memberEndpoints } from './members.js';

const closed = { additionalProperties: false } as const;

const roles: Resource = {
  path: '/rbac/roles',
  noun: 'role',
  table: 'vm_roles',
  view: 'view_users',
  edit: 'manage_roles',
  ofOrganisation: 'Roles',
  only: ['create', 'patch', 'delete'],
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
  check: async (_tx, call, values, before) => {
    const { name, permissions } = values as { name?: string; permissions?: VmPermission[] };
    if (name !== undefined && Object.hasOwn(builtInRoles, name))
      throw new ApiError('conflict', `${name} is a built-in role.`);
    requireHeld(call, permissions ?? []);
    const had = (before?.['permissions'] ?? []) as readonly VmPermission[];
    if (permissions !== undefined)
      requireHeld(
        call,
        had.filter((one) => !permissions.includes(one)),
        'take away',
      );
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

type RoleRow = Row & { readonly name: string };
const Confined = Type.Boolean({
  description: 'true: the role of the account counts nowhere, only grants do; absent: as it was, false at first',
});
const Grants = Type.Object({ items: Type.Array(Grant), confined: Confined });

const BuiltIn = Type.Boolean({
  description: 'true: it comes with the product and cannot be changed; its id is its name',
});
const RoleView = Type.Intersect([viewSchema(roles), Type.Object({ built_in: BuiltIn })]);
const release = new Date(0).toISOString();
const builtInViews = Object.entries(builtInRoles).map(([name, permissions]) => ({
  id: name,
  name,
  permissions: [...permissions],
  built_in: true,
  version: 1,
  created_at: release,
  updated_at: release,
}));
const roleSorts = ['name', '-name', 'id', '-id', 'created_at', '-created_at'] as const;

/** In memory: a page is a part of all, because the built-in roles stand in no table. */
const listRoles = endpoint({
  method: 'GET',
  path: '/rbac/roles',
  permission: 'view_users',
  kind: 'C',
  summary: 'Roles that users can be given: the built-in ones, and those of the organisation',
  query: Type.Object(
    {
      limit: ListQuery.limit,
      offset: ListQuery.offset,
      cursor: Type.Optional(Type.String({ pattern: '^\\d{1,8}$', description: '`next_cursor` of the page before' })),
      sort: Type.Optional(OneOf(roleSorts)),
      built_in: Type.Optional(BuiltIn),
    },
    closed,
  ),
  answer: List(RoleView),
  handle: async ({ sql, reach, query }) => {
    const { limit = 50, cursor, sort = 'id', built_in } = query;
    const rows = isUnconfined(reach) ? await sql<RoleRow[]>`select * from vm_roles order by id` : [];
    const own = rows.map((row) => ({ ...toView(roles, row), built_in: false }) as (typeof builtInViews)[number]);
    const all = [...builtInViews, ...own].filter((one) => built_in === undefined || one.built_in === built_in);
    if (/name/.test(sort)) all.sort((left, right) => (left.name < right.name ? -1 : 1));
    if (sort.startsWith('-')) all.reverse();
    const offset = cursor === undefined ? (query.offset ?? 0) : Number(cursor);
    const next = offset + limit < all.length ? String(offset + limit) : null;
    const items = all.slice(offset, offset + limit);
    return { items, total: all.length, total_is_estimate: false, limit, offset, next_cursor: next };
  },
});

const readRole = endpoint({
  method: 'GET',
  path: '/rbac/roles/:id',
  permission: 'view_users',
  kind: 'C',
  summary: 'One role',
  answer: RoleView,
  handle: async ({ sql, reach, params, reply }) => {
    const id = params['id'] ?? '';
    const builtIn = builtInViews.find((one) => one.id === id);
    if (builtIn !== undefined) return builtIn;
    const [row] = isUnconfined(reach)
      ? await sql<RoleRow[]>`select * from vm_roles where id = ${toId(id, 'role')}`
      : [];
    if (row === undefined) throw notFound('role', id.slice(0, 60));
    reply.header('etag', `"${row.version}"`);
    return { ...toView(roles, row), built_in: false };
  },
});

/** A built-in role stands in no table: what would change it says so. */
const changesOfRoles = resourceEndpoints(roles).map(
  (one): Endpoint => ({
    ...one,
    handle: async (call) => {
      const id = call.params['id'] ?? '';
      if (Object.hasOwn(builtInRoles, id))
        throw new ApiError(
          'conflict',
          `${id} is a built-in role, which is neither changed nor deleted. Make an own one: POST /api/v1/rbac/roles.`,
        );
      return one.handle(call);
    },
  }),
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
  listRoles,
  readRole,
  ...changesOfRoles,
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
    ofOrganisation: 'Grants',
    kind: 'C',
    summary: 'Grants of a user: they add to the role of the account, which counts everywhere unless `confined`',
    answer: Grants,
    handle: async ({ sql, params }) => readGrants(sql, params['user_id'] ?? ''),
  }),
  endpoint({
    method: 'PUT',
    path: '/rbac/grants/:user_id',
    permission: 'manage_roles',
    ofOrganisation: 'Grants',
    kind: 'B',
    summary: 'Replace the grants of a user; `confined` decides whether the role of the account counts beside them',
    body: Type.Object({ items: Type.Array(Grant, { maxItems: 500 }), confined: Type.Optional(Confined) }, closed),
    answer: Grants,
    handle: async (call) => replaceGrants(call, call.params['user_id'] ?? '', call.body),
  }),
  endpoint({
    method: 'PUT',
    path: '/rbac/grants',
    permission: 'manage_roles',
    ofOrganisation: 'Grants',
    kind: 'B',
    summary: 'Replace the grants of the user that the body names, as PUT /rbac/grants/{user_id} does',
    body: Type.Object(
      {
        principal: Type.String({ minLength: 1, maxLength: 60, description: 'the id of a user' }),
        items: Type.Array(Grant, { maxItems: 500 }),
        confined: Type.Optional(Confined),
      },
      closed,
    ),
    answer: Grants,
    handle: async (call) => replaceGrants(call, call.body.principal, call.body),
  }),
  ...memberEndpoints,
];

interface Wanted {
  readonly items: readonly Static<typeof Grant>[];
  readonly confined?: boolean;
}

/** Throws 404 for nobody, 422 for what is no role or no scope, `role_denied` for more than the caller has. */
async function replaceGrants(call: Call, id: string, { items, confined }: Wanted) {
  const [user] = await call.host.identity.users({ id });
  if (user === undefined) throw notFound('user', id.slice(0, 60));
  const rows = await Promise.all(items.map((grant, index) => toGrantRow(call, id, grant, index)));
  await call.audited(
    'vm.access',
    `replaced the grants of ${id}`,
    async (tx) => {
      await requireOverChange(tx, call, user, { rows, confined });
      await tx`delete from vm_grants where user_id = ${id}`;
      if (rows.length > 0) await tx`insert into vm_grants ${tx(rows)} on conflict do nothing`;
      if (confined === true)
        await tx`
          insert into vm_confined (user_id) values (${id}) on conflict (user_id) do update set by_role = false`;
      if (confined === false) await tx`delete from vm_confined where user_id = ${id}`;
    },
    () => ({ items, ...(confined === undefined ? {} : { confined }) }),
  );
  return readGrants(call.sql, id);
}

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
    throw unfit(
      `${path}/role`,
      'is no role',
      `there are ${Object.keys(builtInRoles).join(', ')}, and own ones: GET /api/v1/rbac/roles lists them all`,
    );
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
  const [confined] = await sql`select 1 from vm_confined where user_id = ${user}`;
  const items = rows.map(({ scope, scope_id, role }) => ({
    scope,
    ...(scope === 'org' ? {} : { scope_id: String(scope_id) }),
    role,
  }));
  return { items, confined: confined !== undefined };
}
