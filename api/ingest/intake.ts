// Records of others into the same observations that nodes make, each record once: by the sender's Idempotency-Key for a
// request, by the record's own id for a record, both for a day at least. Records are taken apart before the database
// is asked anything (digester.ts), as if none of them had come before; where some had, once more without those.
import { maskLevelOf, observationKeyOf, type ObservationSource } from '#proxy/contract';
import type { Tx } from '../db/client.js';
import { lockUntilCommit } from '../db/lock-keys.js';
import { hashOfId, inventoryOf, takeOnce } from '../inventory/index.js';
import type { Parts } from '../parts.js';
import type { RecordBytes } from './body.js';
import { digestExchanges, type Digest, type DigestSettings } from './digest.js';
import type { ReadDigest } from './digest-messages.js';
import { createDigester, tooMany } from './digester.js';
import { saveHops } from './east-west.js';
import type { ForeignExchange } from './exchange.js';
import type { RecordKind } from './reading.js';

export type IntakeParts = Pick<Parts, 'database' | 'now' | 'currentSettings' | 'nodeToken'>;

interface Sender {
  /** The site of all of them; null: by host and path, else named after the host. */
  readonly site: string | null;
  /** Who sends; ids are unique for a sender. */
  readonly sender: string;
  /** null: none was given. */
  readonly idempotencyKey: string | null;
}

export interface IntakeOrder extends Sender {
  readonly exchanges: readonly ForeignExchange[];
  readonly source: ObservationSource;
}

export interface BodyOrder extends Sender {
  readonly body: RecordBytes;
  readonly kind: RecordKind;
}

export interface IntakeResult {
  /** The same Idempotency-Key came before: nothing was counted again. */
  readonly isDuplicate: boolean;
  /** Records whose id came before. */
  readonly duplicates: number;
}

export type BodyResult = IntakeResult & Pick<ReadDigest, 'accepted' | 'rejected' | 'rejectedTotal' | 'warnings'>;

/** Both throw ApiError `too_many_requests` with Retry-After while too much waits. */
export interface Intake {
  take(order: IntakeOrder): Promise<IntakeResult>;
  /** The body of a request; throws ApiError, too, for one that cannot be read. */
  takeBody(order: BodyOrder): Promise<BodyResult>;
  close(): Promise<void>;
}

/** Records of requests that are under way. */
const waitingMax = 200_000;

export function createIntake(parts: IntakeParts, waitingRecordsMax = waitingMax): Intake {
  const { database, now } = parts;
  const key = observationKeyOf(parts.nodeToken);
  const inventory = inventoryOf(parts);
  const digester = createDigester(inventory.formOf);
  const waiting = { records: 0 };
  const settingsFor = async (site: string | null): Promise<Omit<DigestSettings, 'source'>> => {
    const settings = await parts.currentSettings();
    const sites = settings.sites.map(({ name, host, prefix }) => ({ name, host, prefix }));
    const level = maskLevelOf(settings.privacy_mode);
    return { key, level, detectsPii: settings.pii_detect, sites, site, skip: null };
  };
  /** `again` takes the records apart once more, without those that came before. */
  const count = async <T extends Digest>(
    digest: T,
    { sender, idempotencyKey, records, source, level }: Counting,
    again: (skip: ReadonlySet<string>) => T | Promise<T>,
  ): Promise<IntakeResult> => {
    if (waiting.records + records > waitingRecordsMax) throw tooMany();
    waiting.records += records;
    const at = new Date(now());
    const store = async (tx: Tx): Promise<IntakeResult> => {
      await lockUntilCommit(tx, 'inventory');
      const isRepeated =
        idempotencyKey !== null && !(await takeOnce(tx, `key ${sender}`, hashOfId(key, idempotencyKey), at));
      if (isRepeated) return { isDuplicate: true, duplicates: 0 };
      const before = await takeIds(tx, digest.ids, sender, at);
      const { kept, hops, fresh } = before === null ? digest : await again(before);
      await inventory.writeKept(tx, kept, source, level);
      await saveHops(tx, hops);
      return { isDuplicate: false, duplicates: records - fresh };
    };
    try {
      return await inventory.inTurn(() => database.sql.begin(store));
    } finally {
      waiting.records -= records;
    }
  };
  return {
    async take({ exchanges, source, ...sender }) {
      const settings = { ...(await settingsFor(sender.site)), source };
      const digestWithout = (skip: ReadonlySet<string> | null): Digest =>
        digestExchanges(exchanges, { ...settings, skip }, inventory.formOf);
      const counting = { ...sender, source, level: settings.level, records: exchanges.length };
      return count(digestWithout(null), counting, digestWithout);
    },
    async takeBody({ body, kind, ...sender }) {
      const settings = await settingsFor(sender.site);
      const nowMs = now();
      const digest = await digester.digest({ body, kind, nowMs, settings });
      const { source, accepted, rejected, rejectedTotal, warnings } = digest;
      const counting = { ...sender, source, level: settings.level, records: accepted };
      const result = await count(digest, counting, (skip) =>
        digester.digest({ body, kind, nowMs, settings: { ...settings, skip } }),
      );
      return { ...result, accepted, rejected, rejectedTotal, warnings };
    },
    close: () => digester.close(),
  };
}

interface Counting extends Omit<Sender, 'site'> {
  readonly records: number;
  readonly source: ObservationSource;
  readonly level: DigestSettings['level'];
}

/** Notes ids as taken. null: none had been; else those that had. Ids are stored as keyed hashes. */
async function takeIds(tx: Tx, ids: readonly string[], sender: string, at: Date): Promise<ReadonlySet<string> | null> {
  if (ids.length === 0) return null;
  const given = JSON.stringify(ids);
  // Nearly always all are new: then only their number comes back.
  const [row] = await tx<{ count: number; fresh: string | null }[]>`
    with taken as (
      insert into api_taken (source, id, at)
      select ${`record ${sender}`}, value, ${at} from json_array_elements_text(${given}::text::json)
      on conflict do nothing returning id)
    select count(*)::int as count, case when count(*) < ${ids.length} then json_agg(id)::text end as fresh
    from taken`;
  if (row?.count === ids.length) return null;
  const fresh = new Set(JSON.parse(row?.fresh ?? '[]') as string[]);
  return new Set(ids.filter((id) => !fresh.has(id)));
}
