// How likely the hits of a rule are false positives. Hits are weighed in groups: one rule, path and variable, those
// whose values look like an attack apart from those that do not. What is weighed: the value itself (match scoring's
// signs of an attack, engine/second-opinion), whether ordinary data is known to match the rule, who sent it (clients
// that are known for a day or that use the site otherwise; how many, at how many hours), and what else these clients
// did. Only its value distinguishes an attack from many addresses that browse as people do from data, and a value that
// looks like an attack is never called false: at best it is unclear, where many settled clients send it.
// Weights were chosen by hand; calibration.test.ts counts over labelled traffic that 95 % of what is called false is.
import type { ClientPast, RuleHit } from './hits.js';

export interface LikelihoodFeatures {
  readonly distinct_clients: number;
  /** Hits in the most frequent variable, 0 to 1. */
  readonly variable_concentration: number;
  readonly path_concentration: number;
  /** Different hours of the day (UTC). */
  readonly distinct_hours: number;
  /** Clients whose other requests were attacks of several families or in several places, 0 to 1. */
  readonly multi_attack_share: number;
  /** Clients that also made requests that went well, 0 to 1. */
  readonly journey_share: number;
  /** Clients that were there a day before their first hit, 0 to 1. */
  readonly known_share: number;
  /** Hits that came with a cookie or an Authorization field, 0 to 1. */
  readonly session_share: number;
  /** Hits whose value has the signs of an attack, 0 to 1; null where no hit could be judged by its value. */
  readonly attack_value_share: number | null;
}

export type HitVerdict = 'likely_false' | 'unclear' | 'likely_attack';

export interface Likelihood {
  /** 0 to 100: share of the hits that is false, as far as can be told. */
  readonly score: number;
  readonly verdict: HitVerdict;
  /** Hits by what is thought of them. */
  readonly hits: Readonly<Record<HitVerdict, number>>;
  readonly features: LikelihoodFeatures;
}

/** What a value looks like: engine/second-opinion/judge-match.ts. */
export interface Judged {
  readonly looks: 'attack' | 'ordinary' | 'unknown';
  readonly isWeak: boolean;
}

/** Rules that look at requests and score: 949 and above decide and report, below 911 is set-up. */
export const isDetection = (ruleId: number): boolean => ruleId >= 911_000 && ruleId < 949_000;

/** Rule families by the thousands of CRS ids: 942 is SQL injection. */
const familyOf = (ruleId: number): number => Math.floor(ruleId / 1000);
/** Names of tools, as the rule set lists them: nothing that a person sends by chance. */
const scannerFamily = 913;
const dayMs = 86_400_000;

function concentration(values: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return values.length === 0 ? 0 : Math.max(...counts.values()) / values.length;
}

const shareOf = <T>(items: readonly T[], holds: (item: T) => boolean): number =>
  items.length === 0 ? 0 : items.filter(holds).length / items.length;
const round = (value: number): number => Math.round(value * 1000) / 1000;

interface Client {
  /** Several families of rules, or places, with values that look like attacks. */
  readonly isAttacking: boolean;
  /** Requests that went well. */
  readonly good: number;
  readonly isKnown: boolean;
  readonly isSettled: boolean;
}

/** Requests that went well for each that did not, from which on a client uses the site. */
const goodMin = 5;
/** Places at which one client sends what looks like an attack, from which on it attacks, whatever else it does. */
const placesMax = 2;
/** Variables in which one client trips rules, whatever the values: data of an application stands in a few. */
const variablesMax = 6;

/** What is known of every hit and client of a time, so that groups of hits can be weighed. */
export class HitEvidence {
  private readonly looks = new Map<string, Judged['looks']>();
  private readonly clients = new Map<string, Client>();

  /** `judge` says what the value of a hit looks like. */
  constructor(
    hits: readonly RuleHit[],
    private readonly judge: (hit: RuleHit) => Judged,
    private readonly past: ReadonlyMap<string, ClientPast>,
  ) {
    // several rules on one request: what one of them sees signs in is no ordinary value for the others
    for (const hit of hits) {
      const { looks } = judge(hit);
      const before = this.looks.get(hit.requestId);
      if (looks === 'attack' || before === undefined || (before === 'unknown' && looks === 'ordinary'))
        this.looks.set(hit.requestId, looks);
    }
    const byClient = new Map<string, RuleHit[]>();
    for (const hit of hits) byClient.set(hit.clientIp, [...(byClient.get(hit.clientIp) ?? []), hit]);
    for (const [client, mine] of byClient) this.clients.set(client, this.weighClient(client, mine));
  }

  private weighClient(client: string, hits: readonly RuleHit[]): Client {
    const past = this.past.get(client);
    const attacks = hits.filter((hit) => this.looksOf(hit) === 'attack');
    const families = new Set(attacks.map(({ ruleId }) => familyOf(ruleId)));
    const places = new Set(attacks.map(({ path, variable }) => `${path} ${variable}`));
    const isScanner = hits.some(({ ruleId }) => familyOf(ruleId) === scannerFamily);
    const variables = new Set(hits.map(({ variable }) => variable)).size;
    const isAttacking = isScanner || families.size > 1 || places.size > placesMax || variables > variablesMax;
    const requests = new Set(hits.map(({ requestId }) => requestId)).size;
    const good = past?.good ?? 0;
    const isKnown = past !== undefined && past.firstMs <= Math.min(...hits.map(({ atMs }) => atMs)) - dayMs;
    const isSettled = !isAttacking && good > 0 && (isKnown || good >= goodMin * requests);
    return { isAttacking, good, isKnown, isSettled };
  }

  /** Of the whole request that was hit. */
  looksOf({ requestId }: RuleHit): Judged['looks'] {
    return this.looks.get(requestId) ?? 'unknown';
  }

  isWeak(hit: RuleHit): boolean {
    return this.judge(hit).isWeak;
  }

  clientsOf(hits: readonly RuleHit[]): Client[] {
    return [...new Set(hits.map(({ clientIp }) => clientIp))].flatMap((client) => this.clients.get(client) ?? []);
  }
}

/** By what values look like, where ordinary data is known to match the rule and where it is not. Log odds. */
const weightOfLooks = { attack: -5.5, unknown: 0, ordinary: 0, weakOrdinary: 3 };
/** Of clients that attack elsewhere: many people may share an address, so that data stays data. */
const weightOfAttacking = { data: 2.2, other: 5 };
const settledMax = 5;

/** Chance that the hits of one group are false positives, 0 to 1. All of them look alike (`HitEvidence.looksOf`). */
function chanceOfGroup(hits: readonly RuleHit[], evidence: HitEvidence): number {
  const [first] = hits;
  if (first === undefined) return 0;
  const looks = evidence.looksOf(first);
  const clients = evidence.clientsOf(hits);
  const settled = clients.filter(({ isSettled }) => isSettled);
  const settledShare = settled.length / Math.max(1, clients.length);
  const hours = new Set(hits.map(({ atMs }) => Math.floor(atMs / 3_600_000) % 24)).size;
  const isData = looks === 'ordinary' && evidence.isWeak(first);
  const odds =
    (isData ? weightOfLooks.weakOrdinary : weightOfLooks[looks]) +
    (familyOf(first.ruleId) === scannerFamily ? weightOfLooks.attack : 0) +
    Math.min(settledMax, 1.2 * Math.log2(1 + settled.length)) * settledShare +
    0.5 * settledShare * shareOf(hits, ({ hasSession }) => hasSession) +
    0.8 * Math.min(1, hours / 8) -
    weightOfAttacking[isData ? 'data' : 'other'] * shareOf(clients, ({ isAttacking }) => isAttacking) -
    (settled.length === 0 ? 1.5 : 0);
  return 1 / (1 + Math.exp(-odds));
}

/** Chances from which on, and down to which, hits are called false and attacks. */
const [falseFrom, attackTo] = [0.85, 0.25];

const verdictOf = (chance: number): HitVerdict =>
  chance >= falseFrom ? 'likely_false' : chance <= attackTo ? 'likely_attack' : 'unclear';

/** One rule, path and variable, and what the values look like. */
export interface HitGroup {
  readonly hits: readonly RuleHit[];
  readonly chance: number;
  readonly verdict: HitVerdict;
}

/** Hits of one rule in groups that are weighed each by itself. */
export function groupHits(hits: readonly RuleHit[], evidence: HitEvidence): HitGroup[] {
  const groups = new Map<string, RuleHit[]>();
  for (const hit of hits) {
    const key = JSON.stringify([hit.ruleId, hit.path, hit.variable, evidence.looksOf(hit)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [hit]);
    else group.push(hit);
  }
  return [...groups.values()].map((group) => {
    const chance = chanceOfGroup(group, evidence);
    return { hits: group, chance, verdict: verdictOf(chance) };
  });
}

/** `groups` of one rule. */
export function rateLikelihood(groups: readonly HitGroup[], evidence: HitEvidence): Likelihood {
  const hits = groups.flatMap((group) => group.hits);
  const clients = evidence.clientsOf(hits);
  const judged = hits.filter((hit) => evidence.looksOf(hit) !== 'unknown');
  const features: LikelihoodFeatures = {
    distinct_clients: clients.length,
    variable_concentration: round(concentration(hits.map(({ variable }) => variable))),
    path_concentration: round(concentration(hits.map(({ path }) => path))),
    distinct_hours: new Set(hits.map(({ atMs }) => Math.floor(atMs / 3_600_000) % 24)).size,
    multi_attack_share: round(shareOf(clients, ({ isAttacking }) => isAttacking)),
    journey_share: round(shareOf(clients, ({ good }) => good > 0)),
    known_share: round(shareOf(clients, ({ isKnown }) => isKnown)),
    session_share: round(shareOf(hits, ({ hasSession }) => hasSession)),
    attack_value_share:
      judged.length === 0 ? null : round(shareOf(judged, (hit) => evidence.looksOf(hit) === 'attack')),
  };
  const count = (verdict: HitVerdict): number =>
    groups.reduce((sum, group) => sum + (group.verdict === verdict ? group.hits.length : 0), 0);
  const chance = groups.reduce((sum, group) => sum + group.chance * group.hits.length, 0) / Math.max(1, hits.length);
  return {
    score: Math.round(100 * chance),
    verdict: verdictOf(chance),
    hits: { likely_false: count('likely_false'), unclear: count('unclear'), likely_attack: count('likely_attack') },
    features,
  };
}
