// Sums over a dataset: measures by dimensions, over what a predicate holds for. Everything is a name of the dataset's
// columns, compiled here; nothing of a caller's text reaches a statement but as a value.
import { readInTime } from '../kit/values/in-time.js';
import { Type, type Static } from '@sinclair/typebox';
import { allOf, type Fragment, type Sql } from '../database.js';
import { reachable, type Reach } from '../kit/caller.js';
import { unfit } from '../kit/endpoint.js';
import { checkPredicate, PredicateSchema, toSql, type Field, type Fields } from '../kit/predicate.js';
import { OneOf } from '#http-kit';
import { datasetIds, datasets, type BiColumn, type Dataset } from './datasets.js';

export const queryRowsMax = 1000;
const secondsMax = 10;
const functions = ['sum', 'avg', 'min', 'max'] as const;
const grains = ['day', 'week', 'month'] as const;

export const QueryBody = Type.Object(
  {
    dataset: OneOf(datasetIds),
    measures: Type.Array(
      Type.String({ maxLength: 60, description: 'count, or sum, avg, min, max of a column: avg:seconds' }),
      {
        minItems: 1,
        maxItems: 6,
      },
    ),
    dimensions: Type.Optional(
      Type.Array(
        Type.String({ maxLength: 60, description: 'a column, or day, week, month of a time: month:first_seen' }),
        {
          maxItems: 4,
        },
      ),
    ),
    predicate: Type.Optional(PredicateSchema),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: queryRowsMax, default: 100 })),
  },
  {
    additionalProperties: false,
    examples: [
      { dataset: 'findings', measures: ['count', 'avg:effective_risk'], dimensions: ['severity', 'is_open'] },
      {
        dataset: 'application_days',
        measures: ['sum:opened', 'sum:fixed'],
        dimensions: ['month:day'],
        predicate: { field: 'application_id', op: 'exists', value: true },
      },
    ],
  },
);
export type Query = Static<typeof QueryBody>;

const fieldTypes: Readonly<Record<BiColumn['type'], Field['type']>> = {
  text: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  time: 'time',
  date: 'time',
};
const fieldsOf = ({ columns }: Dataset): Fields =>
  Object.fromEntries(
    columns.map(({ name, type }): [string, Field] => [
      name,
      { type: fieldTypes[type], column: name, ...(type === 'integer' ? { isWhole: true as const } : {}) },
    ]),
  );

/** `avg:seconds` → the function and the column; throws 422 with what there is. */
function split<F extends string>(
  text: string,
  known: readonly F[],
  dataset: Dataset,
  path: string,
  fits: (column: BiColumn, of: F | null) => boolean,
): { readonly of: F | null; readonly column: BiColumn } {
  const [first = '', second] = text.split(':', 2);
  const name = second ?? first;
  const of = second === undefined ? null : (known.find((one) => one === first) ?? null);
  const column = dataset.columns.find((one) => one.name === name);
  if (column === undefined || (second !== undefined && of === null) || !fits(column, of))
    throw unfit(
      path,
      'does not fit the dataset',
      `columns are ${dataset.columns.map((one) => `${one.name} (${one.type})`).join(', ')}; before a colon ` +
        `${known.join(', ')}`,
    );
  return { of, column };
}

const isNumeric = ({ type }: BiColumn): boolean => type === 'integer' || type === 'number';
const isMoment = ({ type }: BiColumn): boolean => type === 'time' || type === 'date';

function measureOf(sql: Sql, text: string, dataset: Dataset, path: string): Fragment {
  if (text === 'count') return sql`count(*)::bigint`;
  const { of, column } = split(text, functions, dataset, path, (one, fn) =>
    fn === null ? false : isNumeric(one) || (isMoment(one) && (fn === 'min' || fn === 'max')),
  );
  const value = sql`${sql(column.name)}`;
  if (of === 'sum') return sql`sum(${value})::double precision`;
  if (of === 'avg') return sql`avg(${value})::double precision`;
  return of === 'min' ? sql`min(${value})` : sql`max(${value})`;
}

function dimensionOf(sql: Sql, text: string, dataset: Dataset, path: string): Fragment {
  const { of, column } = split(text, grains, dataset, path, (one, grain) => grain === null || isMoment(one));
  if (of === null) return sql`${sql(column.name)}`;
  return sql`date_trunc(${of}, ${sql(column.name)}::timestamptz at time zone 'UTC')::date::text`;
}

export interface QueryAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly isCut: boolean;
}

/** Throws 422 for what the dataset does not have. Rows that the caller may not see are in no sum. */
export async function runQuery(sql: Sql, query: Query, reach: Reach, now: Date): Promise<QueryAnswer> {
  const dataset = datasets.find(({ id }) => id === query.dataset);
  if (dataset === undefined) throw unfit('/dataset', 'is not known', datasetIds.join(', '));
  const { measures, dimensions = [], limit = 100 } = query;
  const fields = fieldsOf(dataset);
  const predicate = query.predicate === undefined ? null : checkPredicate(query.predicate, fields);
  const parts = [
    ...dimensions.map((text, index) => dimensionOf(sql, text, dataset, `/dimensions/${index}`)),
    ...measures.map((text, index) => measureOf(sql, text, dataset, `/measures/${index}`)),
  ];
  const selected = parts
    .map((part, index) => sql`${part} as ${sql(`c${index}`)}`)
    .reduce((left, right) => sql`${left}, ${right}`);
  const numbers = dimensions.map((_, index) => sql.unsafe(String(index + 1)));
  const grouped = numbers.length === 0 ? sql`` : sql`group by ${numbers.reduce((a, b) => sql`${a}, ${b}`)}`;
  const where = allOf(sql, [
    reachable(sql, reach, sql`application_id`, sql`project_id`),
    ...(predicate === null ? [] : [toSql(sql, predicate, fields, now)]),
  ]);
  const rows = await readInTime(
    sql,
    secondsMax,
    async (tx) => tx<Record<string, unknown>[]>`
      select ${selected} from ${tx(dataset.view)} where ${where} ${grouped}
      order by ${sql.unsafe(String(dimensions.length + 1))} desc nulls last limit ${limit + 1}`,
    () => unfit('/predicate', `leaves more than ${secondsMax} seconds of work`, 'ask for less, or export the dataset'),
  );
  const columns = [...dimensions, ...measures];
  return {
    columns,
    rows: rows.slice(0, limit).map((row) => columns.map((_, index) => plain(row[`c${index}`]))),
    isCut: rows.length > limit,
  };
}

const plain = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : (value ?? null));
