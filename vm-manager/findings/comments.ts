// Notes that people leave at findings and applications.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { requireApplication, visibleByApplication } from '../assets/resources.js';
import type { Queryable } from '../database.js';
import type { Reach } from '../kit/caller.js';
import { endpoint, notFound, toId, type Endpoint } from '../kit/endpoint.js';
import { ListQuery } from '../kit/list.js';
import { requireFinding } from './store.js';

const closed = { additionalProperties: false } as const;
const CommentView = Type.Object({
  id: Type.String(),
  entity: Type.String(),
  entity_id: Type.String(),
  author: Type.String(),
  text: Nullable(Type.String({ description: 'null: it was deleted' })),
  created_at: Time,
});
interface Row {
  readonly id: number;
  readonly entity: string;
  readonly entity_id: number;
  readonly author: string;
  readonly text: string;
  readonly created_at: Date;
  readonly deleted_at: Date | null;
}
const view = (row: Row) => ({
  id: String(row.id),
  entity: row.entity,
  entity_id: String(row.entity_id),
  author: row.author,
  text: row.deleted_at === null ? row.text : null,
  created_at: row.created_at.toISOString(),
});
const Entity = OneOf(['finding', 'application']);

/** The application that the entity belongs to; throws 404 where it is not within reach. */
async function applicationOf(sql: Queryable, reach: Reach, entity: string, id: string): Promise<number> {
  if (entity === 'finding') return (await requireFinding(sql, reach, id)).application_id;
  return (await requireApplication(sql, reach, id)).id;
}

export const commentEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/comments',
    permission: 'view_findings',
    kind: 'C',
    summary: 'Comments on something, the oldest first',
    query: Type.Object(
      { entity: Entity, entity_id: Type.String({ maxLength: 20 }), limit: ListQuery.limit, offset: ListQuery.offset },
      closed,
    ),
    answer: Type.Object({ items: Type.Array(CommentView), total: Type.Integer() }),
    handle: async ({ sql, reach, query }) => {
      await applicationOf(sql, reach, query.entity, query.entity_id);
      const rows = await sql<(Row & { total: number })[]>`
        select *, count(*) over () as total from vm_comments where entity = ${query.entity}
          and entity_id = ${query.entity_id} order by id limit ${query.limit ?? 50} offset ${query.offset ?? 0}`;
      return { items: rows.map(view), total: rows[0]?.total ?? 0 };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/comments',
    permission: 'view_findings',
    kind: 'C',
    summary: 'Write a comment',
    body: Type.Object(
      {
        entity: Entity,
        entity_id: Type.String({ maxLength: 20 }),
        text: Type.String({ minLength: 1, maxLength: 20_000 }),
      },
      closed,
    ),
    status: 201,
    answer: CommentView,
    handle: async (call) => {
      const { body, caller } = call;
      const row = await call.audited('vm.create', `commented on the ${body.entity} ${body.entity_id}`, async (tx) => {
        const application = await applicationOf(tx, call.reach, body.entity, body.entity_id);
        const [made] = await tx<Row[]>`
          insert into vm_comments (entity, entity_id, application_id, author_id, author, text, created_at)
          values (${body.entity}, ${body.entity_id}, ${application}, ${caller.person.userId}, ${caller.actor.name},
            ${body.text}, ${call.now}) returning *`;
        if (made === undefined) throw new Error('the comment was not stored');
        return made;
      });
      return view(row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/comments/:id',
    permission: 'self',
    kind: 'C',
    summary: 'Take one of my comments back; its place stays',
    status: 204,
    handle: async (call) => {
      const id = toId(call.params['id'] ?? '', 'comment');
      await call.audited('vm.delete', `took the comment ${id} back`, async (tx) => {
        const reach = call.caller.reach('view_findings', true);
        if (reach === null) throw notFound('comment', id);
        const gone = await tx`update vm_comments set deleted_at = ${call.now}, text = ''
          where id = ${id} and author_id = ${call.caller.person.userId} and deleted_at is null
            and ${visibleByApplication('vm_comments')(tx, reach)}`;
        if (gone.count === 0) throw notFound('comment', id);
      });
    },
  }),
];
