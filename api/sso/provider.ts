// The provider's side of single sign-on: discovery and the exchange of a code for an identity. Every call goes through
// the guarded client.
import * as oidc from 'openid-client';
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { Settings } from '#settings';

export type ProviderParts = Pick<Parts, 'outbound' | 'sealing'>;

const clockToleranceSeconds = 90;

export async function discover({ outbound, sealing }: ProviderParts, settings: Settings): Promise<oidc.Configuration> {
  const secret =
    settings.sso_client_secret === null
      ? undefined
      : sealing.open(settings.sso_client_secret, 'settings:/sso_client_secret');
  const issuer = new URL(settings.sso_issuer);
  // plain http carries the client secret in the clear: only to a place the operator named in OUTBOUND_ALLOW
  const isPlainAllowed = issuer.protocol === 'http:' && (await outbound.isAllowListed(issuer.href));
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
        // The library leaves signatures of ID tokens to TLS, which not every road to a provider has to its end.
        execute: [oidc.enableNonRepudiationChecks, ...(isPlainAllowed ? [oidc.allowInsecureRequests] : [])],
        [oidc.customFetch]: (url, init) => outbound.fetch(url, init),
        timeout: 10,
      },
    );
    config[oidc.customFetch] = (url, init) => outbound.fetch(url, init);
    return config;
  } catch (cause) {
    const own = ownRefusal(cause);
    if (own !== null) throw own;
    throw new ApiError('outbound_failed', `The provider ${issuer.host} cannot be used: ${describe(cause)}.`, { cause });
  }
}

/** Who the provider says it is. */
export interface Identity {
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  /** The provider vouches for the e-mail address. */
  readonly verified: boolean;
}

export async function exchange(
  config: oidc.Configuration,
  callback: URL,
  flow: { state: string; nonce: string; verifier: string },
): Promise<Identity> {
  try {
    const tokens = await oidc.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier: flow.verifier,
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new ApiError('sso_refused', 'The provider sent no ID token.');
    refuseForeign(claims, config.clientMetadata().client_id);
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
    throw new ApiError('sso_refused', `The provider's answer was refused: ${describe(cause)}.${adviceFor(cause)}`, {
      cause,
    });
  }
}

/** What the library leaves open: a token that names another client (azp), and one from the future. */
function refuseForeign(claims: oidc.IDToken, clientId: string): void {
  if (claims.azp !== undefined && claims.azp !== clientId)
    throw new ApiError('sso_refused', 'The provider made the ID token for another application (azp).');
  if (claims.iat > Date.now() / 1000 + clockToleranceSeconds)
    throw new ApiError('sso_refused', 'The ID token was issued in the future: compare the clocks.');
}

/** Our own refusal, however deep the library wrapped it. */
function ownRefusal(error: unknown): ApiError | null {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ApiError) return at;
  return null;
}

const advice =
  ' ID tokens have to be signed by a key of the key set (jwks_uri) of the provider, such as RS256 or ES256.';

/** Where an algorithm or a key is none of the provider's key set, what to do there. */
function adviceFor(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isOfSignature = /UNSUPPORTED_OPERATION|KEY_SELECTION/.test(code) || /signature/.test(describe(error));
  return isOfSignature ? advice : '';
}

const describe = (error: unknown): string =>
  (error instanceof Error
    ? ((error.cause instanceof Error ? error.cause.message : null) ?? error.message)
    : String(error)
  ).slice(0, 200);
