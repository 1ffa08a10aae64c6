// The inventory as it is asked for: endpoints by filters, one with all that is known of it, and the figures of all.
import { listOf } from '../http-kit/index.js';
import type { Queryable } from '../db/client.js';
import { judge, type Judgement } from './judge.js';
import type { SegmentView } from './fold.js';
import type { Stats } from './stats.js';

export interface Endpoint extends Judgement {
  readonly site: string;
  readonly method: string;
  readonly template: string;
  readonly segments: readonly SegmentView[];
  readonly stats: Stats;
  readonly hits: number;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  /** null: the site has no specification. */
  readonly shadow: boolean | null;
}

export interface EndpointFilter {
  readonly site?: string | undefined;
  readonly method?: string | undefined;
  /** Part of the template. */
  readonly q?: string | undefined;
  readonly access?: string | readonly string[] | undefined;
  readonly auth?: string | readonly string[] | undefined;
  readonly classification?: string | readonly string[] | undefined;
  readonly band?: string | readonly string[] | undefined;
  readonly shadow?: boolean | undefined;
  /** Not Public, and answered without credentials; false: all the others. */
  readonly unprotected_sensitive?: boolean | undefined;
  /** Only those with personal data in them. */
  readonly hasPii?: boolean | undefined;
}

export type EndpointPlace = readonly [site: string, template: string, method: string];

/** As it is stored: sums and segments are JSON. */
export interface EndpointRow {
  readonly site: string;
  readonly method: string;
  readonly template: string;
  readonly segments: string;
  readonly stats: string;
  readonly hits: number;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly shadow: boolean | null;
}

export function toEndpoint(row: EndpointRow): Endpoint {
  const { site, method, template, hits, first_seen: firstSeen, last_seen: lastSeen, shadow } = row;
  const stats = JSON.parse(row.stats) as Stats;
  const times = { firstSeenMs: firstSeen.getTime(), lastSeenMs: lastSeen.getTime() };
  return {
    ...judge({ method, template, stats, ...times }),
    ...{ site, method, template, hits, firstSeen, lastSeen, shadow, stats },
    segments: JSON.parse(row.segments) as SegmentView[],
  };
}

/** What the figure counts and its list shows: data that is not for everybody, given to anybody. */
const unprotectedSensitive = (sql: Queryable) =>
  sql`(auth in ('accepted-without', 'mixed') and classification <> 'Public')`;

/** In the order of site, template and method, behind `after`. */
export async function selectEndpoints(
  sql: Queryable,
  filter: EndpointFilter,
  after: EndpointPlace,
  limit: number,
): Promise<Endpoint[]> {
  const { site = null, method = null, q = null, shadow = null, hasPii = false } = filter;
  const among = (column: 'access' | 'auth' | 'classification' | 'band') => {
    const words = filter[column];
    return words === undefined ? sql`` : sql`and ${sql(column)} in ${sql([...listOf(words)])}`;
  };
  const { unprotected_sensitive: isOpen = null } = filter;
  const rows = await sql<EndpointRow[]>`
    select site, method, template, segments, stats, hits, first_seen, last_seen, shadow from api_endpoints
    where (site, template, method) > (${after[0]}, ${after[1]}, ${after[2]})
      and (${site}::text is null or site = ${site})
      and (${method}::text is null or method = ${method})
      and (${q}::text is null or strpos(lower(template), lower(${q})) > 0)
      ${among('access')}
      ${among('auth')}
      ${among('classification')}
      ${among('band')}
      and (${shadow}::boolean is null or shadow = ${shadow})
      and (${isOpen}::boolean is null or ${unprotectedSensitive(sql)} = ${isOpen})
      and (not ${hasPii} or strpos(stats, '"pii":{}') = 0)
    order by site, template, method limit ${limit}`;
  return rows.map(toEndpoint);
}

/** What else asks for the endpoints of a site: all of them. */
export const listEndpoints = (sql: Queryable, site: string): Promise<Endpoint[]> =>
  selectEndpoints(sql, { site }, ['', '', ''], 100_000);

/** Some of a site's as they are stored, in the order of method and template, behind `after`. */
export async function selectRows(
  sql: Queryable,
  site: string,
  after: readonly [method: string, template: string],
  limit: number,
): Promise<EndpointRow[]> {
  const rows = await sql<EndpointRow[]>`
    select site, method, template, segments, stats, hits, first_seen, last_seen, shadow from api_endpoints
    where site = ${site} and (method, template) > (${after[0]}, ${after[1]})
    order by method, template limit ${limit}`;
  return rows.map((row) => ({ ...row, hits: Number(row.hits) }));
}

/** Of one site, those with most requests first. */
export async function selectBusiest(sql: Queryable, site: string, limit: number): Promise<Endpoint[]> {
  const rows = await sql<EndpointRow[]>`
    select site, method, template, segments, stats, hits, first_seen, last_seen, shadow from api_endpoints
    where site = ${site} order by hits desc, template, method limit ${limit}`;
  return rows.map(toEndpoint);
}

/** Some of a site's without their sums, in the order of method and template, behind `after`. */
export async function selectListed(
  sql: Queryable,
  site: string,
  after: readonly [method: string, template: string],
  limit: number,
) {
  const rows = await sql<
    (Omit<EndpointRow, 'segments' | 'stats' | 'shadow'> & {
      access: string;
      auth: Endpoint['auth'];
      classification: Endpoint['classification'];
      risk: number;
      band: string;
    })[]
  >`
    select site, method, template, access, auth, classification, risk, band, hits, first_seen, last_seen
    from api_endpoints where site = ${site} and (method, template) > (${after[0]}, ${after[1]})
    order by method, template limit ${limit}`;
  return rows.map(({ first_seen: firstSeen, last_seen: lastSeen, hits, ...row }) => ({
    ...row,
    ...{ hits: Number(hits), firstSeen, lastSeen },
  }));
}

/** Those of these that there are. */
export async function selectPlaces(
  sql: Queryable,
  places: readonly { readonly site: string; readonly method: string; readonly template: string }[],
): Promise<Endpoint[]> {
  if (places.length === 0) return [];
  const wanted = JSON.stringify(places.map(({ site, method, template }) => ({ site, method, template })));
  const rows = await sql<EndpointRow[]>`
    select e.site, e.method, e.template, segments, stats, hits, first_seen, last_seen, shadow from api_endpoints e
    join json_to_recordset(${wanted}::text::json) as w (site text, method text, template text)
      on e.site = w.site and e.method = w.method and e.template = w.template`;
  return rows.map(toEndpoint);
}

const seenMax = 5000;

/** Methods and templates of sites, those with most requests first; for scans. */
export async function listSeen(
  sql: Queryable,
  sites: readonly string[],
): Promise<readonly { readonly method: string; readonly template: string }[]> {
  return sql<{ method: string; template: string }[]>`
    select method, template from api_endpoints
    where site in (select jsonb_array_elements_text(${sql.json([...sites])}))
    order by hits desc, template limit ${seenMax}`;
}

export interface InventoryFigures {
  readonly endpoints: number;
  readonly hits: number;
  readonly sites: number;
  readonly shadow: number;
  readonly unprotected_sensitive: number;
  readonly by_access: Readonly<Record<string, number>>;
  readonly by_auth: Readonly<Record<string, number>>;
  readonly by_classification: Readonly<Record<string, number>>;
  readonly by_band: Readonly<Record<string, number>>;
  readonly by_method: Readonly<Record<string, number>>;
  readonly dropped: number;
}

export async function readFigures(sql: Queryable, site: string | null): Promise<InventoryFigures> {
  const here = sql`where ${site}::text is null or site = ${site}`;
  const [sums] = await sql<
    { endpoints: number; hits: number; sites: number; shadow: number; unprotected_sensitive: number }[]
  >`
    select count(*)::int as endpoints, coalesce(sum(hits), 0)::bigint as hits, count(distinct site)::int as sites,
      (count(*) filter (where shadow))::int as shadow,
      (count(*) filter (where ${unprotectedSensitive(sql)}))::int as unprotected_sensitive
    from api_endpoints ${here}`;
  const countBy = async (column: 'access' | 'auth' | 'classification' | 'band' | 'method') => {
    const rows = await sql<{ name: string; endpoints: number }[]>`
      select ${sql(column)} as name, count(*)::int as endpoints from api_endpoints ${here} group by 1 order by 1`;
    return Object.fromEntries(rows.map(({ name, endpoints }) => [name, endpoints]));
  };
  const [left] = await sql<{ dropped: number }[]>`
    select coalesce(sum(dropped), 0)::bigint as dropped from api_sites ${here}`;
  return {
    ...(sums ?? { endpoints: 0, hits: 0, sites: 0, shadow: 0, unprotected_sensitive: 0 }),
    by_access: await countBy('access'),
    by_auth: await countBy('auth'),
    by_classification: await countBy('classification'),
    by_band: await countBy('band'),
    by_method: await countBy('method'),
    dropped: left?.dropped ?? 0,
  };
}
