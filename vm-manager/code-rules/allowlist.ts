// /secrets/allowlist: what people say is no secret, until an end.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf, anyOf } from '../database.js';
import { requireWhole } from '../kit/caller.js';
import { endpoint, notFound, toId, toMoment, unfit, When, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { requirePattern } from './pattern.js';

const closed = { additionalProperties: false } as const;
const allowedMax = 1000;

const AllowView = Type.Object({
  id: Type.String(),
  application_id: Nullable(Type.String()),
  kind: OneOf(['hash', 'path', 'regex']),
  value: Type.String(),
  reason: Type.String(),
  expires_at: Time,
  created_by: Type.String(),
  created_at: Time,
});

interface AllowRow {
  readonly id: number;
  readonly application_id: number | null;
  readonly kind: 'hash' | 'path' | 'regex';
  readonly value: string;
  readonly reason: string;
  readonly expires_at: Date;
  readonly created_by: string;
  readonly created_at: Date;
}

const view = (row: AllowRow) => ({
  ...{ id: String(row.id), application_id: row.application_id === null ? null : String(row.application_id) },
  ...{ kind: row.kind, value: row.value, reason: row.reason, expires_at: row.expires_at.toISOString() },
  ...{ created_by: row.created_by, created_at: row.created_at.toISOString() },
});

const ofApplication = visibleByApplication('vm_secret_allowlist');

const list = endpoint({
  method: 'GET',
  path: '/secrets/allowlist',
  permission: 'view_code',
  kind: 'C',
  summary: 'What was said to be no secret, for every application and for those within reach, the newest first',
  query: Type.Object(
    {
      ...ListQuery,
      application_id: Type.Optional(Type.String({ maxLength: 20 })),
      over: Type.Optional(Type.Boolean({ description: 'only entries that have ended, or have not' })),
    },
    closed,
  ),
  answer: List(AllowView),
  handle: async ({ sql, reach, query, now }) => {
    const { application_id: application, over } = query;
    const where = allOf(sql, [
      // one of every application decides over those within reach, too
      anyOf(sql, [sql`application_id is null`, sql`${ofApplication(sql, reach)}`]),
      ...(application === undefined ? [] : [sql`application_id = ${toId(application, 'application')}`]),
      ...(over === undefined ? [] : [sql`(expires_at <= ${now}) = ${over}`]),
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<AllowRow>(sql, { table: 'vm_secret_allowlist', where, sorts, sort: '-id' }, query);
    return { ...page, items: page.items.map(view) };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/secrets/allowlist/:id',
  permission: 'manage_code_rules',
  kind: 'C',
  summary: 'Remove an entry: from the next scan on what it set aside is found again',
  status: 204,
  handle: async (call) => {
    const id = toId(call.params['id'] ?? '', 'entry');
    await call.audited('vm.delete', `removed the entry ${id} of the allow list`, async (tx) => {
      const [row] = await tx<AllowRow[]>`
        select * from vm_secret_allowlist where id = ${id}
          and (application_id is null or ${ofApplication(tx, call.reach)}) for update`;
      if (row === undefined) throw notFound('entry', id);
      if (row.application_id === null) requireWhole(call.reach, 'Allow lists');
      await tx`delete from vm_secret_allowlist where id = ${row.id}`;
    });
  },
});

const allow = endpoint({
  method: 'POST',
  path: '/secrets/allowlist',
  permission: 'manage_code_rules',
  kind: 'C',
  summary: 'Say that something is no secret: from the next scan on it is set aside with the reason, until the end',
  body: Type.Object(
    {
      application_id: Type.Optional(Type.String({ maxLength: 20, description: 'without it: of every application' })),
      kind: OneOf(
        ['hash', 'path', 'regex'],
        'hash: the SHA-256 of the secret; path: files, with * and **; regex: a pattern of RE2 for the whole secret',
      ),
      value: Type.String({ minLength: 1, maxLength: 500 }),
      reason: Type.String({ minLength: 1, maxLength: 500 }),
      expires_at: When,
    },
    {
      ...closed,
      examples: [{ kind: 'path', value: 'test/**', reason: 'made up for tests', expires_at: '2027-01-31T12:00:00Z' }],
    },
  ),
  status: 201,
  answer: AllowView,
  handle: async (call) => {
    const { body, sql, now, caller, reach } = call;
    if (body.application_id === undefined) requireWhole(reach, 'Allow lists');
    const application =
      body.application_id === undefined ? null : (await requireApplication(sql, reach, body.application_id)).id;
    if (body.kind === 'hash' && !/^[0-9a-f]{64}$/i.test(body.value))
      throw unfit('/value', 'is no SHA-256', 'write 64 hexadecimal digits of the secret itself');
    if (body.kind === 'regex') requirePattern(`^(?:${body.value})$`, '/value');
    if (body.kind === 'path' && /^\**$/.test(body.value)) throw unfit('/value', 'is every file', 'name a part of them');
    const ends = toMoment(body.expires_at, '/expires_at');
    if (ends <= now) throw unfit('/expires_at', 'is over', 'name a moment that is to come');
    const [all] = await sql<{ n: number }[]>`
      select count(*)::integer as n from vm_secret_allowlist where expires_at > ${now}`;
    if ((all?.n ?? 0) >= allowedMax) throw new ApiError('conflict', `${allowedMax} entries are the most.`);
    const row = await call.audited(
      'vm.create',
      (made: AllowRow) => `allowed what is no secret (entry ${made.id})`,
      async (tx) => {
        const [made] = await tx<AllowRow[]>`
          insert into vm_secret_allowlist (application_id, kind, value, reason, expires_at, created_by, created_at)
          values (${application}, ${body.kind}, ${body.value}, ${body.reason}, ${ends}, ${caller.actor.name}, ${now})
          returning *`;
        if (made === undefined) throw new Error('the entry was not stored');
        return made;
      },
      () => body,
    );
    return view(row);
  },
});

export const allowlistEndpoints: readonly Endpoint[] = [list, allow, remove];
