// /posture: how an organisation stands and how that changed, from the rollup.
import { Nullable, Time } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import { allOf, type Fragment, type Queryable, type Sql } from '../database.js';
import { reachable, type Reach } from '../kit/caller.js';
import { endpoint, toId, type Endpoint } from '../kit/endpoint.js';
import { asOf, dayOf } from './rollup.js';
import { costOf, factors, importanceIn, scoreIn, scoreOf, type AppDay } from './score.js';

const closed = { additionalProperties: false } as const;
const Id = Type.String({ maxLength: 20 });
const Scope = { application_id: Type.Optional(Id), project_id: Type.Optional(Id) };
type Given = Static<ReturnType<typeof Type.Object<typeof Scope>>>;
const Days = Type.Optional(Type.Integer({ minimum: 1, maximum: 730, default: 90 }));
const Counts = Type.Record(Type.String(), Type.Integer());
const dayMs = 86_400_000;

/** Active applications (`a`) that are asked for and within reach. Throws 404 for an application that is not. */
async function applicationsOf(
  sql: Sql,
  reach: Reach,
  { application_id: id, project_id: project }: Given,
): Promise<{ readonly where: Fragment }> {
  if (id !== undefined) await requireApplication(sql, reach, id);
  // in an object, because a piece of a statement that a promise gives would be run
  const where = allOf(sql, [
    sql`a.status = 'active'`,
    reachable(sql, reach, sql`a.id`, sql`a.project_id`),
    ...(id === undefined ? [] : [sql`a.id = ${id}`]),
    ...(project === undefined ? [] : [sql`a.project_id = ${toId(project, 'project')}`]),
  ]);
  return { where };
}

const sums = [...new Set([...factors.map(({ column }) => column), 'open_info'] as const)];
const flows = ['opened', 'closed', 'fixed', 'reopened'] as const;

const sumsOf = (sql: Queryable, columns: readonly string[]): Fragment =>
  sql`${sql.unsafe(columns.map((column) => `sum(d.${column})::float8 as ${column}`).join(', '))}`;
const meanScore = (sql: Queryable): Fragment =>
  sql`sum(${scoreIn(sql, 'd')} * ${importanceIn(sql)}) / sum(${importanceIn(sql)})`;

type Numbers = Readonly<Record<(typeof flows)[number], number>> & AppDay;

const viewNumbers = (row: Numbers) => ({
  open: {
    critical: row.open_critical,
    high: row.open_high,
    medium: row.open_medium,
    low: row.open_low,
    info: row.open_info,
  },
  overdue: row.overdue,
  kev: row.kev,
});
const rounded = (value: number): number => Math.round(value * 10) / 10;
const Score = Type.Number({ minimum: 0, maximum: 100 });

const score = endpoint({
  method: 'GET',
  path: '/posture/score',
  permission: 'view_findings',
  kind: 'A',
  summary: 'How applications stand, 0 to 100, and what costs how much; several count by their criticality',
  query: Type.Object(Scope, closed),
  answer: Type.Object(
    {
      as_of: Nullable(Time),
      score: Nullable(Score),
      applications: Type.Integer(),
      open: Counts,
      overdue: Type.Integer(),
      kev: Type.Integer(),
      factors: Type.Array(
        Type.Object(
          {
            factor: Type.String(),
            label: Type.String(),
            count: Type.Integer(),
            weight: Type.Number(),
            cost: Type.Number({ description: 'count times weight' }),
          },
          closed,
        ),
      ),
    },
    closed,
  ),
  handle: async ({ sql, reach, query }) => {
    const { where } = await applicationsOf(sql, reach, query);
    const at = await asOf(sql);
    const [row] = await sql<(Numbers & { score: number | null; n: number })[]>`
      select count(*) as n, ${meanScore(sql)} as score, ${sumsOf(sql, sums)}
      from vm_app_days d join vm_applications a on a.id = d.application_id
      where d.day = ${at === null ? null : dayOf(at)}::date and ${where}`;
    const numbers = { ...row, ...Object.fromEntries(sums.map((name) => [name, row?.[name] ?? 0])) } as Numbers;
    const mean = row?.score ?? null;
    return {
      as_of: at?.toISOString() ?? null,
      score: mean === null ? null : rounded(mean),
      applications: row?.n ?? 0,
      ...viewNumbers(numbers),
      factors: factors
        .map(({ column, label, weight }) => ({
          factor: column,
          label,
          count: numbers[column],
          weight,
          cost: numbers[column] * weight,
        }))
        .sort((one, other) => other.cost - one.cost),
    };
  },
});

const TrendItem = Type.Object(
  {
    day: Type.String({ description: 'UTC, such as 2027-01-31' }),
    score: Score,
    applications: Type.Integer(),
    open_total: Type.Integer(),
    open: Counts,
    overdue: Type.Integer(),
    kev: Type.Integer(),
    opened: Type.Integer(),
    closed: Type.Integer(),
    fixed: Type.Integer(),
    reopened: Type.Integer(),
  },
  closed,
);
const Trend = Type.Object({ as_of: Nullable(Time), items: Type.Array(TrendItem) }, closed);

/** The days that a rollup has seen, oldest first. */
async function trendOf(sql: Sql, where: Fragment, days: number, now: Date) {
  const rows = await sql<(Numbers & { day: string; score: number; n: number })[]>`
    select d.day::text as day, count(*) as n, ${meanScore(sql)} as score, ${sumsOf(sql, [...sums, ...flows])}
    from vm_app_days d join vm_applications a on a.id = d.application_id
    where d.day > ${dayOf(new Date(now.getTime() - days * dayMs))}::date and ${where} group by d.day order by d.day`;
  const items = rows.map((row) => ({
    day: row.day,
    score: rounded(row.score),
    applications: row.n,
    open_total: row.open_critical + row.open_high + row.open_medium + row.open_low + row.open_info,
    ...viewNumbers(row),
    opened: row.opened,
    closed: row.closed,
    fixed: row.fixed,
    reopened: row.reopened,
  }));
  return { as_of: (await asOf(sql))?.toISOString() ?? null, items };
}

const trend = endpoint({
  method: 'GET',
  path: '/posture/trend',
  permission: 'view_findings',
  kind: 'A',
  fromReplica: true,
  summary: 'Score, open findings and their flow, day by day; days begin with the first one that was counted',
  query: Type.Object({ days: Days, ...Scope }, closed),
  answer: Trend,
  handle: async ({ sql, reach, query, now }) => {
    const { days = 90, ...scope } = query;
    const { where } = await applicationsOf(sql, reach, scope);
    return trendOf(sql, where, days, now);
  },
});

const history = endpoint({
  method: 'GET',
  path: '/applications/:id/score-history',
  permission: 'view_findings',
  kind: 'A',
  summary: 'The posture of one application, day by day',
  query: Type.Object({ days: Days }, closed),
  answer: Trend,
  handle: async ({ sql, reach, params, query, now }) => {
    const { id } = await requireApplication(sql, reach, params['id'] ?? '');
    return trendOf(sql, sql`a.id = ${id}`, query.days ?? 90, now);
  },
});

const heatmap = endpoint({
  method: 'GET',
  path: '/posture/heatmap',
  permission: 'view_findings',
  kind: 'A',
  fromReplica: true,
  summary: 'Applications by source of their open findings, those that cost most first',
  query: Type.Object(
    {
      ...Scope,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
    },
    closed,
  ),
  answer: Type.Object(
    {
      as_of: Nullable(Time),
      items: Type.Array(
        Type.Object(
          {
            application_id: Type.String(),
            application: Type.String(),
            criticality: Type.String(),
            score: Score,
            cost: Type.Number(),
            cells: Type.Record(
              Type.String(),
              Type.Object({ open: Type.Integer(), critical_and_high: Type.Integer() }, closed),
            ),
          },
          closed,
        ),
      ),
      total: Type.Integer(),
      limit: Type.Integer(),
      offset: Type.Integer(),
    },
    closed,
  ),
  handle: async ({ sql, reach, query }) => {
    const { limit = 50, offset = 0, ...scope } = query;
    const { where } = await applicationsOf(sql, reach, scope);
    const at = await asOf(sql);
    const day = at === null ? null : dayOf(at);
    type Row = AppDay & { id: number; name: string; business_criticality: string; total: number } & {
      sources: Record<string, readonly [number, number]>;
    };
    const rows = await sql<Row[]>`
      select d.*, a.id, a.name, a.business_criticality
      from vm_app_days d join vm_applications a on a.id = d.application_id
      where d.day = ${day}::date and ${where} order by ${scoreIn(sql, 'd')}, a.id limit ${limit} offset ${offset}`;
    const [counted] = await sql<{ n: number }[]>`
      select count(*) as n from vm_app_days d join vm_applications a on a.id = d.application_id
      where d.day = ${day}::date and ${where}`;
    const items = rows.map((row) => ({
      application_id: String(row.id),
      application: row.name,
      criticality: row.business_criticality,
      score: rounded(scoreOf(row)),
      cost: costOf(row),
      cells: Object.fromEntries(
        Object.entries(row.sources).map(([source, [open, grave]]) => [source, { open, critical_and_high: grave }]),
      ),
    }));
    return { as_of: at?.toISOString() ?? null, items, total: counted?.n ?? 0, limit, offset };
  },
});

export const postureEndpoints: readonly Endpoint[] = [score, trend, heatmap, history];
