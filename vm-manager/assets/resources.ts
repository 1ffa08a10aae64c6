// What is protected: projects (a trust group: only their applications link in chains), applications, targets and groups
// of targets.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Queryable, Tx } from '../database.js';
import { isUnconfined, reachable, requireWhole, type Reach } from '../kit/caller.js';
import { toId, unfit, type Call } from '../kit/endpoint.js';
import type { Resource, Row } from '../kit/resource.js';
import { textOf } from '../kit/values/text.js';
import { scanMethods } from '../dast/model.js';
import { refreshApplication } from '../findings/refresh.js';
import { boundsChanged, checkTargetChange } from './scan-bounds.js';
import { checkSite } from './site.js';

/** Some text: one of blanks alone could not be told from none in a list. */
const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f]*[^\\u0000-\\u0020][^\\u0000-\\u001f]*$',
  description: 'one line of text that is not blank',
});
const Line = Type.String({ maxLength: 500 });
const Words = Type.Array(Type.String({ minLength: 1, maxLength: 60 }), { maxItems: 50, uniqueItems: true });
const Id = Type.String({ maxLength: 20 });

export const criticalities = ['critical', 'high', 'medium', 'low', 'unknown'] as const;

/** Projects that somebody reaches: their own, and those of applications that they reach. */
export const visibleProjects = (sql: Queryable, reach: Reach) =>
  isUnconfined(reach)
    ? sql`true`
    : sql`(${reachable(sql, reach, sql`null::bigint`, sql`vm_projects.id`)} or exists (
        select 1 from vm_applications a where a.project_id = vm_projects.id
          and ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)}))`;

export const visibleApplications = (sql: Queryable, reach: Reach) =>
  reachable(sql, reach, sql`vm_applications.id`, sql`vm_applications.project_id`);

/** Rows of a table with application_id. */
export const visibleByApplication = (table: string) => (sql: Queryable, reach: Reach) =>
  isUnconfined(reach)
    ? sql`true`
    : sql`exists (select 1 from vm_applications a where a.id = ${sql(table)}.application_id
        and ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)})`;

/** Throws 404 for an application that is not there or not within reach. */
export async function requireApplication(sql: Queryable, reach: Reach, id: string) {
  const [row] = await sql<{ id: number; project_id: number | null; name: string; status: string }[]>`
    select id, project_id, name, status from vm_applications
    where id = ${toId(id, 'application')} and ${visibleApplications(sql, reach)}`;
  if (row === undefined) throw new ApiError('not_found', `There is no application ${id}.`);
  return row;
}

/** A grant for one application does not change what it shares with others. Throws `role_denied`. */
function requireProject({ reach }: Call, id: unknown): void {
  if (reach.within !== null || !reach.projects.includes(String(id))) requireWhole(reach, 'Projects');
}

export const projects: Resource = {
  path: '/projects',
  noun: 'project',
  table: 'vm_projects',
  view: 'view_assets',
  edit: 'edit_assets',
  defaultSort: 'name',
  visible: visibleProjects,
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    owner: { schema: Line, as: 'plain', write: 'always', searched: true },
    description: { schema: Type.String({ maxLength: 5000 }), as: 'plain', write: 'always' },
    demo: { schema: Type.Boolean(), as: 'plain', write: 'create', filter: 'equal' },
  },
  check: async (_tx, call, _values, before) => requireProject(call, before?.id),
  beforeDelete: async (_tx, call, { id }) => requireProject(call, id),
};

const applicationColumns: Resource['columns'] = {
  external_id: { schema: Nullable(Line), as: 'plain', write: 'always' },
  name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
  environment: { schema: Type.String({ maxLength: 60 }), as: 'plain', write: 'always', filter: 'equal' },
  business_criticality: { schema: OneOf(criticalities), as: 'plain', write: 'always', filter: 'equal' },
  project_id: { schema: Nullable(Id), as: 'id', write: 'always', filter: 'equal' },
  owner: { schema: Line, as: 'plain', write: 'always', searched: true },
  exposure: { schema: OneOf(['internet', 'internal', 'unknown']), as: 'plain', write: 'always' },
  data_classes: { schema: Words, as: 'json', write: 'always' },
  tags: { schema: Words, as: 'json', write: 'always', filter: 'has' },
  site: { schema: Nullable(Line), as: 'plain', write: 'always' },
  site_confirmed: {
    schema: Type.Boolean({
      description:
        'false: the link to the site may have been made by a user who reaches a part of the organisation, and ' +
        'shows such users nothing of its traffic until PUT /applications/{id}/site sets it again',
    }),
    as: 'plain',
    write: 'never',
  },
  names_confirmed: {
    schema: Type.Boolean({
      description:
        'false: its name or external id was given by somebody who reaches a part of the organisation, and makes no ' +
        'service of a mesh or a cluster this application for such people, until somebody of the whole sets it again',
    }),
    as: 'plain',
    write: 'never',
  },
  status: { schema: OneOf(['active', 'archived']), as: 'plain', write: 'always', filter: 'equal' },
  demo: { schema: Type.Boolean(), as: 'plain', write: 'create', filter: 'equal' },
};

async function checkApplication(tx: Tx, call: Call, values: Record<string, unknown>): Promise<void> {
  const project = values['project_id'];
  if (project === undefined || project === null) {
    if (!isUnconfined(call.reach)) throw unfit('/project_id', 'must be one of your projects');
    return;
  }
  const given = textOf(project);
  const [row] = /^\d{1,18}$/.test(given)
    ? await tx`select 1 from vm_projects where id = ${given}
        and ${reachable(tx, { ...call.reach, within: null }, sql0(tx), tx`vm_projects.id`)}`
    : [];
  if (row === undefined) throw unfit('/project_id', 'names no project that you reach');
  values['project_id'] = Number(given);
}

/** By its names an application is found to be a service: only names given by a user of the whole count for all. */
function noteNames({ reach }: Call, values: Record<string, unknown>, before: Row | null): void {
  const given = ['name', 'external_id'].filter((name) => values[name] !== undefined);
  if (isUnconfined(reach)) {
    if (given.length > 0) values['names_confirmed'] = true;
  } else if (given.some((name) => before === null || values[name] !== before[name])) values['names_confirmed'] = false;
}

const sql0 = (tx: Queryable) => tx`null::bigint`;

export const applications: Resource = {
  path: '/applications',
  noun: 'application',
  table: 'vm_applications',
  view: 'view_assets',
  edit: 'edit_assets',
  defaultSort: 'name',
  visible: visibleApplications,
  columns: applicationColumns,
  only: ['list', 'get', 'create', 'patch'],
  check: async (tx, call, values, before) => {
    if (before === null && call.reach.within !== null)
      throw new ApiError('scope_denied', 'The token is confined to applications; it cannot make others.');
    if (before === null || values['project_id'] !== undefined) await checkApplication(tx, call, values);
    noteNames(call, values, before);
    if (values['site'] === undefined) return;
    checkSite(call.reach, values['site'] as string | null, (before?.['site'] ?? null) as string | null);
    if (isUnconfined(call.reach)) values['site_confirmed'] = true;
  },
  after: async (tx, call, row, before) => {
    if (before === null) return;
    if (before['project_id'] !== row['project_id'])
      await tx`
        update vm_findings set project_id = ${row['project_id'] as number | null} where application_id = ${row.id}`;
    const counts = ['environment', 'business_criticality', 'exposure', 'status'];
    if (counts.some((name) => before[name] !== row[name])) await refreshApplication(tx, row.id, call.now);
  },
};

const Paths = (description: string) =>
  Type.Array(Type.String({ pattern: '^/[^\\s]{0,499}$' }), { maxItems: 100, uniqueItems: true, description });
const TimeOfDay = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' });
const BaseAddress = Type.String({ maxLength: 500, pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$' });

/** Within which bounds a target is scanned; docs/active-scans.md. */
const scanColumns: Resource['columns'] = {
  scope_paths: {
    schema: Paths('beginnings of paths that scans stay within; none: the whole origin'),
    as: 'json',
    write: 'always',
  },
  excluded_paths: {
    schema: Paths('paths that scans never ask for; * stands for any text'),
    as: 'json',
    write: 'always',
  },
  scan_methods: {
    schema: Type.Array(OneOf(scanMethods), { minItems: 1, maxItems: 8, uniqueItems: true }),
    as: 'json',
    write: 'always',
  },
  requests_max: { schema: Type.Integer({ minimum: 1, maximum: 1_000_000 }), as: 'plain', write: 'always' },
  requests_per_second: { schema: Type.Integer({ minimum: 1, maximum: 2000 }), as: 'plain', write: 'always' },
  seconds_max: { schema: Type.Integer({ minimum: 1, maximum: 86_400 }), as: 'plain', write: 'always' },
  scan_windows: {
    schema: Type.Array(
      Type.Object(
        {
          days: Type.Array(Type.Integer({ minimum: 0, maximum: 6 }), { minItems: 1, maxItems: 7, uniqueItems: true }),
          from: TimeOfDay,
          to: TimeOfDay,
        },
        { additionalProperties: false },
      ),
      { maxItems: 20, description: 'when scans may run, in UTC, Sunday is 0; none: always' },
    ),
    as: 'json',
    write: 'always',
  },
  waf_url: { schema: Nullable(BaseAddress), as: 'plain', write: 'always' },
  callback_url: { schema: Nullable(BaseAddress), as: 'plain', write: 'always' },
  exploit_writes: {
    schema: Type.Boolean({ description: 'whether techniques of exploits that change what it stores may be used' }),
    as: 'plain',
    write: 'always',
  },
  probe: {
    schema: Type.Unknown({ description: 'what POST /targets/{id}/probe has seen last' }),
    as: 'json',
    write: 'never',
  },
  probed_at: { schema: Nullable(Time), as: 'time', write: 'never' },
  verified_at: { schema: Nullable(Time), as: 'time', write: 'never' },
  verified_by: { schema: Nullable(Type.String()), as: 'plain', write: 'never' },
  waf_verified_at: { schema: Nullable(Time), as: 'time', write: 'never' },
  waf_verified_by: { schema: Nullable(Type.String()), as: 'plain', write: 'never' },
};

const inApplication: Pick<Resource, 'check'> = {
  check: async (tx, call, values, before) => {
    if (before !== null) return;
    const { id } = await requireApplication(tx, call.reach, textOf(values['application_id']));
    values['application_id'] = id;
  },
};

export const targets: Resource = {
  path: '/targets',
  noun: 'target',
  table: 'vm_targets',
  view: 'view_assets',
  edit: 'edit_assets',
  visible: visibleByApplication('vm_targets'),
  columns: {
    application_id: { schema: Id, as: 'id', write: 'create', required: true, filter: 'equal' },
    url: {
      schema: Type.String({ maxLength: 2000, pattern: '^https?://[^\\s/?#@]+([/?#][^\\s]*)?$' }),
      as: 'plain',
      write: 'always',
      required: true,
      searched: true,
      sort: 'text',
    },
    kind: { schema: OneOf(['web', 'api']), as: 'plain', write: 'always', filter: 'equal' },
    ...scanColumns,
  },
  check: async (tx, call, values, before) => {
    await inApplication.check?.(tx, call, values, before);
    if (before !== null) await checkTargetChange(tx, call, values, before, visibleByApplication('vm_targets'));
  },
  changes: boundsChanged,
};

export const targetGroups: Resource = {
  path: '/target-groups',
  noun: 'target group',
  table: 'vm_target_groups',
  ofOrganisation: 'Target groups',
  view: 'view_assets',
  edit: 'edit_assets',
  defaultSort: 'name',
  visible: (sql, reach) => (reach.all ? sql`true` : sql`false`),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    description: { schema: Type.String({ maxLength: 2000 }), as: 'plain', write: 'always' },
  },
};

export { inApplication, Id, Name };
