// Whoever asks for a protected path has to bring credentials. Without a key in the settings their presence is enough:
// an Authorization or X-API-Key field that is not empty. With a key, a token in `Authorization: Bearer` has to be
// signed with it; X-API-Key or other schemes are no way around that.
//
// Paths are compared as every server may read them (admit/reading.ts). Preflight requests of CORS pass, reduced to what
// a preflight needs (admit/preflight.ts), unless the settings refuse them.
//
// A key set that is not there, or was not refreshed for a day, refuses everybody with 503, also where the site says
// fail_mode open: that is for inspection, not for letting strangers in.
//
// Memory: tokens that were verified, by their text, 2,000 a worker. Beyond: all are forgotten, and verified again.
import type { GivenValues, GivenVariable } from '#engine';
import { findField } from '../../http/header-fields.js';
import type { Decision, Denial } from '../decision.js';
import type { Gate, GateContext, GateRequest } from '../gate.js';
import { isPreflight } from '../preflight.js';
import { isAnyUnder, prefixOf } from '../reading.js';
import type { KeySet } from './key-set.js';
import { checkClaims, checkToken, type Claims, type TokenAnswer, type TokenPolicy } from './token.js';

/** The rules of protected paths, in the order of the settings. */
export const authRuleIdFirst = 1_010_000;

const knownMax = 2000;
const staleMs = 86_400_000;

interface SiteAuth {
  readonly prefixes: readonly string[];
  readonly passesPreflights: boolean;
  readonly policy: TokenPolicy;
  readonly secret: Buffer | null;
  /** '' = no key set. */
  readonly keysUrl: string;
}

/** Verified tokens, with what they were verified under. */
interface Known {
  readonly claims: Map<string, Claims>;
  /** What rules are given of them. */
  readonly given: WeakMap<Claims, GivenValues>;
  auth: SiteAuth | null;
  keys: KeySet | null;
}

export const siteAuth: Gate<SiteAuth, Known> = {
  name: 'site-auth',
  appliesTo: 'protected',
  bound: {
    of: 'tokens that were verified, a worker (8 KB each at most)',
    max: knownMax,
    unit: 'entries',
    beyond: 'all are forgotten, and verified again when they come',
  },
  createState: () => ({ claims: new Map(), given: new WeakMap(), auth: null, keys: null }),
  compile: (config) =>
    config.authEnabled && config.authProtectedPaths.length > 0
      ? {
          prefixes: config.authProtectedPaths.map(prefixOf),
          passesPreflights: config.authPreflight === 'forward',
          policy: {
            algorithm: config.authAlg,
            issuer: config.authIssuer,
            audience: config.authAudience,
            skewSeconds: config.authClockSkewSec,
            requiresExpiry: config.authRequireExp,
            lifeSecondsMax: config.authTokenLifeMaxSec,
          },
          secret: config.authSecret === null ? null : Buffer.from(config.authSecret, 'utf8'),
          keysUrl: config.authJwksUrl,
        }
      : null,
  decide: (request, site, context) => {
    const { prefixes, secret, keysUrl, passesPreflights } = context.compiled;
    const { head } = request;
    const readings = context.paths.readings(head.uri, request.site);
    let index = 0;
    while (index < prefixes.length && !isAnyUnder(prefixes[index] as string, readings)) index += 1;
    if (index === prefixes.length) return null;
    if (passesPreflights && isPreflight(request)) {
      if (site.mode === 'On') request.passAsPreflight?.();
      return null;
    }
    const authorization = findField(head.headers, 'authorization') ?? '';
    const hasCredentials = authorization !== '' || (findField(head.headers, 'x-api-key') ?? '') !== '';
    if (!hasCredentials) return refuse(401, index, 'no credentials', 'Bearer');
    return secret === null && keysUrl === '' ? null : checkCredentials(authorization, index, request, context);
  },
};

function checkCredentials(
  authorization: string,
  index: number,
  request: GateRequest,
  context: GateContext<SiteAuth, Known>,
): Decision | null {
  const { compiled, tables, clock } = context;
  const nowMs = clock.wallMs();
  const keys = tables.siteKeys.current;
  const isUsable = keys !== null && keys.url === compiled.keysUrl && nowMs - keys.fetchedAtMs < staleMs;
  if (compiled.secret === null && !isUsable) {
    context.onKeysWanted();
    return refuse(503, index, 'the key set could not be fetched', null);
  }
  const token = tokenOf(authorization);
  if (token === null) return refuse(401, index, 'no bearer token', 'Bearer');
  const answer = answerOf(token, keys, context, Math.floor(nowMs / 1000));
  if (answer.kind === 'valid') {
    giveClaims(answer.claims, request, context.state.given);
    return null;
  }
  if (answer.problem === 'unknown key') context.onKeysWanted();
  const field = `Bearer error="invalid_token", error_description="the token was refused: ${answer.problem}"`;
  return refuse(401, index, `token refused: ${answer.problem}`, field);
}

const givenClaims: readonly (readonly [GivenVariable, readonly string[]])[] = [
  ['auth_sub', ['sub']],
  ['auth_iss', ['iss']],
  ['auth_client', ['client_id', 'azp']],
  ['auth_scope', ['scope', 'scp']],
];

/** As nearly every client writes it, or as the scheme may be written at all. */
function tokenOf(authorization: string): string | null {
  if (authorization.length > 7 && authorization.startsWith('Bearer ') && authorization.indexOf(' ', 7) === -1)
    return authorization.slice(7);
  return /^bearer +([^ ]+) *$/i.exec(authorization)?.[1] ?? null;
}

/** The client's principal, as variables for rules: texts, and lists of texts with blanks between. */
function principalOf(claims: Claims): GivenValues {
  const given: [GivenVariable, string][] = [];
  for (const [variable, names] of givenClaims)
    for (const name of names) {
      const claim = claims[name];
      const value = Array.isArray(claim) ? claim.join(' ') : claim;
      if (typeof value !== 'string' || value === '') continue;
      given.push([variable, Buffer.from(value, 'utf8').toString('latin1')]);
      break;
    }
  return given;
}

/** `given`: worked out once for each token that is known. */
function giveClaims(claims: Claims, request: GateRequest, given: WeakMap<Claims, GivenValues>): void {
  let principal = given.get(claims);
  if (principal === undefined) given.set(claims, (principal = principalOf(claims)));
  for (const [variable, value] of principal) request.give(variable, value);
}

function answerOf(
  token: string,
  keys: KeySet | null,
  { compiled, state }: GateContext<SiteAuth, Known>,
  nowSeconds: number,
): TokenAnswer {
  if (state.auth !== compiled || state.keys !== keys) {
    state.claims.clear();
    state.auth = compiled;
    state.keys = keys;
  }
  const known = state.claims.get(token);
  if (known !== undefined) return checkClaims(known, compiled.policy, nowSeconds);
  const answer = checkToken(token, compiled.secret ?? keys?.keys ?? [], compiled.policy, nowSeconds);
  if (answer.kind === 'valid') {
    if (state.claims.size >= knownMax) state.claims.clear();
    state.claims.set(token, answer.claims);
  }
  return answer;
}

function refuse(status: 401 | 503, index: number, why: string, authenticate: string | null): Denial {
  return {
    kind: 'deny',
    status,
    shape: 'page',
    headers: authenticate === null ? [] : ['WWW-Authenticate', authenticate],
    rule: {
      id: authRuleIdFirst + index,
      message: 'A protected path needs valid credentials',
      match: "Matched the protected paths against variable `REQUEST_URI'",
      data: why,
      severity: '4',
      tags: ['gatehouse/site-auth'],
    },
  };
}
