// Session tokens: JWT, HS256 with AUTH_SESSION_SECRET, nothing else accepted. The role is read from here, never from a
// header. A token is only as good as its session row: revocation, suspension and a new role end it at once.
import { errors, jwtVerify, SignJWT } from 'jose';
import { ApiError } from '../http-kit/problem.js';
import { roles, type Role } from '../http-kit/access.js';

export interface SessionClaims {
  readonly userId: string;
  readonly role: Role;
  readonly sessionId: string;
  /** The user's token version; raising it ends every session of the user. */
  readonly version: number;
}

const issuer = 'gatehouse';
const sessionAudience = 'gatehouse:session';
const otpAudience = 'gatehouse:otp';
const otpSeconds = 300;
const challengeHeader = { 'www-authenticate': 'Bearer error="invalid_token"' };

export interface SessionTokens {
  issue(claims: SessionClaims, expiresAt: Date): Promise<string>;
  /** Throws `token_expired` or `not_authenticated`. */
  verify(token: string): Promise<SessionClaims>;
  /** Proof that the password was right; good for the one-time code step and nothing else. */
  issueOtpChallenge(userId: string, version: number): Promise<string>;
  verifyOtpChallenge(token: string): Promise<{ readonly userId: string; readonly version: number }>;
}

export function createSessionTokens(secret: string, now: () => number): SessionTokens {
  const key = new TextEncoder().encode(secret);
  const sign = (
    claims: Record<string, unknown>,
    subject: string,
    audience: string,
    expiresAtSeconds: number,
  ): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(subject)
      .setIssuedAt(Math.floor(now() / 1000))
      .setExpirationTime(expiresAtSeconds)
      .sign(key);
  const read = async (token: string, audience: string) => {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['HS256'],
        issuer,
        audience,
        currentDate: new Date(now()),
        requiredClaims: ['sub', 'iat', 'exp'],
      });
      return payload;
    } catch (cause) {
      if (cause instanceof errors.JWTExpired)
        throw new ApiError('token_expired', 'The session has expired. Log in again.', {
          headers: challengeHeader,
          cause,
        });
      if (cause instanceof errors.JOSEError || cause instanceof TypeError)
        throw new ApiError('not_authenticated', 'The token was not issued by this server.', {
          headers: challengeHeader,
          cause,
        });
      throw cause;
    }
  };
  const malformed = (): ApiError =>
    new ApiError('not_authenticated', 'The token was not issued by this server.', { headers: challengeHeader });
  return {
    issue: ({ userId, role, sessionId, version }, expiresAt) =>
      sign({ role, jti: sessionId, ver: version }, userId, sessionAudience, Math.floor(expiresAt.getTime() / 1000)),
    async verify(token) {
      const { sub, role, jti, ver } = await read(token, sessionAudience);
      const known = roles.find((name) => name === role);
      if (typeof sub !== 'string' || typeof jti !== 'string' || typeof ver !== 'number' || known === undefined)
        throw malformed();
      return { userId: sub, role: known, sessionId: jti, version: ver };
    },
    issueOtpChallenge: (userId, version) =>
      sign({ ver: version }, userId, otpAudience, Math.floor(now() / 1000) + otpSeconds),
    async verifyOtpChallenge(token) {
      const { sub, ver } = await read(token, otpAudience);
      if (typeof sub !== 'string' || typeof ver !== 'number') throw malformed();
      return { userId: sub, version: ver };
    },
  };
}
