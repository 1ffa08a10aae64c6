// /sca: what applications are made of, and what the advisories say of it.
import { escapeLike, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf, json } from '../database.js';
import { endpoint, notFound, toId, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery, type SortColumn } from '../kit/list.js';
import { RunView, viewRun, type Run } from '../kit/runs.js';
import { termsFor } from '../imports/run/run-import.js';
import { matchApplication } from '../osv/run.js';
import { relations, type Relation } from './listed.js';

const closed = { additionalProperties: false } as const;

interface Row {
  readonly id: number;
  readonly application_id: number;
  readonly project_id: number | null;
  readonly purl: string | null;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly licences: readonly string[];
  readonly relation: Relation;
  readonly scope_key: string;
  readonly first_run: number | null;
  readonly last_run: number | null;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly gone_at: Date | null;
}

const ComponentView = Type.Object({
  id: Type.String(),
  application_id: Type.String(),
  purl: Nullable(Type.String()),
  type: Type.String({ description: 'as in the purl: npm, pypi, deb; empty: it has none' }),
  name: Type.String(),
  version: Type.String(),
  licences: Type.Array(Type.String()),
  relation: OneOf(relations, 'direct: the root itself needs it; unknown: the bill does not say'),
  scope: Type.String({ description: 'application, format, branch, scope_key, tool and subject of its imports' }),
  first_import: Nullable(Type.String()),
  last_import: Nullable(Type.String()),
  first_seen: Time,
  last_seen: Time,
  gone_at: Nullable(Time),
});

const view = (row: Row) => ({
  id: String(row.id),
  application_id: String(row.application_id),
  purl: row.purl,
  type: row.type,
  name: row.name,
  version: row.version,
  licences: row.licences,
  relation: row.relation,
  scope: row.scope_key,
  first_import: row.first_run === null ? null : String(row.first_run),
  last_import: row.last_run === null ? null : String(row.last_run),
  first_seen: row.first_seen.toISOString(),
  last_seen: row.last_seen.toISOString(),
  gone_at: row.gone_at?.toISOString() ?? null,
});

const sorts: Readonly<Record<string, SortColumn>> = {
  id: { column: 'id', type: 'number' },
  first_seen: { column: 'first_seen', type: 'time' },
  last_seen: { column: 'last_seen', type: 'time' },
};
const visible = visibleByApplication('vm_components');
const isId = (text: string): boolean => /^\d{1,18}$/.test(text);

const listComponents = endpoint({
  method: 'GET',
  path: '/sca/components',
  permission: 'view_findings',
  kind: 'R',
  summary: 'What applications are made of, as their bills of material say',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sorts),
      application_id: Type.Optional(Type.String({ maxLength: 20 })),
      project_id: Type.Optional(Type.String({ maxLength: 20 })),
      type: Type.Optional(Type.String({ maxLength: 60, description: 'of the purl: npm, pypi, deb' })),
      name: Type.Optional(Type.String({ maxLength: 500, description: 'the whole name, whatever its case' })),
      version: Type.Optional(Type.String({ maxLength: 300 })),
      purl: Type.Optional(Type.String({ maxLength: 1500 })),
      licence: Type.Optional(Type.String({ maxLength: 200 })),
      relation: Type.Optional(OneOf(relations)),
      state: Type.Optional(OneOf(['live', 'gone', 'all'], 'gone: the last bill of its scope no longer lists it')),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'part of the name' })),
    },
    closed,
  ),
  answer: List(ComponentView),
  handle: async ({ sql, reach, query }) => {
    const { application_id: application, project_id: project, state = 'live' } = query;
    const where = allOf(sql, [
      visible(sql, reach),
      state === 'all' ? sql`true` : state === 'gone' ? sql`gone_at is not null` : sql`gone_at is null`,
      application === undefined ? sql`true` : isId(application) ? sql`application_id = ${application}` : sql`false`,
      project === undefined
        ? sql`true`
        : isId(project)
          ? sql`application_id in (select id from vm_applications where project_id = ${project})`
          : sql`false`,
      ...(['type', 'version', 'purl', 'relation'] as const).map((name) =>
        query[name] === undefined ? sql`true` : sql`${sql(name)} = ${query[name]}`,
      ),
      query.name === undefined ? sql`true` : sql`lower(name) = ${query.name.toLowerCase()}`,
      query.licence === undefined ? sql`true` : sql`licences @> ${json(sql, [query.licence])}`,
      query.q === undefined ? sql`true` : sql`name ilike ${`%${escapeLike(query.q)}%`}`,
    ]);
    const page = await readPage<Row>(sql, { table: 'vm_components', where, sorts, sort: 'id' }, query);
    return { ...page, items: page.items.map(view) };
  },
});

const readComponent = endpoint({
  method: 'GET',
  path: '/sca/components/:id',
  permission: 'view_findings',
  kind: 'R',
  summary: 'One component of an application',
  answer: ComponentView,
  handle: async ({ sql, reach, params }) => {
    const id = toId(params['id'] ?? '', 'component');
    const [row] = await sql<Row[]>`select * from vm_components where id = ${id} and ${visible(sql, reach)}`;
    if (row === undefined) throw notFound('component', id);
    return view(row);
  },
});

const match = endpoint({
  method: 'POST',
  path: '/sca/match',
  permission: 'import_findings',
  kind: 'I',
  summary: 'Match the components of an application with the advisories now; what cannot be compared is listed',
  body: Type.Object({ application_id: Type.String({ maxLength: 20 }) }, closed),
  answer: Type.Intersect([RunView, Type.Object({ report: Type.Unknown() })]),
  handle: async (call) => {
    const { keyed } = await termsFor(call, call.body);
    const { id } = await requireApplication(call.sql, call.reach, call.body.application_id);
    const matching = { host: call.host, applicationId: id, actor: call.caller.actor, now: call.now, keyed };
    const run = await matchApplication({
      ...matching,
      finish: async (work) =>
        call.audited(
          'vm.import',
          (made: Run) => `matched application ${made.application_id} with the advisories (run ${made.id})`,
          work,
          ({ result }) => result,
        ),
    });
    return { ...viewRun(run), report: { ...run.result, problems: run.problems } };
  },
});

export const componentEndpoints: readonly Endpoint[] = [listComponents, readComponent, match];
