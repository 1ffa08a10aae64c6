// The addresses behind the name of an upstream: looked up as the system does it (files, DNS, whatever it is set up
// with), kept for the TTL of the DNS record where there is one, and then looked up again. A change is told, so that
// connections to an address that is gone drain. While no answer comes, the last one stands.
import { lookup as lookupSystem, Resolver } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

export interface Resolved {
  readonly addresses: readonly LookupAddress[];
  /** null: nobody says how long this holds. */
  readonly ttlMs: number | null;
}
/** Rejects when there is no address. */
export type Resolve = (host: string) => Promise<Resolved>;

/** A TTL of 0 would be a lookup a connection; one of a day would be a day without the change. */
const ttlMs = { least: 1000, most: 300_000 } as const;
const dnsTimeoutMs = 1000;

/** The system's answer; the TTL is that of the DNS records of the same name. */
export async function resolveHost(host: string): Promise<Resolved> {
  const dns = new Resolver({ timeout: dnsTimeoutMs, tries: 1 });
  const [addresses, four, six] = await Promise.all([
    lookupSystem(host, { all: true }),
    dns.resolve4(host, { ttl: true }).catch(() => []), // a name of a file has no record
    dns.resolve6(host, { ttl: true }).catch(() => []),
  ]);
  const ttls = [...four, ...six].map(({ ttl }) => ttl * 1000);
  return { addresses, ttlMs: ttls.length === 0 ? null : Math.min(...ttls) };
}

export class Addresses {
  private current: readonly LookupAddress[] = [];
  private dueMs = 0;
  private turn = 0;
  private asking: Promise<void> | null = null;

  /** `fallbackMs`: how long an answer without TTL holds. `onChange` hears of addresses that are others than before. */
  constructor(
    private readonly host: string,
    private readonly fallbackMs: number,
    private readonly onChange: (addresses: ReadonlySet<string>) => void,
    private readonly resolve: Resolve = resolveHost,
  ) {}

  /** Nothing to look up. */
  get isLiteral(): boolean {
    return isIP(this.host) !== 0;
  }

  /** For `connect`: what is known, each time beginning with another of the addresses. */
  readonly lookup: LookupFunction = (_host, options, callback) => {
    const answer = (): void => {
      const { current } = this;
      if (current.length === 0) {
        callback(Object.assign(new Error(`no address for ${this.host}`), { code: 'ENOTFOUND' }), '', 0);
        return;
      }
      this.turn = (this.turn + 1) % current.length;
      const turned = [...current.slice(this.turn), ...current.slice(0, this.turn)];
      if (options.all === true) callback(null, turned);
      else callback(null, turned[0]?.address ?? '', turned[0]?.family ?? 0);
    };
    if (this.current.length > 0) process.nextTick(answer);
    else void this.refresh(performance.now()).then(answer);
  };

  /** Asked again and again while the upstream is in use. */
  refreshIfDue(nowMs: number): void {
    if (this.isLiteral || nowMs < this.dueMs) return;
    void this.refresh(nowMs);
  }

  private refresh(nowMs: number): Promise<void> {
    this.asking ??= this.ask(nowMs).finally(() => {
      this.asking = null;
    });
    return this.asking;
  }

  private async ask(nowMs: number): Promise<void> {
    try {
      const found = await this.resolve(this.host);
      const holdsMs = found.ttlMs === null ? this.fallbackMs : Math.min(ttlMs.most, Math.max(ttlMs.least, found.ttlMs));
      this.dueMs = nowMs + holdsMs;
      const before = new Set(this.current.map(({ address }) => address));
      const now = new Set(found.addresses.map(({ address }) => address));
      if (now.size === 0) return;
      this.current = found.addresses;
      if (before.size > 0 && (before.size !== now.size || [...now].some((address) => !before.has(address))))
        this.onChange(now);
    } catch {
      this.dueMs = nowMs + this.fallbackMs; // what was known stands
    }
  }
}
