// /findings/clusters: what several tools say of one weakness, proposed with reasons; people merge it, or take it apart.
import { ApiError, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Sql, Tx } from '../../database.js';
import type { Reach } from '../../kit/caller.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../../kit/endpoint.js';
import { List, limitMax } from '../../kit/list.js';
import { FindingView, viewFinding, type FindingRow } from '../fields.js';
import { visibleFindings } from '../query.js';
import { requireFinding } from '../store.js';
import { clustersOf, reasons, type Cluster, type Clustered, type Tie } from './clusters.js';
import { link, linkedMax, pairOf, pin, pinnedAmong, unlink } from './duplicates.js';

const closed = { additionalProperties: false } as const;
/** The most urgent open findings, which are compared at once. */
const lookedMax = 20_000;

const TieView = Type.Object({
  vuln_ids: Type.Array(Type.String()),
  reason: OneOf(Object.keys(reasons) as (keyof typeof reasons)[]),
  about: Type.String(),
  confidence: Type.Number(),
});
const ClusterView = Type.Object({
  id: Type.String({ description: 'of its oldest finding; of a merged one of the finding that stays' }),
  application_id: Type.String(),
  state: OneOf(['proposed', 'merged']),
  confidence: Type.Number(),
  reasons: Type.Array(TieView),
  items: Type.Array(FindingView),
});

const viewTie = ({ left, right, reason, confidence }: Tie) => ({
  vuln_ids: [String(left), String(right)],
  reason,
  about: reasons[reason],
  confidence,
});

/** Proposals among the open findings within reach; `application`: of one alone. */
export async function propose(sql: Sql, reach: Reach, application: string | undefined) {
  const of = application === undefined ? sql`true` : sql`application_id = ${toId(application, 'application')}`;
  const rows = await sql<Clustered[]>`
    select f.id, f.application_id, f.tool, f.cluster_key, f.cwes, f.vuln_ids,
      case when d.location ? 'kind' then d.location end as place
    from (select * from vm_findings where is_open and source <> 'quality' and ${of} and ${visibleFindings(sql, reach)}
      order by priority_score desc, id desc limit ${lookedMax + 1}) f
      left join vm_finding_details d on d.finding_id = f.id`;
  const pinned = await sql<{ left_id: number; right_id: number }[]>`
    select p.left_id, p.right_id from vm_distinct_findings p join vm_findings f on f.id = p.left_id
    where f.is_open and ${application === undefined ? sql`true` : sql`f.application_id = ${application}`}`;
  const isPartial = rows.length > lookedMax;
  const looked = isPartial ? rows.slice(0, lookedMax) : rows;
  const clusters = clustersOf(looked, new Set(pinned.map((one) => `${one.left_id}:${one.right_id}`)));
  return { clusters, isPartial };
}

const findingsOf = async (sql: Sql | Tx, ids: readonly number[]): Promise<ReadonlyMap<number, FindingRow>> => {
  const rows = ids.length === 0 ? [] : await sql<FindingRow[]>`select * from vm_findings where id in ${sql(ids)}`;
  return new Map(rows.map((row) => [row.id, row]));
};

function viewCluster({ ids, confidence, ties }: Cluster, rows: ReadonlyMap<number, FindingRow>, now: Date) {
  const found = ids.flatMap((id) => rows.get(id) ?? []);
  return {
    id: String(ids[0]),
    application_id: String(found[0]?.application_id),
    state: 'proposed' as const,
    confidence,
    reasons: ties.map(viewTie),
    items: found.map((row) => viewFinding(row, now)),
  };
}

/** A finding with its duplicates, as a cluster that stands. */
const viewMerged = (canonical: FindingRow, duplicates: readonly FindingRow[], now: Date) => ({
  id: String(canonical.id),
  application_id: String(canonical.application_id),
  state: 'merged' as const,
  confidence: 1,
  reasons: [],
  items: [canonical, ...duplicates].map((row) => viewFinding(row, now)),
});

async function listMerged(call: Call, application: string | undefined, limit: number, offset: number) {
  const { sql, reach, now } = call;
  const of = application === undefined ? sql`true` : sql`application_id = ${toId(application, 'application')}`;
  const stays = sql`${of} and ${visibleFindings(sql, reach)}
    and id in (select canonical_id from vm_findings where canonical_id is not null and status = 'duplicate')`;
  const [count] = await sql<{ n: number }[]>`select count(*)::int as n from vm_findings where ${stays}`;
  const shown = await sql<FindingRow[]>`
    select * from vm_findings where ${stays} order by id desc limit ${limit} offset ${offset}`;
  const duplicates =
    shown.length === 0
      ? []
      : await sql<FindingRow[]>`
          select * from vm_findings where status = 'duplicate' and canonical_id in ${sql(shown.map(({ id }) => id))}
          order by id limit 5000`;
  return {
    items: shown.map((row) =>
      viewMerged(
        row,
        duplicates.filter(({ canonical_id }) => canonical_id === row.id),
        now,
      ),
    ),
    total: count?.n ?? 0,
    isPartial: false,
  };
}

const clusters = endpoint({
  method: 'GET',
  path: '/findings/clusters',
  permission: 'view_findings',
  kind: 'A',
  summary: `Findings of several tools that are likely one, with reasons; among the ${lookedMax} most urgent open ones`,
  query: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax, default: 50 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, default: 0 })),
      application_id: Type.Optional(Type.String({ maxLength: 20 })),
      state: Type.Optional(OneOf(['proposed', 'merged'])),
      min_confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    },
    closed,
  ),
  answer: Type.Object({
    ...List(ClusterView).properties,
    is_partial: Type.Boolean({ description: 'there are more open findings than were compared: ask by application' }),
  }),
  handle: async (call) => {
    const { sql, reach, now, query } = call;
    const { limit = 50, offset = 0, application_id: application, min_confidence: least = 0 } = query;
    const page = { total_is_estimate: false, limit, offset, next_cursor: null };
    if (query.state === 'merged') {
      const { isPartial, ...found } = await listMerged(call, application, limit, offset);
      return { ...page, ...found, is_partial: isPartial };
    }
    const { clusters: all, isPartial } = await propose(sql, reach, application);
    const found = all.filter(({ confidence }) => confidence >= least);
    const shown = found.slice(offset, offset + limit);
    const rows = await findingsOf(
      sql,
      shown.flatMap(({ ids }) => ids),
    );
    const items = shown.map((one) => viewCluster(one, rows, now));
    return { ...page, items, total: found.length, is_partial: isPartial };
  },
});

const merge = endpoint({
  method: 'POST',
  path: '/findings/clusters/merge',
  permission: 'triage_findings',
  kind: 'B',
  summary: 'Make one finding of several: all but the canonical one (without it the oldest) become its duplicates',
  body: Type.Object(
    {
      vuln_ids: Type.Array(Type.String({ maxLength: 20 }), { minItems: 2, maxItems: linkedMax, uniqueItems: true }),
      canonical_id: Type.Optional(Type.String({ maxLength: 20 })),
      reason: Type.Optional(Type.String({ maxLength: 5000 })),
    },
    { ...closed, examples: [{ vuln_ids: ['1', '2'], reason: 'two scanners, one injection' }] },
  ),
  answer: ClusterView,
  handle: async (call) => {
    const { body, reach, caller, now } = call;
    const ids = body.vuln_ids.map((id) => Number(toId(id, 'finding')));
    const canonicalId = body.canonical_id ?? String(Math.min(...ids));
    if (!body.vuln_ids.includes(canonicalId)) throw unfit('/canonical_id', 'is none of /vuln_ids');
    return call.audited(
      'vm.transition',
      `made ${body.vuln_ids.join(', ')} one finding, ${canonicalId}`,
      async (tx) => {
        const [apart] = await pinnedAmong(tx, ids);
        if (apart !== undefined)
          throw new ApiError(
            'conflict',
            `The findings ${apart.replace(':', ' and ')} were said to be two; link them with POST ` +
              `/vulnerabilities/${canonicalId}/duplicates if they are one after all.`,
          );
        const canonical = await requireFinding(tx, reach, canonicalId, true);
        const others = body.vuln_ids.filter((id) => id !== canonicalId);
        await link(tx, reach, { canonical, ids: others, reason: body.reason?.trim() ?? '' }, caller.actor, now);
        const rows = await findingsOf(tx, ids);
        const duplicates = [...rows.values()].filter(({ id }) => String(id) !== canonicalId);
        return viewMerged(rows.get(canonical.id) ?? canonical, duplicates, now);
      },
      () => body,
    );
  },
});

/** Every pair is two from now on. */
async function pinAll(tx: Tx, call: Call, ids: readonly number[], reason: string): Promise<void> {
  for (const [index, one] of ids.entries())
    for (const other of ids.slice(index + 1)) await pin(tx, one, other, reason, call.caller.actor, call.now);
}

const split = endpoint({
  method: 'POST',
  path: '/findings/clusters/:id/split',
  permission: 'triage_findings',
  kind: 'B',
  summary: 'Take a cluster apart: duplicates are open again, and no two of it are proposed as one any more',
  body: Type.Object({ reason: Type.Optional(Type.String({ maxLength: 5000 })) }, closed),
  answer: Type.Object({
    vuln_ids: Type.Array(Type.String()),
    reopened: Type.Integer(),
    distinct: Type.Integer({ description: 'pairs that are remembered as two' }),
  }),
  handle: async (call) => {
    const { sql, reach, body } = call;
    const canonical = await requireFinding(sql, reach, toId(call.params['id'] ?? '', 'cluster'));
    const reason = body.reason?.trim() ?? '';
    const duplicates = await sql<{ id: number }[]>`
      select id from vm_findings where canonical_id = ${canonical.id} and status = 'duplicate'
        and ${visibleFindings(sql, reach)} order by id limit ${linkedMax}`;
    const proposed =
      duplicates.length > 0
        ? null
        : (await propose(sql, reach, String(canonical.application_id))).clusters.find(
            ({ ids }) => ids[0] === canonical.id,
          );
    if (proposed === undefined) throw notFound('cluster', String(canonical.id));
    const ids = proposed?.ids ?? [canonical.id, ...duplicates.map(({ id }) => id)];
    await call.audited('vm.transition', `took the cluster ${canonical.id} apart: ${ids.join(', ')}`, async (tx) => {
      const locked = await requireFinding(tx, reach, String(canonical.id), true);
      for (const { id } of duplicates) await unlink(tx, call, locked, String(id));
      await pinAll(tx, call, ids, reason);
    });
    const pairs = new Set(ids.flatMap((one) => ids.filter((id) => id > one).map((id) => pairOf(one, id).join(':'))));
    return { vuln_ids: ids.map(String), reopened: duplicates.length, distinct: pairs.size };
  },
});

export const clusterEndpoints: readonly Endpoint[] = [clusters, merge, split];
