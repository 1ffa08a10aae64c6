// Users and one's own account for the vulnerability manager: the same functions that the control plane's routes call.
import type { OwnAccount, Person, UserAdministration, UserRow } from '#vm-manager';
import { randomBytes } from 'node:crypto';
import {
  beginTotp,
  changeOwnPassword,
  confirmTotp,
  endTotp,
  type AccountParts,
  type Owner,
} from '../account/own-credentials.js';
import { notifyBy } from '../auth/new-password.js';
import { listSessions, rotateSession } from '../auth/sessions.js';
import { ApiError, type Actor } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { changePerson, createPerson, deletePerson, setPassword, type UserParts } from '../users/administration.js';
import { requireUser, type User } from '../users/store.js';

export type PeopleParts = UserParts & AccountParts & Pick<Parts, 'tokens'>;

const sessionsMax = 500;

export const viewUser = (user: User): UserRow => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role,
  suspended: user.suspended,
  mfa: user.totp_secret !== null,
  created_at: user.created_at,
  last_login_at: user.last_login_at,
  version: user.revision,
});

export const createAdministration = (parts: UserParts): UserAdministration => ({
  create: async (actor, user, reply) =>
    viewUser(await createPerson(parts, actor, { ...user, mustChangePassword: true }, notifyBy(reply))),
  change: async (actor, id, change, accept) =>
    viewUser(await changePerson(parts, actor, id, change, (before) => accept(viewUser(before)))),
  delete: (actor, id, accept) => deletePerson(parts, actor, id, (before) => accept(viewUser(before))),
  setPassword: (actor, id, password, accept, reply) =>
    setPassword(parts, actor, id, password, (before) => accept(viewUser(before)), notifyBy(reply)),
  async newPassword() {
    const { policy_password_min_length: lengthMin } = await parts.currentSettings();
    // the beginning has one of each class of characters, whatever chance says of the rest
    return `aA1-${randomBytes(lengthMin + 18).toString('base64url')}`.slice(0, Math.max(lengthMin, 24));
  },
});

const ownerOf = ({ userId, sessionId, role }: Person, actor: Actor): Owner => ({ userId, sessionId, role, actor });

export const createOwnAccount = (parts: PeopleParts): OwnAccount => ({
  changePassword: (person, actor, current, wanted, reply) =>
    changeOwnPassword(parts, ownerOf(person, actor), current, wanted, notifyBy(reply), '/new'),
  beginTotp: (person, actor, password) => beginTotp(parts, ownerOf(person, actor), password),
  confirmTotp: (person, actor, code) => confirmTotp(parts, ownerOf(person, actor), code),
  endTotp: (person, actor, password, code) => endTotp(parts, ownerOf(person, actor), password, code),
  sessions: ({ userId }) => listSessions(parts.database.sql, userId, new Date(parts.now()), null, sessionsMax),
  async rotateSession({ userId, sessionId }) {
    const { sql } = parts.database;
    const now = new Date(parts.now());
    const user = await requireUser(sql, userId);
    const session = await sql.begin((tx) => rotateSession(tx, userId, sessionId ?? '', now));
    if (session === null) throw new ApiError('not_authenticated', 'The session was ended. Log in again.');
    const claims = { userId, role: user.role, sessionId: session.id, version: user.token_version };
    return { token: await parts.tokens.issue(claims, session.expires_at), expiresAt: session.expires_at };
  },
});
