// Paths that only browsers get, and clients that somebody decided to challenge on all paths: a page with a small piece
// of work, then a cookie. Stateless (tokens.ts), so that every node takes what another one gave. Clients that show no
// pages get a refusal of the right form, with the address at which a browser could do it for them.
//
// The answer comes to `/.gatehouse/challenge` below the site's prefix, on GET, and leads back where it came from: to a
// path of this site, never anywhere else. Preflight requests of CORS pass, reduced to what a preflight needs
// (admit/preflight.ts): browsers send them without cookies.
import { isChallenged } from '../../shared-state/measure-tables.js';
import { findField, isFieldText } from '../../http/header-fields.js';
import type { Site } from '../../road/route.js';
import { networkOf } from '../../shared-state/client-key.js';
import type { Challenge, Decision, DecisionRule } from '../decision.js';
import type { Gate, GateContext, GateRequest } from '../gate.js';
import { isAnyUnder, prefixOf } from '../reading.js';
import { clientKindOf, type ClientKind } from './client-kind.js';
import { pageFields, renderChallenge } from './page.js';
import { checkChallenge, isPass, makeChallenge, makePass, type Bearer } from './tokens.js';

/** The rule by which people find such a request; no rule set has it. */
export const challengeRuleId = 1_006_300;

const answerPath = '/.gatehouse/challenge';
const cookieName = 'gatehouse_pass';
const returnMax = 2048;
const spentSeconds = 310;

/** What the settings say of challenges. */
export interface Challenging {
  readonly prefixes: readonly string[];
  readonly bits: number;
  readonly passMs: number;
}

type Context = GateContext<Challenging>;

export const challenge: Gate<Challenging> = {
  name: 'challenge',
  appliesTo: 'protected',
  bound: {
    of: 'challenges that were solved within five minutes, one table for all workers (0.8 MB)',
    max: 2 ** 16,
    unit: 'entries',
    beyond: 'the oldest of a full bucket is forgotten, and could be answered once more until it expires',
  },
  compile: (config) => ({
    prefixes: config.challengeEnabled ? config.challengePaths.map(prefixOf) : [],
    bits: config.challengeDifficulty,
    passMs: config.challengePassSec * 1000,
  }),
  decide: (request, site, context) => {
    const { head } = request;
    const { measures } = context.tables;
    const { prefixes } = context.compiled;
    const isWanted = measures.hasChallenges || context.principalMeasures.hasChallenges;
    if (prefixes.length === 0 && !isWanted) return null;
    if (head.uri.startsWith(answerPath, site.prefix.length) && head.uri.startsWith(site.prefix)) {
      const answer = answerTo(request, site, context);
      if (answer !== null) return answer;
    }
    if (!measures.hasChallenges || (measures.on(head.clientIp) & isChallenged) === 0) {
      if (prefixes.length === 0) return null;
      const readings = context.paths.readings(head.uri, request.site);
      if (!prefixes.some((prefix) => isAnyUnder(prefix, readings))) return null;
    }
    return challengeOn(request, site, context);
  },
};

/** Challenges a request whatever its path is. null: its client has passed, or cannot be asked (a preflight request). */
export function challengeOn(request: GateRequest, site: Site, context: Context): Decision | null {
  const { head } = request;
  const kind = clientKindOf(request);
  if (kind === 'preflight') {
    if (site.mode === 'On') request.passAsPreflight?.();
    return null;
  }
  const bearer = bearerOf(request);
  const pass = readCookie(head.headers);
  if (pass !== null && isPass(context.challengeSecret, bearer, pass, context.clock.wallMs())) return null;
  return ask(kind, head.uri, bearer, request, site, context, 'no pass');
}

function bearerOf({ head }: GateRequest): Bearer {
  return {
    network: networkOf(head.clientIp),
    host: findField(head.headers, 'host') ?? '',
    userAgent: findField(head.headers, 'user-agent') ?? '',
  };
}

/** null: there is none, or there are several, and nobody could say which of them is meant. */
function readCookie(headers: readonly string[]): string | null {
  let found: string | null = null;
  for (let index = 0; index < headers.length; index += 2) {
    if ((headers[index] as string).toLowerCase() !== 'cookie') continue;
    for (const pair of (headers[index + 1] as string).split(';')) {
      const at = pair.indexOf('=');
      if (at <= 0 || pair.slice(0, at).trim() !== cookieName) continue;
      const value = pair.slice(at + 1).trim();
      if (found !== null && found !== value) return null;
      found = value;
    }
  }
  return found;
}

/** null: what is asked for there is no answer to a challenge. */
function answerTo(request: GateRequest, site: Site, context: Context): Decision | null {
  const { head, exchange } = request;
  const path = site.prefix + answerPath;
  if (head.method !== 'GET' || !(head.uri === path || head.uri.startsWith(`${path}?`))) return null;
  const query = new URLSearchParams(head.uri.slice(path.length + 1));
  const target = safeTarget(query.get('r') ?? '', site);
  const bearer = bearerOf(request);
  const nowMs = context.clock.wallMs();
  const solution = query.get('w') === '1' ? null : (query.get('n') ?? '');
  const answer = checkChallenge(context.challengeSecret, bearer, query.get('t') ?? '', solution, nowMs);
  const why =
    answer.kind === 'refused' ? answer.why : spend(answer.random, request.startedMs, context) ? null : 'replayed';
  if (why !== null) return ask(clientKindOf(request), target, bearer, request, site, context, why);
  const pass = makePass(context.challengeSecret, bearer, nowMs + context.compiled.passMs);
  const isTls = exchange.isTls || (findField(head.headers, 'x-forwarded-proto') ?? '').toLowerCase() === 'https';
  const seconds = context.compiled.passMs / 1000;
  const attributes = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isTls ? '; Secure' : ''}`;
  return {
    kind: 'challenge',
    status: 303,
    headers: ['Location', target, 'Set-Cookie', `${cookieName}=${pass}; ${attributes}`],
    body: '',
    rule: null,
  };
}

/** A path of this site: nothing that a browser could read as another host, or as header lines. */
function safeTarget(target: string, site: Site): string {
  const encoded = target.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character));
  const isSafe =
    target.length <= returnMax &&
    /^\/(?![/\\])/.test(encoded) &&
    !encoded.includes('\\') &&
    isFieldText(target) &&
    !encoded.startsWith(site.prefix + answerPath);
  return isSafe ? encoded : `${site.prefix}/`;
}

/** False: it was answered before. */
function spend(random: string, startedMs: number, { tables, text, clock }: Context): boolean {
  text.readText(random);
  const { low, high } = text;
  const nowSeconds = Math.floor(clock.sharedMs(startedMs) / 1000);
  const bucket = tables.spent.enter(low);
  try {
    if (tables.spent.find(bucket, low, high, nowSeconds) >= 0) return false;
    tables.spent.endAt(tables.spent.claim(bucket, low, high, nowSeconds), nowSeconds + spentSeconds);
    return true;
  } finally {
    tables.spent.leave(bucket);
  }
}

function ask(
  kind: ClientKind,
  target: string,
  bearer: Bearer,
  request: GateRequest,
  site: Site,
  context: Context,
  why: string,
): Challenge {
  const { compiled, challengeSecret, clock, budget } = context;
  const rule = budget.spend(clock.monotonicMs()) ? ruleOf(request.head.clientIp, why) : null;
  const url = `${site.prefix}${answerPath}`;
  if (kind !== 'page')
    return { kind: 'challenge', rule, ...refusalFor(kind, `${url}?r=${encodeURIComponent(target)}`) };
  const token = makeChallenge(challengeSecret, bearer, compiled.bits, clock.wallMs());
  const answerUrl = `${url}?t=${token}&r=${encodeURIComponent(safeTarget(target, site))}`;
  const isForm = request.head.method !== 'GET' && request.head.method !== 'HEAD';
  const body = renderChallenge({ challenge: token, bits: compiled.bits, answerUrl, isForm });
  return { kind: 'challenge', status: 403, headers: pageFields, body, rule };
}

/** For clients that show no pages. */
function refusalFor(kind: ClientKind, url: string): Pick<Challenge, 'status' | 'headers' | 'body'> {
  switch (kind) {
    case 'grpc': // an answer of headers only (gRPC over HTTP/2, "Trailers-Only"); 7 is PERMISSION_DENIED
      return {
        status: 200,
        headers: ['Content-Type', 'application/grpc', 'grpc-status', '7', 'grpc-message', 'browser challenge'],
        body: '',
      };
    case 'upgrade':
    case 'part':
      return { status: 403, headers: ['Content-Type', 'text/plain; charset=utf-8'], body: 'browser challenge\n' };
    default:
      return {
        status: 403,
        headers: ['Content-Type', 'application/problem+json'],
        body: JSON.stringify({
          type: 'about:blank',
          title: 'A browser has to answer a challenge',
          status: 403,
          detail: 'Open challenge_url in a browser on the same connection, then ask again with its cookie.',
          challenge_url: url,
        }),
      };
  }
}

function ruleOf(clientIp: string, why: string): DecisionRule {
  return {
    id: challengeRuleId,
    message: 'The client has to answer a challenge',
    match: `Matched the challenged paths against variable \`REMOTE_ADDR' (Value: \`${clientIp}')`,
    data: `${clientIp} ${why}`,
    severity: '5',
    tags: ['gatehouse/challenge'],
  };
}
