// One's own account: password, second factor, sessions. The control plane's own functions decide, so that a password
// that /api refuses is refused here.
import { Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { endpoint, type Endpoint } from '../kit/endpoint.js';

const closed = { additionalProperties: false } as const;
const Password = Type.String({ minLength: 1, maxLength: 1000 });
const mine = { permission: 'self', kind: 'B', inPerson: true } as const;

const credentials: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/auth/password/change',
    ...mine,
    whileDutyIsDue: true,
    summary: 'Change my password; every other session ends',
    body: Type.Object({ current: Password, new: Password }, closed),
    status: 204,
    handle: async ({ host, caller, body, reply }) =>
      host.identity.own.changePassword(caller.person, caller.actor, body.current, body.new, reply),
  }),
  endpoint({
    method: 'POST',
    path: '/auth/mfa/enroll',
    ...mine,
    whileDutyIsDue: true,
    summary: 'Begin two-factor authentication: a secret for an app, shown once',
    body: Type.Object({ password: Password }, closed),
    answer: Type.Object({ secret: Type.String(), uri: Type.String({ description: 'otpauth://, for the QR code' }) }),
    handle: async ({ host, caller, body }) => host.identity.own.beginTotp(caller.person, caller.actor, body.password),
  }),
  endpoint({
    method: 'POST',
    path: '/auth/mfa/confirm',
    ...mine,
    whileDutyIsDue: true,
    summary: 'Prove that the app shows the right codes; recovery codes are shown once',
    body: Type.Object({ code: Type.String({ pattern: '^\\d{6}$' }) }, closed),
    answer: Type.Object({ recovery_codes: Type.Array(Type.String()) }),
    handle: async ({ host, caller, body }) => ({
      recovery_codes: await host.identity.own.confirmTotp(caller.person, caller.actor, body.code),
    }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/auth/mfa',
    ...mine,
    summary: 'Turn two-factor authentication off',
    body: Type.Object({ password: Password, code: Type.String({ minLength: 6, maxLength: 40 }) }, closed),
    status: 204,
    handle: async ({ host, caller, body }) =>
      host.identity.own.endTotp(caller.person, caller.actor, body.password, body.code),
  }),
];

const SessionView = Type.Object({
  id: Type.String(),
  current: Type.Boolean(),
  source_ip: Type.String(),
  user_agent: Type.String(),
  method: Type.String(),
  created_at: Time,
  last_seen_at: Time,
  expires_at: Time,
});

const sessions: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/auth/sessions',
    ...mine,
    summary: 'My sessions, newest first',
    answer: Type.Object({ items: Type.Array(SessionView) }),
    handle: async ({ host, caller }) => ({
      items: (await host.identity.own.sessions(caller.person)).map((session) => ({
        id: session.id,
        current: session.id === caller.person.sessionId,
        source_ip: session.source_ip,
        user_agent: session.user_agent,
        method: session.method,
        created_at: session.created_at.toISOString(),
        last_seen_at: session.last_seen_at.toISOString(),
        expires_at: session.expires_at.toISOString(),
      })),
    }),
  }),
  endpoint({
    method: 'POST',
    path: '/auth/refresh',
    ...mine,
    summary: 'Another session in the place of this one; the token before is refused from now on',
    answer: Type.Object({ access_token: Type.String(), token_type: Type.Literal('bearer'), expires_at: Time }),
    handle: async ({ host, caller }) => {
      const { token, expiresAt } = await host.identity.own.rotateSession(caller.person);
      return { access_token: token, token_type: 'bearer', expires_at: expiresAt.toISOString() };
    },
  }),
];

export const ownEndpoints: readonly Endpoint[] = [...credentials, ...sessions];
