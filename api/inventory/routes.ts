// The inventory of APIs: list, figures, CSV, and taking merges back.
import { Type } from '@sinclair/typebox';
import { Readable } from 'node:stream';
import {
  ApiError,
  closed,
  decodeCursor,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  toPage,
  type App,
  SomeOf,
} from '../http-kit/index.js';
import type { Queryable } from '../db/client.js';
import type { Parts } from '../parts.js';
import type { Inventory } from './inventory.js';
import { accessTypes, authTruths, bands, classifications } from './judge.js';
import { readFigures, selectEndpoints, type EndpointFilter, type EndpointPlace } from './store.js';
import { csvHead, csvLine, EndpointView, viewEndpoint } from './views.js';

export type InventoryParts = Pick<Parts, 'database' | 'now' | 'audit' | 'nodeToken' | 'currentSettings'>;

const filters = {
  site: Type.Optional(Type.String({ maxLength: 200 })),
  method: Type.Optional(Type.String({ maxLength: 64 })),
  q: Type.Optional(Type.String({ maxLength: 300, description: 'part of the template' })),
  access: Type.Optional(SomeOf(accessTypes)),
  auth: Type.Optional(SomeOf(authTruths)),
  classification: Type.Optional(SomeOf(classifications)),
  band: Type.Optional(SomeOf(bands)),
  shadow: Type.Optional(Type.Boolean()),
  unprotected_sensitive: Type.Optional(
    Type.Boolean({ description: 'not Public, and requests without credentials were answered' }),
  ),
};
const Counts = Type.Record(Type.String(), Type.Integer());

const listSchema = {
  tags: ['inventory'],
  summary: 'Endpoints that were seen, by site, template and method',
  querystring: Type.Object({ ...PageQuery, ...filters }, closed),
  response: { 200: Page(EndpointView), ...refusals },
};
const statsSchema = {
  tags: ['inventory'],
  summary: 'Figures of the inventory',
  querystring: Type.Object({ site: filters.site }, closed),
  response: {
    200: Type.Object({
      endpoints: Type.Integer(),
      hits: Type.Integer(),
      sites: Type.Integer(),
      shadow: Type.Integer({ description: 'seen, and not in the specification of their site' }),
      unprotected_sensitive: Type.Integer({
        description: 'not Public, and requests without credentials were answered',
      }),
      by_access: Counts,
      by_auth: Counts,
      by_classification: Counts,
      by_band: Counts,
      by_method: Counts,
      dropped: Type.Integer({
        description: 'what was left out: observations of no known endpoint, and those for which there was no room',
      }),
    }),
    ...refusals,
  },
};
const exportSchema = {
  tags: ['inventory'],
  summary: 'The inventory as CSV',
  querystring: Type.Object(filters, closed),
  response: { 200: Type.String(), ...refusals },
};
const splitSchema = {
  tags: ['inventory'],
  summary: 'Tell the values at a place of paths apart, or merge them again',
  body: Type.Object(
    {
      site: Type.String({ minLength: 1, maxLength: 200 }),
      place: Type.String({ minLength: 1, maxLength: 1024, pattern: '^/', description: '`place` of the evidence' }),
      apart: Type.Boolean({ description: 'true: as literals; false: merged where the evidence says so' }),
    },
    closed,
  ),
  response: { 200: Type.Object({ places: Type.Array(Type.String()) }), ...refusals },
};

const splitsPerSiteMax = 200;
const exportPage = 500;

export function registerInventoryRoutes(app: App, parts: InventoryParts, inventory: Inventory): void {
  const { sql } = parts.database;
  app.get('/api/inventory', { schema: listSchema }, async ({ query }) => {
    await inventory.refresh();
    const { cursor, limit = 50, ...filter } = query;
    const after = cursor === undefined ? first : decodeCursor(cursor, ['string', 'string', 'string'] as const);
    const rows = await selectEndpoints(sql, filter, after, limit + 1);
    return toPage(rows, limit, ({ site, template, method }) => [site, template, method], viewEndpoint);
  });
  app.get('/api/inventory/stats', { schema: statsSchema }, async ({ query }) => {
    await inventory.refresh();
    const figures = await readFigures(sql, query.site ?? null);
    return { ...figures };
  });
  app.get('/api/inventory/export', { schema: exportSchema }, async ({ query }, reply) => {
    await inventory.refresh();
    reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="inventory.csv"');
    return reply.send(Readable.from(exportLines(sql, query)) as unknown as string);
  });
  registerSplit(app, parts, inventory);
}

const first: EndpointPlace = ['', '', ''];

async function* exportLines(sql: Queryable, filter: EndpointFilter): AsyncGenerator<string> {
  yield csvHead;
  for (let after = first; ; ) {
    const rows = await selectEndpoints(sql, filter, after, exportPage);
    yield rows.map(csvLine).join('');
    const last = rows.at(-1);
    if (last === undefined || rows.length < exportPage) return;
    after = [last.site, last.template, last.method];
  }
}

function registerSplit(app: App, { database: { sql }, audit, now }: InventoryParts, inventory: Inventory): void {
  app.post('/api/inventory/split', { schema: splitSchema }, async (request) => {
    const { site, place, apart } = request.body;
    const { actor } = requirePrincipal(request);
    const places = await sql.begin(async (tx) => {
      const { count } = await tx`update api_sites set observed = observed + 1 where site = ${site}`;
      if (count === 0)
        throw new ApiError('not_found', `Nothing was seen of a site ${site}.`, {
          errors: [{ path: '/site', reason: 'is no site of the inventory', fix: 'see GET /api/inventory/stats' }],
        });
      if (apart)
        await tx`
          insert into api_splits (site, place, at, author)
          values (${site}, ${place}, ${new Date(now())}, ${actor.name}) on conflict do nothing`;
      else await tx`delete from api_splits where site = ${site} and place = ${place}`;
      const rows = await tx<{ place: string }[]>`select place from api_splits where site = ${site} order by place`;
      if (rows.length > splitsPerSiteMax)
        throw new ApiError('validation_failed', `At most ${splitsPerSiteMax} places of a site are told apart.`, {
          errors: [{ path: '/place', reason: 'is one more than there may be', fix: 'merge another one again' }],
        });
      const summary = `${apart ? 'kept apart' : 'merged again'} the values of API paths below ${place} of ${site}`;
      await audit.record(tx, { actor, action: 'inventory.split', summary, details: { site, place, apart } });
      return rows.map((row) => row.place);
    });
    await inventory.refresh();
    return { places };
  });
}
