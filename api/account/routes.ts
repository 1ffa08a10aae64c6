// What people do with their own account.
import { Type } from '@sinclair/typebox';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { decodeTimeCursor, Page, PageQuery, toPage } from '../http-kit/page.js';
import { closed, Nullable, refusals, Time } from '../http-kit/schema.js';
import { requirePrincipal } from '../auth/guard.js';
import { beginConfirmation, forgetConfirmations } from '../auth/lockout.js';
import { checkSecondFactor } from '../auth/login.js';
import { acceptNewPassword } from '../auth/new-password.js';
import { passwordLengthMax } from '../auth/password.js';
import { requireUser, requireUserForUpdate, storeRecoveryCodes, updateUser, type User } from '../users/store.js';
import { listSessions, revokeSessions, type Session } from '../auth/sessions.js';
import { acceptTotp, createRecoveryCodes, createTotpSecret, hashRecoveryCode, toTotpUri } from '../auth/totp.js';

export const SessionView = Type.Object({
  id: Type.String(),
  created_at: Time,
  last_seen_at: Time,
  expires_at: Time,
  source_ip: Type.String(),
  user_agent: Type.String(),
  method: Type.String(),
  current: Type.Boolean(),
});

function viewSession(session: Session, currentId: string | null) {
  const { id, source_ip, user_agent, method } = session;
  return {
    id,
    source_ip,
    user_agent,
    method,
    created_at: session.created_at.toISOString(),
    last_seen_at: session.last_seen_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
    current: id === currentId,
  };
}

/** A page of somebody's sessions, as `currentId` sees them. */
export async function pageSessions(
  house: House,
  userId: string,
  currentId: string | null,
  { cursor, limit = 50 }: { readonly cursor?: string; readonly limit?: number },
) {
  const rows = await listSessions(
    house.database.sql,
    userId,
    new Date(house.now()),
    cursor === undefined ? null : decodeTimeCursor(cursor, 'string'),
    limit + 1,
  );
  return toPage(
    rows,
    limit,
    ({ created_at, id }) => [created_at.getTime(), id],
    (session) => viewSession(session, currentId),
  );
}

const Password = Type.String({ minLength: 1, maxLength: passwordLengthMax });
const Codes = Type.Object({
  recovery_codes: Type.Array(Type.String(), { description: 'shown once; each works once' }),
});

/** Of codes typed within a session: five wrong ones, then pauses of up to a quarter of an hour. */
const otpPolicy = { threshold: 5, lockMsMax: 15 * 60_000 };

/** A stolen session must not be enough to change what guards the account: the password is asked again, and counted. */
async function requirePassword(house: House, user: User, password: string): Promise<void> {
  const { sql } = house.database;
  const settings = await house.currentSettings();
  await beginConfirmation(
    sql,
    `password ${user.id}`,
    { threshold: settings.policy_lockout_threshold, lockMsMax: settings.policy_lockout_minutes * 60_000 },
    house.now(),
  );
  if (!(await house.hasher.verify(password, user.password_hash)))
    throw new ApiError('bad_credentials', 'The current password is wrong.');
  await forgetConfirmations(sql, `password ${user.id}`);
}

export function registerAccountRoutes(app: App, house: House): void {
  const { sql } = house.database;
  app.get(
    '/api/account',
    {
      schema: {
        tags: ['account'],
        summary: 'Who am I',
        response: {
          200: Type.Object({
            id: Type.String(),
            email: Type.String(),
            name: Type.String(),
            role: Type.String(),
            totp_enabled: Type.Boolean(),
            origin: Type.String(),
            duty: Nullable(Type.String({ description: 'change_password or enrol_totp: to be done first' })),
            last_login_at: Nullable(Time),
          }),
          ...refusals,
        },
      },
    },
    async (request) => {
      const principal = requirePrincipal(request);
      const user = await requireUser(sql, principal.userId);
      return {
        id: user.id,
        email: user.email,
        name: user.name,
        role: user.role,
        totp_enabled: user.totp_secret !== null,
        origin: user.origin,
        duty: principal.duty,
        last_login_at: user.last_login_at?.toISOString() ?? null,
      };
    },
  );
  app.post(
    '/api/account/password',
    {
      schema: {
        tags: ['account'],
        summary: 'Change the password; every other session ends',
        body: Type.Object({ current: Password, password: Password }, closed),
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const { userId, sessionId, actor } = requirePrincipal(request);
      const user = await requireUser(sql, userId);
      await requirePassword(house, user, request.body.current);
      if (request.body.password === request.body.current)
        throw new ApiError('password_refused', 'The new password is the old one.', {
          errors: [{ path: '/password', reason: 'is the current password' }],
        });
      const accepted = await acceptNewPassword(house, request.body.password, user);
      await sql.begin(async (tx) => {
        const now = new Date(house.now());
        await updateUser(tx, userId, { password_hash: accepted.hash, must_change_password: false }, now);
        const ended = await revokeSessions(tx, userId, { keep: sessionId ?? '' }, now);
        await house.audit.record(tx, {
          actor,
          action: 'account.password',
          summary: `${actor.name} changed the password; ${ended} other sessions ended${accepted.note}`,
        });
      });
      return reply.code(204).send(null);
    },
  );
  app.get(
    '/api/account/sessions',
    {
      schema: {
        tags: ['account'],
        summary: 'My sessions, newest first',
        querystring: Type.Object(PageQuery, closed),
        response: { 200: Page(SessionView), ...refusals },
      },
    },
    async (request) => {
      const { userId, sessionId } = requirePrincipal(request);
      return pageSessions(house, userId, sessionId, request.query);
    },
  );
  app.delete(
    '/api/account/sessions/:id',
    {
      schema: {
        tags: ['account'],
        summary: 'End one of my sessions',
        params: Type.Object({ id: Type.String({ maxLength: 100 }) }),
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const { userId, actor } = requirePrincipal(request);
      await sql.begin(async (tx) => {
        if ((await revokeSessions(tx, userId, { id: request.params.id }, new Date(house.now()))) === 0)
          throw new ApiError('not_found', 'You have no such session.');
        await house.audit.record(tx, {
          actor,
          action: 'account.session.end',
          summary: `${actor.name} ended one of their sessions`,
        });
      });
      return reply.code(204).send(null);
    },
  );
  registerTotpRoutes(app, house);
}

function registerTotpRoutes(app: App, house: House): void {
  const { sql } = house.database;
  app.post(
    '/api/account/totp',
    {
      schema: {
        tags: ['account'],
        summary: 'Begin two-factor enrolment',
        body: Type.Object({ password: Password }, closed),
        response: {
          200: Type.Object({ secret: Type.String(), uri: Type.String({ description: 'for the QR code' }) }),
          ...refusals,
        },
      },
    },
    async (request) => {
      const { userId } = requirePrincipal(request);
      const user = await requireUser(sql, userId);
      if (user.totp_secret !== null)
        throw new ApiError('conflict', 'Two-factor authentication is on already. Turn it off first.');
      await requirePassword(house, user, request.body.password);
      const secret = createTotpSecret();
      await sql.begin((tx) =>
        updateUser(tx, userId, { totp_pending: house.sealing.seal(secret, `totp:${userId}`) }, new Date(house.now())),
      );
      return { secret, uri: toTotpUri(secret, user.email, house.env.brand.name) };
    },
  );
  app.post(
    '/api/account/totp/confirm',
    {
      schema: {
        tags: ['account'],
        summary: 'Prove that the app shows the right codes; turns two-factor authentication on',
        body: Type.Object({ otp: Type.String({ pattern: '^\\d{6}$' }) }, closed),
        response: { 200: Codes, ...refusals },
      },
    },
    async (request) => {
      const { userId, sessionId, actor } = requirePrincipal(request);
      const codes = createRecoveryCodes();
      await sql.begin(async (tx) => {
        const user = await requireUserForUpdate(tx, userId);
        if (user.totp_pending === null) throw new ApiError('conflict', 'Begin with POST /api/account/totp.');
        const step = acceptTotp(
          house.sealing.open(user.totp_pending, `totp:${userId}`),
          request.body.otp,
          house.now(),
          0,
        );
        if (step === null)
          throw new ApiError('bad_otp', 'The code does not fit the secret; check the clock of the device.');
        const now = new Date(house.now());
        await updateUser(tx, userId, { totp_secret: user.totp_pending, totp_pending: null, totp_last_step: step }, now);
        await storeRecoveryCodes(tx, userId, codes.map(hashRecoveryCode));
        await revokeSessions(tx, userId, { keep: sessionId ?? '' }, now);
        await house.audit.record(tx, {
          actor,
          action: 'account.totp.on',
          summary: `${actor.name} turned two-factor authentication on`,
        });
      });
      return { recovery_codes: codes };
    },
  );
  app.delete(
    '/api/account/totp',
    {
      schema: {
        tags: ['account'],
        summary: 'Turn two-factor authentication off',
        body: Type.Object({ password: Password, otp: Type.String({ maxLength: 40 }) }, closed),
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const { userId, actor, role } = requirePrincipal(request);
      const user = await requireUser(sql, userId);
      if (role === 'admin' && (await house.currentSettings()).policy_2fa_required_admin)
        throw new ApiError('conflict', 'The policy demands two-factor authentication from administrators.');
      await requirePassword(house, user, request.body.password);
      await beginConfirmation(sql, `otp ${user.id}`, otpPolicy, house.now());
      await checkSecondFactor(house, user, request.body.otp);
      await sql.begin(async (tx) => {
        await updateUser(tx, userId, { totp_secret: null, totp_pending: null }, new Date(house.now()));
        await storeRecoveryCodes(tx, userId, []);
        await house.audit.record(tx, {
          actor,
          action: 'account.totp.off',
          summary: `${actor.name} turned two-factor authentication off`,
        });
      });
      return reply.code(204).send(null);
    },
  );
  registerRecoveryRoute(app, house);
}

function registerRecoveryRoute(app: App, house: House): void {
  const { sql } = house.database;
  app.post(
    '/api/account/recovery-codes',
    {
      schema: {
        tags: ['account'],
        summary: 'New recovery codes; the old ones stop working',
        body: Type.Object({ password: Password, otp: Type.String({ pattern: '^\\d{6}$' }) }, closed),
        response: { 200: Codes, ...refusals },
      },
    },
    async (request) => {
      const { userId, actor } = requirePrincipal(request);
      const user = await requireUser(sql, userId);
      await requirePassword(house, user, request.body.password);
      await beginConfirmation(sql, `otp ${user.id}`, otpPolicy, house.now());
      await checkSecondFactor(house, user, request.body.otp);
      const codes = createRecoveryCodes();
      await sql.begin(async (tx) => {
        await storeRecoveryCodes(tx, userId, codes.map(hashRecoveryCode));
        await house.audit.record(tx, {
          actor,
          action: 'account.recovery_codes',
          summary: `${actor.name} made new recovery codes`,
        });
      });
      return { recovery_codes: codes };
    },
  );
}
