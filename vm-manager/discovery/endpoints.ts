// /discovery: runs that look for hosts, services and APIs in what is known, and what becomes of each that was found.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { visibleByApplication } from '../assets/resources.js';
import { allOf } from '../database.js';
import { isUnconfined } from '../kit/caller.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { runStatuses, RunView, viewRun, type Run } from '../kit/runs.js';
import { assetKinds, assetStates, hostOf, ownSources, sources, type Source } from './asset.js';
import { promote, PromoteBody } from './promote.js';
import { beginDiscovery, discoveryKind, stopDiscovery } from './run.js';
import type { AssetRow } from './store.js';

const closed = { additionalProperties: false } as const;
/** Reading the request takes as long as it is long. */
const textMax = 2 * 1024 * 1024;
const ofOrganisation = 'Assets that were discovered';

const begin = endpoint({
  method: 'POST',
  path: '/discovery/runs',
  permission: 'run_discovery',
  ofOrganisation,
  kind: 'R',
  summary:
    'Look for hosts, services and APIs in what this server knows, and in a zone file or a report of Nmap that is ' +
    'sent along; nothing is asked over the network',
  raw: { bytesMax: textMax * 2 + 1024 * 1024 },
  body: Type.Object(
    {
      sources: Type.Optional(
        Type.Array(OneOf(ownSources), {
          ...{ maxItems: ownSources.length, uniqueItems: true },
          description: 'of what this server knows; all of them by default, none where a text is sent alone',
        }),
      ),
      seeds: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
          ...{ maxItems: 100, uniqueItems: true },
          description: 'domains: they are assets themselves, and only what is below them is kept; none: all is kept',
        }),
      ),
      zone: Type.Optional(
        Type.Object(
          {
            origin: Type.Optional(Type.String({ maxLength: 253, description: 'of names that end without a dot' })),
            text: Type.String({ minLength: 1, maxLength: textMax }),
          },
          { ...closed, description: 'a zone file as name servers have it' },
        ),
      ),
      nmap: Type.Optional(
        Type.String({ minLength: 1, maxLength: textMax, description: 'what `nmap -oX` has written' }),
      ),
    },
    { ...closed, examples: [{ seeds: ['example.com'] }] },
  ),
  status: 202,
  answer: RunView,
  handle: async (call) => {
    const { seeds = [], zone, nmap } = call.body;
    const hosts = seeds.map((given, at) => {
      const url = /^https?:\/\//i.test(given) && URL.canParse(given) ? new URL(given).hostname : given;
      const host = hostOf(url);
      if (host === null) throw unfit(`/seeds/${at}`, 'is no domain, host or address', 'write it as example.com');
      return host;
    });
    const own = call.body.sources ?? (zone === undefined && nmap === undefined ? ownSources : []);
    const wanted: Source[] = [
      ...(hosts.length === 0 ? [] : (['seed'] as const)),
      ...own,
      ...(zone === undefined ? [] : (['zone'] as const)),
      ...(nmap === undefined ? [] : (['nmap'] as const)),
    ];
    if (wanted.length === 0) throw unfit('/sources', 'is empty', 'name one, or send a zone, a report or seeds');
    const [open] = await call.sql<{ id: number }[]>`
      select id from vm_runs where kind = ${discoveryKind} and status in ('queued', 'running') limit 1`;
    if (open !== undefined) throw new ApiError('conflict', `The discovery ${open.id} is running: stop it, or wait.`);
    const origin = zone?.origin === undefined ? '' : hostOf(zone.origin);
    if (origin === null) throw unfit('/zone/origin', 'is no domain', 'write it as example.com');
    const given = zone === undefined ? null : { origin, text: zone.text };
    return viewRun(
      await beginDiscovery(call, { sources: wanted, seeds: [...new Set(hosts)], zone: given, nmap: nmap ?? null }),
    );
  },
});

const listRuns = endpoint({
  method: 'GET',
  path: '/discovery/runs',
  permission: 'view_assets',
  ofOrganisation,
  kind: 'R',
  summary: 'Runs of discovery, newest first',
  query: Type.Object({ ...ListQuery, status: Type.Optional(SomeOf(runStatuses)) }, closed),
  answer: List(RunView),
  handle: async ({ sql, query }) => {
    const where = allOf(sql, [
      sql`kind = ${discoveryKind}`,
      query.status === undefined ? sql`true` : hasOneOf(sql, 'status', query.status),
    ]);
    const by = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<Run>(sql, { table: 'vm_runs', where, sorts: by, sort: '-id' }, query);
    return { ...page, items: page.items.map(viewRun) };
  },
});

async function requireRun({ sql, params }: Call): Promise<Run> {
  const id = toId(params['id'] ?? '', 'discovery');
  const [row] = await sql<Run[]>`select * from vm_runs where id = ${id} and kind = ${discoveryKind}`;
  if (row === undefined) throw notFound('discovery', id);
  return row;
}

const getRun = endpoint({
  method: 'GET',
  path: '/discovery/runs/:id',
  permission: 'view_assets',
  ofOrganisation,
  kind: 'R',
  summary: 'One run: how far it is, and what each source gave',
  answer: RunView,
  handle: async (call) => viewRun(await requireRun(call)),
});

const cancelRun = endpoint({
  method: 'POST',
  path: '/discovery/runs/:id/cancel',
  permission: 'run_discovery',
  ofOrganisation,
  kind: 'S',
  summary: 'Stop a run; what it found is kept',
  answer: RunView,
  handle: async (call) => {
    const { id } = await requireRun(call);
    const run = await call.audited('vm.transition', `stopped the discovery ${id}`, async (tx) => {
      const [row] = await tx<Run[]>`
        update vm_runs set cancel_asked = true where id = ${id} and status in ('queued', 'running') returning *`;
      if (row === undefined) throw new ApiError('conflict', 'The discovery is over.');
      return row;
    });
    stopDiscovery(run.id);
    return viewRun(run);
  },
});

const AssetView = Type.Object({
  id: Type.String(),
  kind: OneOf(assetKinds),
  host: Type.String(),
  port: Nullable(Type.Integer()),
  url: Nullable(Type.String()),
  state: OneOf(assetStates),
  reason: Type.String({ description: 'why it is ignored' }),
  sources: Type.Array(OneOf(sources)),
  provenance: Type.Array(
    Type.Object({ source: OneOf(sources), detail: Type.String(), run_id: Type.String(), at: Time }),
    { description: 'who has named it, the newest first' },
  ),
  site: Nullable(Type.String({ description: 'the site of the firewall that answers for it by name; null: none' })),
  exposed: Nullable(Type.Boolean({ description: 'null: no source says whether others reach it' })),
  unprotected: Type.Boolean({ description: 'exposed, and not behind the firewall' }),
  application_id: Nullable(Type.String()),
  target_id: Nullable(Type.String()),
  first_seen: Time,
  last_seen: Time,
  decided_by: Nullable(Type.String()),
  decided_at: Nullable(Time),
});

const textOrNull = (id: number | null): string | null => (id === null ? null : String(id));

const view = (row: AssetRow) => ({
  ...{ id: String(row.id), kind: row.kind, host: row.host, port: row.port, url: row.url, state: row.state },
  ...{ reason: row.reason, sources: row.sources, provenance: row.provenance, site: row.site },
  ...{ exposed: row.is_exposed, unprotected: row.is_exposed === true && row.site === null },
  ...{ application_id: textOrNull(row.application_id), target_id: textOrNull(row.target_id) },
  ...{ first_seen: row.first_seen.toISOString(), last_seen: row.last_seen.toISOString() },
  ...{ decided_by: row.decided_by, decided_at: row.decided_at?.toISOString() ?? null },
});

const sorts = {
  last_seen: { column: 'last_seen', type: 'time' },
  first_seen: { column: 'first_seen', type: 'time' },
  host: { column: 'host', type: 'text' },
} as const;
const visible = visibleByApplication('vm_discovery_assets');

const listAssets = endpoint({
  method: 'GET',
  path: '/discovery/assets',
  permission: 'view_assets',
  kind: 'C',
  summary: 'What was discovered; who reaches a part of the organisation sees what belongs to it',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sorts),
      state: Type.Optional(SomeOf(assetStates)),
      source: Type.Optional(OneOf(sources)),
      kind: Type.Optional(SomeOf(assetKinds)),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'part of the host' })),
      unprotected: Type.Optional(Type.Boolean({ description: 'exposed, and not behind the firewall' })),
    },
    closed,
  ),
  answer: List(AssetView),
  handle: async ({ sql, reach, query }) => {
    const { state, source, kind, q, unprotected } = query;
    const where = allOf(sql, [
      visible(sql, reach),
      ...(state === undefined ? [] : [hasOneOf(sql, 'state', state)]),
      ...(kind === undefined ? [] : [hasOneOf(sql, 'kind', kind)]),
      ...(source === undefined ? [] : [sql`sources ? ${source}`]),
      ...(q === undefined ? [] : [sql`strpos(host, ${q.toLowerCase()}) > 0`]),
      ...(unprotected === undefined ? [] : [sql`(coalesce(is_exposed, false) and site is null) = ${unprotected}`]),
    ]);
    const table = 'vm_discovery_assets';
    const page = await readPage<AssetRow>(sql, { table, where, sorts, sort: '-last_seen' }, query);
    return { ...page, items: page.items.map(view) };
  },
});

const promoteAsset = endpoint({
  method: 'POST',
  path: '/discovery/assets/:id/promote',
  permission: 'edit_assets',
  ofOrganisation,
  kind: 'S',
  summary: 'Make it a target of an application, which is made with it where it is new; it keeps where it came from',
  body: PromoteBody,
  answer: AssetView,
  handle: async (call) => view(await promote(call, call.params['id'] ?? '', call.body)),
});

const ignoreAsset = endpoint({
  method: 'POST',
  path: '/discovery/assets/:id/ignore',
  permission: 'edit_assets',
  ofOrganisation,
  kind: 'S',
  summary: 'Set it aside, with a reason; what is seen of it later changes nothing',
  body: Type.Object(
    {
      reason: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }),
      ignored: Type.Optional(Type.Boolean({ description: 'false: it is looked at again' })),
    },
    { ...closed, examples: [{ reason: 'a parked domain of the registrar' }] },
  ),
  answer: AssetView,
  handle: async (call) => {
    const id = toId(call.params['id'] ?? '', 'asset');
    const { reason, ignored = true } = call.body;
    const row = await call.audited(
      'vm.transition',
      ignored ? `ignores the asset ${id}: ${reason}` : `looks at the asset ${id} again: ${reason}`,
      async (tx) => {
        const [made] = await tx<AssetRow[]>`
          update vm_discovery_assets set version = version + 1, reason = ${reason},
            state = case when ${ignored} then 'ignored' when application_id is null then 'new' else 'known' end,
            decided_by = ${call.caller.actor.name}, decided_at = ${call.now}
          where id = ${id} returning *`;
        if (made === undefined || !isUnconfined(call.reach)) throw notFound('asset', id);
        return made;
      },
    );
    return view(row);
  },
});

export const discoveryEndpoints: readonly Endpoint[] = [
  begin,
  listRuns,
  getRun,
  cancelRun,
  listAssets,
  promoteAsset,
  ignoreAsset,
];
