// /bi/dashboards: which metrics, drawn how. The numbers are asked for by POST /bi/query, so that each reader sees their
// own; a dashboard itself holds none.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { Name } from '../../assets/resources.js';
import { json } from '../../database.js';
import { endpoint, notFound, unfit, type Endpoint } from '../../kit/endpoint.js';
import { PredicateSchema } from '../../kit/predicate.js';
import { checkVersion } from '../../kit/resource.js';
import { datasetIds } from '../datasets.js';
import { metricById, metrics } from './metrics.js';

const closed = { additionalProperties: false } as const;
const dashboardsMax = 100;
const idPattern = /^[a-z0-9][a-z0-9-]{0,59}$/;
const what = 'Dashboards';
export const shapes = ['number', 'bars', 'line', 'table'] as const;

const Widget = Type.Object(
  {
    metric: Type.String({ minLength: 1, maxLength: 60, description: 'an id of `metrics`' }),
    shape: OneOf(shapes, 'line: over time; number: the metric as a whole'),
    by: Type.Optional(Nullable(Type.String({ maxLength: 60, description: 'one of the ways to split the metric' }))),
    title: Type.Optional(Type.String({ maxLength: 120, description: 'absent or empty: that of the metric' })),
    wide: Type.Optional(Type.Boolean()),
  },
  closed,
);
type Widget = Static<typeof Widget>;
const Widgets = Type.Array(Widget, { maxItems: 24 });

/** The one that every installation begins with; it is stored when somebody changes it. */
const ofRelease = {
  id: 'overview',
  title: 'Overview',
  description: 'How findings stand, how they move, and whether deadlines are kept.',
  widgets: [
    { metric: 'open_findings', shape: 'number' },
    { metric: 'severe_findings', shape: 'number' },
    { metric: 'exploited_findings', shape: 'number' },
    { metric: 'proven_findings', shape: 'number' },
    { metric: 'open_findings', shape: 'bars', by: 'severity', title: 'Open, by severity' },
    { metric: 'open_findings', shape: 'bars', by: 'source', title: 'Open, by source' },
    { metric: 'opened', shape: 'line', by: 'day:day', wide: true },
    { metric: 'fixed', shape: 'line', by: 'day:day', wide: true },
    { metric: 'deadlines_missed', shape: 'table', by: 'severity' },
    { metric: 'gate_verdicts', shape: 'bars', by: 'verdict' },
  ] satisfies Widget[],
} as const;

const isOverTime = (by: string): boolean => /^(?:day|week|month):/.test(by);

/** Throws 422 with the place for a metric that is none, a split that it has not, and a shape that does not fit. */
function checkWidgets(widgets: readonly Widget[]): void {
  for (const [at, { metric, shape, by = null }] of widgets.entries()) {
    const known = metricById.get(metric);
    if (known === undefined)
      throw unfit(`/widgets/${at}/metric`, 'is no metric', `one of ${metrics.map(({ id }) => id).join(', ')}`);
    if (by !== null && !known.by.includes(by))
      throw unfit(`/widgets/${at}/by`, `is no way to split ${metric}`, `one of ${known.by.join(', ')}`);
    if (shape === 'number' && by !== null)
      throw unfit(`/widgets/${at}/by`, 'does not go with a number', 'leave it out, or draw bars');
    if (shape !== 'number' && by === null)
      throw unfit(`/widgets/${at}/by`, 'is missing', `a ${shape} is split by something`);
    if (shape === 'line' && !isOverTime(by ?? ''))
      throw unfit(
        `/widgets/${at}/by`,
        'is no time',
        `one of ${known.by.filter(isOverTime).join(', ') || 'none: draw bars'}`,
      );
  }
}

interface DashboardRow {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly widgets: readonly Widget[];
  readonly saved_by: string;
  readonly version: number;
  readonly updated_at: Date;
}

const DashboardView = Type.Object({
  id: Type.String(),
  title: Type.String(),
  description: Type.String(),
  widgets: Widgets,
  saved_by: Nullable(Type.String({ description: 'null: as it came with the release' })),
  version: Type.Integer({ description: '0: as it came with the release' }),
  updated_at: Nullable(Time),
});

const view = ({ id, title, description, widgets, saved_by: by, version, updated_at: at }: DashboardRow) => ({
  ...{ id, title, description, widgets, saved_by: by, version, updated_at: at.toISOString() },
});

const MetricView = Type.Object({
  id: Type.String(),
  title: Type.String(),
  about: Type.String(),
  unit: Type.String(),
  dataset: OneOf(datasetIds),
  measure: Type.String({ description: 'of POST /bi/query' }),
  predicate: Nullable(PredicateSchema),
  by: Type.Array(Type.String(), { description: 'dimensions of POST /bi/query that it may be split by' }),
});

const list = endpoint({
  method: 'GET',
  path: '/bi/dashboards',
  permission: 'view_reports',
  kind: 'C',
  summary: 'Dashboards, and the metrics that they are made of',
  answer: Type.Object({ items: Type.Array(DashboardView), metrics: Type.Array(MetricView) }),
  handle: async ({ sql }) => {
    const rows = await sql<DashboardRow[]>`select * from vm_dashboards order by title, id`;
    const first = rows.some(({ id }) => id === ofRelease.id)
      ? []
      : [{ ...ofRelease, saved_by: null, version: 0, updated_at: null }];
    return { items: [...first, ...rows.map(view)], metrics: metrics.map((one) => ({ ...one })) };
  },
});

const save = endpoint({
  method: 'PUT',
  path: '/bi/dashboards/:id',
  permission: 'build_reports',
  ofOrganisation: what,
  kind: 'C',
  summary: 'Save a dashboard under an id of your own, in the place of the one before (If-Match is heeded)',
  body: Type.Object(
    { title: Name, description: Type.Optional(Type.String({ maxLength: 2000 })), widgets: Widgets },
    {
      ...closed,
      examples: [{ title: 'For the board', widgets: [{ metric: 'open_findings', shape: 'bars', by: 'severity' }] }],
    },
  ),
  answer: DashboardView,
  handle: async (call) => {
    const id = call.params['id'] ?? '';
    if (!idPattern.test(id)) throw unfit('id', 'is no id of a dashboard', 'lower-case letters, digits and dashes');
    const { title, description = '', widgets } = call.body;
    checkWidgets(widgets);
    const row = await call.audited(
      'vm.update',
      (made: DashboardRow) => `saved the dashboard ${made.id}`,
      async (tx) => {
        const [before] = await tx<DashboardRow[]>`select * from vm_dashboards where id = ${id} for update`;
        checkVersion(call.request.headers['if-match'], before?.version ?? 0);
        const [count] = await tx<{ n: number }[]>`select count(*)::int as n from vm_dashboards`;
        if (before === undefined && (count?.n ?? 0) >= dashboardsMax)
          throw new ApiError('conflict', `There are ${dashboardsMax} dashboards already: delete some first.`);
        const values = {
          ...{ title, description, widgets: json(tx, widgets), saved_by: call.caller.actor.name, updated_at: call.now },
        };
        const [made] =
          before === undefined
            ? await tx<DashboardRow[]>`
                insert into vm_dashboards ${tx({ id, ...values, created_at: call.now } as never)} returning *`
            : await tx<DashboardRow[]>`
                update vm_dashboards set ${tx(values as never)}, version = version + 1 where id = ${id} returning *`;
        if (made === undefined) throw new Error('the dashboard was not stored');
        return made;
      },
      () => ({ title, widgets: widgets.length }),
    );
    call.reply.header('etag', `"${row.version}"`);
    return view(row);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/bi/dashboards/:id',
  permission: 'build_reports',
  ofOrganisation: what,
  kind: 'C',
  summary: 'Delete a dashboard; the one of the release comes back as it was',
  status: 204,
  handle: async (call) => {
    const id = call.params['id'] ?? '';
    await call.audited('vm.delete', `deleted the dashboard ${id.slice(0, 60)}`, async (tx) => {
      const { count } = await tx`delete from vm_dashboards where id = ${id}`;
      if (count === 0) throw notFound('dashboard', id.slice(0, 60));
    });
  },
});

export const dashboardEndpoints: readonly Endpoint[] = [list, save, remove];
