// What discovery learned and nobody has seen for as long as requests are kept: paths, service pairs, ties and findings.
// Bounded by number, too, so that neither sites nor principals without end fill the database; findings and ties have
// their bounds where they are written (threats/store.ts).
import type { Database } from '../db/client.js';

/** Paths of all sites, and pairs of services; what was seen longest ago goes. */
export const cellsMax = 300_000;
export const hopsMax = 20_000;

/** `before`: by retention_requests_days. Returns how many rows went. */
export async function pruneApi({ sql }: Database, before: Date, limits = { cellsMax, hopsMax }): Promise<number> {
  // the inventory of a site that loses paths is made anew
  const sites = await sql<{ site: string }[]>`
    with gone as (
      delete from api_cells where last_seen < ${before} or (site, method, path) in (
        select site, method, path from api_cells order by last_seen desc offset ${limits.cellsMax})
      returning site)
    select site from gone`;
  const names = JSON.stringify([...new Set(sites.map(({ site }) => site))]);
  await sql`
    update api_sites set observed = observed + 1
    where site in (select value from json_array_elements_text(${names}::text::json))`;
  const hops = await sql`
    delete from api_hops where last_seen < ${before} or (caller, callee) in (
      select caller, callee from api_hops order by last_seen desc offset ${limits.hopsMax})`;
  const ties = await sql`delete from api_ties where at < ${before}`;
  const threats = await sql`delete from api_threats where last_at < ${before}`;
  const waiting = await sql`delete from api_sightings where at < ${before}`;
  return sites.length + hops.count + ties.count + threats.count + waiting.count;
}
