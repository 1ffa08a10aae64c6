// Two-factor authentication of one's own account: on, off, and new recovery codes.
import { Type } from '@sinclair/typebox';
import { createRecoveryCodes, hashRecoveryCode } from '../auth/totp.js';
import { closed, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { requireUser, storeRecoveryCodes } from '../users/store.js';
import { requirePassword, requireSecondFactor } from './confirmation.js';
import { beginTotp, confirmTotp, endTotp, type AccountParts } from './own-credentials.js';
import { Password } from './routes.js';

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
  app.post('/api/account/totp', { schema: beginSchema }, async (request) => {
    return beginTotp(parts, requirePrincipal(request), request.body.password);
  });
  app.post('/api/account/totp/confirm', { schema: confirmSchema }, async (request) => {
    return { recovery_codes: await confirmTotp(parts, requirePrincipal(request), request.body.otp) };
  });
  registerOff(app, parts);
  registerCodes(app, parts);
}

function registerOff(app: App, parts: AccountParts): void {
  app.delete('/api/account/totp', { schema: offSchema }, async (request, reply) => {
    await endTotp(parts, requirePrincipal(request), request.body.password, request.body.otp);
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
