// Users of the installation. They are the control plane's: what is read here is its table, and what is changed here
// goes the road of its own changes (policy of passwords, last administrator, sessions that end). People only: a token
// that leaks must not be able to make itself an account.
import { ApiError, Email, Nullable, OneOf, PersonName, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { UserRow } from '../host.js';
import { visibleFindings } from '../findings/query.js';
import { endpoint, notFound, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery } from '../kit/list.js';
import { builtInRoles } from '../kit/permissions.js';
import { checkVersion } from '../kit/resource.js';
import {
  giveRole,
  givenRoles,
  isConfinedByRole,
  requireOverGiven,
  toGiven,
  withGivenRoles,
  type GivenRole,
  type ShownUser,
} from './given-roles.js';
import { requireHeld } from './held.js';

const closed = { additionalProperties: false } as const;
const RoleOfAccount = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: '^[a-z][a-z0-9_-]*$',
  description: 'a role of `GET /rbac/roles`, built in or of the organisation',
});

const UserView = Type.Object({
  id: Type.String(),
  version: Type.Integer({ description: 'for If-Match' }),
  email: Type.String(),
  name: Type.String(),
  role: Type.String(),
  status: Type.String({ description: 'active or suspended' }),
  mfa: Type.Boolean(),
  created_at: Time,
  last_login_at: Nullable(Time),
});
const OneTimePassword = Type.Object({
  one_time_password: Nullable(Type.String({ description: 'shown once; to be changed at the next login' })),
});

const viewUser = (user: ShownUser) => ({
  id: user.id,
  version: user.version,
  email: user.email,
  name: user.name,
  role: user.role,
  status: user.suspended ? 'suspended' : 'active',
  mfa: user.mfa,
  created_at: user.created_at.toISOString(),
  last_login_at: user.last_login_at?.toISOString() ?? null,
});

/** Nobody changes the account of somebody who may more, nor makes one. Throws `role_denied`. */
const requireOver = (call: Call, role: string): void => requireHeld(call, builtInRoles[role] ?? []);

async function requireUser(call: Call): Promise<UserRow> {
  const id = call.params['id'] ?? '';
  const [user] = await call.host.identity.users({ id });
  if (user === undefined) throw notFound('user', id.slice(0, 60));
  return user;
}

/** Asked again of the row under its lock: a role that was raised meanwhile counts. */
const acceptFor =
  (call: Call) =>
  (before: UserRow): void => {
    checkVersion(call.request.headers['if-match'], before.version);
    requireOver(call, before.role);
  };

async function answer(call: Call, user: UserRow) {
  call.reply.header('etag', `"${user.version}"`);
  const [shown] = await withGivenRoles(call.sql, [user]);
  return viewUser(shown ?? user);
}

/** Where the role before or after is one that only the hub knows; the control plane has noted its own part. */
async function giveAudited(call: Call, user: UserRow, role: string, wanted: GivenRole): Promise<void> {
  const given = (await givenRoles(call.sql, [user.id])).has(user.id);
  if (wanted.granted === null && !given && !(await isConfinedByRole(call.sql, user.id))) return;
  await call.audited(
    'vm.access',
    `gave ${user.email} the role ${role}`,
    (tx) => giveRole(tx, user.id, wanted),
    () => ({ user: user.id, role }),
  );
}

const PersonView = Type.Object({ id: Type.String(), email: Type.String(), name: Type.String() });

/** Whether a finding that the caller sees is assigned to them: the id is read there, so their name may be, too. */
async function isAssignee({ sql, reach }: Pick<Call, 'sql' | 'reach'>, id: string): Promise<boolean> {
  const [row] =
    await sql`select 1 from vm_findings where assignee_id = ${id} and ${visibleFindings(sql, reach)} limit 1`;
  return row !== undefined;
}

const reads: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/people',
    permission: 'view_findings',
    kind: 'C',
    summary:
      'Whom findings are assigned to: names and addresses of accounts. Who holds `triage_findings` reads all that ' +
      'are active; others one by `id`, of those to whom a finding that they see is assigned',
    query: Type.Object(
      {
        limit: ListQuery.limit,
        offset: ListQuery.offset,
        q: Type.Optional(Type.String({ maxLength: 200 })),
        id: Type.Optional(Type.String({ maxLength: 100, description: 'the account of this id, suspended or not' })),
      },
      closed,
    ),
    answer: List(PersonView),
    handle: async ({ caller, host, reach, sql, query: { limit = 50, offset = 0, q, id } }) => {
      if (caller.reach('triage_findings', false) === null) {
        if (id === undefined)
          throw new ApiError(
            'role_denied',
            'All people are for who may assign findings (triage_findings): give an `id`.',
          );
        if (!(await isAssignee({ sql, reach }, id)))
          return { items: [], total: 0, total_is_estimate: false, limit, offset, next_cursor: null };
      }
      const found = await host.identity.users({
        ...(q === undefined ? {} : { q }),
        ...(id === undefined ? {} : { id }),
      });
      const all = found.filter(({ suspended }) => id !== undefined || !suspended); // what is assigned stays readable
      const items = all.slice(offset, offset + limit).map(({ id, email, name }) => ({ id, email, name }));
      return { items, total: all.length, total_is_estimate: false, limit, offset, next_cursor: null };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users',
    permission: 'view_users',
    ofOrganisation: 'Accounts',
    kind: 'C',
    summary: 'Users of the installation',
    query: Type.Object(
      {
        limit: ListQuery.limit,
        offset: ListQuery.offset,
        role: Type.Optional(RoleOfAccount),
        status: Type.Optional(OneOf(['active', 'suspended'])),
        q: Type.Optional(Type.String({ maxLength: 200 })),
      },
      closed,
    ),
    answer: List(UserView),
    handle: async ({ host, sql, query }) => {
      const { limit = 50, offset = 0, role, q, status } = query;
      const found = await withGivenRoles(sql, await host.identity.users(q === undefined ? {} : { q }));
      const all = found.filter(
        (user) =>
          (role === undefined || user.role === role) &&
          (status === undefined || user.suspended === (status === 'suspended')),
      );
      const items = all.slice(offset, offset + limit).map(viewUser);
      return { items, total: all.length, total_is_estimate: false, limit, offset, next_cursor: null };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/:id',
    permission: 'view_users',
    ofOrganisation: 'Accounts',
    kind: 'C',
    summary: 'One user',
    answer: UserView,
    handle: async (call) => answer(call, await requireUser(call)),
  }),
];

const NewUser = Type.Object(
  {
    email: Email,
    name: Type.Optional(PersonName),
    role: RoleOfAccount,
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  },
  closed,
);
const UserPatch = Type.Object(
  { name: Type.Optional(PersonName), role: Type.Optional(RoleOfAccount) },
  { ...closed, minProperties: 1 },
);
const changes = { permission: 'manage_users', inPerson: true, ofOrganisation: 'Accounts' } as const;

const accounts: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/users',
    ...changes,
    kind: 'C',
    summary: 'Make an account; without a password it gets one for once, which is shown',
    body: NewUser,
    status: 201,
    answer: Type.Intersect([UserView, OneTimePassword]),
    handle: async (given) => {
      const call = given as Call;
      const { email, name = '', role, password } = given.body;
      const wanted = await toGiven(call, role);
      const { administration } = call.host.identity;
      const made = password ?? (await administration.newPassword());
      const account = { email, name, role: wanted.account, password: made };
      const user = await administration.create(call.caller.actor, account, call.reply);
      await giveAudited(call, user, role, wanted);
      return { ...(await answer(call, user)), one_time_password: password === undefined ? made : null };
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/users/:id',
    ...changes,
    kind: 'C',
    summary: 'Change name or role (If-Match with the version is heeded); another role ends the sessions',
    body: UserPatch,
    answer: UserView,
    handle: async (given) => {
      const call = given as Call;
      const { role, ...rest } = given.body;
      const wanted = role === undefined ? null : await toGiven(call, role);
      const { id } = await requireUser(call);
      await requireOverGiven(call, id);
      const { administration } = call.host.identity;
      const change = wanted === null ? rest : { ...rest, role: wanted.account };
      const user = await administration.change(call.caller.actor, id, change, acceptFor(call));
      if (role !== undefined && wanted !== null) await giveAudited(call, user, role, wanted);
      return answer(call, user);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/users/:id',
    ...changes,
    kind: 'C',
    summary: 'Delete an account, with sessions and tokens',
    status: 204,
    handle: async (given) => {
      const call = given;
      const { id } = await requireUser(call);
      await requireOverGiven(call, id);
      await call.host.identity.administration.delete(call.caller.actor, id, acceptFor(call));
      await call.sql.begin(async (tx) => {
        await tx`delete from vm_grants where user_id = ${id}`;
        await tx`delete from vm_confined where user_id = ${id}`;
        await tx`delete from vm_tokens where user_id = ${id}`;
      });
    },
  }),
];

const moveOf = (path: 'suspend' | 'activate', summary: string): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${path}`,
    ...changes,
    kind: 'S',
    summary,
    answer: UserView,
    handle: async (given) => {
      const call = given;
      const { id } = await requireUser(call);
      await requireOverGiven(call, id);
      const suspended = path === 'suspend';
      const { administration } = call.host.identity;
      const user = await administration.change(call.caller.actor, id, { suspended }, (before) => {
        acceptFor(call)(before);
        if (before.suspended === suspended)
          throw new ApiError('conflict', `The user is ${suspended ? 'suspended' : 'active'} already.`);
      });
      return answer(call, user);
    },
  });

const moves: readonly Endpoint[] = [
  moveOf('suspend', 'Suspend an account: its sessions end and its tokens open nothing; the last administrator stays'),
  moveOf('activate', 'Let a suspended account in again'),
  endpoint({
    method: 'POST',
    path: '/users/:id/reset-password',
    ...changes,
    kind: 'B',
    summary: 'Give an account a password for once, which is shown; its sessions end',
    answer: OneTimePassword,
    handle: async (given) => {
      const call = given;
      const { id } = await requireUser(call);
      await requireOverGiven(call, id);
      const { administration } = call.host.identity;
      const password = await administration.newPassword();
      await administration.setPassword(call.caller.actor, id, password, acceptFor(call), call.reply);
      return { one_time_password: password };
    },
  }),
];

export const userEndpoints: readonly Endpoint[] = [...reads, ...accounts, ...moves];
