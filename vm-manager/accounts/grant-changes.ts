// Who may change whose rights: nobody hands on, and nobody takes away, what they do not have themselves. Taking an
// operator's role away by `confined` is changing it, and lifting `confined` gives it.
import type { Queryable, Tx } from '../database.js';
import type { UserRow } from '../host.js';
import type { Call } from '../kit/endpoint.js';
import { builtInRoles } from '../kit/permissions.js';
import { permissionsOf } from './given-roles.js';
import { requireHeld } from './held.js';

export interface GrantRow {
  readonly user_id: string;
  readonly scope: string;
  readonly scope_id: number;
  readonly role: string;
}

const keyOf = ({ user_id: user, scope, scope_id: id, role }: GrantRow): string =>
  JSON.stringify([user, scope, Number(id), role]);

/** Throws `role_denied` for a role that `before` has, `after` has not, and that may more than the caller. */
export async function requireOverTaken(
  sql: Queryable,
  call: Call,
  before: readonly GrantRow[],
  after: readonly GrantRow[],
): Promise<void> {
  const kept = new Set(after.map(keyOf));
  const taken = new Set(before.filter((one) => !kept.has(keyOf(one))).map(({ role }) => role));
  for (const role of taken) requireHeld(call, (await permissionsOf(sql, role)) ?? [], 'take away');
}

/** The same for all grants of a user, and for `confined`; locks them. */
export async function requireOverChange(
  tx: Tx,
  call: Call,
  user: UserRow,
  { rows, confined }: { readonly rows: readonly GrantRow[]; readonly confined: boolean | undefined },
): Promise<void> {
  const before = await tx<GrantRow[]>`
    select user_id, scope, scope_id, role from vm_grants where user_id = ${user.id} for update`;
  await requireOverTaken(tx, call, before, rows);
  const [held] = await tx`select 1 from vm_confined where user_id = ${user.id} for update`;
  const isConfined = held !== undefined;
  if (confined === undefined || confined === isConfined) return;
  requireHeld(call, builtInRoles[user.role] ?? [], confined ? 'take away' : 'hand on');
}
