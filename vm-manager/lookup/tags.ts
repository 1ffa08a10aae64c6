// Tags of applications and findings: which there are, and given or taken from many at once.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { json, type Tx } from '../database.js';
import { visibleFindings } from '../findings/query.js';
import { reachable, type Reach } from '../kit/caller.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';

const closed = { additionalProperties: false } as const;
const entities = ['application', 'finding'] as const;
const tagsMax = 50;
const idsMax = 500;
const listedMax = 1000;

const Tag = Type.String({ minLength: 1, maxLength: 60 });

const list = endpoint({
  method: 'GET',
  path: '/tags',
  permission: 'view_assets',
  kind: 'A',
  summary: `Tags with how many applications and open findings have them, those of most first, at most ${listedMax}`,
  query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 60, description: 'part of the tag' })) }, closed),
  answer: Type.Object({
    items: Type.Array(Type.Object({ tag: Type.String(), applications: Type.Integer(), findings: Type.Integer() })),
  }),
  handle: async ({ sql, caller, reach, query: { q = '' } }) => {
    const seen = caller.reach('view_findings', false);
    const items = await sql<{ tag: string; applications: number; findings: number }[]>`
      select tag, sum(applications)::int as applications, sum(findings)::int as findings from (
        select one as tag, 1 as applications, 0 as findings
        from vm_applications a, jsonb_array_elements_text(a.tags) one
        where ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)}
        union all
        select one, 0, 1 from vm_findings, jsonb_array_elements_text(tags) one
        where is_open and tags <> '[]' and ${seen === null ? sql`false` : visibleFindings(sql, seen)}) all_of_them
      where position(lower(${q}) in lower(tag)) > 0
      group by tag order by sum(applications) + sum(findings) desc, tag limit ${listedMax}`;
    return { items };
  },
});

const Body = Type.Object(
  {
    entity: OneOf(entities),
    ids: Type.Array(Type.String({ maxLength: 20 }), { minItems: 1, maxItems: idsMax, uniqueItems: true }),
    add: Type.Optional(Type.Array(Tag, { maxItems: tagsMax, uniqueItems: true })),
    remove: Type.Optional(Type.Array(Tag, { maxItems: tagsMax, uniqueItems: true })),
  },
  { ...closed, examples: [{ entity: 'application', ids: ['1'], add: ['payment'], remove: [] }] },
);
type Body = Static<typeof Body>;

/** Findings are tagged by those who triage them. Throws ApiError where that is not the caller's. */
function reachOf({ caller, reach }: Call, entity: Body['entity']): Reach {
  const found = entity === 'application' ? reach : caller.reach('triage_findings', true);
  if (found === null) throw new ApiError('role_denied', 'Tags of findings need the permission triage_findings.');
  return found;
}

const lockedRow = (tx: Tx, reach: Reach, entity: Body['entity'], id: string) =>
  entity === 'application'
    ? tx<{ tags: readonly string[] }[]>`
        select tags from vm_applications a
        where id = ${id} and ${reachable(tx, reach, tx`a.id`, tx`a.project_id`)} for update`
    : tx<{ tags: readonly string[] }[]>`
        select tags from vm_findings where id = ${id} and ${visibleFindings(tx, reach)} for update`;

async function changeOne(tx: Tx, reach: Reach, body: Body, given: string, now: Date): Promise<void> {
  const { entity, add = [], remove = [] } = body;
  const id = toId(given, entity);
  const [row] = await lockedRow(tx, reach, entity, id);
  if (row === undefined) throw notFound(entity, id);
  const tags = [...new Set([...row.tags.filter((tag) => !remove.includes(tag)), ...add])];
  if (tags.length > tagsMax) throw new ApiError('conflict', `It would have more than ${tagsMax} tags.`);
  if (tags.length === row.tags.length && tags.every((tag) => row.tags.includes(tag))) return;
  const table = tx(entity === 'application' ? 'vm_applications' : 'vm_findings');
  await tx`update ${table} set tags = ${json(tx, tags)}, updated_at = ${now}, version = version + 1 where id = ${id}`;
}

const assign = endpoint({
  method: 'POST',
  path: '/tags/assign',
  permission: 'edit_assets',
  kind: 'B',
  summary: `Give tags to up to ${idsMax} applications or findings, and take others; an answer for each`,
  body: Body,
  answer: Type.Object({
    changed: Type.Integer(),
    failed: Type.Integer(),
    items: Type.Array(Type.Object({ id: Type.String(), ok: Type.Boolean(), detail: Nullable(Type.String()) })),
  }),
  handle: async (call) => {
    const { body } = call;
    if ((body.add ?? []).length + (body.remove ?? []).length === 0)
      throw unfit('/add', 'is missing', 'name tags to add or to remove');
    const reach = reachOf(call, body.entity);
    const items = await call.audited(
      'vm.update',
      (done: readonly { ok: boolean }[]) =>
        `changed tags of ${done.filter(({ ok }) => ok).length} ${body.entity}s at once`,
      async (tx) => {
        const done: { id: string; ok: boolean; detail: string | null }[] = [];
        // always in the order of ids, so that two such requests never wait for each other in a circle
        for (const id of [...body.ids].sort((left, right) => Number(left) - Number(right)))
          done.push({ id, ...(await tryOne(tx, (inner) => changeOne(inner, reach, body, id, call.now))) });
        return done;
      },
      () => body,
    );
    const failed = items.filter(({ ok }) => !ok).length;
    return { changed: items.length - failed, failed, items };
  },
});

async function tryOne(tx: Tx, change: (inner: Tx) => Promise<void>): Promise<{ ok: boolean; detail: string | null }> {
  try {
    await tx.savepoint(change);
    return { ok: true, detail: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ok: false, detail: error.message };
  }
}

export const tagEndpoints: readonly Endpoint[] = [list, assign];
