// The committed OpenAPI document against the one that the server makes of its routes, so that every change of the API
// shows in a review. UPDATE=1 writes it anew.
import t from 'tap';
import { readFile, writeFile } from 'node:fs/promises';
import { buildApp } from './app.js';
import type { Database } from './db/client.js';
import { createOutbound } from './outbound/outbound.js';
import type { AppDeps } from './parts.js';

const committed = new URL('../../api/openapi.json', import.meta.url); // from build/api

/** Nothing is asked of the database before the first request. */
const database = { kind: 'embedded' } as Database;

async function describe(over: Partial<AppDeps> = {}): Promise<Record<string, unknown>> {
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
  const document = JSON.parse(JSON.stringify(app.swagger())) as Record<string, unknown>;
  await app.close();
  await outbound.close();
  return document;
}

t.test('the committed document is the one of these routes', async (t) => {
  const document = await describe();
  if (process.env['UPDATE'] === '1') await writeFile(committed, `${JSON.stringify(document, null, 2)}\n`);
  t.same(
    document,
    JSON.parse(await readFile(committed, 'utf8')),
    'if that is what you meant: UPDATE=1 node build/api/openapi.test.js, and read the difference',
  );
});

t.test('it does not depend on clock, installation or what is connected', async (t) => {
  const elsewhere = await describe({
    now: () => Date.parse('2031-05-06T07:08:09Z'),
    applySettings: async () => ({ kind: 'refused', reason: '', diagnostics: [] }),
    crsDirectory: '/nowhere',
    licencePublicKey: 'a key',
    loginsPerMinute: 7,
    env: {
      authSessionSecret: 'x'.repeat(40),
      settingsEncryptionSecret: 'y'.repeat(40),
      dataAdminToken: 'z'.repeat(40),
      trustedProxies: ['10.0.0.0/8'],
      consoleToken: null,
      breachedPasswordsUrl: 'http://other.invalid/range/',
      torExitsUrl: 'http://other.invalid/exits',
      brand: { name: 'Another brand', sub: 'X', tagline: 'Y' },
    },
  });
  const here = await describe();
  t.match(elsewhere, { info: { title: 'Another brand control plane' } });
  t.same({ ...elsewhere, info: here['info'] }, here);
});
