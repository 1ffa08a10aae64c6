// Records of others into the same observations that nodes make, each record once: by the sender's Idempotency-Key for a
// request, by the record's own id for a record, both for a day at least.
import {
  keyedHash,
  maskLevelOf,
  observationKeyOf,
  TrafficObserver,
  type ObservationBatch,
  type ObservationSource,
  type Principal,
} from '#proxy/contract';
import type { Settings } from '#settings';
import { ApiError } from '../http-kit/index.js';
import type { Tx } from '../db/client.js';
import { lockUntilCommit } from '../db/lock-keys.js';
import { hashOfId, inventoryOf, keptText, takeOnce } from '../inventory/index.js';
import type { Parts } from '../parts.js';
import { saveHops } from './east-west.js';
import type { ForeignExchange } from './exchange.js';

type Keeping = Parameters<typeof keptText>[1];

export type IntakeParts = Pick<Parts, 'database' | 'now' | 'currentSettings' | 'nodeToken'>;

export interface IntakeOrder {
  readonly exchanges: readonly ForeignExchange[];
  readonly source: ObservationSource;
  /** The site of all of them; null: by host and path, else named after the host. */
  readonly site: string | null;
  /** Who sends; ids are unique for a sender. */
  readonly sender: string;
  /** null: none was given. */
  readonly idempotencyKey: string | null;
}

export interface IntakeResult {
  /** The same Idempotency-Key came before: nothing was counted again. */
  readonly isDuplicate: boolean;
  /** Records whose id came before. */
  readonly duplicates: number;
}

export interface Intake {
  /** Throws ApiError `too_many_requests` with Retry-After while too much waits. */
  take(order: IntakeOrder): Promise<IntakeResult>;
}

/** Records of requests that are under way. */
const waitingMax = 200_000;

export function createIntake(parts: IntakeParts, waitingRecordsMax = waitingMax): Intake {
  const { database, now, nodeToken } = parts;
  const key = observationKeyOf(nodeToken);
  const inventory = inventoryOf(parts);
  const waiting = { records: 0 };
  return {
    async take(order) {
      const count = order.exchanges.length;
      if (waiting.records + count > waitingRecordsMax)
        throw new ApiError('too_many_requests', 'Too many records wait to be counted. Send them again later.', {
          headers: { 'retry-after': '2' },
        });
      waiting.records += count;
      try {
        const settings = await parts.currentSettings();
        const level = maskLevelOf(settings.privacy_mode);
        const siteOf = createSiteFinder(settings.sites, order, { level, key });
        return await database.sql.begin(async (tx) => {
          await lockUntilCommit(tx, 'inventory');
          const { sender, idempotencyKey } = order;
          const at = new Date(now());
          const isRepeated =
            idempotencyKey !== null && !(await takeOnce(tx, `key ${sender}`, hashOfId(key, idempotencyKey), at));
          if (isRepeated) return { isDuplicate: true, duplicates: 0 };
          const fresh = await findFresh(tx, order.exchanges, sender, key, at);
          const batch = observe(fresh, siteOf, key, settings.pii_detect);
          await inventory.writeIn(tx, batch, order.source, level);
          await saveHops(tx, fresh, { level, key });
          return { isDuplicate: false, duplicates: count - fresh.length };
        });
      } finally {
        waiting.records -= count;
      }
    },
  };
}

/** Those whose id was not taken before; the first of several with one id. Ids are stored as keyed hashes. */
async function findFresh(
  tx: Tx,
  exchanges: readonly ForeignExchange[],
  sender: string,
  key: Uint8Array,
  at: Date,
): Promise<readonly ForeignExchange[]> {
  const hashes = exchanges.map(({ id }) => (id === '' ? '' : hashOfId(key, id)));
  const named = [...new Set(hashes)].filter((hash) => hash !== '');
  if (named.length === 0) return exchanges;
  const rows = await tx<{ id: string }[]>`
    insert into api_taken (source, id, at)
    select ${`record ${sender}`}, value, ${at} from json_array_elements_text(${JSON.stringify(named)}::text::json)
    on conflict do nothing returning id`;
  const left = new Set(rows.map(({ id }) => id));
  return exchanges.filter((_, index) => hashes[index] === '' || left.delete(hashes[index] as string));
}

/** The configured site that serves a host and path; where none does, a name made of the host. */
function createSiteFinder(sites: Settings['sites'], { site, source }: IntakeOrder, keeping: Keeping) {
  if (site !== null) return () => site;
  const known = [...sites].sort((one, other) => other.prefix.length - one.prefix.length);
  return ({ host, uri }: ForeignExchange): string => {
    const name = host.toLowerCase().replace(/:\d+$/, '').slice(0, 200);
    const found = known.find(
      (one) => one.host !== null && one.host !== '' && one.host.toLowerCase() === name && uri.startsWith(one.prefix),
    );
    return (
      found?.name ?? (name === '' ? source : keptText(host.slice(0, 200), keeping).toLowerCase().replace(/:\d+$/, ''))
    );
  };
}

function observe(
  exchanges: readonly ForeignExchange[],
  siteOf: (exchange: ForeignExchange) => string,
  key: Uint8Array,
  detectsPii: boolean,
): ObservationBatch {
  const sent: ObservationBatch[] = [];
  const observer = new TrafficObserver({
    ...{ key, cellsMax: 20_000, repliesPerSecond: Infinity },
    send: (batch) => sent.push(batch),
  });
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
    request.latencyUs = Math.max(0, exchange.latencyUs);
    request.body = exchange.body === null ? null : Buffer.from(exchange.body, 'utf8');
    request.responseBody = exchange.responseBody === null ? null : Buffer.from(exchange.responseBody, 'utf8');
    request.principal = principalOf(exchange, key);
    request.detectsPii = detectsPii;
    request.knowsCredentials = exchange.knowsCredentials;
    request.atMs = exchange.atMs;
    observer.observe();
  }
  observer.flush(0, true);
  return sent[0] ?? { batch_id: '', observations: [], sightings: [], relations: [], dropped: 0 };
}

/** Paths on the road are bytes; what is none is percent-encoded, as a client would have sent it. */
const latin1 = (uri: string): string =>
  uri.replace(/[^\x21-\xff]/gu, (one) => (/[\ud800-\udfff]/u.test(one) ? '?' : encodeURIComponent(one)));

function principalOf({ caller, headers }: ForeignExchange, key: Uint8Array): Principal | null {
  if (caller === null) return null;
  const hasOwn = headers.some((name, at) => at % 2 === 0 && /^(?:authorization|x-api-key)$/i.test(name));
  if (hasOwn) return null;
  return { kind: caller.kind, id: caller.name === '' ? '' : keyedHash(key, caller.kind, caller.name) };
}
