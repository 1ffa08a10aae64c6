// The one place that decides whether a request may enter. Runs before a body is read. Its rules are the route matrix;
// a route without a row cannot be registered.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/chain.js';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { findApiToken, isApiToken } from '../api-tokens/store.js';
import { findRouteAccess, routeMatrix, type Permission, type Role, type RouteAccess } from '../http-kit/access.js';
import { findSessionWithUser, markSeen, seenLagMs } from './sessions.js';

export type Duty = 'change_password' | 'enrol_totp';

export interface Principal {
  readonly kind: 'session' | 'token';
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly sessionId: string | null;
  readonly scopes: readonly Permission[] | null;
  /** What has to be done before anything else is allowed. */
  readonly duty: Duty | null;
  readonly actor: Actor;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

export const sessionCookie = 'gatehouse_session';
/** A page of another origin cannot send this header without our consent (CORS preflight, which we never grant). */
const antiForgeryHeader = 'x-gatehouse-request';
const bearer = { 'www-authenticate': 'Bearer' };

export function registerGuard(app: App, house: House): void {
  app.decorateRequest('principal', null);
  const accessOfRoute = new Map<string, RouteAccess>();
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const access = findRouteAccess(method, route.url);
      if (access === null)
        throw new Error(
          `The route ${method} ${route.url} has no row in api/auth/route-matrix.ts: say who may call it.`,
        );
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
    if (access.kind !== 'guarded') return;
    const principal = await authenticate(request, house);
    admit(principal, access);
    request.principal = principal;
  });
}

/**
 * Methods that exist under this path; asked for paths that answered nobody, so that a wrong method is told from a wrong
 * path.
 */
export function methodsOf(path: string): string[] {
  const segments = path.split('/');
  const fits = (pattern: string): boolean =>
    pattern
      .split('/')
      .every(
        (part, i, parts) =>
          parts.length === segments.length && (part === segments[i] || (part.startsWith(':') && segments[i] !== '')),
      );
  const methods = Object.keys(routeMatrix).flatMap((row) => {
    const [method = '', pattern = ''] = row.split(' ');
    return !fits(pattern) ? [] : method === 'GET' ? ['GET', 'HEAD'] : [method];
  });
  return [...new Set(methods)].sort();
}

/**
 * For answers that last: throws once the caller may not ask any more. Looking on is no activity, so the session does
 * not live longer by it.
 */
export async function requireStillAdmitted(request: FastifyRequest, house: House): Promise<void> {
  const access = findRouteAccess(request.method, request.routeOptions.url ?? '');
  if (access?.kind === 'guarded') admit(await authenticate(request, house, false), access);
}

/** The principal of a guarded route. */
export function requirePrincipal(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error('a guarded route ran without a principal');
  return request.principal;
}

function admit(principal: Principal, access: RouteAccess & { kind: 'guarded' }): void {
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
      'Change the password with POST /api/account/password; until then nothing else is allowed.',
    );
  throw new ApiError(
    'totp_enrolment_required',
    'Set up two-factor authentication with POST /api/account/totp; until then nothing else is allowed.',
  );
}

async function authenticate(request: FastifyRequest, house: House, isActivity = true): Promise<Principal> {
  const header = request.headers.authorization;
  const fromHeader = header === undefined ? null : (/^Bearer +(\S+)$/i.exec(header)?.[1] ?? '');
  const token = fromHeader ?? readCookie(request.headers.cookie, sessionCookie);
  if (token === null)
    throw new ApiError('not_authenticated', 'Send a session token or an API token: Authorization: Bearer …', {
      headers: bearer,
    });
  if (isApiToken(token)) return authenticateToken(request, house, token);
  const principal = await authenticateSession(request, house, token, isActivity);
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

async function authenticateToken(request: FastifyRequest, house: House, text: string): Promise<Principal> {
  const token = await findApiToken(house.database.sql, text, new Date(house.now()));
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
  house: House,
  token: string,
  isActivity: boolean,
): Promise<Principal> {
  const claims = await house.tokens.verify(token);
  const session = await findSessionWithUser(house.database.sql, claims.sessionId);
  const now = house.now();
  const ended = (why: string): ApiError => new ApiError('not_authenticated', why, { headers: bearer });
  if (session === null || session.user_id !== claims.userId || session.revoked_at !== null)
    throw ended('The session was ended. Log in again.');
  const { user } = session;
  // one answer for suspended, demoted and re-issued: the token no longer stands for the user as it is
  if (user.suspended || user.token_version !== claims.version || user.role !== claims.role)
    throw ended('The session was ended by an administrator or a change of the account. Log in again.');
  const settings = await house.currentSettings();
  if (
    session.expires_at.getTime() <= now ||
    now - session.last_seen_at.getTime() > settings.policy_session_idle_minutes * 60_000 + seenLagMs
  )
    throw new ApiError('token_expired', 'The session has expired. Log in again.', { headers: bearer });
  if (isActivity && now - session.last_seen_at.getTime() > seenLagMs)
    await markSeen(house.database.sql, session.id, new Date(now));
  const needsTotp =
    settings.policy_2fa_required_admin &&
    claims.role === 'admin' &&
    user.totp_secret === null &&
    user.origin === 'local';
  const duty: Duty | null = user.must_change_password ? 'change_password' : needsTotp ? 'enrol_totp' : null;
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
