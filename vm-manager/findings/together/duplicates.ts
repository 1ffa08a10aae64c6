// Findings that are one: links of duplicates to the finding that stays, and pairs that a person has said to be two.
import { ApiError, type Actor } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Queryable, Tx } from '../../database.js';
import type { Reach } from '../../kit/caller.js';
import { endpoint, notFound, unfit, type Call, type Endpoint } from '../../kit/endpoint.js';
import { showOne } from '../endpoints.js';
import { DetailView, type FindingRow } from '../fields.js';
import { requireFinding } from '../store.js';
import { transition } from '../transition.js';

const closed = { additionalProperties: false } as const;
export const linkedMax = 100;

/** The smaller id first. */
export const pairOf = (one: number, other: number): readonly [number, number] =>
  one < other ? [one, other] : [other, one];

export interface Linking {
  readonly canonical: FindingRow;
  readonly ids: readonly string[];
  readonly reason: string;
}

/**
 * Makes the findings duplicates of the canonical one, which is locked; what was a duplicate of theirs is one of it now.
 * Throws 404 for what is out of reach, 409 for a circle and for what is closed, 422 for another application.
 */
export async function link(
  tx: Tx,
  reach: Reach,
  { canonical, ids, reason }: Linking,
  actor: Actor,
  now: Date,
): Promise<number> {
  if (canonical.status === 'duplicate')
    throw new ApiError(
      'conflict',
      `The finding ${canonical.id} is a duplicate of ${canonical.canonical_id} itself: link to that one.`,
    );
  let linked = 0;
  for (const id of [...new Set(ids)].sort((left, right) => Number(left) - Number(right))) {
    if (id === String(canonical.id))
      throw new ApiError('conflict', `The finding ${id} cannot be a duplicate of itself.`);
    const row = await requireFinding(tx, reach, id, true);
    if (row.application_id !== canonical.application_id)
      throw unfit('/vuln_ids', `names ${id}, which belongs to another application`);
    if (row.status === 'duplicate' && row.canonical_id === canonical.id) continue;
    await tx`
      update vm_findings set canonical_id = ${canonical.id}, updated_at = ${now}, version = version + 1
      where canonical_id = ${row.id}`;
    if (row.status === 'duplicate')
      await tx`
        update vm_findings set canonical_id = ${canonical.id}, updated_at = ${now}, version = version + 1
        where id = ${row.id}`;
    else
      await transition(
        tx,
        row,
        { to: 'duplicate', by: 'person', canonicalId: canonical.id, reason: reason || `duplicate of ${canonical.id}` },
        actor,
        now,
      );
    const [left, right] = pairOf(row.id, canonical.id);
    await tx`delete from vm_distinct_findings where left_id = ${left} and right_id = ${right}`;
    linked++;
  }
  return linked;
}

export async function pin(tx: Tx, one: number, other: number, reason: string, actor: Actor, now: Date): Promise<void> {
  const [left, right] = pairOf(one, other);
  await tx`
    insert into vm_distinct_findings (left_id, right_id, by_id, by_name, reason, at)
    values (${left}, ${right}, ${actor.id}, ${actor.name}, ${reason}, ${now}) on conflict do nothing`;
}

/** Pairs among these findings, as `left:right`. */
export async function pinnedAmong(sql: Queryable, ids: readonly number[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<{ left_id: number; right_id: number }[]>`
    select left_id, right_id from vm_distinct_findings where left_id in ${sql(ids)} and right_id in ${sql(ids)}`;
  return new Set(rows.map((row) => `${row.left_id}:${row.right_id}`));
}

/** Takes the link back and remembers that the two are two. Returns the finding as it is now. */
export async function unlink(tx: Tx, call: Call, canonical: FindingRow, id: string): Promise<FindingRow> {
  const row = await requireFinding(tx, call.reach, id, true);
  if (row.status !== 'duplicate' || row.canonical_id !== canonical.id)
    throw notFound(`duplicate of the finding ${canonical.id} with the id`, id);
  const { actor } = call.caller;
  const reason = `no duplicate of ${canonical.id}`;
  await pin(tx, row.id, canonical.id, reason, actor, call.now);
  return transition(tx, row, { to: 'reopened', by: 'person', reason }, actor, call.now);
}

const Link = Type.Object(
  {
    vuln_ids: Type.Array(Type.String({ maxLength: 20 }), { minItems: 1, maxItems: linkedMax }),
    reason: Type.Optional(Type.String({ maxLength: 5000 })),
  },
  { ...closed, examples: [{ vuln_ids: ['2'], reason: 'the same parameter, found by another tool' }] },
);

export const duplicateEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/vulnerabilities/:id/duplicates',
    permission: 'triage_findings',
    kind: 'B',
    summary: `Link up to ${linkedMax} findings of the application to this one as its duplicates; all of them, or none`,
    body: Link,
    answer: DetailView,
    handle: async (call) => {
      const { body, reach, caller, now } = call;
      const id = call.params['id'] ?? '';
      const row = await call.audited(
        'vm.transition',
        `linked ${body.vuln_ids.join(', ')} to the finding ${id} as duplicates`,
        async (tx) => {
          const canonical = await requireFinding(tx, reach, id, true);
          const linking = { canonical, ids: body.vuln_ids, reason: body.reason?.trim() ?? '' };
          await link(tx, reach, linking, caller.actor, now);
          return requireFinding(tx, reach, id);
        },
        () => body,
      );
      return showOne(call, row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/vulnerabilities/:id/duplicates/:dup_id',
    permission: 'triage_findings',
    kind: 'B',
    summary: 'Take a link to a duplicate back: it is open again, and the two are proposed as one no more',
    status: 204,
    handle: async (call) => {
      const { id = '', dup_id: duplicate = '' } = call.params;
      await call.audited('vm.transition', `unlinked ${duplicate} from the finding ${id}`, async (tx) =>
        unlink(tx, call, await requireFinding(tx, call.reach, id, true), duplicate),
      );
    },
  }),
];
