// Roles that the control plane does not know, given to accounts: those of the organisation, and the built-in ones that
// are only granted. Such an account is a viewer there, and here its own role counts nowhere (`vm_confined`) and the
// given one everywhere: a grant, so that what it may is read anew with each request, and a role that is given is not
// deleted.
import type { Queryable, Tx } from '../database.js';
import type { UserRow } from '../host.js';
import { unfit, type Call } from '../kit/endpoint.js';
import { builtInRoles } from '../kit/permissions.js';
import { requireHeld } from './held.js';

const accountRoles = ['viewer', 'operator', 'admin'] as const;
export type AccountRole = (typeof accountRoles)[number];
const isOfAccounts = (role: string): role is AccountRole => (accountRoles as readonly string[]).includes(role);

/** The role in the control plane, and the role that is granted in the vulnerability manager; null: none. */
export interface GivenRole {
  readonly account: AccountRole;
  readonly granted: string | null;
}

/** null: there is no such role. */
export async function permissionsOf(sql: Queryable, role: string): Promise<readonly string[] | null> {
  if (Object.hasOwn(builtInRoles, role)) return builtInRoles[role] ?? [];
  const [own] = await sql<{ permissions: string[] }[]>`select permissions from vm_roles where name = ${role}`;
  return own?.permissions ?? null;
}

/** Throws ApiError 422 for what is no role, `role_denied` for one with more than the caller may. */
export async function toGiven(call: Call, role: string): Promise<GivenRole> {
  const permissions = await permissionsOf(call.sql, role);
  if (permissions === null) throw unfit('/role', 'is no role', 'GET /api/v1/rbac/roles lists them');
  requireHeld(call, permissions);
  return isOfAccounts(role) ? { account: role, granted: null } : { account: 'viewer', granted: role };
}

/** Account → the role that it was given, of those that have one. */
export async function givenRoles(sql: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ user_id: string; role: string }[]>`
    select g.user_id, min(g.role) as role from vm_grants g join vm_confined c on c.user_id = g.user_id
    where g.scope = 'org' and g.user_id in ${sql(ids)} group by g.user_id having count(*) = 1`;
  return new Map(rows.filter(({ role }) => !isOfAccounts(role)).map(({ user_id, role }) => [user_id, role]));
}

export type ShownUser = Omit<UserRow, 'role'> & { readonly role: string };

/** The role of an account as the hub shows it: an administrator's grants count for nothing. */
export async function withGivenRoles(sql: Queryable, users: readonly UserRow[]): Promise<ShownUser[]> {
  const given = await givenRoles(
    sql,
    users.map(({ id }) => id),
  );
  return users.map((user) => (user.role === 'admin' ? user : { ...user, role: given.get(user.id) ?? user.role }));
}

/** A caller changes no account whose given role has more permissions than the caller. Throws `role_denied`. */
export async function requireOverGiven(call: Call, id: string): Promise<void> {
  const role = (await givenRoles(call.sql, [id])).get(id);
  if (role !== undefined) requireHeld(call, (await permissionsOf(call.sql, role)) ?? []);
}

/** Whether the account's own role counts nowhere because it was given another one, not because somebody said so. */
export async function isConfinedByRole(sql: Queryable, id: string): Promise<boolean> {
  const [row] = await sql`select 1 from vm_confined where user_id = ${id} and by_role`;
  return row !== undefined;
}

/**
 * Throws ApiError 422 for a role that was deleted meanwhile. Grants in projects and applications stay, and so does
 * `confined` where an administrator has set it.
 */
export async function giveRole(tx: Tx, id: string, { granted }: GivenRole): Promise<void> {
  const before = (await givenRoles(tx, [id])).get(id);
  if (before !== undefined)
    await tx`delete from vm_grants where user_id = ${id} and scope = 'org' and role = ${before}`;
  await tx`delete from vm_confined where user_id = ${id} and by_role`;
  if (granted === null) return;
  if (!Object.hasOwn(builtInRoles, granted)) {
    const [own] = await tx`select 1 from vm_roles where name = ${granted} for share`;
    if (own === undefined) throw unfit('/role', 'is no role any more');
  }
  await tx`delete from vm_grants where user_id = ${id} and scope = 'org'`;
  await tx`insert into vm_grants ${tx([{ user_id: id, scope: 'org', scope_id: 0, role: granted }])}`;
  await tx`insert into vm_confined (user_id, by_role) values (${id}, true) on conflict do nothing`;
}
