// What a release before this one left behind still works: its database, its node's files, its requests to a node, its
// settings file. fixtures/upgrade/ was written by that release (commit ff1062a, migrations 1 to 10), not by this one.
import { readFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { readLocalFile } from '#settings';
import { features } from '../app.js';
import { findAppliedRules } from '../change/steps/managed-rules.js';
import { openEmbedded, openPostgres, type Database } from '../db/client.js';
import { loadModules, migrate } from '../db/migrate.js';
import { revealSecrets } from '../settings/secrets.js';
import { readState } from '../settings/state.js';
import { findVersion } from '../settings/store.js';
import { startTestApp, testPassword } from '../testing/app.js';
import { copyEmbeddedTemplate, startCluster, withoutPostgres } from '../testing/databases.js';
import { nodeToken, startNode, startUpstream } from '../testing/data-plane.js';
import { makeDirectory } from '../testing/temporary.js';

const fixture = (name: string): Promise<string> =>
  readFile(new URL(`../../../fixtures/upgrade/${name}`, import.meta.url), 'utf8');

interface NodeFixture {
  readonly artifact_gzip_base64: string;
  readonly generation_request: { readonly sha256: string; readonly config: object };
  readonly current: { readonly id: number; readonly sha256: string };
}
const node = JSON.parse(await fixture('node.json')) as NodeFixture;
const artifact = gunzipSync(Buffer.from(node.artifact_gzip_base64, 'base64'));

async function database(t: Test, database: Database): Promise<void> {
  await database.sql.unsafe(await fixture('database.sql'));
  await migrate(database, await loadModules(features));
  const state = await readState(database.sql);
  t.match(state, { activeId: 4, headId: 5, pendingId: null });
  const active = await findVersion(database.sql, 4);
  if (active === null) throw new Error('the active version is not there');
  t.match(active.settings, {
    mode: 'DetectionOnly',
    custom_rules: [
      { id: 1_000_001, action: 'deny', transformations: [] },
      { id: 1_000_002, kind: 'raw', seclang: /plugh/ },
    ],
    virtual_patches: [{ id: 1_007_002, seclang: '' }],
    allowed_methods: /./,
  });
  const applied = await findAppliedRules(database.sql, active.managedSha256);
  t.match(applied?.delivered, [{ id: 1_007_900 }], 'the rules that the feed had delivered are kept with it');

  const at = await startTestApp(database);
  const login = await at.logIn('admin@example.org', testPassword);
  t.equal(login.status, 200, 'people log in as before');
  const call = (method: string, path: string, body?: object) =>
    at.call(method, path, { token: String(login.body['token']), ...(body === undefined ? {} : { body }) });
  t.equal(revealSecrets(active.settings, at.parts.sealing).auth_secret, 'sesame', 'secrets open');
  t.match((await call('GET', '/api/settings')).body, { paranoia_level: 3, auth_secret: '********' });
  t.match((await call('GET', '/api/managed-feed')).body, { copy: { version: 3 }, rules_applied: true });
  t.match((await call('GET', '/api/audit/verify')).body, { ok: true });
  t.match((await call('GET', '/api/threat-intel')).body['items'], /./);
  t.match((await call('GET', '/api/config/versions/2')).body, { settings: { sites: [{ prefix: '/a//b' }] } });
  const back = await call('POST', '/api/config/rollback', { version: 2, apply: false });
  t.equal(back.status, 200, 'a version that newer rules would refuse can be read and restored');
  await at.close();
}

t.test('the database of the release before', async (t) => {
  await t.test('embedded', async (t) => {
    const embedded = await openEmbedded(await copyEmbeddedTemplate(t));
    t.teardown(() => embedded.close());
    await database(t, embedded);
  });
  await t.test('PostgreSQL', { skip: withoutPostgres }, async (t) => {
    const opened = openPostgres(await (await startCluster(t)).create());
    t.teardown(() => opened.close());
    await database(t, opened);
  });
});

t.test('a node: what served resumes, what is sent is taken', async (t) => {
  const upstream = await startUpstream(t);
  const dataDir = await makeDirectory(t, 'upgrade');
  await mkdir(join(dataDir, 'artifacts'));
  await writeFile(join(dataDir, 'artifacts', node.current.sha256), artifact);
  await writeFile(join(dataDir, 'current.json'), JSON.stringify(node.current));
  const resumed = await startNode(t, { upstream, dataDir, resume: true });
  t.match(await resumed.status(), { generation: 7, ruleset: node.current.sha256 });
  const ask = async (path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${resumed.http}${path}`, { headers: { connection: 'close' } })).status;
  t.same(
    [await ask('/?q=zorkmid'), await ask('/?q=lamp')],
    [403, 502],
    'its rules and its sites, by its configuration',
  );

  const sent = { ...node.generation_request, id: 8, artifactBase64: artifact.toString('base64') };
  const reply = await fetch(`${resumed.url}/generation`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${nodeToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(sent),
  });
  t.match(await reply.json(), { outcome: 'active', id: 8, sha256: node.current.sha256 });
});

t.test('a settings file of the release before', async (t) => {
  const taken = readLocalFile(await fixture('settings.json'));
  t.match(taken, {
    kind: 'fine',
    settings: {
      categories: { sqli: { path_exclusions: ['/editor'] }, php: { enabled: false } },
      custom_rules: [
        { kind: 'raw', seclang: /plugh/ },
        { action: 'redirect', redirect_url: 'https://www.example.com/new', transformations: ['lowercase'] },
      ],
      allowed_methods: ['GET', 'POST'],
      rl_trusted_proxies: ['10.0.0.0/8', '192.0.2.1'],
    },
  });
});
