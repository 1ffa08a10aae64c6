// OpenID Connect, authorization code with PKCE. State, nonce and verifier are ours and used once; the browser that
// comes back must be the one that left (cookie).
import { createHash, randomBytes } from 'node:crypto';
import * as oidc from 'openid-client';
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { Settings } from '#settings';
import type { User } from '../users/store.js';
import { discover, exchange, type ProviderParts } from './provider.js';
import { provision } from './provision.js';

export type SsoParts = ProviderParts & Pick<Parts, 'database' | 'now' | 'audit'>;

const flowMs = 10 * 60_000;
const discoveryMs = 3600_000;

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

interface KnownProvider {
  readonly key: string;
  readonly until: number;
  readonly config: oidc.Configuration;
}

export interface Sso {
  /** Where to send the browser, and the value of the cookie that binds it. */
  begin(settings: Settings, returnTo: string): Promise<{ readonly url: string; readonly state: string }>;
  /** The person who came back, created on first sight. Throws `sso_refused`. */
  finish(
    settings: Settings,
    callback: URL,
    cookieState: string | null,
    sourceIp: string,
  ): Promise<{ readonly user: User; readonly returnTo: string }>;
}

export function createSso(parts: SsoParts): Sso {
  let known: KnownProvider | null = null;
  const provider = async (settings: Settings): Promise<oidc.Configuration> => {
    const key = digest(JSON.stringify([settings.sso_issuer, settings.sso_client_id, settings.sso_client_secret]));
    if (known?.key === key && known.until > parts.now()) return known.config;
    const config = await discover(parts, settings);
    known = { key, until: parts.now() + discoveryMs, config };
    return config;
  };
  return {
    async begin(settings, returnTo) {
      const config = await provider(settings);
      const [state, nonce, verifier] = [
        randomBytes(24).toString('base64url'),
        randomBytes(24).toString('base64url'),
        oidc.randomPKCECodeVerifier(),
      ];
      const sealed = parts.sealing.seal(verifier, 'sso flow');
      const expiresAt = new Date(parts.now() + flowMs);
      await parts.database.sql`
        insert into sso_flows (state_hash, nonce, verifier, return_to, expires_at)
        values (${digest(state)}, ${nonce}, ${sealed}, ${safeReturn(returnTo)}, ${expiresAt})`;
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: settings.sso_redirect_uri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        response_type: 'code',
      });
      return { url: url.href, state };
    },
    async finish(settings, callback, cookieState, sourceIp) {
      const state = callback.searchParams.get('state') ?? '';
      if (cookieState === null || state === '' || cookieState !== state)
        throw new ApiError('sso_refused', 'This login was not begun in this browser. Begin again.');
      const [flow] = await parts.database.sql<
        { nonce: string; verifier: string; return_to: string; expires_at: Date }[]
      >`delete from sso_flows where state_hash = ${digest(state)} returning nonce, verifier, return_to, expires_at`;
      if (flow === undefined || flow.expires_at.getTime() < parts.now())
        throw new ApiError('sso_refused', 'This login was begun too long ago or finished before. Begin again.');
      const claims = await exchange(await provider(settings), callback, {
        state,
        nonce: flow.nonce,
        verifier: parts.sealing.open(flow.verifier, 'sso flow'),
      });
      const user = await parts.database.sql.begin((tx) => provision(parts, tx, settings, claims, sourceIp));
      return { user, returnTo: flow.return_to };
    },
  };
}

/** A path on our own origin, or the start page: `//host`, `/\host` and control characters lead elsewhere. */
export function safeReturn(path: string): string {
  if (!/^\/(?![/\\])[\x21-\x7e]{0,500}$/.test(path) && path !== '/') return '/';
  const resolved = new URL(path, 'http://here.invalid');
  return resolved.host === 'here.invalid' && !path.includes('\\') && !resolved.pathname.startsWith('//')
    ? `${resolved.pathname}${resolved.search}`
    : '/';
}
