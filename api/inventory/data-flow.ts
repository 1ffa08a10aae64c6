// GET /api/data-flow: which personal data goes through which endpoint, at which place of a message, and whether anybody
// may have it. Kinds and pointers, never values.
import { Type } from '@sinclair/typebox';
import { closed, listOf, OneOf, SomeOf, refusals, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { authTruths, accessTypes, classifications, piiCategories } from './judge.js';
import type { Inventory } from './inventory.js';
import { selectEndpoints, type Endpoint } from './store.js';

const Place = Type.Object({
  side: OneOf(['request', 'response']),
  pointer: Type.String({ description: "JSON pointer; `*` stands for a list's places; empty: text that is no JSON" }),
  categories: Type.Record(Type.String(), Type.Integer()),
});
const FlowView = Type.Object({
  site: Type.String(),
  method: Type.String(),
  template: Type.String(),
  categories: Type.Array(Type.String()),
  classification: OneOf(classifications),
  regulations: Type.Array(Type.String()),
  auth: OneOf(authTruths),
  access: OneOf(accessTypes),
  unprotected: Type.Boolean({ description: 'requests without credentials were answered' }),
  hits: Type.Integer(),
  first_seen: Time,
  last_seen: Time,
  places: Type.Array(Place),
});
const SiteView = Type.Object({
  site: Type.String(),
  endpoints: Type.Integer(),
  unprotected: Type.Integer(),
  categories: Type.Array(Type.String()),
});

const schema = {
  tags: ['inventory'],
  summary: 'Personal data and secrets by endpoint and site, down to the place in a message',
  querystring: Type.Object(
    {
      site: Type.Optional(Type.String({ maxLength: 200 })),
      category: Type.Optional(SomeOf(Object.keys(piiCategories))),
      unprotected: Type.Optional(Type.Boolean()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 5000, default: 500 })),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      total: Type.Integer({ description: 'flows that fit the filters; `items` has up to `limit` of them' }),
      unprotected: Type.Integer({ description: 'of them, those that anybody may have' }),
      sites: Type.Array(SiteView),
      items: Type.Array(FlowView),
    }),
    ...refusals,
  },
};

const endpointsMax = 100_000;

export const isUnprotected = ({ auth }: Pick<Endpoint, 'auth'>): boolean =>
  auth === 'accepted-without' || auth === 'mixed';

function placesOf({ stats }: Endpoint) {
  return Object.entries(stats.pii).map(([place, categories]) => {
    const colon = place.indexOf(':');
    const side = place.slice(0, colon) === 'request' ? ('request' as const) : ('response' as const);
    return { side, pointer: place.slice(colon + 1), categories };
  });
}

const viewFlow = (one: Endpoint) => ({
  site: one.site,
  method: one.method,
  template: one.template,
  categories: [...one.categories],
  classification: one.classification,
  regulations: [...one.regulations],
  auth: one.auth,
  access: one.access,
  unprotected: isUnprotected(one),
  hits: one.hits,
  first_seen: one.firstSeen.toISOString(),
  last_seen: one.lastSeen.toISOString(),
  places: placesOf(one),
});

export function registerDataFlow(app: App, { database: { sql } }: Pick<Parts, 'database'>, inventory: Inventory): void {
  app.get('/api/data-flow', { schema }, async ({ query }) => {
    await inventory.refresh();
    const { site, category, unprotected, limit = 500 } = query;
    const all = await selectEndpoints(sql, { site, hasPii: true }, ['', '', ''], endpointsMax);
    const flows = all.filter(
      (one) =>
        (category === undefined || listOf(category).some((word) => one.categories.includes(word))) &&
        (unprotected === undefined || isUnprotected(one) === unprotected),
    );
    const order = (one: Endpoint): number =>
      (isUnprotected(one) ? 0 : 10) + classifications.indexOf(one.classification);
    flows.sort((one, other) => order(one) - order(other) || other.hits - one.hits);
    const sites = [...new Set(flows.map((one) => one.site))].sort().map((name) => {
      const own = flows.filter((one) => one.site === name);
      return {
        site: name,
        endpoints: own.length,
        unprotected: own.filter(isUnprotected).length,
        categories: [...new Set(own.flatMap(({ categories }) => categories))].sort(),
      };
    });
    return {
      total: flows.length,
      unprotected: flows.filter(isUnprotected).length,
      sites,
      items: flows.slice(0, limit).map(viewFlow),
    };
  });
}
