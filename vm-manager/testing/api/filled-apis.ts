// What a filled organisation knows of its APIs and of what it discovered, and the bodies that fit their endpoints.
import type { onBothDatabases } from '#api/testing/databases';
import { insertOperation } from '../../apis/testing/insert-operation.js';
import { idOf } from '../../api-security/operations.js';
import { placeOf } from '../../assets/site.js';
import type { Client, Json } from '../import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
interface Maker {
  readonly client: Client;
  made(url: string, body: object): Promise<string>;
}

const document =
  'openapi: 3.1.0\ninfo: {title: Zebra, version: "1"}\n' +
  'paths: {/zebras: {post: {responses: {"200": {description: x}}}}}\n';

/** Runs are rows: one that runs would outlive the test. */
export async function fillApis(make: Maker, database: Database, application: string): Promise<Record<string, string>> {
  const { sql } = database;
  const place = { site: placeOf(Number(application)), method: 'GET', template: '/zebras/{id}' };
  await insertOperation(database, place);
  const runOf = async (kind: string, of: string | null): Promise<string> => {
    const [row] = await sql<{ id: number }[]>`
      insert into vm_runs (kind, application_id, status, created_by, created_at, finished_at)
      values (${kind}, ${of}, 'failed', 'test', now(), now()) returning id`;
    return String(row?.id);
  };
  const [asset] = await sql<{ id: number }[]>`
    insert into vm_discovery_assets (key, kind, host, sources, provenance, is_exposed, application_id, first_seen,
      last_seen)
    values ('host zebra.example', 'host', 'zebra.example', '["seed"]', ${sql.json([
      { source: 'seed', detail: 'd', run_id: '1', at: '2026-03-01T00:00:00Z' },
    ])}, true, ${application}, now(), now()) returning id`;
  return {
    '/api-security/endpoints': idOf(place),
    '/api-security/specs': await make.made('/api-security/specs', { application_id: application, text: document }),
    '/api-security/tests': await runOf('api-test', application),
    '/discovery/runs': await runOf('discovery', null),
    '/discovery/assets': String(asset?.id),
  };
}

export async function badgeOf(make: Maker, application: string): Promise<string> {
  const reply = await make.client.call('POST', `/ci/badge/${application}`, {});
  if (reply.status >= 300) throw new Error(reply.text);
  return application;
}

/** Modules whose objects belong to the application or its project. */
export const confinedApis = ['/api-security/endpoints', '/api-security/specs', '/api-security/tests'];

export const apiBodies = (application: string, target: string): Record<string, Json> => ({
  'POST /api-security/specs': { application_id: application, name: 'new', text: document },
  'POST /api-security/specs/:id/lint': { application_id: application },
  'POST /api-security/posture': { application_id: application },
  'POST /api-security/tests': { target_id: target, checks: ['object'] },
  'POST /discovery/runs': { sources: ['site'], seeds: ['zebra.example'], zone: undefined, nmap: undefined },
  'POST /discovery/assets/:id/promote': { application_id: application, application: undefined, url: undefined },
  'POST /discovery/assets/:id/ignore': { reason: 'parked' },
});
