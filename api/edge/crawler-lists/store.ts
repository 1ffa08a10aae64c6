// Published lists of crawlers' addresses: the last good copy of each, and how the last attempts went.
import type { Settings } from '#settings';
import type { Queryable } from '../../db/client.js';

export type CrawlerListSettings = Pick<Settings, 'bot_crawler_range_urls'>;
/** What is to be fetched. */
export type CrawlerListSource = Settings['bot_crawler_range_urls'][number];

export interface CrawlerListRow extends CrawlerListSource {
  readonly attempted_at: Date;
  readonly succeeded_at: Date | null;
  /** Of the last good answer. */
  readonly networks: readonly string[];
  /** Since the last good answer; null: there was none. */
  readonly last_error: string | null;
}

export const isOf =
  ({ crawler, url }: CrawlerListSource) =>
  (row: CrawlerListSource): boolean =>
    row.crawler === crawler && row.url === url;

/** Those that the settings name, and were tried; the database is not asked where they name none. */
export async function listCrawlerLists(
  sql: Queryable,
  { bot_crawler_range_urls: wanted }: CrawlerListSettings,
): Promise<CrawlerListRow[]> {
  if (wanted.length === 0) return [];
  const rows = await sql<CrawlerListRow[]>`select * from crawler_lists order by crawler, url`;
  return rows.filter((row) => wanted.some(isOf(row)));
}

export async function keepCrawlerList(
  sql: Queryable,
  { crawler, url }: CrawlerListSource,
  networks: readonly string[],
  now: Date,
): Promise<void> {
  await sql`
    insert into crawler_lists (crawler, url, attempted_at, succeeded_at, networks)
    values (${crawler}, ${url}, ${now}, ${now}, ${sql.json([...networks])})
    on conflict (url, crawler) do update set attempted_at = excluded.attempted_at,
      succeeded_at = excluded.succeeded_at, networks = excluded.networks, last_error = null`;
}

/** The copy of before stays. */
export async function keepCrawlerListError(
  sql: Queryable,
  { crawler, url }: CrawlerListSource,
  reason: string,
  now: Date,
): Promise<void> {
  await sql`
    insert into crawler_lists (crawler, url, attempted_at, last_error)
    values (${crawler}, ${url}, ${now}, ${reason})
    on conflict (url, crawler) do update set attempted_at = excluded.attempted_at, last_error = excluded.last_error`;
}

/** Drops those that the settings name no more; returns how many. */
export async function forgetCrawlerLists(sql: Queryable, wanted: readonly CrawlerListSource[]): Promise<number> {
  const rows = await sql<CrawlerListSource[]>`select crawler, url from crawler_lists`;
  const gone = rows.filter((row) => !wanted.some(isOf(row)));
  for (const { crawler, url } of gone) await sql`delete from crawler_lists where crawler = ${crawler} and url = ${url}`;
  return gone.length;
}
