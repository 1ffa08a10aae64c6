import { Type } from '@sinclair/typebox';
import { readCookie } from '../auth/guard.js';
import { openSession, type SessionParts } from '../auth/login.js';
import { loginLimit, setSessionCookie } from '../auth/routes.js';
import { ApiError, closed, refusals, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readHead } from '../settings/store.js';
import { createSso, type SsoParts } from './sso.js';

export type SsoRouteParts = SsoParts & SessionParts & Pick<Parts, 'loginsPerMinute'>;

const stateCookie = 'gatehouse_sso';
/** Lax, not Strict: the browser comes back from the provider's site. */
const stateCookieAttributes = 'Path=/api/sso; HttpOnly; SameSite=Lax';

const offerSchema = {
  tags: ['people'],
  summary: 'Whether the login page offers single sign-on',
  security: [],
  response: { 200: Type.Object({ enabled: Type.Boolean() }), ...refusals },
};
const beginSchema = {
  tags: ['people'],
  summary: 'Begin single sign-on: redirects to the provider',
  security: [],
  querystring: Type.Object({ return_to: Type.Optional(Type.String({ maxLength: 600 })) }, closed),
  response: { 302: Type.Null(), ...refusals },
};
const callbackSchema = {
  tags: ['people'],
  summary: 'The provider sends the browser back here',
  security: [],
  querystring: Type.Object({}, { additionalProperties: true }),
  response: { 302: Type.Null(), ...refusals },
};

export function registerSsoRoutes(app: App, parts: SsoRouteParts): void {
  const sso = createSso(parts);
  const config = loginLimit(parts);
  const requireEnabled = async () => {
    const { settings } = await readHead(parts.database.sql);
    if (!settings.sso_enabled) throw new ApiError('not_found', 'Single sign-on is off.');
    return settings;
  };
  app.get('/api/sso', { schema: offerSchema }, async () => ({ enabled: (await parts.currentSettings()).sso_enabled }));
  app.get('/api/sso/login', { config, schema: beginSchema }, async (request, reply) => {
    const settings = await requireEnabled();
    const { url, state } = await sso.begin(settings, request.query.return_to ?? '/');
    const secure = settings.sso_redirect_uri.startsWith('https:') ? '; Secure' : '';
    reply.header('set-cookie', `${stateCookie}=${state}; ${stateCookieAttributes}; Max-Age=600${secure}`);
    return reply.redirect(url, 302);
  });
  app.get('/api/sso/callback', { config, schema: callbackSchema }, async (request, reply) => {
    const settings = await requireEnabled();
    // the configured address, not the Host header: that one is the client's word
    const callback = new URL(settings.sso_redirect_uri);
    callback.search = request.url.split('?')[1] ?? '';
    const cookieState = readCookie(request.headers.cookie, stateCookie);
    const { user, returnTo } = await sso.finish(settings, callback, cookieState, request.ip);
    const session = await openSession(parts, request, user, 'sso', null);
    setSessionCookie(reply, session.token, session.expiresAt, callback.protocol === 'https:');
    reply.header('set-cookie', `${stateCookie}=; ${stateCookieAttributes}; Max-Age=0`);
    return reply.redirect(returnTo, 302);
  });
}
