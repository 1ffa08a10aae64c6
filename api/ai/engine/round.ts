// One round of the detection engine: every client and every principal with something in the window is scored, and
// clients without a fault teach what is usual. A principal that explains the verdict on its address gets it instead
// (apart.ts). In memory, on the leader; what came from nodes is stored (clients/batches.ts), so that another
// leader begins where this one ended.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientWindow } from '#proxy/contract';
import { ClientTable, principalsOf, sumsOf, type Client, type Sums } from '../clients/client-table.js';
import { PrincipalTable, sumsOfPrincipal, whereaboutsOf, type KnownPrincipal } from '../clients/principal-table.js';
import { isClean, measuresOf, toVector, type VectorParts } from '../clients/to-vector.js';
import { SiteLearning, type LayerMeter } from '../learning/site-learning.js';
import type { AnomalyFeature, Deviation, FeatureVector, Layer, VectorThreat } from './vector.js';
import { Evaluators } from './evaluators.js';
import { apartFrom, type JudgedPrincipal } from './apart.js';
import type { Policy } from './policy.js';
import type { Rung } from './fusion.js';
import type { Scored } from './score.js';

/** A finding of API abuse over an address. */
export interface Threat extends VectorThreat {
  readonly address: string;
  /** Key of the principal that it is about; absent: of nobody who could be told from others behind the address. */
  readonly principal?: string;
}

/** A finding as a round has it: under its address and, where that is known, under the key of its principal. */
export type PlacedThreat = VectorThreat & Pick<Threat, 'principal'>;

export interface Judged {
  readonly vector: FeatureVector;
  readonly scored: Scored;
}

export interface Round {
  /** Clients and principals with any risk, the highest first. */
  readonly judged: readonly Judged[];
  readonly clients: number;
  readonly rungs: Readonly<Record<Rung, number>>;
  readonly principals: number;
  readonly principalRungs: Readonly<Record<Rung, number>>;
  /** Sites of which something is to be stored. */
  readonly learned: readonly SiteLearning[];
}

export interface RoundOrder {
  readonly nowMs: number;
  readonly policy: Policy;
  /** By network and by key of a principal; null: nobody could be asked. */
  readonly threats: ReadonlyMap<string, readonly PlacedThreat[]> | null;
  /** Nothing is learned meanwhile, as in attack mode. */
  readonly isFrozen: boolean;
  readonly signal?: AbortSignal;
}

export interface SiteMeter {
  readonly site: string;
  readonly layers: Readonly<Record<Layer, LayerMeter>>;
  /** Measures whose baseline has been held back for days. */
  readonly drifting: readonly AnomalyFeature[];
}

/** Clients between two turns of the event loop. */
const clientsPerTurn = 500;
const sitesMax = 500;
const networksShown = 5;
const noRungs = (): Record<Rung, number> => ({ ALLOW: 0, RATE_LIMIT: 0, CHALLENGE: 0, BLOCK: 0 });
const noKeys: ReadonlySet<string> = new Set();

/** Whom a vector is about, and what it is made of. */
interface Subject extends Pick<VectorParts, 'network' | 'principal' | 'apart'> {
  readonly sites: ReadonlyMap<string, Sums>;
}

export class DetectionEngine {
  readonly evaluators = new Evaluators();
  private readonly table: ClientTable;
  private readonly principals: PrincipalTable;
  private readonly sites = new Map<string, SiteLearning>();

  constructor(clientsMax?: number, principalsMax?: number) {
    this.table = new ClientTable(clientsMax);
    this.principals = new PrincipalTable(principalsMax);
  }

  take(windows: readonly ClientWindow[], windowMs: number, nowMs: number): void {
    for (const window of windows) {
      this.table.add(window, windowMs, nowMs);
      this.principals.add(window, windowMs, nowMs);
    }
  }

  /** null: there are too many sites already. */
  siteOf(site: string): SiteLearning | null {
    const known = this.sites.get(site);
    if (known !== undefined) return known;
    if (this.sites.size >= sitesMax) return null;
    const made = new SiteLearning(site);
    this.sites.set(site, made);
    return made;
  }

  /** What another leader has learned. */
  restore(site: string, stored: unknown): void {
    this.sites.delete(site);
    this.siteOf(site)?.restore(stored);
  }

  forgetClients(): void {
    this.table.clear();
    this.principals.clear();
  }

  async run(order: RoundOrder): Promise<Round> {
    const { policy, nowMs, signal } = order;
    const judged: Judged[] = [];
    const rungs = noRungs();
    const principalRungs = noRungs();
    const learned = new Set<SiteLearning>();
    const principals = new Map<string, JudgedPrincipal>();
    let clients = 0;
    for (const principal of this.principals.current(policy.windowMs, nowMs)) {
      const one = this.judgePrincipal(principal, order);
      principalRungs[one.scored.verdict] += 1;
      if (one.scored.risk > 0) judged.push(one);
      principals.set(principal.key, one);
      if (principals.size % clientsPerTurn === 0) await nextTurn();
      if (signal?.aborted === true) break;
    }
    for (const client of this.table.current(policy.windowMs, nowMs)) {
      const one = this.judgeClient(client, principals, order);
      rungs[one.scored.verdict] += 1;
      if (one.scored.risk > 0) judged.push(one);
      if (!order.isFrozen && one.scored.verdict === 'ALLOW')
        for (const site of this.learn(client, nowMs)) learned.add(site);
      clients += 1;
      if (clients % clientsPerTurn === 0) await nextTurn();
      if (signal?.aborted === true) break;
    }
    judged.sort(byRisk);
    return { judged, clients, rungs, principals: principals.size, principalRungs, learned: [...learned] };
  }

  private judgePrincipal(principal: KnownPrincipal, order: RoundOrder): JudgedPrincipal {
    const { networks, clean } = whereaboutsOf(principal);
    const sites = sumsOfPrincipal(principal);
    const { vector, scored } = this.judge(
      {
        network: principal.key,
        principal: {
          ...principal.name,
          addresses: networks.length,
          addresses_clean: clean,
          networks: networks.slice(0, networksShown),
        },
        sites,
      },
      noKeys,
      order,
    );
    let accepted = 0;
    for (const { count } of sites.values()) accepted += count.ok;
    return { vector, scored, wasAccepted: accepted > 0 };
  }

  /** By all that its address did; where principals explain that verdict, by what is left without them. */
  private judgeClient(client: Client, principals: ReadonlyMap<string, JudgedPrincipal>, order: RoundOrder): Judged {
    const { network } = client;
    const whole = this.judge({ network, sites: sumsOf(client) }, noKeys, order);
    if (whole.scored.verdict === 'ALLOW') return whole;
    const known = principalsOf(client);
    const rest = (without: ReadonlySet<string>): Map<string, Sums> => sumsOf(client, without);
    const apart = known.size === 0 ? noKeys : apartFrom(whole.scored, known, principals, rest);
    if (apart.size === 0) return whole;
    return this.judge({ network, apart: [...apart], sites: rest(apart) }, apart, order);
  }

  private judge(subject: Subject, without: ReadonlySet<string>, { policy, threats, nowMs }: RoundOrder): Judged {
    const { sites, network } = subject;
    const missing: Layer[] = [];
    const deviations: Deviation[] = [];
    try {
      for (const [site, sums] of sites)
        deviations.push(...(this.siteOf(site)?.compare(measuresOf(sums), sums.shapes, nowMs) ?? []));
    } catch (error) {
      this.evaluators.failed('baselines', error);
      deviations.length = 0;
      missing.push('anomaly');
    }
    const found = (threats?.get(network) ?? []).filter((one) => !without.has(principalIn(one)));
    const vector = toVector({
      ...subject,
      windowSeconds: policy.windowMs / 1000,
      deviations,
      threats: found.map((one) => (principalIn(one) === '' ? one : withoutPrincipal(one))),
      missing: threats === null ? [...missing, 'api_abuse'] : missing,
    });
    return this.evaluators.score(vector, policy.weights, policy.threshold);
  }

  private learn(client: Client, nowMs: number): SiteLearning[] {
    const sites = sumsOf(client);
    for (const sums of sites.values()) if (!isClean(sums)) return [];
    const over: SiteLearning[] = [];
    for (const [name, sums] of sites) {
      const site = this.siteOf(name);
      if (site?.learn(client.network, measuresOf(sums), sums.shapes, nowMs) === true) over.push(site);
    }
    return over;
  }

  meter(): SiteMeter[] {
    const needless: LayerMeter = { percent: 100, note: 'needs no learning' };
    return [...this.sites.values()].map((site) => {
      const { anomaly, drifting } = site.meter();
      const abuse = { percent: 100, note: 'findings have thresholds of their own' };
      return {
        site: site.site,
        layers: { signature: needless, anomaly, api_abuse: abuse, bot: needless },
        drifting,
      };
    });
  }

  get size(): { readonly clients: number; readonly evicted: number } {
    return { clients: this.table.size, evicted: this.table.evicted + this.principals.evicted };
  }
}

/** '': none. What is no finding is the layer's to report, not the round's to end with. */
const principalIn = (threat: PlacedThreat | null): string => threat?.principal ?? '';
const withoutPrincipal = ({ id, kind, severity, count }: VectorThreat): VectorThreat => ({ id, kind, severity, count });

const byRisk = (one: Judged, other: Judged): number =>
  other.scored.risk - one.scored.risk || (one.vector.address < other.vector.address ? -1 : 1);
