// A resource as data: its table, its columns, who may read and write it. The five endpoints of plain reading and
// writing come from it, with filters, sorts, pages, versions (If-Match) and audit entries.
import { ApiError, escapeLike, Time } from '#http-kit';
import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import {
  allOf,
  anyOf,
  isStillReferenced,
  json,
  violatedUnique,
  type Fragment,
  type Queryable,
  type Tx,
} from '../database.js';
import type { Reach } from './caller.js';
import { endpoint, notFound, toId, type Call, type Endpoint } from './endpoint.js';
import { hasOneOf, SomeOf } from './comma-list.js';
import { List, ListQuery, readPage, SortQuery, type SortColumn } from './list.js';
import type { VmPermission } from './permissions.js';
import { mayWrite } from './values/masked-address.js';
import { textOf } from './values/text.js';

type Given = Readonly<Record<string, unknown>>;

export interface Column {
  readonly schema: TSchema;
  /** How the value stands in the table. `secret`: sealed by `check`, and in no answer and no audit entry. */
  readonly as: 'plain' | 'json' | 'id' | 'time' | 'secret';
  /** `create`: given once; `always`: changed by PATCH too; `never`: the program's own. */
  readonly write: 'create' | 'always' | 'never';
  readonly required?: boolean;
  /** A query parameter of this name: equal to it, or (of a JSON list) has it. */
  readonly filter?: 'equal' | 'has';
  /** `q` looks into it. */
  readonly searched?: boolean;
  readonly sort?: SortColumn['type'];
  /** Too long for an entry of the audit log, which says only that it was given. */
  readonly isLong?: boolean;
}

export type Row = Readonly<Record<string, unknown>> & { readonly id: number; readonly version: number };

export interface Resource {
  /** `/projects` */
  readonly path: string;
  /** One of them, in messages. */
  readonly noun: string;
  readonly table: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly view: VmPermission;
  readonly edit: VmPermission;
  readonly defaultSort?: string;
  /** Rows that somebody may see; of the table's own columns. */
  readonly visible: (sql: Queryable, reach: Reach) => Fragment;
  /** Of the endpoints that write; see `Endpoint`. */
  readonly ofOrganisation?: string;
  /** Asks what other parts know, such as who is a user: before the transaction, which keeps the connection. */
  readonly ask?: (call: Call, values: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Throws ApiError for values that the schema cannot refuse; may add columns. Runs in the transaction. */
  readonly check?: (tx: Tx, call: Call, values: Record<string, unknown>, before: Row | null) => Promise<void>;
  readonly after?: (tx: Tx, call: Call, row: Row, before: Row | null) => Promise<void>;
  /** What the audit entry of a change says beside what was given. */
  readonly changes?: (before: Row, after: Row) => Readonly<Record<string, unknown>>;
  /** Before a row goes; throws where it must stay. */
  readonly beforeDelete?: (tx: Tx, call: Call, row: Row) => Promise<void>;
  /**
   * A row, or what was given of one, as those see it who may read it and not write it, and as the audit log has it. By
   * default as it is.
   */
  readonly masked?: (values: Given) => Given;
  /** Which of the five there are; all by default. */
  readonly only?: readonly ('list' | 'get' | 'create' | 'patch' | 'delete')[];
}

const own = { id: Type.String(), version: Type.Integer(), created_at: Time, updated_at: Time };

export function viewSchema(resource: Resource): TObject {
  return Type.Object({
    ...own,
    ...Object.fromEntries(
      Object.entries(resource.columns)
        .filter(([, { as }]) => as !== 'secret')
        .map(([name, { schema }]) => [name, Type.Union([schema, Type.Null()])]),
    ),
  });
}

export function toView(resource: Resource, row: Row): Record<string, unknown> {
  const view: Record<string, unknown> = { id: String(row.id) };
  for (const [name, { as }] of Object.entries(resource.columns)) {
    if (as === 'secret') continue;
    const value = row[name];
    view[name] =
      value === null || value === undefined
        ? null
        : as === 'id'
          ? textOf(value)
          : as === 'time'
            ? (value as Date).toISOString()
            : value;
  }
  view['version'] = row.version;
  view['created_at'] = (row['created_at'] as Date).toISOString();
  view['updated_at'] = (row['updated_at'] as Date).toISOString();
  return view;
}

function viewFor(caller: Call['caller'], resource: Resource, row: Row): Record<string, unknown> {
  const view = toView(resource, row);
  return mayWrite(caller, resource.edit) ? view : maskedBy(resource, view);
}

/** Without the members that the resource masks. */
const maskedBy = (resource: Pick<Resource, 'masked'>, values: Given): Record<string, unknown> => ({
  ...(resource.masked?.(values) ?? values),
});

export function resourceEndpoints(resource: Resource): Endpoint[] {
  const made = {
    list: listOf(resource),
    get: getOf(resource),
    create: createOf(resource),
    patch: patchOf(resource),
    delete: deleteOf(resource),
  };
  return (resource.only ?? (['list', 'get', 'create', 'patch', 'delete'] as const)).map((which) => made[which]);
}

const ofOrganisation = ({ ofOrganisation: what }: Resource) => (what === undefined ? {} : { ofOrganisation: what });

function sortsOf({ columns }: Resource): Record<string, SortColumn> {
  const sorts: Record<string, SortColumn> = { id: { column: 'id', type: 'number' } };
  for (const [name, { sort }] of Object.entries(columns))
    if (sort !== undefined) sorts[name] = { column: name, type: sort };
  return { ...sorts, created_at: { column: 'created_at', type: 'time' } };
}

function listOf(resource: Resource): Endpoint {
  const filters = Object.entries(resource.columns).filter(([, { filter }]) => filter !== undefined);
  const searched = Object.keys(resource.columns).filter((name) => resource.columns[name]?.searched === true);
  const parameter = ({ schema, filter, as }: Column): TSchema =>
    filter === 'has' || as === 'id'
      ? Type.String({ maxLength: 200 })
      : Array.isArray(schema['enum'])
        ? SomeOf(schema['enum'] as string[])
        : schema;
  const query = Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sortsOf(resource)),
      ...Object.fromEntries(filters.map(([name, column]) => [name, Type.Optional(parameter(column))])),
      ...(searched.length === 0 ? {} : { q: Type.Optional(Type.String({ maxLength: 200 })) }),
    },
    { additionalProperties: false },
  );
  return endpoint({
    method: 'GET',
    path: resource.path,
    permission: resource.view,
    kind: 'C',
    summary: `List of ${resource.path.slice(1)}`,
    query,
    answer: List(viewSchema(resource)),
    handle: async ({ sql, reach, caller, query: given }) => {
      const wanted = given as unknown as Record<string, string | undefined>;
      const where = filters.flatMap(([name, { filter, as }]) => {
        const value = wanted[name];
        if (value === undefined) return [];
        if (as === 'id' && !/^\d{1,18}$/.test(value)) return [sql`false`];
        return [filter === 'has' ? sql`${sql(name)} @> ${json(sql, [value])}` : hasOneOf(sql, name, value)];
      });
      const words = wanted['q'];
      const found =
        words === undefined
          ? []
          : [
              anyOf(
                sql,
                searched.map((name) => sql`${sql(name)} ilike ${`%${escapeLike(words)}%`}`),
              ),
            ];
      const page = await readPage<Row>(
        sql,
        {
          table: resource.table,
          where: allOf(sql, [resource.visible(sql, reach), ...where, ...found]),
          sorts: sortsOf(resource),
          sort: resource.defaultSort ?? 'id',
        },
        wanted,
      );
      return { ...page, items: page.items.map((row) => viewFor(caller, resource, row)) };
    },
  });
}

/** The row, locked when `tx` is a transaction that will change it. Throws 404 for what the caller cannot see. */
export async function requireRow(
  sql: Queryable,
  resource: Pick<Resource, 'table' | 'noun' | 'visible'>,
  reach: Reach,
  id: string,
  lock = false,
): Promise<Row> {
  const [row] = await sql<Row[]>`
    select * from ${sql(resource.table)} where id = ${toId(id, resource.noun)} and ${resource.visible(sql, reach)}
    ${lock ? sql`for update` : sql``}`;
  if (row === undefined) throw notFound(resource.noun, id);
  return row;
}

function getOf(resource: Resource): Endpoint {
  return endpoint({
    method: 'GET',
    path: `${resource.path}/:id`,
    permission: resource.view,
    kind: 'C',
    summary: `One ${resource.noun}`,
    answer: viewSchema(resource),
    handle: async ({ sql, reach, caller, params, reply }) => {
      const row = await requireRow(sql, resource, reach, params['id'] ?? '');
      reply.header('etag', `"${row.version}"`);
      return viewFor(caller, resource, row);
    },
  });
}

export function bodyOf(resource: Resource, isPatch: boolean): TObject {
  const given = Object.entries(resource.columns).filter(
    ([, { write }]) => write === 'always' || (!isPatch && write === 'create'),
  );
  return Type.Object(
    Object.fromEntries(
      given.map(([name, { schema, required }]) => [
        name,
        !isPatch && required === true ? schema : Type.Optional(schema),
      ]),
    ),
    { additionalProperties: false, ...(isPatch ? { minProperties: 1 } : {}) },
  );
}

const toColumn = (tx: Queryable, column: Column | undefined, value: unknown): unknown =>
  column?.as === 'json' && value !== null ? json(tx, value) : value;

export async function refuseConflicts<T>(resource: Resource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (violatedUnique(error) !== null)
      throw new ApiError('conflict', `Another ${resource.noun} has this name, or what else tells one from another.`);
    if (isStillReferenced(error))
      throw new ApiError('conflict', `The ${resource.noun} is named by others, or names something that is not there.`);
    throw error;
  }
}

function valuesOf(tx: Queryable, resource: Resource, given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, toColumn(tx, resource.columns[name], value)]),
  );
}

/** Stores a row of what was given, as POST does. Throws what `check` throws, and the database's own refusals. */
export async function insertRow(tx: Tx, resource: Resource, call: Call, body: Given): Promise<Row> {
  const given = { ...body };
  await resource.check?.(tx, call, given, null);
  const values = { ...valuesOf(tx, resource, given), created_at: call.now, updated_at: call.now };
  const [made] = await tx<Row[]>`insert into ${tx(resource.table)} ${tx(values as never)} returning *`;
  if (made === undefined) throw new Error(`the ${resource.noun} was not stored`);
  await resource.after?.(tx, call, made, null);
  return made;
}

/** Changes a row that is locked, as PATCH does. Throws as `insertRow`. */
export async function updateRow(tx: Tx, resource: Resource, call: Call, body: Given, before: Row): Promise<Row> {
  const given = { ...body };
  await resource.check?.(tx, call, given, before);
  const values = { ...valuesOf(tx, resource, given), updated_at: call.now, version: before.version + 1 };
  const [made] = await tx<Row[]>`
    update ${tx(resource.table)} set ${tx(values as never)} where id = ${before.id} returning *`;
  if (made === undefined) throw notFound(resource.noun, String(before.id));
  await resource.after?.(tx, call, made, before);
  return made;
}

function createOf(resource: Resource): Endpoint {
  return endpoint({
    method: 'POST',
    path: resource.path,
    permission: resource.edit,
    ...ofOrganisation(resource),
    kind: 'C',
    summary: `Create a ${resource.noun}`,
    body: bodyOf(resource, false),
    status: 201,
    answer: viewSchema(resource),
    handle: async (call) => {
      await resource.ask?.(call, call.body);
      const row = await refuseConflicts(resource, () =>
        call.audited(
          'vm.create',
          (made: Row) => `created the ${resource.noun} ${made.id}`,
          (tx) => insertRow(tx, resource, call, call.body as Record<string, unknown>),
          (made) => maskedBy(resource, withoutSecrets(resource, toView(resource, made))),
        ),
      );
      call.reply.header('etag', `"${row.version}"`);
      return toView(resource, row);
    },
  });
}

/** Throws `conflict` (409) when If-Match names another version than the row's. */
export function checkVersion(header: string | undefined, version: number): void {
  if (header === undefined || header.trim() === '*') return;
  const listed = header.split(',').map((tag) => tag.trim().replaceAll('"', ''));
  if (listed.includes(String(version))) return;
  throw new ApiError('conflict', `It was changed meanwhile: its version is ${version}. Read it again.`);
}

/** For the audit log: which secrets and long values were given, and not what they are. */
const withoutSecrets = ({ columns }: Resource, given: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      columns[name]?.as === 'secret' || columns[name]?.isLong === true ? 'set' : value,
    ]),
  );

function patchOf(resource: Resource): Endpoint {
  return endpoint({
    method: 'PATCH',
    path: `${resource.path}/:id`,
    permission: resource.edit,
    ...ofOrganisation(resource),
    kind: 'C',
    summary: `Change a ${resource.noun} (merge patch; If-Match with its version is heeded)`,
    body: bodyOf(resource, true),
    answer: viewSchema(resource),
    handle: async (call) => {
      await resource.ask?.(call, call.body);
      let further: Readonly<Record<string, unknown>> = {};
      const row = await refuseConflicts(resource, () =>
        call.audited(
          'vm.update',
          (made: Row) => `changed the ${resource.noun} ${made.id}`,
          async (tx) => {
            const before = await requireRow(tx, resource, call.reach, call.params['id'] ?? '', true);
            checkVersion(call.request.headers['if-match'], before.version);
            const made = await updateRow(tx, resource, call, call.body, before);
            further = resource.changes?.(before, made) ?? {};
            return made;
          },
          () => ({ ...maskedBy(resource, withoutSecrets(resource, call.body as Record<string, unknown>)), ...further }),
        ),
      );
      call.reply.header('etag', `"${row.version}"`);
      return toView(resource, row);
    },
  });
}

function deleteOf(resource: Resource): Endpoint {
  return endpoint({
    method: 'DELETE',
    path: `${resource.path}/:id`,
    permission: resource.edit,
    ...ofOrganisation(resource),
    kind: 'C',
    summary: `Delete a ${resource.noun}`,
    status: 204,
    handle: async (call) =>
      refuseConflicts(resource, () =>
        call.audited('vm.delete', `deleted the ${resource.noun} ${call.params['id']}`, async (tx) => {
          const row = await requireRow(tx, resource, call.reach, call.params['id'] ?? '', true);
          checkVersion(call.request.headers['if-match'], row.version);
          await resource.beforeDelete?.(tx, call, row);
          await tx`delete from ${tx(resource.table)} where id = ${row.id}`;
        }),
      ),
  });
}
