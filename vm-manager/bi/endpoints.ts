// /bi: datasets for reports of others: what there is, what is new since a cursor as a file, and sums.
import { OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { endpoint, notFound, type Call, type Endpoint } from '../kit/endpoint.js';
import { dashboardEndpoints } from './dashboards/endpoints.js';
import { columnTypes, datasets, type Dataset } from './datasets.js';
import { formatNames, formats } from './formats.js';
import { QueryBody, queryRowsMax, runQuery } from './query.js';
import { readPage } from './read.js';

const closed = { additionalProperties: false } as const;
const rowsMax = 50_000;

const DatasetView = Type.Object({
  id: Type.String(),
  version: Type.Integer({ description: 'what a version has never changes; a column more at its end may come' }),
  view: Type.String({ description: 'its name in the database, for PostgreSQL' }),
  about: Type.String(),
  grain: Type.String({ description: 'what one row is' }),
  by_day: Type.Boolean({ description: 'rows of a day are given out once it has ended' }),
  columns: Type.Array(Type.Object({ name: Type.String(), type: OneOf(columnTypes), about: Type.String() })),
});
const viewDataset = ({ isByDay, columns, ...dataset }: Dataset) => ({
  ...dataset,
  by_day: isByDay,
  columns: columns.map((column) => ({ ...column })),
});

function requireDataset({ params }: Pick<Call, 'params'>): Dataset {
  const id = params['id'] ?? '';
  const found = datasets.find((one) => one.id === id);
  if (found === undefined) throw notFound('dataset', id.slice(0, 60));
  return found;
}

const list = endpoint({
  method: 'GET',
  path: '/bi/datasets',
  permission: 'view_reports',
  kind: 'A',
  summary: 'Datasets of the star schema: facts and dimensions, with their columns and versions',
  answer: Type.Object({ items: Type.Array(DatasetView) }),
  handle: async () => ({ items: datasets.map(viewDataset) }),
});

const one = endpoint({
  method: 'GET',
  path: '/bi/datasets/:id',
  permission: 'view_reports',
  kind: 'A',
  summary: 'One dataset',
  answer: DatasetView,
  handle: async (call) => viewDataset(requireDataset(call)),
});

const exported = endpoint({
  method: 'GET',
  path: '/bi/datasets/:id/export',
  permission: 'view_reports',
  kind: 'X',
  summary:
    'Rows in the order in which they changed: CSV, JSON Lines or Parquet. Headers: x-next-cursor (where to go on), ' +
    'x-has-more, x-rows, x-dataset-version',
  query: Type.Object(
    {
      format: Type.Optional(OneOf(formatNames)),
      cursor: Type.Optional(
        Type.String({
          maxLength: 300,
          description: '`x-next-cursor` of an answer; absent: from the beginning',
        }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: rowsMax, default: 10_000 })),
    },
    closed,
  ),
  mediaType: 'text/csv; charset=utf-8',
  handle: async (call) => {
    const dataset = requireDataset(call);
    const { format = 'csv', cursor, limit = 10_000 } = call.query;
    const page = await readPage(call.sql, dataset, call.reach, { cursor, limit }, call.now);
    const { mediaType, write } = formats[format];
    const day = call.now.toISOString().slice(0, 10);
    call.reply
      .type(mediaType)
      .header('content-disposition', `attachment; filename="${dataset.id}-v${dataset.version}-${day}.${format}"`)
      .header('x-next-cursor', page.next ?? '')
      .header('x-has-more', String(page.hasMore))
      .header('x-rows', String(page.rows.length))
      .header('x-dataset-version', String(dataset.version));
    return write(dataset, page.rows);
  },
});

const query = endpoint({
  method: 'POST',
  path: '/bi/query',
  permission: 'view_reports',
  kind: 'B',
  reads: true,
  summary: `Measures of a dataset by dimensions, the largest first; ${queryRowsMax} rows and 10 seconds at most`,
  body: QueryBody,
  answer: Type.Object({
    columns: Type.Array(Type.String()),
    rows: Type.Array(Type.Array(Type.Unknown())),
    cut: Type.Boolean({ description: 'there are more rows than the limit' }),
  }),
  handle: async ({ sql, body, reach, now }) => {
    const { columns, rows, isCut } = await runQuery(sql, body, reach, now);
    return { columns, rows, cut: isCut };
  },
});

export const biEndpoints: readonly Endpoint[] = [list, one, exported, query, ...dashboardEndpoints];
