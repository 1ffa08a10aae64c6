// When each address feed was fetched last, and with what result.
import type { Queryable } from '../db/client.js';

interface FeedName {
  readonly name: string;
  readonly url: string;
}

export interface FeedState extends FeedName {
  readonly attempted_at: Date;
  readonly succeeded_at: Date | null;
  /** Networks of the last good answer. */
  readonly entries: number;
  /** Since the last good answer; null: there was none. */
  readonly last_error: string | null;
}

export async function listFeeds(sql: Queryable): Promise<FeedState[]> {
  return sql<
    FeedState[]
  >`select name, url, attempted_at, succeeded_at, coalesce(entries, 0)::integer as entries, last_error from feed_state`;
}

export async function recordFeedSuccess(
  sql: Queryable,
  { name, url }: FeedName,
  entries: number,
  now: Date,
): Promise<void> {
  await sql`
    insert into feed_state (name, url, attempted_at, succeeded_at, entries)
    values (${name}, ${url}, ${now}, ${now}, ${entries})
    on conflict (name) do update set url = excluded.url, attempted_at = excluded.attempted_at,
      succeeded_at = excluded.succeeded_at, entries = excluded.entries, last_error = null`;
}

export async function recordFeedFailure(
  sql: Queryable,
  { name, url }: FeedName,
  reason: string,
  now: Date,
): Promise<void> {
  await sql`
    insert into feed_state (name, url, attempted_at, last_error) values (${name}, ${url}, ${now}, ${reason})
    on conflict (name) do update
    set url = excluded.url, attempted_at = excluded.attempted_at, last_error = excluded.last_error`;
}

export async function forgetFeed(sql: Queryable, name: string): Promise<void> {
  await sql`delete from feed_state where name = ${name}`;
}
