// Signals of programs that are no browsers, added up into points: `tx.apb_score`, for rules and for the limit here.
//
// Decided, so that an installation with defaults blocks nobody by mistake, and one that blocks does not block its own
// health checks, apps and API clients:
// - bot_action is `monitor` by default: points are counted, and requests that reach the limit are recorded.
// - HTTP libraries and requests without a User-Agent count only with bot_block_automation; that is off by default. Apps
//   (okhttp, CFNetwork) and health checks never count.
// - Missing Accept fields count only where the sender claims to be a browser, or is a headless one or a scanner:
//   API clients leave them out, and are no worse for it.
// - A crawler that is known by name passes until its name is looked up (crawler-check.ts); then it is exempt, or an
//   impostor, or, where nobody knows, one with the points of a crawler. Where the list of its
//   operator is there (bot_crawler_ranges), that is known at the first request; the control plane fetches lists.
// - Every browser offers protocols in its TLS handshake (ALPN; `00` in a JA4). Who claims to be one and offers none
//   gets points, fewer than the limit, since appliances that open TLS for a company may do so.
// - A request that came without TLS has no fingerprint, and gets no points for that: whoever wants fingerprints closes
//   the plain port.
import { findField } from '../../http/header-fields.js';
import type { AddressSet } from '../../shared-state/address-set.js';
import type { Decision, DecisionRule } from '../decision.js';
import type { Gate, GateContext, GateRequest } from '../gate.js';
import { openRanges, verdictsMax } from './crawler-check.js';
import { claimedCrawler, type Crawler } from './crawlers.js';
import { classifyAgent, type AgentClass } from './user-agents.js';

/** Rules by which people find such a request; no rule set has them. */
export const botRuleIds = { score: 1_006_400, impostor: 1_006_401, ja3: 1_006_402 } as const;

/** Points of section "Bot defense" of the specification. */
const points: Readonly<Record<AgentClass, number>> = {
  scanner: 6,
  automation: 5,
  empty: 5,
  headless: 4,
  crawler: 3,
  browser: 0,
  other: 0,
  'mobile-app': 0,
  'health-check': 0,
};
/** Of missing Accept, Accept-Language and Accept-Encoding, by their bits below. */
const missingPoints = [2, 2, 1] as const;
/** Of a handshake that no browser makes. */
const handshakePoints = 2;
const looksAtFields: ReadonlySet<AgentClass> = new Set(['browser', 'headless', 'scanner']);

interface Bots {
  readonly blocks: boolean;
  readonly threshold: number;
  readonly allowsVerified: boolean;
  readonly looksUp: boolean;
  readonly checksFields: boolean;
  readonly countsAutomation: boolean;
  /** Published addresses of crawlers, by name. */
  readonly ranges: ReadonlyMap<string, AddressSet>;
}

interface Agent {
  readonly kind: AgentClass;
  readonly crawler: Crawler | null;
}

/** User-Agents that were met, by their text. */
interface Agents {
  readonly met: Map<string, Agent>;
  lastText: string;
  last: Agent | null;
}
const agentsMax = 2000;

export const bots: Gate<Bots, Agents> = {
  name: 'bots',
  appliesTo: 'protected',
  bound: {
    of: 'verdicts on crawlers and User-Agents that were met, a worker',
    max: verdictsMax + agentsMax,
    unit: 'entries',
    beyond: 'all are forgotten, and found out again',
  },
  createState: () => ({ met: new Map(), lastText: '', last: null }),
  compile: (config) => ({
    blocks: config.botAction === 'block',
    threshold: config.botScoreThreshold,
    allowsVerified: config.botAllowVerified,
    looksUp: config.botVerifyRdns,
    checksFields: config.botCheckHeaders,
    countsAutomation: config.botBlockAutomation,
    ranges: openRanges(config.botCrawlerRanges),
  }),
  decide: (request, _site, context) => {
    const { compiled, state, crawlers } = context;
    const { headers, clientIp } = request.head;
    const { tls } = request.exchange;
    const { kind, crawler } = agentOf(findField(headers, 'user-agent') ?? '', state);
    const looksLikeBrowser = !compiled.checksFields || (acceptBits(headers) === 7 && tls?.alpn !== null);
    if (kind === 'browser' && crawler === null && looksLikeBrowser) return null;
    const ranges = crawler === null ? null : (compiled.ranges.get(crawler.name) ?? null);
    const verdict = crawler === null ? null : crawlers.ask(clientIp, crawler, compiled.looksUp, ranges);
    if (verdict === 'pending' || (verdict === 'verified' && compiled.allowsVerified)) return null;
    if (verdict === 'impostor') {
      request.give('apb_score', String(points.scanner));
      return settle(botRuleIds.impostor, `claims to be ${crawler?.name ?? ''}`, request, context);
    }
    const score = scoreOf(kind, headers, tls?.alpn === null, compiled);
    if (score === 0) return null;
    request.give('apb_score', String(score));
    if (score < compiled.threshold) return null;
    return settle(botRuleIds.score, `score=${score} threshold=${compiled.threshold} agent=${kind}`, request, context);
  },
};

/** The one that was met last is compared, not looked up: a look-up hashes a hundred characters. */
function agentOf(userAgent: string, state: Agents): Agent {
  if (state.last !== null && state.lastText === userAgent) return state.last;
  let agent = state.met.get(userAgent);
  if (agent === undefined) {
    if (state.met.size >= agentsMax) state.met.clear();
    agent = { kind: classifyAgent(userAgent), crawler: claimedCrawler(userAgent) };
    state.met.set(userAgent, agent);
  }
  state.lastText = userAgent;
  state.last = agent;
  return agent;
}

/** `offersNothing`: in its TLS handshake, of the protocols behind it. */
function scoreOf(
  kind: AgentClass,
  headers: readonly string[],
  offersNothing: boolean,
  { countsAutomation, checksFields }: Bots,
): number {
  const isAutomation = kind === 'automation' || kind === 'empty';
  let score = isAutomation && !countsAutomation ? 0 : points[kind];
  if (checksFields && looksAtFields.has(kind)) {
    const present = acceptBits(headers);
    for (const [bit, missing] of missingPoints.entries()) if ((present & (1 << bit)) === 0) score += missing;
    if (offersNothing) score += handshakePoints;
  }
  return score;
}

/** 1 Accept, 2 Accept-Language, 4 Accept-Encoding: those that are there, in one pass. */
function acceptBits(headers: readonly string[]): number {
  let bits = 0;
  for (let index = 0; index < headers.length && bits < 7; index += 2) {
    const name = headers[index] as string;
    if (name.length !== 6 && name.length !== 15) continue;
    const lower = name.toLowerCase();
    if (lower === 'accept') bits |= 1;
    else if (lower === 'accept-language') bits |= 2;
    else if (lower === 'accept-encoding') bits |= 4;
  }
  return bits;
}

/** Refused where the settings say so; else recorded, as often as records have room. */
function settle(id: number, data: string, { head }: GateRequest, context: GateContext<Bots, Agents>): Decision | null {
  const isTold = context.budget.spend(context.clock.monotonicMs());
  const rule: DecisionRule = {
    id,
    message: id === botRuleIds.impostor ? 'The client is not the crawler that it claims to be' : 'The client is a bot',
    match: `Matched the bot signals against variable \`REQUEST_HEADERS:User-Agent'`,
    data: `${head.clientIp} ${data}`,
    severity: '4',
    tags: ['gatehouse/bot'],
  };
  if (context.compiled.blocks) return { kind: 'deny', status: 403, shape: 'page', rule: isTold ? rule : null };
  return isTold ? { kind: 'flag', rule } : null;
}
