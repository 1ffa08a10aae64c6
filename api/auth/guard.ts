// The one place that decides whether a request may enter. Runs before a body is read. Its rules are the access rows of
// the features; a route without a row cannot be registered.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findApiToken, isApiToken } from '../api-tokens/store.js';
import {
  ApiError,
  type App,
  type Duty,
  type GuardedAccess,
  type Principal,
  roles,
  type RouteAccess,
} from '../http-kit/index.js';
import { requireNodeToken } from '../nodes/node-token.js';
import type { Parts } from '../parts.js';
import type { RouteMatrix } from './route-matrix.js';
import type { Settings } from '#settings';
import type { User } from '../users/store.js';
import { findSessionWithUser, markSeen, seenLagMs } from './sessions.js';

export type GuardParts = Pick<Parts, 'database' | 'now' | 'tokens' | 'currentSettings' | 'nodeToken'>;

export const sessionCookie = 'gatehouse_session';
/** A page of another origin cannot send this header without our consent (CORS preflight, which we never grant). */
const antiForgeryHeader = 'x-gatehouse-request';
const bearer = { 'www-authenticate': 'Bearer' };

export function registerGuard(app: App, parts: GuardParts, matrix: RouteMatrix): void {
  app.decorateRequest('principal', null);
  const accessOfRoute = new Map<string, RouteAccess>();
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const access = matrix.find(method, route.url);
      if (access === null)
        throw new Error(`The route ${method} ${route.url} has no access row: its feature has to say who may call it.`);
      accessOfRoute.set(`${method} ${route.url}`, access);
    }
  });
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const pattern = request.routeOptions.url;
    // unknown paths answer 404 to everybody, rate-limited; there is nothing to guard
    if (pattern === undefined) return;
    const access = accessOfRoute.get(`${request.method} ${pattern}`);
    if (access === undefined) throw new Error(`no access rule for ${request.method} ${pattern}`);
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    if (access.kind === 'dataplane') requireNodeToken(request.headers.authorization, parts.nodeToken);
    if (access.kind !== 'guarded') return;
    const principal = await authenticate(request, parts);
    admit(principal, access);
    request.principal = principal;
  });
}

/**
 * For answers that last: throws once the caller may not ask any more. Looking on is no activity, so the session does
 * not live longer by it.
 */
export async function requireStillAdmitted(
  request: FastifyRequest,
  parts: GuardParts,
  matrix: RouteMatrix,
): Promise<void> {
  const access = matrix.find(request.method, request.routeOptions.url ?? '');
  if (access?.kind === 'guarded') admit(await authenticate(request, parts, false), access);
}

/** What a person has to do before anything else is allowed. */
export function dutyOf(
  user: Pick<User, 'role' | 'must_change_password' | 'totp_secret' | 'origin'>,
  settings: Pick<Settings, 'policy_2fa_required_admin'>,
): Duty | null {
  if (user.must_change_password) return 'change_password';
  const needsTotp =
    settings.policy_2fa_required_admin && user.role === 'admin' && user.totp_secret === null && user.origin === 'local';
  return needsTotp ? 'enrol_totp' : null;
}

function admit(principal: Principal, access: GuardedAccess): void {
  if (principal.kind === 'token') {
    if (!access.tokens)
      throw new ApiError('scope_denied', 'API tokens cannot do this; it needs a person who is logged in.');
    if (!principal.scopes?.includes(access.permission))
      throw new ApiError('scope_denied', `The token lacks the scope ${access.permission}.`);
  }
  if (!access.roles.includes(principal.role))
    throw new ApiError('role_denied', `This needs the role ${access.roles.join(' or ')}; yours is ${principal.role}.`);
  if (principal.duty === null || access.whileDutyIsDue) return;
  if (principal.duty === 'change_password')
    throw new ApiError(
      'password_change_required',
      'Change the password with POST /api/account/password or POST /api/v1/auth/password/change; until then nothing ' +
        'else is allowed.',
    );
  throw new ApiError(
    'totp_enrolment_required',
    'Set up two-factor authentication with POST /api/account/totp or POST /api/v1/auth/mfa/enroll; until then ' +
      'nothing else is allowed.',
  );
}

/**
 * For a feature that admits by rules of its own: the person behind the request's session. Throws ApiError 401 without
 * one, 403 while a duty is due (unless the request is there to fulfil it), and for a change by a cookie alone.
 */
export async function authenticateSessionOf(
  request: FastifyRequest,
  parts: GuardParts,
  whileDutyIsDue = false,
): Promise<Principal> {
  const principal = await authenticate(request, parts);
  admit(principal, { kind: 'guarded', permission: 'account', roles, tokens: false, whileDutyIsDue });
  return principal;
}

async function authenticate(request: FastifyRequest, parts: GuardParts, isActivity = true): Promise<Principal> {
  const header = request.headers.authorization;
  const fromHeader = header === undefined ? null : (/^Bearer +(\S+)$/i.exec(header)?.[1] ?? '');
  const token = fromHeader ?? readCookie(request.headers.cookie, sessionCookie);
  if (token === null)
    throw new ApiError('not_authenticated', 'Send a session token or an API token: Authorization: Bearer …', {
      headers: bearer,
    });
  if (isApiToken(token)) return authenticateToken(request, parts, token);
  const principal = await authenticateSession(request, parts, token, isActivity);
  if (
    fromHeader === null &&
    !['GET', 'HEAD'].includes(request.method) &&
    request.headers[antiForgeryHeader] === undefined
  ) {
    throw new ApiError(
      'cross_site_refused',
      `Send the header ${antiForgeryHeader}: 1, or the token as Authorization: Bearer.`,
    );
  }
  return principal;
}

async function authenticateToken(request: FastifyRequest, parts: GuardParts, text: string): Promise<Principal> {
  const token = await findApiToken(parts.database.sql, text, new Date(parts.now()));
  if (token === null)
    throw new ApiError('not_authenticated', 'The API token is unknown, expired or revoked.', { headers: bearer });
  const name = `token ${token.name}`;
  return {
    kind: 'token',
    userId: token.created_by,
    email: name,
    role: token.role,
    sessionId: null,
    scopes: token.scopes,
    duty: null,
    actor: { id: token.created_by, name, role: token.role, sourceIp: request.ip },
  };
}

async function authenticateSession(
  request: FastifyRequest,
  parts: GuardParts,
  token: string,
  isActivity: boolean,
): Promise<Principal> {
  const claims = await parts.tokens.verify(token);
  const session = await findSessionWithUser(parts.database.sql, claims.sessionId);
  const now = parts.now();
  const ended = (why: string): ApiError => new ApiError('not_authenticated', why, { headers: bearer });
  if (session === null || session.user_id !== claims.userId || session.revoked_at !== null)
    throw ended('The session was ended. Log in again.');
  const { user } = session;
  // one answer for suspended, demoted and re-issued: the token no longer stands for the user as it is
  if (user.suspended || user.token_version !== claims.version || user.role !== claims.role)
    throw ended('The session was ended by an administrator or a change of the account. Log in again.');
  const settings = await parts.currentSettings();
  if (
    session.expires_at.getTime() <= now ||
    now - session.last_seen_at.getTime() > settings.policy_session_idle_minutes * 60_000 + seenLagMs
  )
    throw new ApiError('token_expired', 'The session has expired. Log in again.', { headers: bearer });
  if (isActivity && now - session.last_seen_at.getTime() > seenLagMs)
    await markSeen(parts.database.sql, session.id, new Date(now));
  const duty = dutyOf(user, settings);
  return {
    kind: 'session',
    userId: user.id,
    email: user.email,
    role: claims.role,
    sessionId: session.id,
    scopes: null,
    duty,
    actor: { id: user.id, name: user.email, role: claims.role, sourceIp: request.ip },
  };
}

/** One cookie's value, or null. */
export function readCookie(header: string | undefined, name: string): string | null {
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}
