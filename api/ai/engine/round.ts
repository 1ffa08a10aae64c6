// One round of the detection engine: every client with something in the window is scored, and those without a fault
// teach what is usual. In memory, on the leader; what came from nodes is stored (clients/batches.ts), so that another
// leader begins where this one ended.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientWindow } from '#proxy/contract';
import { ClientTable, sumsOf, type Client } from '../clients/client-table.js';
import { isClean, measuresOf, toVector } from '../clients/to-vector.js';
import { SiteLearning, type LayerMeter } from '../learning/site-learning.js';
import type { AnomalyFeature, Deviation, FeatureVector, Layer, VectorThreat } from './vector.js';
import { Evaluators } from './evaluators.js';
import type { Policy } from './policy.js';
import type { Rung } from './fusion.js';
import type { Scored } from './score.js';

/** A finding of API abuse over an address. */
export interface Threat extends VectorThreat {
  readonly address: string;
}

export interface Judged {
  readonly vector: FeatureVector;
  readonly scored: Scored;
}

export interface Round {
  /** Clients with any risk, the highest first. */
  readonly judged: readonly Judged[];
  readonly clients: number;
  readonly rungs: Readonly<Record<Rung, number>>;
  /** Sites of which something is to be stored. */
  readonly learned: readonly SiteLearning[];
}

export interface RoundOrder {
  readonly nowMs: number;
  readonly policy: Policy;
  /** By network; null: nobody could be asked. */
  readonly threats: ReadonlyMap<string, readonly VectorThreat[]> | null;
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

export class DetectionEngine {
  readonly evaluators = new Evaluators();
  private readonly table: ClientTable;
  private readonly sites = new Map<string, SiteLearning>();

  constructor(clientsMax?: number) {
    this.table = new ClientTable(clientsMax);
  }

  take(windows: readonly ClientWindow[], windowMs: number, nowMs: number): void {
    for (const window of windows) this.table.add(window, windowMs, nowMs);
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
  }

  async run(order: RoundOrder): Promise<Round> {
    const { policy, nowMs, signal } = order;
    const judged: Judged[] = [];
    const rungs: Record<Rung, number> = { ALLOW: 0, RATE_LIMIT: 0, CHALLENGE: 0, BLOCK: 0 };
    const learned = new Set<SiteLearning>();
    let clients = 0;
    for (const client of this.table.current(policy.windowMs, nowMs)) {
      const one = this.judge(client, order);
      rungs[one.scored.verdict] += 1;
      if (one.scored.risk > 0) judged.push(one);
      if (!order.isFrozen && one.scored.verdict === 'ALLOW')
        for (const site of this.learn(client, nowMs)) learned.add(site);
      clients += 1;
      if (clients % clientsPerTurn === 0) await nextTurn();
      if (signal?.aborted === true) break;
    }
    judged.sort(byRisk);
    return { judged, clients, rungs, learned: [...learned] };
  }

  private judge(client: Client, { policy, threats, nowMs }: RoundOrder): Judged {
    const sites = sumsOf(client);
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
    const vector = toVector({
      network: client.network,
      sites,
      windowSeconds: policy.windowMs / 1000,
      deviations,
      threats: threats?.get(client.network) ?? [],
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

  meter(nowMs: number): SiteMeter[] {
    const needless: LayerMeter = { percent: 100, note: 'needs no learning' };
    return [...this.sites.values()].map((site) => {
      const { anomaly, drifting } = site.meter(nowMs);
      const abuse = { percent: 100, note: 'findings have thresholds of their own' };
      return {
        site: site.site,
        layers: { signature: needless, anomaly, api_abuse: abuse, bot: needless },
        drifting,
      };
    });
  }

  get size(): { readonly clients: number; readonly evicted: number } {
    return { clients: this.table.size, evicted: this.table.evicted };
  }
}

const byRisk = (one: Judged, other: Judged): number =>
  other.scored.risk - one.scored.risk || (one.vector.address < other.vector.address ? -1 : 1);
