// Verdicts on crawlers, beside the road: a gate asks what is known, and what is not known is found out for the next
// request. Nothing waits. Positive verdicts hold a day, others an hour. Where a name
// server did not answer, the question is asked again after a minute. An old verdict stands until the new one is there.
//
// Memory: 10,000 addresses a worker, 1,000 questions that wait. Beyond: all verdicts are forgotten and found out again;
// a question that finds no room is asked with a later request.
import { Resolver } from 'node:dns/promises';
import { buildAddressSet, openAddressSet, type AddressSet } from '../../shared-state/address-set.js';
import { networkOf } from '../../shared-state/client-key.js';
import {
  crawlers,
  proveCrawler,
  type Crawler,
  type CrawlerProof,
  type CrawlerVerdict,
  type NameService,
} from './crawlers.js';

export const verdictsMax = 10_000;
const waitingMax = 1000;
const atOnceMax = 8;
const timeoutMs = 1000;
const goodMs = 86_400_000;
const otherMs = 3_600_000;
const openMs = 60_000;

/** Addresses that no public name service knows, or that are nobody's: RFC 6890 and its updates. */
const inner = openAddressSet(
  buildAddressSet([
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
    ...['192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3', '::/127', 'fc00::/7', 'fe80::/10', 'ff00::/8'],
  ]),
);

/** Of the system's resolver, with a limit on time. */
export function systemNames(): NameService {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  return {
    reverse: (address) => resolver.reverse(address),
    resolve4: (name) => resolver.resolve4(name),
    resolve6: (name) => resolver.resolve6(name),
  };
}

/** Whether two texts are one address. */
export function isSameAddress(left: string, right: string): boolean {
  return openAddressSet(buildAddressSet([left])).contains(right);
}

/** As operators publish it, and the settings have it. */
export interface CrawlerRanges {
  readonly crawler: string;
  readonly prefixes: readonly { readonly ipv4Prefix?: string | undefined; readonly ipv6Prefix?: string | undefined }[];
}

/** The ranges of each crawler, by its name. Throws for a name that no crawler has. */
export function openRanges(listed: readonly CrawlerRanges[]): ReadonlyMap<string, AddressSet> {
  const known = crawlers.map(({ name }) => name).join(', ');
  const networks = new Map<string, string[]>(); // one crawler may have several lists
  for (const { crawler, prefixes } of listed) {
    if (!crawlers.some(({ name }) => name === crawler))
      throw new RangeError(`bot_crawler_ranges: no crawler is called ${crawler}; name one of ${known}`);
    const own = networks.get(crawler) ?? [];
    for (const { ipv4Prefix, ipv6Prefix } of prefixes) {
      if (ipv4Prefix !== undefined) own.push(ipv4Prefix);
      if (ipv6Prefix !== undefined) own.push(ipv6Prefix);
    }
    networks.set(crawler, own);
  }
  return new Map([...networks].map(([crawler, own]) => [crawler, openAddressSet(buildAddressSet(own))]));
}

/** The network of a list that an address is in; null: none. */
export function networkWith(address: string, networks: readonly string[]): string | null {
  if (!openAddressSet(buildAddressSet(networks)).contains(address)) return null;
  return networks.find((network) => openAddressSet(buildAddressSet([network])).contains(address)) ?? null;
}

export interface CrawlerCount {
  readonly crawler: string;
  readonly verdict: CrawlerVerdict | 'pending';
  readonly requests: number;
}

export class CrawlerCheck {
  private readonly known = new Map<string, { readonly verdict: CrawlerVerdict; readonly untilMs: number }>();
  private readonly waiting = new Map<string, () => Promise<void>>();
  private readonly counts = new Map<string, CrawlerCount>();
  private underWay = 0;

  constructor(
    private readonly names: NameService,
    private readonly nowMs: () => number,
  ) {}

  /** `pending`: nobody knows yet, and it is being found out. */
  ask(
    clientIp: string,
    crawler: Crawler,
    mayAsk: boolean,
    ranges: AddressSet | null = null,
  ): CrawlerVerdict | 'pending' {
    const verdict =
      ranges === null
        ? this.verdictOn(clientIp, crawler, mayAsk)
        : this.verdictByRanges(clientIp, crawler, mayAsk, ranges);
    const key = `${crawler.name} ${verdict}`;
    const requests = (this.counts.get(key)?.requests ?? 0) + 1;
    this.counts.set(key, { crawler: crawler.name, verdict, requests });
    return verdict;
  }

  /**
   * Who is in the published ranges is verified, without a question to anybody. Who is not is an impostor from the first
   * request on, until its name proves it: lists grow old. An inner address says nothing: proxies in front hide clients.
   */
  private verdictByRanges(
    clientIp: string,
    crawler: Crawler,
    mayAsk: boolean,
    ranges: AddressSet,
  ): CrawlerVerdict | 'pending' {
    if (ranges.contains(clientIp)) {
      if (this.verified.size >= verdictsMax) this.verified.clear();
      this.verified.add(networkOf(clientIp));
      return 'verified';
    }
    if (inner.contains(clientIp)) return 'unverified';
    return this.verdictOn(clientIp, crawler, mayAsk) === 'verified' ? 'verified' : 'impostor';
  }

  private verdictOn(clientIp: string, crawler: Crawler, mayAsk: boolean): CrawlerVerdict | 'pending' {
    const key = `${crawler.name} ${clientIp}`;
    const known = this.known.get(key);
    if (known !== undefined && known.untilMs > this.nowMs()) return known.verdict;
    if (!mayAsk || crawler.suffixes.length === 0 || inner.contains(clientIp)) return 'unverified';
    if (!this.waiting.has(key) && this.waiting.size < waitingMax) {
      this.waiting.set(key, async () =>
        this.keep(key, await proveCrawler(clientIp, crawler, this.names, isSameAddress)),
      );
      this.pump();
    }
    return known?.verdict ?? 'pending';
  }

  /** Whether some crawler at this address was verified. */
  isVerified(clientIp: string): boolean {
    return this.verified.has(networkOf(clientIp));
  }

  private readonly verified = new Set<string>();

  private keep(key: string, { verdict, isOpen }: CrawlerProof): void {
    if (this.known.size >= verdictsMax) {
      this.known.clear();
      this.verified.clear();
    }
    const holdsMs = isOpen ? openMs : verdict === 'verified' ? goodMs : otherMs;
    this.known.set(key, { verdict, untilMs: this.nowMs() + holdsMs });
    const network = networkOf(key.slice(key.lastIndexOf(' ') + 1));
    if (verdict === 'verified') this.verified.add(network);
    this.waiting.delete(key);
  }

  private pump(): void {
    for (const [key, work] of this.waiting) {
      if (this.underWay >= atOnceMax) return;
      if (work === busy) continue;
      this.waiting.set(key, busy);
      this.underWay += 1;
      void work().finally(() => {
        this.underWay -= 1;
        this.pump();
      });
    }
  }

  /** Nothing is being found out. */
  get isIdle(): boolean {
    return this.waiting.size === 0;
  }

  list(): readonly CrawlerCount[] {
    return [...this.counts.values()];
  }
}

/** Stands for a question that is under way. */
const busy = (): Promise<void> => Promise.resolve();
