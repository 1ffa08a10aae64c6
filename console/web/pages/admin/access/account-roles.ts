// Roles that an account can be given: the three that the control plane knows itself, and what the vulnerability manager
// has beside them, built in or of the organisation.
import { createMemo, type Accessor } from 'solid-js';
import { call } from '../../../client/http.js';
import { createQuery } from '../../../client/query.js';
import { account, type Role } from '../../../client/session.js';
import type { Choices } from '../../../kit/fields/choices.js';
import { adminText as words } from '../../../texts/admin.js';

const own: readonly (readonly [Role, string])[] = [
  ['viewer', words.viewerSees],
  ['operator', words.operatorTunesRulesLists],
  ['admin', words.adminEverything],
];

/** As many as one answer holds. */
const listMax = 500;

export interface AccountRoles {
  readonly options: Accessor<Choices>;
  /** The role of an account as both planes see it; until it is known, the control plane's. */
  of(user: { readonly id: string; readonly role: string }): string;
  /** For If-Match: the version of the account as it is shown; null where it is not known. */
  versionOf(id: string): string | null;
  readonly reload: () => void;
}

export const isOwnRole = (role: string): role is Role => own.some(([name]) => name === role);

export function createAccountRoles(): AccountRoles {
  const isAdmin = (): boolean => account()?.role === 'admin';
  const all = createQuery('GET /api/v1/rbac/roles', () =>
    isAdmin() ? { query: { limit: listMax, sort: 'name' as const } } : null,
  );
  const users = createQuery('GET /api/v1/users', () => (isAdmin() ? { query: { limit: listMax } } : null));
  const byId = createMemo(() => new Map((users.data()?.items ?? []).map((user) => [user.id, user])));
  const options = createMemo((): Choices => {
    const more = (all.data()?.items ?? []).flatMap(({ name, built_in }) =>
      name === null || isOwnRole(name)
        ? []
        : [[name, built_in ? words.roleOfHub(name) : words.roleOfOrganisation(name)] as const],
    );
    return [...own, ...more];
  });
  return {
    options,
    of: ({ id, role }) => (role === 'admin' ? role : (byId().get(id)?.role ?? role)),
    versionOf: (id) => {
      const version = byId().get(id)?.version;
      return version === undefined ? null : `"${version}"`;
    },
    reload: () => void users.reload(),
  };
}

export interface NewAccount {
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly password: string;
}

/** Throws Refused. */
export async function addAccount({ role, ...rest }: NewAccount): Promise<void> {
  if (isOwnRole(role)) await call('POST /api/users', { body: { ...rest, role } });
  else await call('POST /api/v1/users', { body: { ...rest, role } });
}
