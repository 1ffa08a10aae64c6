// OpenID Connect, authorization code with PKCE. State, nonce and verifier are ours and used once; the browser that
// comes back must be the one that left (cookie). Every call to the provider goes through the guarded client.
import { createHash, randomBytes } from 'node:crypto';
import * as oidc from 'openid-client';
import type { House } from '../parts.js';
import type { Tx } from '../db/client.js';
import { ApiError } from '../http-kit/problem.js';
import type { Settings } from '../settings/schema.js';
import { findUserByEmail, insertUser, updateUser, type User } from '../users/store.js';

const flowMs = 10 * 60_000;
const discoveryMs = 3600_000;
const clockToleranceSeconds = 90;

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

export function createSso(house: House): Sso {
  let known: KnownProvider | null = null;
  const provider = async (settings: Settings): Promise<oidc.Configuration> => {
    const key = digest(JSON.stringify([settings.sso_issuer, settings.sso_client_id, settings.sso_client_secret]));
    if (known?.key === key && known.until > house.now()) return known.config;
    const config = await discover(house, settings);
    known = { key, until: house.now() + discoveryMs, config };
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
      await house.database
        .sql`insert into sso_flows (state_hash, nonce, verifier, return_to, expires_at) values (${digest(state)}, ${nonce}, ${house.sealing.seal(verifier, 'sso flow')}, ${safeReturn(returnTo)}, ${new Date(house.now() + flowMs)})`;
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
      const [flow] = await house.database.sql<
        { nonce: string; verifier: string; return_to: string; expires_at: Date }[]
      >`delete from sso_flows where state_hash = ${digest(state)} returning nonce, verifier, return_to, expires_at`;
      if (flow === undefined || flow.expires_at.getTime() < house.now())
        throw new ApiError('sso_refused', 'This login was begun too long ago or finished before. Begin again.');
      const claims = await exchange(await provider(settings), callback, {
        state,
        nonce: flow.nonce,
        verifier: house.sealing.open(flow.verifier, 'sso flow'),
      });
      const user = await house.database.sql.begin((tx) => provision(house, tx, settings, claims, sourceIp));
      return { user, returnTo: flow.return_to };
    },
  };
}

async function discover(house: House, settings: Settings): Promise<oidc.Configuration> {
  const secret =
    settings.sso_client_secret === null
      ? undefined
      : house.sealing.open(settings.sso_client_secret, 'settings:/sso_client_secret');
  const issuer = new URL(settings.sso_issuer);
  // plain http carries the client secret in the clear: only to a place the operator named in OUTBOUND_ALLOW
  const isPlainAllowed = issuer.protocol === 'http:' && (await house.outbound.isAllowListed(issuer.href));
  if (issuer.protocol === 'http:' && !isPlainAllowed)
    throw new ApiError(
      'outbound_refused',
      `The issuer ${issuer.host} must be reached by https, or be named in OUTBOUND_ALLOW.`,
    );
  try {
    const config = await oidc.discovery(
      issuer,
      settings.sso_client_id,
      { redirect_uris: [settings.sso_redirect_uri], [oidc.clockTolerance]: clockToleranceSeconds },
      secret === undefined ? oidc.None() : oidc.ClientSecretBasic(secret),
      {
        execute: isPlainAllowed ? [oidc.allowInsecureRequests] : [],
        [oidc.customFetch]: (url, init) => house.outbound.fetch(url, init),
        timeout: 10,
      },
    );
    config[oidc.customFetch] = (url, init) => house.outbound.fetch(url, init);
    return config;
  } catch (cause) {
    const own = ownRefusal(cause);
    if (own !== null) throw own;
    throw new ApiError('outbound_failed', `The provider ${issuer.host} cannot be used: ${describe(cause)}.`, { cause });
  }
}

interface Identity {
  readonly subject: string;
  readonly email: string;
  readonly name: string;
}

async function exchange(
  config: oidc.Configuration,
  callback: URL,
  flow: { state: string; nonce: string; verifier: string },
): Promise<Identity & { readonly verified: boolean }> {
  try {
    const tokens = await oidc.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier: flow.verifier,
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new ApiError('sso_refused', 'The provider sent no ID token.');
    // some providers keep e-mail out of the ID token
    const info =
      claims['email'] === undefined && config.serverMetadata().userinfo_endpoint !== undefined
        ? await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)
        : {};
    const member = (name: string): unknown => claims[name] ?? (info as Record<string, unknown>)[name];
    const text = (name: string): string => {
      const value = member(name);
      return typeof value === 'string' ? value : '';
    };
    return {
      subject: `${claims.iss} ${claims.sub}`,
      email: text('email'),
      name: text('name'),
      verified: member('email_verified') === true,
    };
  } catch (cause) {
    const own = ownRefusal(cause);
    if (own !== null) throw own;
    throw new ApiError('sso_refused', `The provider's answer was refused: ${describe(cause)}.`, { cause });
  }
}

/** Our own refusal, however deep the library wrapped it. */
function ownRefusal(error: unknown): ApiError | null {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ApiError) return at;
  return null;
}

const describe = (error: unknown): string =>
  (error instanceof Error
    ? ((error.cause instanceof Error ? error.cause.message : null) ?? error.message)
    : String(error)
  ).slice(0, 200);

async function provision(
  house: House,
  tx: Tx,
  settings: Settings,
  identity: Identity & { readonly verified: boolean },
  sourceIp: string,
): Promise<User> {
  if (identity.email === '' || !identity.verified)
    throw new ApiError('sso_refused', 'The provider does not vouch for an e-mail address of yours.');
  const domain = identity.email.slice(identity.email.lastIndexOf('@') + 1).toLowerCase();
  if (settings.sso_allowed_domain !== '' && domain !== settings.sso_allowed_domain.toLowerCase())
    throw new ApiError('sso_refused', `People of ${domain} may not log in here.`);
  const now = new Date(house.now());
  const [bySubject] = await tx<User[]>`select * from users where sso_subject = ${identity.subject}`;
  const user = bySubject ?? (await findUserByEmail(tx, identity.email));
  if (user !== null) {
    if (user.suspended) throw new ApiError('sso_refused', 'This account is suspended.');
    // a local account with the same address is somebody's password account: the provider must not take it over
    if (user.origin === 'local')
      throw new ApiError(
        'sso_refused',
        'There is a local account with this e-mail address. An administrator has to delete it first.',
      );
    if (user.sso_subject !== identity.subject)
      throw new ApiError('sso_refused', 'The e-mail address belongs to another person at the provider.');
    return updateUser(tx, user.id, { name: identity.name.slice(0, 200) }, now);
  }
  const made = await insertUser(
    tx,
    {
      email: identity.email,
      name: identity.name.slice(0, 200),
      role: settings.sso_default_role,
      passwordHash: null,
      mustChangePassword: false,
      origin: 'sso',
      ssoSubject: identity.subject,
    },
    now,
  );
  await house.audit.record(tx, {
    actor: { id: made.id, name: made.email, role: 'none', sourceIp },
    action: 'user.create',
    summary: `${made.email} came through single sign-on and became ${made.role}`,
    details: { user: made.id },
  });
  return made;
}

/** A path on our own origin, or the start page: `//host`, `/\host` and control characters lead elsewhere. */
export function safeReturn(path: string): string {
  if (!/^\/(?![/\\])[\x21-\x7e]{0,500}$/.test(path) && path !== '/') return '/';
  const resolved = new URL(path, 'http://here.invalid');
  return resolved.host === 'here.invalid' && !path.includes('\\') && !resolved.pathname.startsWith('//')
    ? `${resolved.pathname}${resolved.search}`
    : '/';
}
