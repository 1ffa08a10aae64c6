// /threat-intel: what is known of vulnerabilities beside the reports. The sets are files that an operator brings.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { IntelSources } from '../host.js';
import { visibleFindings } from '../findings/query.js';
import { endpoint, notFound, type Endpoint } from '../kit/endpoint.js';
import { RunView, viewRun, type Run } from '../kit/runs.js';
import { receive } from '../kit/upload/receive.js';
import { recognise, setNames, unpack, type SetName } from './read-set.js';
import type { FetchRow, OwnFeed } from './fetch.js';
import { importSet } from './import-set.js';

const closed = { additionalProperties: false } as const;
const bytesMax = 256 * 1024 * 1024;
const BundleFields = Type.Object(
  {
    set: Type.Optional(
      Type.Union(
        setNames.map((name) => Type.Literal(name)),
        { description: 'absent: it is recognised' },
      ),
    ),
  },
  closed,
);
const upload = { bytesMax, fields: BundleFields };
const dayMs = 86_400_000;

export const FeedView = Type.Object({
  id: Type.String({ description: 'name of the set, or the number of a feed of your own' }),
  set: OneOf(setNames),
  name: Type.String(),
  url: Nullable(Type.String({ description: 'of a feed of your own; the others are settings' })),
  state: OneOf(['known', 'absent'], 'absent: it was never imported, and nothing is known by it'),
  rows: Type.Integer(),
  version: Nullable(Type.String()),
  date: Nullable(Type.String({ description: 'day that the set is of' })),
  sha256: Nullable(Type.String()),
  fetched_at: Nullable(Time),
  age_days: Nullable(Type.Integer()),
  is_stale: Type.Boolean({ description: 'it should be fetched, and was not for three times its pace' }),
  fetch: Type.Object({
    enabled: Type.Boolean({ description: 'an address is named in the settings (vm_epss_url, vm_kev_url, vm_osv_url)' }),
    every_hours: Nullable(Type.Integer()),
    tried_at: Nullable(Time),
    succeeded_at: Nullable(Time),
    error: Nullable(Type.String({ description: 'of the last try; what was known before stays' })),
  }),
});

interface FeedRow {
  readonly name: SetName;
  readonly sha256: string;
  readonly rows: number;
  readonly model: string | null;
  readonly set_date: string | null;
  readonly fetched_at: Date;
}

const viewFetch = (name: SetName, row: FetchRow | undefined, sources: IntelSources | undefined) => ({
  enabled: (sources?.urls[name] ?? '') !== '',
  every_hours: sources === undefined ? null : sources.everyMs / 3_600_000,
  tried_at: row?.tried_at.toISOString() ?? null,
  succeeded_at: row?.fetched_at?.toISOString() ?? null,
  error: row?.error ?? null,
});

type FetchView = ReturnType<typeof viewFetch>;

function isStale({ enabled, every_hours: hours, tried_at, succeeded_at }: FetchView, now: Date): boolean {
  if (!enabled || hours === null || tried_at === null) return false;
  const since = succeeded_at === null ? 0 : Date.parse(succeeded_at);
  return now.getTime() - since > 3 * hours * 3_600_000;
}

const viewFeed = (name: SetName, row: FeedRow | undefined, now: Date) => ({
  id: name,
  state: row === undefined ? ('absent' as const) : ('known' as const),
  rows: row?.rows ?? 0,
  version: row?.model ?? null,
  date: row?.set_date ?? null,
  sha256: row?.sha256 ?? null,
  fetched_at: row?.fetched_at.toISOString() ?? null,
  age_days: row === undefined ? null : Math.floor((now.getTime() - row.fetched_at.getTime()) / dayMs),
});

/** A feed of the operator's own, with what stands of its set. */
export function viewOwnFeed(row: OwnFeed, feed: FeedRow | undefined, now: Date) {
  const fetch = {
    enabled: row.enabled,
    every_hours: row.every_hours,
    tried_at: row.tried_at?.toISOString() ?? null,
    succeeded_at: row.fetched_at?.toISOString() ?? null,
    error: row.error,
  };
  const { set_name: set, name, url } = row;
  const named = { id: String(row.id), set, name, url };
  return { ...viewFeed(set, feed, now), ...named, fetch, is_stale: isStale(fetch, now) };
}

export const readFeeds = (sql: Parameters<typeof visibleFindings>[0]): Promise<FeedRow[]> =>
  sql<FeedRow[]>`select name, sha256, rows, model, set_date::text as set_date, fetched_at from vm_feeds`;

interface CveRow {
  readonly cve: string;
  readonly epss: number | null;
  readonly epss_percentile: number | null;
  readonly epss_date: string | null;
  readonly epss_model: string | null;
  readonly kev: boolean;
  readonly kev_added: string | null;
  readonly kev_due: string | null;
  readonly kev_ransomware: boolean;
}

/** `unknown`: the set was never imported; `absent`: it was, and does not name the vulnerability. */
const stateOf = (feeds: readonly FeedRow[], set: SetName, isNamed: boolean): 'known' | 'absent' | 'unknown' =>
  isNamed ? 'known' : feeds.some(({ name }) => name === set) ? 'absent' : 'unknown';

const States = OneOf(['known', 'absent', 'unknown'], 'absent: the set does not name it; unknown: there is no set');

const feedNames: Readonly<Record<SetName, string>> = {
  epss: 'EPSS (FIRST)',
  kev: 'Known exploited vulnerabilities (CISA)',
  osv: 'Advisories (OSV)',
};

export const intelEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/threat-intel/feeds',
    permission: 'view_intel',
    kind: 'C',
    summary: 'The imported sets: EPSS, KEV and OSV, with their age, and how their last fetch went',
    answer: Type.Object({ items: Type.Array(FeedView) }),
    handle: async ({ sql, now, host }) => {
      const [feeds, fetches, sources, own] = await Promise.all([
        readFeeds(sql),
        sql<FetchRow[]>`select * from vm_intel_fetches`,
        host.intelSources?.(),
        sql<OwnFeed[]>`select * from vm_intel_feeds order by id`,
      ]);
      const of = <Row extends { readonly name: SetName }>(rows: readonly Row[], name: SetName) =>
        rows.find((one) => one.name === name);
      const published = setNames.map((name) => {
        const fetch = viewFetch(name, of(fetches, name), sources);
        const named = { id: name, set: name, name: feedNames[name], url: null };
        return { ...viewFeed(name, of(feeds, name), now), ...named, fetch, is_stale: isStale(fetch, now) };
      });
      return { items: [...published, ...own.map((one) => viewOwnFeed(one, of(feeds, one.set_name), now))] };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/threat-intel/bundles',
    permission: 'manage_intel',
    ofOrganisation: 'Sets of threat intelligence',
    kind: 'I',
    summary:
      'Import EPSS (CSV), KEV (JSON) or advisories of OSV (zip, NDJSON, JSON) as they are published; findings follow',
    upload,
    status: 202,
    answer: Type.Intersect([RunView, Type.Object({ report: Type.Unknown() })]),
    handle: async (call) => {
      const sent = await receive<typeof BundleFields.static>(call.request, upload);
      try {
        const file = await unpack({ path: sent.file, bytes: sent.bytes });
        const set = sent.fields.set ?? (await recognise(file));
        const run = await call.audited(
          'vm.import',
          (made: Run) => `imported the set ${set} (run ${made.id})`,
          (tx) => importSet(tx, set, { file, bytes: sent.bytes, by: call.caller.actor.name }, call.now),
          ({ result }) => result,
        );
        return { ...viewRun(run), report: { ...run.result, problems: run.problems } };
      } finally {
        await sent.discard();
      }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/threat-intel/cves/:id',
    permission: 'view_intel',
    kind: 'A',
    summary: 'What is known of a vulnerability, and which of your applications have it open',
    answer: Type.Object({
      id: Type.String(),
      epss: Type.Object({
        state: States,
        value: Nullable(Type.Number()),
        percentile: Nullable(Type.Number()),
        date: Nullable(Type.String()),
        model: Nullable(Type.String()),
      }),
      kev: Type.Object({
        state: States,
        added: Nullable(Type.String()),
        due: Nullable(Type.String()),
        ransomware: Type.Boolean(),
      }),
      applications: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), open: Type.Integer() })),
    }),
    handle: async ({ sql, params, caller }) => {
      const id = (params['id'] ?? '').toUpperCase();
      if (!/^CVE-\d{4}-\d{4,19}$/.test(id)) throw notFound('CVE', id.slice(0, 60));
      const reach = caller.reach('view_findings', false);
      const [feeds, [row], applications] = await Promise.all([
        readFeeds(sql),
        sql<CveRow[]>`
          select cve, epss, epss_percentile, epss_date::text as epss_date, epss_model, kev,
            kev_added::text as kev_added, kev_due::text as kev_due, kev_ransomware
          from vm_cves where cve = ${id}`,
        reach === null
          ? []
          : sql<{ id: number; name: string; n: number }[]>`
              select a.id, a.name, found.n from vm_applications a join (
                select application_id, count(*)::int as n from vm_findings
                where is_open and vuln_ids @> ${sql.json([id])} and ${visibleFindings(sql, reach)}
                group by application_id) found on found.application_id = a.id
              order by found.n desc, a.id limit 500`,
      ]);
      return {
        id,
        epss: {
          state: stateOf(feeds, 'epss', row?.epss != null),
          value: row?.epss ?? null,
          percentile: row?.epss_percentile ?? null,
          date: row?.epss_date ?? null,
          model: row?.epss_model ?? null,
        },
        kev: {
          state: stateOf(feeds, 'kev', row?.kev === true),
          added: row?.kev_added ?? null,
          due: row?.kev_due ?? null,
          ransomware: row?.kev_ransomware ?? false,
        },
        applications: applications.map((one) => ({ id: String(one.id), name: one.name, open: one.n })),
      };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/threat-intel/exposure',
    permission: 'view_findings',
    kind: 'A',
    summary: 'Open findings that are exploited (KEV) or likely to be (EPSS), by application',
    query: Type.Object(
      { epss_gte: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 0.1, description: '0 to 1' })) },
      closed,
    ),
    answer: Type.Object({
      epss_gte: Type.Number(),
      items: Type.Array(
        Type.Object({
          application_id: Type.String(),
          application: Type.String(),
          kev: Type.Integer(),
          epss: Type.Integer({ description: 'with at least this probability' }),
          max_epss: Nullable(Type.Number()),
        }),
      ),
    }),
    handle: async ({ sql, reach, query }) => {
      const { epss_gte: least = 0.1 } = query;
      const rows = await sql<{ id: number; name: string; kev: number; epss: number; max_epss: number | null }[]>`
        select a.id, a.name, found.kev, found.epss, found.max_epss from vm_applications a join (
          select application_id, count(*) filter (where kev)::int as kev,
            count(*) filter (where epss >= ${least}::float8::real)::int as epss, max(epss) as max_epss
          from vm_findings where is_open and (kev or epss >= ${least}::float8::real) and ${visibleFindings(sql, reach)}
          group by application_id) found on found.application_id = a.id
        order by found.kev desc, found.epss desc, a.id limit 1000`;
      return {
        epss_gte: least,
        items: rows.map(({ id, name, ...counts }) => ({ application_id: String(id), application: name, ...counts })),
      };
    },
  }),
];
