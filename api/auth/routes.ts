import { Type } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import type { App, House } from '../parts.js';
import { closed, Nullable, refusals, Time } from '../http-kit/schema.js';
import { requirePrincipal, sessionCookie } from './guard.js';
import { answerOtp, logIn, type LoggedIn } from './login.js';
import { passwordLengthMax } from './password.js';
import { RoleName } from '../users/role-name.js';
import { revokeSessions } from './sessions.js';

const LoginReply = Type.Object({
  status: Type.Unsafe<'ok' | 'otp_required'>({ type: 'string', enum: ['ok', 'otp_required'] }),
  token: Nullable(Type.String({ description: 'send as Authorization: Bearer' })),
  expires_at: Nullable(Time),
  challenge: Nullable(Type.String({ description: 'for POST /api/login/otp; good for five minutes' })),
  user: Nullable(Type.Object({ id: Type.String(), email: Type.String(), name: Type.String(), role: RoleName })),
  must_change_password: Type.Boolean(),
});

/** The dashboard uses the cookie, scripts use the token: both are the same session. */
export function setSessionCookie(reply: FastifyReply, token: string, expiresAt: Date, isSecure: boolean): void {
  reply.header(
    'set-cookie',
    `${sessionCookie}=${token}; Path=/; HttpOnly; SameSite=Strict; Expires=${expiresAt.toUTCString()}${isSecure ? '; Secure' : ''}`,
  );
}

export function registerLoginRoutes(app: App, house: House): void {
  const limit = { rateLimit: { max: house.loginsPerMinute ?? 20, timeWindow: 60_000 } };
  const answer = (reply: FastifyReply, isSecure: boolean, result: LoggedIn) => {
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
  };
  app.post(
    '/api/login',
    {
      config: limit,
      schema: {
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
      },
    },
    async (request, reply) => {
      const result = await logIn(house, request, request.body.email, request.body.password, request.body.otp ?? null);
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
    },
  );
  app.post(
    '/api/login/otp',
    {
      config: limit,
      schema: {
        tags: ['people'],
        summary: 'The second step of a login',
        security: [],
        body: Type.Object(
          { challenge: Type.String({ maxLength: 2000 }), otp: Type.String({ minLength: 6, maxLength: 40 }) },
          closed,
        ),
        response: { 200: LoginReply, ...refusals },
      },
    },
    async (request, reply) =>
      answer(
        reply,
        request.protocol === 'https',
        await answerOtp(house, request, request.body.challenge, request.body.otp),
      ),
  );
  app.post(
    '/api/logout',
    { schema: { tags: ['people'], summary: 'End this session', response: { 204: Type.Null(), ...refusals } } },
    async (request, reply) => {
      const { userId, sessionId, actor } = requirePrincipal(request);
      await house.database.sql.begin(async (tx) => {
        await revokeSessions(tx, userId, { id: sessionId ?? '' }, new Date(house.now()));
        await house.audit.record(tx, { actor, action: 'logout', summary: `${actor.name} logged out` });
      });
      reply.header('set-cookie', `${sessionCookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`);
      return reply.code(204).send(null);
    },
  );
}
