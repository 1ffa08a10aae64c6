// Records of others → what is kept of them: sums by site, method and place of the path, what principals did, who asked
// whom. Pure, so that it can run in a process of its own (digest-process.ts). Sums of paths whose template is known are
// added up under the template right away; the order of records makes no difference.
import {
  keyedHash,
  TrafficObserver,
  type MaskLevel,
  type ObservationBatch,
  type ObservationSource,
  type Principal,
} from '#proxy/contract';
import type { Settings } from '#settings';
import type { KeptWindow } from '../inventory/cells.js';
import { hashOfId, keptBatch, keptText } from '../inventory/kept.js';
import { windowOf } from '../inventory/sightings.js';
import { foldedPlace, type SiteForm } from '../inventory/templates/form.js';
import type { ForeignExchange } from './exchange.js';
import { hopsOf, type Hop } from './hops.js';

/** Of a configured site: where it is found. */
export type SiteAddress = Pick<Settings['sites'][number], 'name' | 'host' | 'prefix'>;

export interface DigestSettings {
  readonly key: Uint8Array;
  readonly level: MaskLevel;
  readonly detectsPii: boolean;
  readonly sites: readonly SiteAddress[];
  readonly source: ObservationSource;
  /** The site of all records; null: by host and path, else named after the host. */
  readonly site: string | null;
  /** Records that came before, by their hashed ids; null: none is known to have. */
  readonly skip: ReadonlySet<string> | null;
}

export type FormOf = (site: string) => SiteForm | null;

export interface Digest {
  readonly kept: KeptWindow;
  readonly hops: readonly Hop[];
  /** Keyed hashes of the ids of records, each once; those of skipped ones included. */
  readonly ids: readonly string[];
  /** Records that were taken into account. */
  readonly fresh: number;
}

/** Paths of a batch that are told apart, at most as many as it may have records (body.ts). */
const cellsMax = 50_000;

export function digestExchanges(
  exchanges: readonly ForeignExchange[],
  settings: DigestSettings,
  formOf: FormOf,
): Digest {
  const { key, level, skip } = settings;
  const ids = new Set<string>();
  const fresh = exchanges.filter(({ id }) => {
    if (id === '') return true;
    const hash = hashOfId(key, id);
    if (ids.has(hash)) return false;
    ids.add(hash);
    return skip === null || !skip.has(hash);
  });
  const kept = keptBatch(observe(fresh, settings, formOf), {
    level,
    key,
    treeOf: (site) => formOf(site)?.tree ?? null,
  });
  return {
    kept: { observations: kept.observations, window: windowOf(kept) },
    hops: hopsOf(fresh, { level, key }),
    ids: [...ids],
    fresh: fresh.length,
  };
}

function observe(exchanges: readonly ForeignExchange[], settings: DigestSettings, formOf: FormOf): ObservationBatch {
  const { key, detectsPii } = settings;
  const sent: ObservationBatch[] = [];
  const observer = new TrafficObserver({
    ...{ key, cellsMax, repliesPerSecond: Infinity },
    send: (batch) => sent.push(batch),
    records: {
      place(site, method, path) {
        const form = formOf(site);
        return form === null ? null : foldedPlace(form, method, path);
      },
    },
  });
  const siteOf = createSiteFinder(settings);
  const callers = new Map<string, Principal>();
  for (const exchange of exchanges) {
    const { request } = observer;
    request.site = siteOf(exchange);
    request.method = exchange.method;
    request.uri = latin1(exchange.uri);
    request.headers = exchange.headers;
    request.clientIp = exchange.clientIp;
    request.requestId = exchange.id.slice(0, 128);
    request.status = exchange.status;
    request.responseHeaders = exchange.responseHeaders;
    request.requestBytes = exchange.requestBytes;
    request.responseBytes = exchange.responseBytes;
    request.latencyUs = Math.max(0, Math.round(exchange.latencyUs));
    request.body = exchange.body === null ? null : Buffer.from(exchange.body, 'utf8');
    request.responseBody = exchange.responseBody === null ? null : Buffer.from(exchange.responseBody, 'utf8');
    request.principal = principalOf(exchange, key, callers);
    request.detectsPii = detectsPii;
    request.knowsCredentials = exchange.knowsCredentials;
    request.atMs = exchange.atMs;
    observer.observe();
  }
  observer.flush(0, true);
  return sent[0] ?? { batch_id: '', observations: [], sightings: [], relations: [], dropped: 0 };
}

const hostsMax = 1000;

/** The configured site that serves a host and path; where none does, a name made of the host. */
function createSiteFinder({ sites, site, source, key, level }: DigestSettings): (exchange: ForeignExchange) => string {
  if (site !== null) return () => site;
  const known = [...sites].sort((one, other) => other.prefix.length - one.prefix.length);
  const hosts = new Map<string, { readonly own: readonly SiteAddress[]; readonly otherwise: string }>();
  const learn = (host: string) => {
    const name = host.toLowerCase().replace(/:\d+$/, '').slice(0, 200);
    const own = known.filter((one) => one.host !== null && one.host !== '' && one.host.toLowerCase() === name);
    const kept = keptText(host.slice(0, 200), { key, level }).toLowerCase().replace(/:\d+$/, '');
    const made = { own, otherwise: name === '' ? source : kept };
    if (hosts.size >= hostsMax) hosts.clear();
    hosts.set(host, made);
    return made;
  };
  return ({ host, uri }) => {
    const { own, otherwise } = hosts.get(host) ?? learn(host);
    return own.find(({ prefix }) => uri.startsWith(prefix))?.name ?? otherwise;
  };
}

const beyondLatin1 = /[^\x21-\xff]/u;
/** Paths on the road are bytes; what is none is percent-encoded, as a client would have sent it. */
const latin1 = (uri: string): string =>
  beyondLatin1.test(uri)
    ? uri.replace(/[^\x21-\xff]/gu, (one) => (/[\ud800-\udfff]/u.test(one) ? '?' : encodeURIComponent(one)))
    : uri;

/** Who asked, where the gateway says it and no header does; hashed once for each. */
function principalOf(
  { caller, headers }: ForeignExchange,
  key: Uint8Array,
  callers: Map<string, Principal>,
): Principal | null {
  if (caller === null) return null;
  const hasOwn = headers.some((name, at) => at % 2 === 0 && /^(?:authorization|x-api-key)$/i.test(name));
  if (hasOwn) return null;
  const place = `${caller.kind}\0${caller.name}`;
  const known = callers.get(place);
  if (known !== undefined) return known;
  const made = { kind: caller.kind, id: caller.name === '' ? '' : keyedHash(key, caller.kind, caller.name) };
  callers.set(place, made);
  return made;
}
