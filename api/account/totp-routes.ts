// Two-factor authentication of one's own account: on, off, and new recovery codes.
import { Type } from '@sinclair/typebox';
import type { NewPasswordParts } from '../auth/new-password.js';
import { revokeSessions } from '../auth/sessions.js';
import { acceptTotp, createRecoveryCodes, createTotpSecret, hashRecoveryCode, toTotpUri } from '../auth/totp.js';
import { ApiError, closed, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { requireUser, requireUserForUpdate, storeRecoveryCodes, updateUser } from '../users/store.js';
import { requirePassword, requireSecondFactor } from './confirmation.js';
import { Password } from './routes.js';

export type AccountParts = NewPasswordParts & Pick<Parts, 'database' | 'now' | 'audit' | 'sealing' | 'brandName'>;

const Codes = Type.Object({
  recovery_codes: Type.Array(Type.String(), { description: 'shown once; each works once' }),
});
const SixDigits = Type.String({ pattern: '^\\d{6}$' });

const beginSchema = {
  tags: ['account'],
  summary: 'Begin two-factor enrolment',
  body: Type.Object({ password: Password }, closed),
  response: {
    200: Type.Object({ secret: Type.String(), uri: Type.String({ description: 'for the QR code' }) }),
    ...refusals,
  },
};
const confirmSchema = {
  tags: ['account'],
  summary: 'Prove that the app shows the right codes; turns two-factor authentication on',
  body: Type.Object({ otp: SixDigits }, closed),
  response: { 200: Codes, ...refusals },
};
const offSchema = {
  tags: ['account'],
  summary: 'Turn two-factor authentication off',
  body: Type.Object({ password: Password, otp: Type.String({ maxLength: 40 }) }, closed),
  response: { 204: Type.Null(), ...refusals },
};
const codesSchema = {
  tags: ['account'],
  summary: 'New recovery codes; the old ones stop working',
  body: Type.Object({ password: Password, otp: SixDigits }, closed),
  response: { 200: Codes, ...refusals },
};

export function registerTotpRoutes(app: App, parts: AccountParts): void {
  const { sql } = parts.database;
  app.post('/api/account/totp', { schema: beginSchema }, async (request) => {
    const { userId } = requirePrincipal(request);
    const user = await requireUser(sql, userId);
    if (user.totp_secret !== null)
      throw new ApiError('conflict', 'Two-factor authentication is on already. Turn it off first.');
    await requirePassword(parts, user, request.body.password);
    const secret = createTotpSecret();
    const sealed = parts.sealing.seal(secret, `totp:${userId}`);
    await sql.begin((tx) => updateUser(tx, userId, { totp_pending: sealed }, new Date(parts.now())));
    return { secret, uri: toTotpUri(secret, user.email, parts.brandName) };
  });
  app.post('/api/account/totp/confirm', { schema: confirmSchema }, async (request) => {
    const { userId, sessionId, actor } = requirePrincipal(request);
    const codes = createRecoveryCodes();
    await sql.begin(async (tx) => {
      const user = await requireUserForUpdate(tx, userId);
      if (user.totp_pending === null) throw new ApiError('conflict', 'Begin with POST /api/account/totp.');
      const secret = parts.sealing.open(user.totp_pending, `totp:${userId}`);
      const step = acceptTotp(secret, request.body.otp, parts.now(), 0);
      if (step === null)
        throw new ApiError('bad_otp', 'The code does not fit the secret; check the clock of the device.');
      const now = new Date(parts.now());
      await updateUser(tx, userId, { totp_secret: user.totp_pending, totp_pending: null, totp_last_step: step }, now);
      await storeRecoveryCodes(tx, userId, codes.map(hashRecoveryCode));
      await revokeSessions(tx, userId, { keep: sessionId ?? '' }, now);
      await parts.audit.record(tx, {
        actor,
        action: 'account.totp.on',
        summary: `${actor.name} turned two-factor authentication on`,
      });
    });
    return { recovery_codes: codes };
  });
  registerOff(app, parts);
  registerCodes(app, parts);
}

function registerOff(app: App, parts: AccountParts): void {
  const { sql } = parts.database;
  app.delete('/api/account/totp', { schema: offSchema }, async (request, reply) => {
    const { userId, actor, role } = requirePrincipal(request);
    const user = await requireUser(sql, userId);
    if (role === 'admin' && (await parts.currentSettings()).policy_2fa_required_admin)
      throw new ApiError('conflict', 'The policy demands two-factor authentication from administrators.');
    await requirePassword(parts, user, request.body.password);
    await requireSecondFactor(parts, user, request.body.otp);
    await sql.begin(async (tx) => {
      await updateUser(tx, userId, { totp_secret: null, totp_pending: null }, new Date(parts.now()));
      await storeRecoveryCodes(tx, userId, []);
      await parts.audit.record(tx, {
        actor,
        action: 'account.totp.off',
        summary: `${actor.name} turned two-factor authentication off`,
      });
    });
    return reply.code(204).send(null);
  });
}

function registerCodes(app: App, parts: AccountParts): void {
  const { sql } = parts.database;
  app.post('/api/account/recovery-codes', { schema: codesSchema }, async (request) => {
    const { userId, actor } = requirePrincipal(request);
    const user = await requireUser(sql, userId);
    await requirePassword(parts, user, request.body.password);
    await requireSecondFactor(parts, user, request.body.otp);
    const codes = createRecoveryCodes();
    await sql.begin(async (tx) => {
      await storeRecoveryCodes(tx, userId, codes.map(hashRecoveryCode));
      await parts.audit.record(tx, {
        actor,
        action: 'account.recovery_codes',
        summary: `${actor.name} made new recovery codes`,
      });
    });
    return { recovery_codes: codes };
  });
}
