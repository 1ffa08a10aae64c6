// Chains over time: when each was first seen, since when it stands, when it went; and one chain by its id.
import { Nullable, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import { chainAnswer, chainId, chainName } from '../chains/present.js';
import { allOf, type Fragment, type Queryable } from '../database.js';
import { isUnconfined, reachable, type Reach } from '../kit/caller.js';
import { endpoint, notFound, toMoment, When, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery, type SortColumn } from '../kit/list.js';
import { EvidenceView, readEvidence } from './hop-evidence.js';
import type { HistoryRow } from './history.js';
import { currentChains } from './live-engine.js';
import { scopeOf } from './scope.js';
import { ChainView } from './shapes.js';

const closed = { additionalProperties: false } as const;
const states = ['standing', 'gone'] as const;

const sorts = {
  since: { column: 'since', type: 'time' },
  gone_at: { column: 'gone_at', type: 'time', ifNull: 'infinity' },
  score: { column: 'score', type: 'number' },
} as const satisfies Readonly<Record<string, SortColumn>>;

const HistoryView = Type.Object(
  {
    chain_id: Type.String(),
    hop_vuln_ids: Type.Array(Type.String()),
    kind: Type.String(),
    name: Type.String({ description: 'as it was last seen, like the score, danger and proven hops' }),
    application_id: Type.String(),
    score: Type.Integer(),
    danger: Type.Boolean(),
    proven_hops: Type.Integer(),
    state: Type.Unsafe<(typeof states)[number]>({ type: 'string', enum: [...states] }),
    first_seen: Time,
    since: Time,
    gone_at: Nullable(Time),
  },
  closed,
);

/** Of one chain; null until the job has seen it. */
const ChainTime = Type.Object({ first_seen: Nullable(Time), since: Nullable(Time) }, closed);

const view = (row: HistoryRow) => ({
  chain_id: row.chain_id,
  hop_vuln_ids: row.hop_ids.split('>'),
  kind: row.kind,
  name: row.name,
  application_id: String(row.application_id),
  score: row.score,
  danger: row.danger,
  proven_hops: row.proven_hops,
  state: row.gone_at === null ? 'standing' : 'gone',
  first_seen: row.first_seen.toISOString(),
  since: row.since.toISOString(),
  gone_at: row.gone_at?.toISOString() ?? null,
});

/** Chains all of whose applications somebody reaches. */
function visible(sql: Queryable, reach: Reach): Fragment {
  if (isUnconfined(reach)) return sql`true`;
  return sql`not exists (
    select 1 from jsonb_array_elements_text(application_ids) as hop (application_id)
    where not exists (select 1 from vm_applications a
      where a.id = hop.application_id::bigint and ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)}))`;
}

const byId = endpoint({
  method: 'GET',
  path: '/graph/attack-chains/:id',
  permission: 'view_findings',
  kind: 'B',
  summary:
    'One chain, what each hop rests on, since when it stands, and which chains of the same findings it stands for',
  answer: Type.Object(
    {
      chain: ChainView,
      history: ChainTime,
      evidence: Type.Array(EvidenceView, { description: 'what each hop rests on, in their order' }),
      also: Type.Array(Type.Object({ id: Type.String(), kind: Type.String(), name: Type.String() }, closed)),
    },
    closed,
  ),
  handle: async (call) => {
    const id = call.params['id'] ?? '';
    const [, start] = /^chain:([1-9]\d{0,17}):[a-z0-9-]{1,80}$/.exec(id) ?? [];
    if (start === undefined) throw notFound('chain', id.slice(0, 60));
    const engine = await currentChains(call.host);
    await requireApplication(call.sql, call.reach, start);
    const scope = await scopeOf(call, engine, { application_id: start });
    const chain = engine.find(id, { ...scope, applicationId: start });
    if (chain === null) throw notFound('chain', id);
    const hops = chain.hops.map(({ finding }) => finding.id).join('>');
    const [row] = await call.sql<HistoryRow[]>`
      select * from vm_chain_history where chain_id = ${id} and hop_ids = ${hops} and gone_at is null`;
    return {
      chain: chainAnswer(chain),
      evidence: await readEvidence(call.sql, chain.hops),
      history: { first_seen: row?.first_seen.toISOString() ?? null, since: row?.since.toISOString() ?? null },
      also: chain.also.map((other) => ({ id: chainId(other), kind: other.kind, name: chainName(other) })),
    };
  },
});

const history = endpoint({
  method: 'GET',
  path: '/graph/history',
  permission: 'view_findings',
  kind: 'A',
  summary: 'Which chains are new, which are gone, and since when the others stand; looked at once a minute',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sorts),
      application_id: Type.Optional(Type.String({ maxLength: 20, description: 'only chains that start there' })),
      state: Type.Optional(Type.Unsafe<(typeof states)[number]>({ type: 'string', enum: [...states] })),
      new_since: Type.Optional(When),
      gone_since: Type.Optional(When),
    },
    closed,
  ),
  answer: List(HistoryView),
  handle: async ({ sql, reach, query }) => {
    const { application_id: application, state, new_since: newSince, gone_since: goneSince } = query;
    if (application !== undefined) await requireApplication(sql, reach, application);
    const where = allOf(sql, [
      visible(sql, reach),
      ...(application === undefined ? [] : [sql`application_id = ${application}`]),
      ...(state === undefined ? [] : [state === 'gone' ? sql`gone_at is not null` : sql`gone_at is null`]),
      ...(newSince === undefined ? [] : [sql`since >= ${toMoment(newSince, 'new_since')}`]),
      ...(goneSince === undefined ? [] : [sql`gone_at >= ${toMoment(goneSince, 'gone_since')}`]),
    ]);
    const page = await readPage<HistoryRow>(sql, { table: 'vm_chain_history', where, sorts, sort: '-since' }, query);
    return { ...page, items: page.items.map(view) };
  },
});

export const historyEndpoints: readonly Endpoint[] = [byId, history];
