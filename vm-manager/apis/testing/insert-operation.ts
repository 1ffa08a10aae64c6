// Operations of the inventory, as the data plane would have seen them.
import type { onOneDatabase } from '#api/testing/databases';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];

export interface Seen {
  readonly site: string;
  readonly method?: string;
  readonly template: string;
  /** Requests with this kind of credentials, and without any: answered, refused, else. */
  readonly credentials?: Readonly<Record<string, readonly [ok: number, denied: number, other: number]>>;
  /** Kinds of personal data → where they were. */
  readonly pii?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly shadow?: boolean | null;
  readonly hits?: number;
  readonly lastSeen?: Date;
}

export async function insertOperation({ sql }: Database, seen: Seen): Promise<void> {
  const { site, method = 'GET', template, credentials = {}, pii = {}, shadow = null, hits = 10 } = seen;
  const at = seen.lastSeen ?? new Date('2026-03-01T11:00:00Z');
  const sums = { request_bytes: 0, response_bytes: 0, latency_us: 0, latency_us_max: 0 };
  const maps = {
    statuses: { '200': hits },
    clients: {},
    sources: {},
    parameters: {},
    request_types: {},
    response_types: {},
  };
  const stats = JSON.stringify({ count: hits, credentials, pii, ...maps, ...sums });
  const segments = JSON.stringify(
    template
      .split('/')
      .slice(1)
      .map((text) => ({ text, evidence: null })),
  );
  await sql`
    insert into api_endpoints ${sql({
      ...{ site, method, template, segments, stats, hits, first_seen: at, last_seen: at, shadow },
      ...{ access: 'unknown', auth: 'unknown', classification: 'Internal', risk: 0, band: 'low' },
    })}`;
}
