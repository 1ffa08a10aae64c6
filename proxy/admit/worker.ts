// What a worker lends to its gates: the tables that all workers share, the readers of a request, and the ways in which
// gates tell of what they did.
import { randomBytes, randomUUID } from 'node:crypto';
import { Principals } from '../features/principals.js';
import { ClientKey } from '../shared-state/client-key.js';
import type { GateTables } from '../shared-state/gate-memory.js';
import { PrincipalMeasures, type MeasureLookup } from '../shared-state/measure-tables.js';
import { CrawlerCheck } from './bots/crawler-check.js';
import type { NameService } from './bots/crawlers.js';
import type { BanRecord } from './bans/auto-ban.js';
import type { Clock, GateWorker } from './gate.js';
import { HeavyKeys } from './heavy-keys.js';
import { Leases } from './limits/leases/leases.js';
import { PathReader } from './reading.js';
import type { KeySet } from './site-auth/key-set.js';

/** Tables that main or jobs beside the road write, and this worker reads. */
export interface GivenTables {
  /** What was decided about clients by their addresses. */
  readonly measures: MeasureLookup;
  /** Addresses that are never banned automatically, besides those of the settings. */
  readonly banSafe: { contains(address: string): boolean };
  /** Public keys of the sites' tokens; null: none were given. */
  readonly siteKeys: { readonly current: KeySet | null };
}

export interface GateWorkerParts {
  readonly clock: Clock;
  readonly given: GivenTables;
  readonly shared: GateTables;
  readonly names: NameService;
  readonly challengeSecret: Buffer;
  /** How the store of shared limits knows this worker; one name is nobody else's. Default: random. */
  readonly holder?: string;
  /** Who is behind credentials, and what was decided of them; absent: nothing was. */
  readonly principals?: Pick<GateWorker, 'principals' | 'principalMeasures'>;
  readonly onBan: (ban: BanRecord) => void;
  readonly onKeysWanted: () => void;
}

/** Events a second and worker that gates may cause by themselves; a flood must not fill the records. */
const eventsPerSecond = 20;

/** A bucket of events that fills by the second. */
export class EventBudget {
  private left: number;
  private second = 0;

  constructor(private readonly perSecond = eventsPerSecond) {
    this.left = perSecond;
  }

  /** Whether there is one more to spend at `nowMs`. */
  spend(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) {
      this.second = second;
      this.left = this.perSecond;
    }
    if (this.left === 0) return false;
    this.left -= 1;
    return true;
  }
}

const noPrincipals = (): Pick<GateWorker, 'principals' | 'principalMeasures'> => ({
  principals: new Principals(randomBytes(32)),
  principalMeasures: new PrincipalMeasures(),
});

export function createGateWorker(parts: GateWorkerParts): GateWorker {
  const { clock, given, shared, names, challengeSecret, onBan, onKeysWanted, holder = randomUUID() } = parts;
  return {
    clock,
    tables: { ...given, ...shared },
    client: new ClientKey(shared.rates.seeds),
    text: new ClientKey(shared.rates.seeds),
    paths: new PathReader(),
    heavy: new HeavyKeys(),
    leases: new Leases({
      rates: shared.rates,
      state: shared.sharing,
      holder,
      nowMs: () => clock.sharedMs(performance.now()),
    }),
    crawlers: new CrawlerCheck(names, clock.monotonicMs),
    ...(parts.principals ?? noPrincipals()),
    budget: new EventBudget(),
    challengeSecret,
    onBan,
    onKeysWanted,
  };
}
