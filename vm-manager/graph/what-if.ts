// What if these findings were fixed? Their applications are read again without them, so that the next urgent findings
// take their places, and everything that they touch is worked out anew.
import { ApiError, OneOf } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { chainId, chainName, chainsAnswer } from '../chains/present.js';
import type { Chain } from '../chains/chain.js';
import type { RankedChains } from '../chains/group.js';
import { allOf, anyOf } from '../database.js';
import { visibleFindings } from '../findings/query.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { currentChains } from './live-engine.js';
import { applicationsPerRead, loadApplications } from './rows.js';
import { scopeOf } from './scope.js';
import { ChainsView, StatsView, ScopeQuery } from './shapes.js';

const closed = { additionalProperties: false } as const;
const removedMax = 500;

/** Controls that can be taken for working: what they stand before is taken for fixed. */
const controls = ['virtual_patches'] as const;

const Question = Type.Object(
  {
    ...ScopeQuery.properties,
    remove_vuln_ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 20 }), { maxItems: removedMax, description: 'findings that were fixed' }),
    ),
    controls: Type.Optional(
      Type.Array(OneOf(controls), {
        maxItems: controls.length,
        description: 'virtual_patches: also every finding behind a proven virtual patch',
      }),
    ),
  },
  closed,
);

const Short = Type.Object(
  {
    id: Type.String(),
    kind: Type.String(),
    name: Type.String(),
    score: Type.Integer(),
    danger: Type.Boolean(),
    hop_vuln_ids: Type.Array(Type.String()),
    stands_again: Type.Optional(Type.Boolean({ description: 'a chain of the same id stands by other findings' })),
  },
  closed,
);

const hopsOf = (chain: Chain): string => chain.hops.map(({ finding }) => finding.id).join('>');
const short = (chain: Chain) => ({
  id: chainId(chain),
  kind: chain.kind,
  name: chainName(chain),
  score: chain.score,
  danger: chain.danger,
  hop_vuln_ids: chain.hops.map(({ finding }) => finding.id),
});

interface Removed {
  readonly id: number;
  readonly application_id: number;
  readonly title: string;
}

type Asked = Call<Record<string, string>, unknown, Static<typeof Question>>;

/** The findings that are taken away: those that are named, and those behind the controls. Throws 404, 422. */
async function readRemoved({ sql, reach, body }: Asked): Promise<Removed[]> {
  const { remove_vuln_ids: named = [], controls: assumed = [] } = body;
  const ids = [...new Set(named.map((id) => toId(id, 'finding')))];
  if (ids.length === 0 && assumed.length === 0)
    throw unfit('/remove_vuln_ids', 'names nothing', 'name findings, or controls');
  const wanted = anyOf(sql, [
    ...(ids.length === 0 ? [] : [sql`id in ${sql(ids)}`]),
    ...(assumed.includes('virtual_patches') ? [sql`(virtually_patched and is_open)`] : []),
  ]);
  const rows = await sql<Removed[]>`
    select id, application_id, title from vm_findings where ${allOf(sql, [visibleFindings(sql, reach), wanted])}
    order by id`;
  const found = new Set(rows.map(({ id }) => String(id)));
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw notFound('finding', missing);
  return rows;
}

/** The chains that are gone, and those that are listed now; only listed chains are compared. */
function compare(before: RankedChains, after: RankedChains, removed: ReadonlySet<string>) {
  const gone = before.chains.filter((chain) => chain.hops.some(({ finding }) => removed.has(finding.id)));
  const still = new Set(after.chains.map(chainId));
  const listed = new Set(before.chains.map(hopsOf));
  return {
    chains_gone: gone.map((chain) => ({ ...short(chain), stands_again: still.has(chainId(chain)) })),
    chains_new: after.chains.filter((chain) => !listed.has(hopsOf(chain))).map(short),
  };
}

async function answer(call: Asked) {
  const { application_id: application, internet_only: internetOnly } = call.body;
  const removed = await readRemoved(call);
  const engine = await currentChains(call.host);
  const scope = await scopeOf(call, engine, {
    ...(application === undefined ? {} : { application_id: application }),
    ...(internetOnly === undefined ? {} : { internet_only: internetOnly }),
  });
  const ids = [...new Set(removed.map(({ application_id: id }) => id))];
  if (ids.length > applicationsPerRead)
    throw new ApiError('unfit', `The findings are of more than ${applicationsPerRead} applications; ask in parts.`);
  const { sql } = call;
  const gone = removed.map(({ id }) => id);
  const loaded =
    ids.length === 0 ? [] : await loadApplications(sql, sql`a.id in ${sql(ids)}`, sql`id not in ${sql(gone)}`);
  const before = engine.read(scope);
  const after = engine.readWith(
    loaded.map(({ application: { id }, findings }) => ({ applicationId: id, findings })),
    scope,
  );
  const change = Object.fromEntries(
    Object.entries(after.stats).map(([name, count]) => [
      name,
      count - (before.stats[name as keyof typeof before.stats] ?? 0),
    ]),
  );
  return {
    removed: removed.map((row) => ({
      vuln_id: String(row.id),
      title: row.title,
      application_id: String(row.application_id),
    })),
    before: before.stats,
    after: after.stats,
    change,
    ...compare(before, after, new Set(gone.map(String))),
    chains_after: chainsAnswer(after).chains,
  };
}

export const whatIf: Endpoint = endpoint({
  method: 'POST',
  path: '/graph/attack-chains/what-if',
  permission: 'view_findings',
  kind: 'B',
  reads: true,
  summary: 'Which chains are gone if these findings are fixed, which take their place, and how the counts change',
  body: Question,
  answer: Type.Object(
    {
      removed: Type.Array(Type.Object({ vuln_id: Type.String(), title: Type.String(), application_id: Type.String() })),
      before: StatsView,
      after: StatsView,
      change: Type.Record(Type.String(), Type.Integer(), { description: 'after less before' }),
      chains_gone: Type.Array(Short, { description: 'of those that are listed before' }),
      chains_new: Type.Array(Short, { description: 'listed after and not before: formed anew, or moved up' }),
      chains_after: ChainsView.properties.chains,
    },
    closed,
  ),
  handle: async (call) => answer(call),
});
