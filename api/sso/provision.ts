// An identity of the provider → a user of ours, made on first sight.
import type { Tx } from '../db/client.js';
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { Settings } from '#settings';
import { findUserByEmail, insertUser, updateUser, type User } from '../users/store.js';
import type { Identity } from './provider.js';

/** One address and nothing else: what stands before or behind another @ or a comma may be of another domain. */
const address = /^[^\s\p{C}@<>()[\],;:\\"]+@[^\s\p{C}@<>()[\],;:\\"]+$/u;
const addressCharactersMax = 254;

/** Throws `sso_refused`. */
export async function provision(
  parts: Pick<Parts, 'now' | 'audit'>,
  tx: Tx,
  settings: Settings,
  identity: Identity,
  sourceIp: string,
): Promise<User> {
  if (identity.email === '' || !identity.verified)
    throw new ApiError('sso_refused', 'The provider does not vouch for an e-mail address of yours.');
  if (identity.email.length > addressCharactersMax || !address.test(identity.email))
    throw new ApiError('sso_refused', 'What the provider calls your e-mail address is none.');
  const domain = identity.email.slice(identity.email.lastIndexOf('@') + 1).toLowerCase();
  if (settings.sso_allowed_domain !== '' && domain !== settings.sso_allowed_domain.toLowerCase())
    throw new ApiError('sso_refused', `People of ${domain} may not log in here.`);
  const now = new Date(parts.now());
  const [bySubject] = await tx<User[]>`select * from users where sso_subject = ${identity.subject}`;
  const user = bySubject ?? (await findUserByEmail(tx, identity.email));
  if (user !== null) {
    if (user.suspended) throw new ApiError('sso_refused', 'This account is suspended.');
    // a local account with the same address is somebody's password account: the provider must not take it over
    if (user.origin === 'local')
      throw new ApiError(
        'sso_refused',
        'There is a local account with this e-mail address. An administrator has to delete it first.',
      );
    if (user.sso_subject !== identity.subject)
      throw new ApiError('sso_refused', 'The e-mail address belongs to another person at the provider.');
    return updateUser(tx, user.id, { name: identity.name.slice(0, 200) }, now);
  }
  const made = await insertUser(
    tx,
    {
      email: identity.email,
      name: identity.name.slice(0, 200),
      role: settings.sso_default_role,
      passwordHash: null,
      mustChangePassword: false,
      origin: 'sso',
      ssoSubject: identity.subject,
    },
    now,
  );
  await parts.audit.record(tx, {
    actor: { id: made.id, name: made.email, role: 'none', sourceIp },
    action: 'user.create',
    summary: `${made.email} came through single sign-on and became ${made.role}`,
    details: { user: made.id },
  });
  return made;
}
