// The OpenAPI documents of both APIs as the server makes them of its routes, without a database, a clock or a network:
// what the build writes for the console's types, and what tests compare.
import { buildApp } from '../app.js';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import type { AppDeps } from '../parts.js';

export type OpenApiDocument = Record<string, unknown> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** By the name of the file that the build writes. */
export interface ApiDocuments {
  /** Of /api. */
  readonly api: OpenApiDocument;
  /** Of /api/v1. */
  readonly 'vm-manager': OpenApiDocument;
}

/** Nothing is asked of the database before the first request. */
const database = { kind: 'embedded' } as Database;

/** `over`: what an installation may have otherwise; no word of the documents depends on it, but for the brand. */
export async function describeApis(over: Partial<AppDeps> = {}): Promise<ApiDocuments> {
  const outbound = createOutbound({ allow: [] });
  const { app } = await buildApp({
    env: {
      authSessionSecret: 'a'.repeat(40),
      settingsEncryptionSecret: 'b'.repeat(40),
      dataAdminToken: 'c'.repeat(40),
      trustedProxies: [],
      consoleToken: null,
      breachedPasswordsUrl: 'http://breach.invalid/range/',
      torExitsUrl: 'http://tor.invalid/exits',
      brand: { name: 'Gatehouse', sub: '', tagline: null },
    },
    database,
    now: () => 0,
    outbound,
    applySettings: null,
    licencePublicKey: null,
    logger: false,
    ...over,
  });
  await app.ready();
  const api = JSON.parse(JSON.stringify(app.swagger())) as OpenApiDocument;
  const vm = await app.inject({ method: 'GET', url: '/api/v1/openapi.json' });
  await app.close();
  await outbound.close();
  return { api, 'vm-manager': vm.json<OpenApiDocument>() };
}
