// Gaps of single operations, without a database.
import t from 'tap';
import type { Endpoint } from '../../inventory/index.js';
import { readSpecification } from '../../spec/document/read.js';
import { gapsOf } from './operation-gaps.js';

const nowMs = Date.parse('2026-03-01T12:00:00Z');

const document = (security: string): string => `openapi: 3.1.0
info: {title: Shop, version: '1'}
security: [{token: []}]
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
paths:
  /auth/token: {post: {${security} responses: {'200': {description: x}}}}
  /user/signup: {post: {${security} responses: {'200': {description: x}}}}
  /orders: {get: {${security} responses: {'200': {description: x}}}}
`;

/** It answered three requests without credentials, and carried `categories`. */
const endpoint = (categories: readonly string[]): Endpoint =>
  ({
    ...{ auth: 'accepted-without', categories, hits: 3, classification: 'Restricted' },
    ...{ firstSeen: new Date(nowMs - 1000), lastSeen: new Date(nowMs) },
    stats: {
      ...{ credentials: { none: [3, 0, 0] }, parameters: {}, request_types: {}, pii: {}, statuses: { 200: 3 } },
    },
  }) as unknown as Endpoint;

t.test('N3: a login that says it is open may take a password and answer with a token', async (t) => {
  const codes = (security: string, path: string, categories: readonly string[]): string[] => {
    const read = readSpecification(document(security));
    if (read.kind !== 'read') throw new Error(JSON.stringify(read.problems));
    const { model } = read.specification;
    const operation = model.operations.find((one) => one.path === path);
    if (operation === undefined) throw new Error(`${path} is not declared`);
    return gapsOf(operation, model, [endpoint(categories)], nowMs).map(({ code, message }) => `${code}: ${message}`);
  };
  for (const open of ['security: [],', 'security: [{}],'])
    for (const path of ['/auth/token', '/user/signup']) {
      t.same(codes(open, path, ['secret', 'email', 'phone']), [], `${path} ${open}`);
      t.match(codes(open, path, ['secret', 'card']), [/^sensitive-data-without-auth: card went to 3/], 'a card is not');
    }
  t.match(codes('security: [],', '/orders', ['email']).join(), /sensitive-data-without-auth: email/, 'no login');
  t.match(codes('', '/auth/token', ['secret']).join(), /auth-not-enforced/, 'one that is declared to be protected');
});
