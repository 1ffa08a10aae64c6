// The control plane's users and sessions, as the vulnerability manager sees them.
import type { Identity } from '#vm-manager';
import { authenticateSessionOf, dutyOf, type GuardParts } from '../auth/guard.js';
import { answerOtp, logIn, type LoggedIn, type LoginParts } from '../auth/login.js';
import { loginLimit } from '../auth/routes.js';
import { revokeSessions } from '../auth/sessions.js';
import { escapeLike } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { findUser, updateUser, type User } from '../users/store.js';
import { createAdministration, createOwnAccount, viewUser, type PeopleParts } from './people.js';
import { createSingleSignOn, type SingleSignOnParts } from './single-sign-on.js';

export type IdentityParts = GuardParts &
  LoginParts &
  PeopleParts &
  SingleSignOnParts &
  Pick<Parts, 'loginsPerMinute' | 'audit'>;

export function createIdentity(parts: IdentityParts): Identity {
  const { sql } = parts.database;
  const withDuty = async (result: LoggedIn) => ({
    ...result,
    duty: dutyOf(result.user, await parts.currentSettings()),
  });
  return {
    async person(request, whileDutyIsDue = false) {
      const { userId, email, role, sessionId } = await authenticateSessionOf(request, parts, whileDutyIsDue);
      return { userId, email, role, sessionId };
    },
    async owner(userId) {
      const user = await findUser(sql, userId);
      return user === null || user.suspended ? null : { userId, email: user.email, role: user.role };
    },
    async logIn(request, email, password) {
      const result = await logIn(parts, request, email, password, null);
      return result.kind === 'otp_required' ? { kind: 'mfa', challenge: result.challenge } : withDuty(result);
    },
    answerMfa: async (request, challenge, code) => withDuty(await answerOtp(parts, request, challenge, code)),
    async logOut({ userId, sessionId }, actor, which) {
      const now = new Date(parts.now());
      await sql.begin(async (tx) => {
        if (which === 'all') await updateUser(tx, userId, {}, now, true);
        await revokeSessions(tx, userId, which === 'all' ? {} : { id: sessionId ?? '' }, now);
        const what = which === 'all' ? 'ended every session of their own' : 'logged out';
        await parts.audit.record(tx, { actor, action: 'logout', summary: `${actor.name} ${what}` });
      });
    },
    async users({ role, q, id }) {
      const words = q === undefined ? null : `%${escapeLike(q)}%`;
      const rows = await sql<User[]>`
        select * from users where ${id === undefined ? sql`true` : sql`id = ${id}`}
          and ${role === undefined ? sql`true` : sql`role = ${role}`}
          and ${words === null ? sql`true` : sql`(email ilike ${words} or name ilike ${words})`}
        order by email_key limit 10000`;
      return rows.map(viewUser);
    },
    administration: createAdministration(parts),
    own: createOwnAccount(parts),
    sso: createSingleSignOn(parts),
    loginConfig: loginLimit(parts),
  };
}
