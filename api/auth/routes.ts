import { Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { closed, Nullable, refusals, requirePrincipal, RoleName, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { sessionCookie } from './guard.js';
import { isFamiliar } from './lockout.js';
import { answerOtp, logIn, type LoggedIn, type LoginParts } from './login.js';
import { passwordLengthMax } from './password.js';
import { revokeSessions } from './sessions.js';

export type LoginRouteParts = LoginParts & Pick<Parts, 'loginsPerMinute'>;

const LoginReply = Type.Object({
  status: Type.Unsafe<'ok' | 'otp_required'>({ type: 'string', enum: ['ok', 'otp_required'] }),
  token: Nullable(Type.String({ description: 'send as Authorization: Bearer' })),
  expires_at: Nullable(Time),
  challenge: Nullable(Type.String({ description: 'for POST /api/login/otp; good for five minutes' })),
  user: Nullable(Type.Object({ id: Type.String(), email: Type.String(), name: Type.String(), role: RoleName })),
  must_change_password: Type.Boolean(),
});

const loginSchema = {
  tags: ['people'],
  summary: 'Log in with a password, and with a one-time code where two-factor authentication is on',
  security: [],
  body: Type.Object(
    {
      email: Type.String({ minLength: 1, maxLength: 254 }),
      password: Type.String({ minLength: 1, maxLength: passwordLengthMax }),
      otp: Type.Optional(Type.String({ maxLength: 40 })),
    },
    closed,
  ),
  response: { 200: LoginReply, ...refusals },
};
const otpSchema = {
  tags: ['people'],
  summary: 'The second step of a login',
  security: [],
  body: Type.Object(
    { challenge: Type.String({ maxLength: 2000 }), otp: Type.String({ minLength: 6, maxLength: 40 }) },
    closed,
  ),
  response: { 200: LoginReply, ...refusals },
};
const logoutSchema = { tags: ['people'], summary: 'End this session', response: { 204: Type.Null(), ...refusals } };

/** Logins of one source address that no account is known to use. */
export const loginLimit = ({
  loginsPerMinute,
  database,
  now,
}: Pick<Parts, 'loginsPerMinute' | 'database' | 'now'>) => ({
  // one count over every way to log in, of both APIs
  rateLimit: {
    max: loginsPerMinute,
    timeWindow: 60_000,
    groupId: 'logins',
    allowList: ({ ip }: FastifyRequest) => isFamiliar(database.sql, ip, now()),
  },
});

/** The dashboard uses the cookie, scripts use the token: both are the same session. */
export function setSessionCookie(reply: FastifyReply, token: string, expiresAt: Date, isSecure: boolean): void {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', `Expires=${expiresAt.toUTCString()}`];
  reply.header('set-cookie', [`${sessionCookie}=${token}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; '));
}

export function registerLoginRoutes(app: App, parts: LoginRouteParts): void {
  const config = loginLimit(parts);
  app.post('/api/login', { config, schema: loginSchema }, async (request, reply) => {
    const { email, password, otp = null } = request.body;
    const result = await logIn(parts, request, email, password, otp);
    if (result.kind === 'otp_required')
      return {
        status: 'otp_required' as const,
        token: null,
        expires_at: null,
        challenge: result.challenge,
        user: null,
        must_change_password: false,
      };
    return answer(reply, request.protocol === 'https', result);
  });
  app.post('/api/login/otp', { config, schema: otpSchema }, async (request, reply) =>
    answer(
      reply,
      request.protocol === 'https',
      await answerOtp(parts, request, request.body.challenge, request.body.otp),
    ),
  );
  app.post('/api/logout', { schema: logoutSchema }, async (request, reply) => {
    const { userId, sessionId, actor } = requirePrincipal(request);
    await parts.database.sql.begin(async (tx) => {
      await revokeSessions(tx, userId, { id: sessionId ?? '' }, new Date(parts.now()));
      await parts.audit.record(tx, { actor, action: 'logout', summary: `${actor.name} logged out` });
    });
    reply.header('set-cookie', `${sessionCookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`);
    return reply.code(204).send(null);
  });
}

function answer(reply: FastifyReply, isSecure: boolean, result: LoggedIn) {
  setSessionCookie(reply, result.token, result.expiresAt, isSecure);
  const { id, email, name, role, must_change_password } = result.user;
  return {
    status: 'ok' as const,
    token: result.token,
    expires_at: result.expiresAt.toISOString(),
    challenge: null,
    user: { id, email, name, role },
    must_change_password,
  };
}
