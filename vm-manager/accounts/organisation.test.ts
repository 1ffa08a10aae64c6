// What belongs to the whole organisation is changed by nobody who reaches a part of it, be it by grants or by a token.
// Every route that writes stands in one of three places: it says `ofOrganisation`, it names something that is within
// reach or not there, or it is listed here with what confines it. A new route in none of them fails.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { endpoints } from '../endpoints.js';
import { writes, type Endpoint } from '../kit/endpoint.js';
import { permissionNames } from '../kit/permissions.js';
import { confinedModules } from '../testing/filled-organisation.js';
import { Client } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;
const moduleOf = (path: string): string => path.split('/:')[0] ?? path;

/** Writes that name no object by an id, and what confines them. */
const confinedBy: Readonly<Record<string, RegExp>> = {
  // testing/other-project.ts names an application of others in each of these bodies
  'rows of the file, each within reach (assets/import.test.ts)': /^POST \/applications\/import$/,
  'an application or finding of the body, within reach': new RegExp(
    '^POST /(applications|targets|vulnerabilities|vulnerabilities/bulk|comments|imports|sca/match|mutes|acceptances|' +
      'vex/statements|repositories|containers/images|assessments|threat-models|gate/evaluate|ci/runs|scm/hooks|' +
      'api-security/specs|api-security/posture|findings/deduplications|reports|runtime/events|runtime/sensors|' +
      'runtime/heartbeat|' +
      'vpatches|sca/sboms|[^/]+/scans)$',
  ),
  'an application of the upload, else findings within reach (vex/statements.test.ts)': /^POST \/vex\/import$/,
  'the application of the query, within reach, which who reaches a part has to name': /^POST \/k8s-runtime\/events$/,
  'the target of the body, within reach': /^POST \/(?:scans|exploit\/runs|schedules|api-security\/tests)$/,
  'an application of the body or the query, else the whole organisation (compliance/compliance.test.ts)':
    /^(?:PUT|DELETE) \/compliance\/controls\/:id\/attestation$|^POST \/(?:compliance\/exceptions|secrets\/allowlist)$/,
  'findings of the body, within reach': /^POST \/(integrations\/:id\/issues|findings\/clusters\/merge)$/,
  'ids of the body, within reach (lookup/lookup.test.ts)': /^POST \/tags\/assign$/,
  'the project as a whole, below': /^POST \/projects$/,
  'who asks: their own sessions, tokens and filters': /^(POST|DELETE) \/(auth|tokens|findings\/views)(\/|$)/,
};

const isConfined = (row: Endpoint): boolean =>
  (row.path.includes('/:') && confinedModules.includes(moduleOf(row.path))) ||
  Object.values(confinedBy).some((routes) => routes.test(nameOf(row)));

async function start(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const client = new Client(at, admin.token);
  const project = String((await client.call('POST', '/projects', { name: 'p' })).body['id']);
  const made = await client.call('POST', '/applications', { name: 'mine', project_id: project });
  const mine = String(made.body['id']);
  await client.call('POST', '/rbac/roles', { name: 'everything', permissions: permissionNames });
  const confinedTo = async (scope: string, scope_id: string): Promise<Client> => {
    const user = await at.user('operator');
    const items = [{ scope, scope_id, role: 'everything' }];
    const granted = await client.call('PUT', `/rbac/grants/${user.id}`, { items, confined: true });
    t.equal(granted.status, 200, granted.text);
    return new Client(at, user.token);
  };
  const tokenOf = async (scopes: readonly string[], application_ids?: readonly string[]) => {
    const name = scopes.join(' ');
    const body = { name, scopes, ...(application_ids && { application_ids }) };
    const { body: answer } = await client.call('POST', '/tokens', body);
    return { id: String(answer['id']), as: new Client(at, String(answer['token'])) };
  };
  return { at, client, admin, project, mine, confinedTo, tokenOf };
}
type Started = Awaited<ReturnType<typeof start>>;

async function table(t: Test, { mine, confinedTo, tokenOf }: Started): Promise<void> {
  const user = await confinedTo('application', mine);
  const token = (await tokenOf(['admin'], [mine])).as;
  let checked = 0;
  for (const row of endpoints) {
    const { method, ofOrganisation: what } = row;
    if (what === undefined) {
      if (writes(row) && row.permission !== 'public')
        t.ok(isConfined(row), `${nameOf(row)}: is it of the whole organisation? If not, list what confines it`);
      continue;
    }
    const path = row.path.replace(/:\w+/, '1');
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const detail = `${what} are of the whole organisation; your grant or token is not.`;
    t.match(await user.call(method, path, body), { status: 403, body: { detail } }, `${nameOf(row)}, confined user`);
    if (row.inPerson === true) continue;
    t.match(await token.call(method, path, body), { status: 403, body: { detail } }, `${nameOf(row)}, confined token`);
    checked++;
  }
  t.ok(checked >= 30, `${checked} endpoints of the whole organisation`);
}

async function projects(t: Test, { client, project, mine, confinedTo, tokenOf }: Started): Promise<void> {
  const path = `/projects/${project}`;
  const detail = 'Projects are of the whole organisation; your grant or token is not.';
  const parts = [await confinedTo('application', mine), (await tokenOf(['admin'], [mine])).as];
  for (const part of parts) {
    t.equal((await part.call('GET', path)).status, 200, 'they see it');
    t.match(await part.call('PATCH', path, { name: 'renamed' }), { status: 403, body: { detail } });
    t.match(await part.call('DELETE', path), { status: 403, body: { detail } });
    t.match(await part.call('POST', '/projects', { name: 'another' }), { status: 403, body: { detail } });
  }
  const whole = await confinedTo('project', project);
  t.match(await whole.call('PATCH', path, { name: 'q' }), { status: 200, body: { name: 'q' } }, 'a grant for it');
  t.match(await whole.call('POST', '/projects', { name: 'another' }), { status: 403, body: { detail } });
  t.match(await client.call('GET', path), { body: { name: 'q' } });
}

async function scans(t: Test, { client, project, mine, confinedTo }: Started): Promise<void> {
  const made = await client.call('POST', '/applications', { name: 'of others', project_id: project });
  const url = 'http://127.0.0.1:9/';
  const target = await client.call('POST', '/targets', { application_id: String(made.body['id']), url });
  t.equal(target.status, 201, target.text);
  const body = { target_id: String(target.body['id']), profile: 'quick' };
  const user = await confinedTo('application', mine);
  t.equal((await user.call('POST', '/scans', body)).status, 404, 'a target of others');
  t.equal((await client.call('POST', '/scans', body)).status, 409, 'which is there, and not verified');
}

async function filters(t: Test, { client, mine, confinedTo, tokenOf }: Started): Promise<void> {
  const query = { field: 'severity', op: 'eq', value: 'high' };
  const detail = 'Shared filters are of the whole organisation; your grant or token is not.';
  const shared = await client.call('POST', '/findings/views', { name: 'all', query, shared: true });
  t.equal(shared.status, 201, shared.text);
  const token = (await tokenOf(['write'], [mine])).as;
  for (const part of [await confinedTo('application', mine), token]) {
    t.match(await part.call('POST', '/findings/views', { name: 's', query, shared: true }), {
      status: 403,
      body: { detail },
    });
    t.equal((await part.call('POST', '/findings/views', { name: 'own', query })).status, 201);
  }
  const path = `/findings/views/${String(shared.body['id'])}`;
  t.match(await token.call('DELETE', path), { status: 403, body: { detail } });
  t.equal((await client.call('DELETE', path)).status, 204, 'it was still there');
}

async function tokens(t: Test, { at, client, admin, mine, tokenOf }: Started): Promise<void> {
  const other = await at.user('operator');
  const theirs = await new Client(at, other.token).call('POST', '/tokens', { name: 'theirs', scopes: ['read'] });
  const confined = await tokenOf(['admin'], [mine]);
  const { items } = (await confined.as.call('GET', '/tokens?limit=500')).body as { items: { user_id: string }[] };
  t.ok(items.length > 0 && items.every(({ user_id }) => user_id === admin.id), 'it lists no tokens of others');
  t.equal((await confined.as.call('DELETE', `/tokens/${String(theirs.body['id'])}`)).status, 404);
  const pipeline = await tokenOf(['ci']);
  t.equal((await confined.as.call('DELETE', `/tokens/${pipeline.id}`)).status, 403);
  t.equal((await pipeline.as.call('DELETE', `/tokens/${confined.id}`)).status, 403);
  t.equal((await pipeline.as.call('DELETE', `/tokens/${pipeline.id}`)).status, 204, 'itself');
  t.equal((await client.call('DELETE', `/tokens/${String(theirs.body['id'])}`)).status, 204, 'an administrator');
}

/** What no administrator of a part may do to the account of anybody, and themselves: take `confined` away. */
async function grants(t: Test, { at, client, mine, confinedTo, tokenOf }: Started): Promise<void> {
  const someone = await at.user('operator');
  const items = [{ scope: 'application', scope_id: mine, role: 'viewer' }];
  await client.call('PUT', `/rbac/grants/${someone.id}`, { items, confined: true });
  for (const part of [await confinedTo('application', mine), (await tokenOf(['admin'], [mine])).as])
    t.equal((await part.call('PUT', `/rbac/grants/${someone.id}`, { items: [], confined: false })).status, 403);
  t.match(await client.call('GET', `/rbac/grants/${someone.id}`), { body: { items, confined: true } });
}

/** Scope → whether it writes comments, saves filters, makes tokens, ends sessions, takes comments back. */
const authors = { ci: false, ingest: false, scan: false, report: false, read: false, write: true, admin: true };

async function scopes(t: Test, { client, mine, tokenOf }: Started): Promise<void> {
  const query = { field: 'severity', op: 'eq', value: 'high' };
  for (const [scope, isAuthor] of Object.entries(authors)) {
    const { as } = await tokenOf([scope]);
    const comment = { entity: 'application', entity_id: mine, text: scope };
    const said = String((await client.call('POST', '/comments', comment)).body['id']);
    for (const [method, path, body, status] of [
      ['POST', '/comments', comment, 201],
      ['DELETE', `/comments/${said}`, undefined, 204],
      ['POST', '/findings/views', { name: `by ${scope}`, query }, 201],
      ['POST', '/tokens', { name: 'child', scopes: [scope] }, 201],
      ['POST', '/vulnerabilities', { application_id: mine, title: 'x', severity: 'low' }, 201],
    ] as const)
      t.equal((await as.call(method, path, body)).status, isAuthor ? status : 403, `${scope}: ${method} ${path}`);
  }
  const confined = (await tokenOf(['ci'], [mine])).as;
  const report = 'title,severity,file\nOne,high,a.js\n';
  const sent = await confined.send(mine, report, { format: 'csv', mode: 'sync', commit: 'c1', branch: 'main' });
  t.ok(sent.status < 300, `a confined token still imports for its application: ${sent.status}`);
  const verdict = await confined.call('POST', '/gate/evaluate', { application_id: mine, commit: 'c1' });
  t.equal(verdict.status, 200, verdict.text);
}

t.test('of the whole organisation', (t) =>
  onBothDatabases(t, 'organisation', async (t, database: Database) => {
    const started = await start(t, database);
    for (const [name, test] of Object.entries({ table, projects, scans, filters, tokens, grants, scopes }))
      await t.test(name, (t) => test(t, started));
  }),
);
