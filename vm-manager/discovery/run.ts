// A run of discovery: source by source, with what each gave. It reads what this server knows and what was sent along;
// nothing is asked over the network. It lives in this process, under a lease, and ends within a second of its stop.
import { setImmediate } from 'node:timers/promises';
import type { KnownHost } from '../apis/port.js';
import { json } from '../database.js';
import { unfit, type Acting } from '../kit/endpoint.js';
import { finishRun, insertRun, leaseMs, type Run } from '../kit/runs.js';
import { hostOf, isPublicAddress, isWithin, ownSources, upwards, type Sighting, type Source } from './asset.js';
import { readNmap } from './sources/nmap.js';
import { readZone } from './sources/zone.js';
import { assetsMax, readKnown, storeSighting, type Known, type Outcome } from './store.js';

export const discoveryKind = 'discovery';
const hostsOfSourceMax = 5000;
const sightingsMax = 20_000;
const atOnce = 50;
const occurrencesAtOnce = 5000;
const secondsMax = 600;

export interface WantedRun {
  readonly sources: readonly Source[];
  readonly seeds: readonly string[];
  readonly zone: { readonly origin: string; readonly text: string } | null;
  readonly nmap: string | null;
}

const running = new Map<number, { readonly stop: AbortController; readonly done: Promise<void> }>();

/** For tests and the end of the process. */
export const whenDiscoveryEnds = async (): Promise<void> => {
  await Promise.all([...running.values()].map(async ({ done }) => done));
};

/** Stops it at once where it runs in this process; another process sees the row with its next step. */
export const stopDiscovery = (id: number): void => running.get(id)?.stop.abort();

export async function beginDiscovery(call: Acting, wanted: WantedRun): Promise<Run> {
  const { zone, nmap, sources, seeds } = wanted;
  const run = await call.audited(
    'vm.create',
    (made: Run) => `began the discovery ${made.id} (${sources.join(', ')})`,
    async (tx) => {
      const input = {
        ...{ sources, seeds },
        ...(zone === null ? {} : { zone: { origin: zone.origin, bytes: zone.text.length } }),
        ...(nmap === null ? {} : { nmap: { bytes: nmap.length } }),
      };
      const { name: createdBy } = call.caller.actor;
      return insertRun(tx, { kind: discoveryKind, applicationId: null, input, createdBy, status: 'running' }, call.now);
    },
  );
  const stop = new AbortController();
  const job = new DiscoveryJob(call, wanted, run.id, stop);
  const done = job.work().finally(() => running.delete(run.id));
  running.set(run.id, { stop, done });
  return run;
}

interface SourceCounts extends Record<Exclude<Outcome, 'no_room'>, number> {
  read: number;
  outside_seeds: number;
  left_out: number;
}

class DiscoveryJob {
  readonly #call: Acting;
  readonly #wanted: WantedRun;
  readonly #id: number;
  readonly #stop: AbortController;
  readonly #began = performance.now();
  readonly #counts: Partial<Record<Source, SourceCounts>> = {};
  /** What the server knows by itself, of all sources at once. */
  #hosts: readonly KnownHost[] | null = null;
  /** What people should know of what was read. */
  readonly #notes: string[] = [];
  #phase = '';
  #done = 0;

  constructor(call: Acting, wanted: WantedRun, id: number, stop: AbortController) {
    [this.#call, this.#wanted, this.#id, this.#stop] = [call, wanted, id, stop];
  }

  get #now(): Date {
    return new Date(this.#call.host.now());
  }

  #result() {
    const sum = (name: keyof SourceCounts): number =>
      Object.values(this.#counts).reduce((total, counts) => total + counts[name], 0);
    const totals = { new: sum('new'), known: sum('known'), seen_again: sum('seen_again'), left_out: sum('left_out') };
    return { phase: this.#phase, sources: this.#counts, ...totals, notes: this.#notes };
  }

  async work(): Promise<void> {
    const { sql } = this.#call;
    const { sources } = this.#wanted;
    const end = async (status: 'succeeded' | 'failed' | 'canceled' | 'timed_out', error: string | null) =>
      finishRun(sql, this.#id, { status, error, result: this.#result() }, this.#now);
    try {
      for (const source of sources) {
        this.#phase = source;
        if (!(await this.#goesOn())) return void (await end('canceled', 'The run was stopped.'));
        await this.#store(source, await this.#read(source));
        if (this.#isLate()) return void (await end('timed_out', `It took more than ${secondsMax} seconds.`));
        this.#done++;
      }
      this.#phase = 'done';
      await end(this.#stop.signal.aborted ? 'canceled' : 'succeeded', null);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // where the database is away the lease ends, and with it the run
      await end('failed', `${this.#phase}: ${why}`.slice(0, 1000)).catch(() => undefined);
    }
  }

  #isLate(): boolean {
    return performance.now() - this.#began > secondsMax * 1000;
  }

  /** Reports how far it is, and asks whether it is to stop. */
  async #goesOn(): Promise<boolean> {
    const { sql } = this.#call;
    const [row] = await sql<{ cancel_asked: boolean }[]>`
      update vm_runs set lease_until = ${new Date(this.#now.getTime() + leaseMs)},
        progress = ${Math.min(99, Math.round((100 * this.#done) / this.#wanted.sources.length))},
        result = ${json(sql, this.#result())}
      where id = ${this.#id} and status = 'running' returning cancel_asked`;
    if (row === undefined || row.cancel_asked) this.#stop.abort();
    return !this.#stop.signal.aborted;
  }

  async #read(source: Source): Promise<readonly Sighting[]> {
    const { zone, nmap, seeds } = this.#wanted;
    const { signal } = this.#stop;
    const none = { port: null, url: null, site: null } as const;
    if (source === 'seed')
      return seeds.map((host) => ({
        ...{ ...none, kind: 'host', host, source, detail: 'named by who began the run' },
        isExposed: isPublicAddress(host),
      }));
    if (source === 'zone') {
      const { sightings, leftOut, records } = await readZone(zone?.text ?? '', zone?.origin ?? '', signal);
      // a text that is no zone shows no host, which is not the same as a zone without hosts
      if (records === 0 && !signal.aborted)
        throw unfit('/zone/text', 'has no record that is understood', 'send the file as name servers have it');
      this.#countOf(source).left_out += leftOut;
      return sightings;
    }
    if (source === 'nmap') {
      const { sightings, leftOut, hosts, isFinished } = await readNmap(nmap ?? '', signal);
      if (hosts === 0 && !signal.aborted)
        throw unfit('/nmap', 'names no host', 'send the report of a scan that has found any');
      if (!isFinished && !signal.aborted)
        this.#notes.push('nmap: the report does not say that the scan came to its end: hosts may be missing');
      this.#countOf(source).left_out += leftOut;
      return sightings;
    }
    if (source === 'findings') return this.#ofFindings();
    this.#hosts ??= (await this.#call.host.apis?.hosts(hostsOfSourceMax)) ?? [];
    return this.#hosts.flatMap((one): Sighting[] => {
      const host = hostOf(one.host);
      if (one.source !== source || host === null) return [];
      const kind = source === 'specification' ? 'api' : one.port === null ? 'host' : 'service';
      const at = { kind, host, port: one.port, url: one.url, source, site: one.site } as const;
      return [{ ...at, detail: one.from.slice(0, 300), isExposed: isPublicAddress(host) }];
    });
  }

  /** Hosts that reports of tools name; sightings are read some at a time. */
  async #ofFindings(): Promise<Sighting[]> {
    const counts = new Map<string, number>();
    for (let after = 0; ; ) {
      const rows = await this.#call.sql<{ last: number; origin: string | null; n: number }[]>`
        select max(id) as last, origin, count(*)::int as n from (
          select id, case when gone_at is null and tool not like 'gatehouse-api-%'
            then substring(location ->> 'url' from '^https?://[^/?#@]+') end as origin
          from vm_occurrences where id > ${after} order by id limit ${occurrencesAtOnce}) part
        group by origin`;
      for (const { origin, n } of rows)
        if (origin !== null && (counts.has(origin) || counts.size < hostsOfSourceMax))
          counts.set(origin, (counts.get(origin) ?? 0) + n);
      if (rows.reduce((sum, { n }) => sum + n, 0) < occurrencesAtOnce) break;
      if (this.#isLate() || !(await this.#goesOn())) break;
      after = Math.max(...rows.map(({ last }) => Number(last)));
    }
    return [...counts].flatMap(([origin, n]): Sighting[] => {
      const url = URL.canParse(origin) ? new URL(origin) : null;
      const host = url === null ? null : hostOf(url.hostname);
      if (url === null || host === null || !(host.includes('.') || host.includes(':'))) return [];
      const port = url.port === '' ? null : Number(url.port);
      const at = { kind: port === null ? 'host' : 'service', host, port, url: url.href, site: null } as const;
      return [{ ...at, source: 'findings', detail: `${n} findings`, isExposed: isPublicAddress(host) }];
    });
  }

  #countOf(source: Source): SourceCounts {
    return (this.#counts[source] ??= { read: 0, outside_seeds: 0, left_out: 0, new: 0, known: 0, seen_again: 0 });
  }

  async #store(source: Source, all: readonly Sighting[]): Promise<void> {
    const { sql } = this.#call;
    const seeds = new Set(this.#wanted.seeds);
    const counts = this.#countOf(source);
    counts.read += all.length;
    counts.left_out += Math.max(0, all.length - sightingsMax);
    const taken = all.slice(0, sightingsMax);
    const siteOf = siteFinder((await this.#call.host.apis?.sites()) ?? []);
    const known = await readKnown(sql);
    for (let from = 0; from < taken.length; from += atOnce) {
      if (this.#isLate() || !(await this.#goesOn())) return;
      const some = taken.slice(from, from + atOnce);
      const within = some.filter(({ host }) => isWithin(host, seeds));
      counts.outside_seeds += some.length - within.length;
      if (within.length > 0) await this.#write(within, counts, known, siteOf);
      await setImmediate();
    }
  }

  async #write(
    within: readonly Sighting[],
    counts: SourceCounts,
    known: Known,
    siteOf: (host: string) => string | null,
  ): Promise<void> {
    await this.#call.sql.begin(async (tx) => {
      // two runs may come upon the same host
      await tx`select pg_advisory_xact_lock(hashtext('vm_discovery_assets'))`;
      const [row] = await tx<{ n: number }[]>`select count(*)::int as n from vm_discovery_assets`;
      const room = { left: assetsMax - (row?.n ?? 0) };
      for (const one of within) {
        const site = one.site ?? siteOf(one.host);
        const outcome = await storeSighting(tx, { ...one, site }, known, this.#id, room, this.#now);
        if (outcome === 'no_room') counts.left_out++;
        else counts[outcome]++;
      }
    });
  }
}

/** The site of the firewall that answers for a host by its name; one for every host protects nothing knowingly. */
function siteFinder(sites: readonly { readonly name: string; readonly host: string | null }[]) {
  const byHost = new Map<string, string>();
  for (const { name, host } of sites) {
    const own = host?.toLowerCase() ?? '';
    if (own !== '' && !byHost.has(own)) byHost.set(own, name);
  }
  return (host: string): string | null => {
    for (const name of upwards(host)) {
      const found = byHost.get(name === host ? name : `*.${name}`);
      if (found !== undefined) return found;
    }
    return null;
  };
}

export const defaultSources: readonly Source[] = ownSources;
