// Members of a project: who has which roles in it, by grants with the project as their scope.
import { Type, type Static } from '@sinclair/typebox';
import { projects } from '../assets/resources.js';
import type { Queryable } from '../database.js';
import { endpoint, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { builtInRoles } from '../kit/permissions.js';
import { requireRow } from '../kit/resource.js';
import { requireOverTaken, type GrantRow } from './grant-changes.js';
import { requireHeld } from './held.js';

const closed = { additionalProperties: false } as const;
const Member = Type.Object(
  {
    user_id: Type.String({ minLength: 1, maxLength: 60 }),
    roles: Type.Array(Type.String({ minLength: 1, maxLength: 60 }), { minItems: 1, maxItems: 20, uniqueItems: true }),
  },
  closed,
);
const membersMax = 500;
const Members = Type.Object({ items: Type.Array(Member, { maxItems: membersMax }) }, closed);

async function readMembers(sql: Queryable, project: number) {
  const rows = await sql<Static<typeof Member>[]>`
    select user_id, json_agg(role order by role) as roles from vm_grants
    where scope = 'project' and scope_id = ${project} group by user_id order by user_id`;
  return { items: rows.map(({ user_id, roles }) => ({ user_id, roles })) };
}

/** Throws 422 for an unknown user or role, `role_denied` for a role with more than the caller has. */
async function requireMember(
  call: Call,
  own: ReadonlyMap<string, readonly string[]>,
  { user_id: user, roles }: Static<typeof Member>,
  at: number,
) {
  if ((await call.host.identity.users({ id: user })).length === 0)
    throw unfit(`/items/${at}/user_id`, 'names no user', 'GET /api/v1/users lists them');
  for (const [index, role] of roles.entries()) {
    const held = Object.hasOwn(builtInRoles, role) ? builtInRoles[role] : own.get(role);
    if (held === undefined)
      throw unfit(`/items/${at}/roles/${index}`, 'is no role', 'GET /api/v1/rbac/roles lists them');
    requireHeld(call, held);
  }
}

export const memberEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/members',
    permission: 'view_users',
    ofOrganisation: 'Grants',
    kind: 'C',
    summary: 'Who has which roles in a project, by grants for it',
    answer: Members,
    handle: async ({ sql, reach, params }) =>
      readMembers(sql, (await requireRow(sql, projects, reach, params['id'] ?? '')).id),
  }),
  endpoint({
    method: 'PUT',
    path: '/projects/:id/members',
    permission: 'manage_roles',
    ofOrganisation: 'Grants',
    kind: 'B',
    summary: 'Replace the members of a project; grants for the organisation and for applications stay',
    body: Members,
    answer: Members,
    handle: async (call) => {
      const { items } = call.body;
      const twice = items.findIndex(({ user_id: id }, at) => items.findIndex((one) => one.user_id === id) !== at);
      if (twice >= 0) throw unfit(`/items/${twice}/user_id`, 'stands there twice', 'put all roles into one item');
      const named = await call.sql<{ name: string; permissions: string[] }[]>`select name, permissions from vm_roles`;
      const own = new Map(named.map(({ name, permissions }) => [name, permissions]));
      for (const [at, member] of items.entries()) await requireMember(call, own, member, at);
      return call.audited(
        'vm.access',
        `replaced the members of the project ${call.params['id']}`,
        async (tx) => {
          const { id } = await requireRow(tx, projects, call.reach, call.params['id'] ?? '', true);
          const rows = items.flatMap(({ user_id, roles }) =>
            roles.map((role) => ({ user_id, scope: 'project', scope_id: id, role })),
          );
          const before = await tx<GrantRow[]>`
            select user_id, scope, scope_id, role from vm_grants
            where scope = 'project' and scope_id = ${id} for update`;
          await requireOverTaken(tx, call, before, rows);
          await tx`delete from vm_grants where scope = 'project' and scope_id = ${id}`;
          if (rows.length > 0) await tx`insert into vm_grants ${tx(rows)}`;
          return readMembers(tx, id);
        },
        () => ({ items }),
      );
    },
  }),
];
