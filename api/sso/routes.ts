import { Type } from '@sinclair/typebox';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { closed, refusals } from '../http-kit/schema.js';
import { readHead } from '../settings/store.js';
import { readCookie } from '../auth/guard.js';
import { openSession } from '../auth/login.js';
import { setSessionCookie } from '../auth/routes.js';
import { createSso } from './provider.js';

const stateCookie = 'gatehouse_sso';

export function registerSsoRoutes(app: App, house: House): void {
  const sso = createSso(house);
  const limit = { rateLimit: { max: house.loginsPerMinute ?? 20, timeWindow: 60_000 } };
  const requireEnabled = async () => {
    const { settings } = await readHead(house.database.sql);
    if (!settings.sso_enabled) throw new ApiError('not_found', 'Single sign-on is off.');
    return settings;
  };
  app.get(
    '/api/sso',
    {
      schema: {
        tags: ['people'],
        summary: 'Whether the login page offers single sign-on',
        security: [],
        response: { 200: Type.Object({ enabled: Type.Boolean() }), ...refusals },
      },
    },
    async () => ({ enabled: (await house.currentSettings()).sso_enabled }),
  );
  app.get(
    '/api/sso/login',
    {
      config: limit,
      schema: {
        tags: ['people'],
        summary: 'Begin single sign-on: redirects to the provider',
        security: [],
        querystring: Type.Object({ return_to: Type.Optional(Type.String({ maxLength: 600 })) }, closed),
        response: { 302: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const settings = await requireEnabled();
      const { url, state } = await sso.begin(settings, request.query.return_to ?? '/');
      const secure = settings.sso_redirect_uri.startsWith('https:') ? '; Secure' : '';
      // Lax, not Strict: the browser comes back from the provider's site
      reply.header(
        'set-cookie',
        `${stateCookie}=${state}; Path=/api/sso; HttpOnly; SameSite=Lax; Max-Age=600${secure}`,
      );
      return reply.redirect(url, 302);
    },
  );
  app.get(
    '/api/sso/callback',
    {
      config: limit,
      schema: {
        tags: ['people'],
        summary: 'The provider sends the browser back here',
        security: [],
        querystring: Type.Object({}, { additionalProperties: true }),
        response: { 302: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      const settings = await requireEnabled();
      // the configured address, not the Host header: that one is the client's word
      const callback = new URL(settings.sso_redirect_uri);
      callback.search = request.url.split('?')[1] ?? '';
      const { user, returnTo } = await sso.finish(
        settings,
        callback,
        readCookie(request.headers.cookie, stateCookie),
        request.ip,
      );
      const session = await openSession(house, request, user, 'sso', null);
      setSessionCookie(reply, session.token, session.expiresAt, callback.protocol === 'https:');
      reply.header('set-cookie', `${stateCookie}=; Path=/api/sso; HttpOnly; SameSite=Lax; Max-Age=0`);
      return reply.redirect(returnTo, 302);
    },
  );
}
