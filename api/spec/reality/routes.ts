// GET /api/spec/generated: an OpenAPI 3.1 document of what traffic shows. GET /api/spec/:id/reality: from a stored
// document to that, as a JSON Patch.
import { Type } from '@sinclair/typebox';
import { stringify } from 'yaml';
import { ApiError, closed, OneOf, refusals, type App } from '../../http-kit/index.js';
import { sitePrefixOf } from '../../change/steps/specifications.js';
import { inventoryOf, type InventoryNeeds } from '../../inventory/inventory.js';
import { listEndpoints } from '../../inventory/store.js';
import { readHead } from '../../settings/store.js';
import { basePathsOf } from '../document/model.js';
import { arrayOf } from '../document/problem.js';
import { templatesOf } from '../plan.js';
import { specificationOf } from '../reading/read-there.js';
import { requireSite, requireStored, tags } from '../requests.js';
import { applyAdditions, documentOf, patchOf } from './document.js';

export type RealityParts = InventoryNeeds;

const LeftOut = Type.Array(Type.Object({ method: Type.String(), template: Type.String(), reason: Type.String() }), {
  description: 'endpoints that the document cannot say',
});

const generatedSchema = {
  tags,
  summary: 'An OpenAPI 3.1 document made of the inventory of a site: a draft to review and to upload',
  querystring: Type.Object(
    {
      site: Type.Optional(Type.String({ maxLength: 200 })),
      format: Type.Optional(OneOf(['yaml', 'json'], 'yaml where nothing is said')),
    },
    closed,
  ),
  produces: ['application/yaml', 'application/json'],
  response: { 200: Type.String({ description: 'the document; `x-left-out` has what it cannot say' }), ...refusals },
};

const realitySchema = {
  tags,
  summary: 'A JSON Patch (RFC 6902) from a stored document to what traffic shows',
  description:
    'It adds what is missing: undeclared operations, and parameters of the query. What was never seen ' +
    'stays, and so do the schemas of bodies. Of Swagger 2.0 it patches the document that is converted to OpenAPI 3.',
  params: Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
  querystring: Type.Object(
    {
      document: Type.Optional(
        Type.Boolean({ default: false, description: 'also the document with the patch applied' }),
      ),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      patch: Type.Array(Type.Object({ op: Type.Literal('add'), path: Type.String(), value: Type.Unknown() })),
      applies_to: OneOf(['uploaded', 'converted']),
      operations: Type.Integer({ description: 'that it adds' }),
      parameters: Type.Integer({ description: 'of the query, that it adds to declared operations' }),
      left_out: LeftOut,
      document: Type.Unknown(),
    }),
    ...refusals,
  },
};

export function registerReality(app: App, parts: RealityParts): void {
  const { sql } = parts.database;
  app.get('/api/spec/generated', { schema: generatedSchema }, async ({ query }, reply) => {
    await inventoryOf(parts).refresh();
    const { settings } = await readHead(sql);
    const site = requireSite(settings, query.site);
    const { document, operations, leftOut } = documentOf(
      site,
      sitePrefixOf(settings, site),
      await listEndpoints(sql, site),
    );
    if (operations === 0)
      throw new ApiError('not_found', `Nothing was seen of the site ${site} that a document could say.`, {
        errors: [{ path: '/site', reason: 'has no endpoints', fix: 'let traffic come, and see GET /api/inventory' }],
      });
    const whole = leftOut.length === 0 ? document : { ...document, 'x-left-out': leftOut };
    const isJson = query.format === 'json';
    const text = isJson ? JSON.stringify(whole, null, 2) : stringify(whole, { aliasDuplicateObjects: false });
    reply
      .type(isJson ? 'application/json; charset=utf-8' : 'application/yaml; charset=utf-8')
      .header('content-disposition', `attachment; filename="openapi.${isJson ? 'json' : 'yaml'}"`)
      .serializer((payload) => String(payload));
    return reply.send(text);
  });
  app.get('/api/spec/:id/reality', { schema: realitySchema }, async (request) => {
    const { params, query } = request;
    const row = await requireStored(sql, request, params.id);
    await inventoryOf(parts).refresh();
    const { settings } = await readHead(sql);
    const prefix = sitePrefixOf(settings, row.site);
    const entry = settings.api_specs.find((one) => one.site === row.site && one.name === row.name);
    const base = entry?.base_path ?? null;
    const { document, model } = await specificationOf(row);
    const subject = {
      ...{ document, model, prefix, isBaseFixed: base !== null },
      rootBases: basePathsOf(arrayOf(document['servers'])),
      templatesOf: (operation: Parameters<typeof templatesOf>[0]) => templatesOf(operation, base, prefix),
    };
    const { patch, operations, parameters, leftOut } = patchOf(subject, await listEndpoints(sql, row.site));
    return {
      patch: [...patch],
      applies_to: model.openapi === '2.0' ? ('converted' as const) : ('uploaded' as const),
      ...{ operations, parameters, left_out: [...leftOut] },
      document: query.document === true ? applyAdditions(document, patch) : null,
    };
  });
}
