// A user in answers.
import { Type } from '@sinclair/typebox';
import { Nullable, RoleName, Time } from '../http-kit/index.js';
import type { User } from './store.js';

export const UserView = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: RoleName,
  suspended: Type.Boolean(),
  totp_enabled: Type.Boolean(),
  must_change_password: Type.Boolean(),
  origin: Type.String(),
  created_at: Time,
  updated_at: Time,
  last_login_at: Nullable(Time),
  etag: Type.String(),
});

/** Names the user in a path. */
export const UserId = Type.Object({ id: Type.String({ maxLength: 64 }) });

export const etagOf = (user: User): string => `"${user.id.slice(0, 8)}-${user.revision}"`;

export function viewUser(user: User) {
  const { id, email, name, role, suspended, must_change_password, origin } = user;
  return {
    id,
    email,
    name,
    role,
    suspended,
    must_change_password,
    origin,
    totp_enabled: user.totp_secret !== null,
    created_at: user.created_at.toISOString(),
    updated_at: user.updated_at.toISOString(),
    last_login_at: user.last_login_at?.toISOString() ?? null,
    etag: etagOf(user),
  };
}
