// Every endpoint, as everybody: what its row declares is what happens.
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { endpoints } from './endpoints.js';
import { writes, type Endpoint } from './kit/endpoint.js';
import { textOf } from './kit/text.js';
import { builtInRoles, permissionNames, scopeNames, scopesAllow } from './kit/permissions.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const v1 = '/api/v1';
/** Logging in and out changes who asks. */
const setsSessions = new Set(['/auth/login', '/auth/mfa', '/auth/logout', '/auth/logout-all', '/auth/refresh']);

const concrete = (row: Endpoint): string => `${v1}${row.path.replace(/:\w+/g, '999999')}`;

interface Who {
  readonly name: string;
  readonly token: string | null;
  readonly role: string;
  readonly scopes: readonly string[] | null;
}

function expected(row: Endpoint, who: Who): 'admitted' | 401 | 403 {
  if (row.permission === 'public') return 'admitted';
  if (who.token === null) return 401;
  if (row.inPerson === true && who.scopes !== null) return 403;
  const isReadOnly = who.scopes !== null && who.scopes.every((scope) => scope === 'read');
  if (row.permission === 'self') return isReadOnly && writes(row) ? 403 : 'admitted';
  const held = builtInRoles[who.role]?.includes(row.permission) === true;
  const allowed = who.scopes === null || scopesAllow(who.scopes, row.permission, writes(row));
  return held && allowed ? 'admitted' : 403;
}

/** An empty body is refused by the schema, so that nothing is changed by asking. */
async function ask(at: TestApp, row: Endpoint, token: string | null) {
  const body = row.method === 'GET' || row.method === 'DELETE' ? undefined : { nonsense_member: true };
  return at.call(row.method, concrete(row), { token, body });
}

async function matrix(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const people = {
    admin: await at.user('admin'),
    operator: await at.user('operator'),
    viewer: await at.user('viewer'),
  };
  const who: Who[] = [{ name: 'nobody', token: null, role: '', scopes: null }];
  for (const [role, { token }] of Object.entries(people)) who.push({ name: role, token, role, scopes: null });
  for (const scope of scopeNames) {
    const made = await at.call('POST', `${v1}/tokens`, {
      token: people.admin.token,
      body: { name: scope, scopes: [scope] },
    });
    who.push({ name: `scope ${scope}`, token: String(made.body['token']), role: 'admin', scopes: [scope] });
  }
  let checked = 0;
  for (const row of endpoints) {
    for (const one of who) {
      if (setsSessions.has(row.path)) continue;
      const reply = await ask(at, row, one.token);
      const wanted = expected(row, one);
      const isRight =
        wanted === 'admitted'
          ? reply.status !== 401 && reply.status < 500 && !(reply.status === 403 && reply.text.includes('permission'))
          : reply.status === wanted;
      if (!isRight) t.fail(`${row.method} ${row.path} as ${one.name}: ${reply.status} ${reply.text}, not ${wanted}`);
      if (reply.status >= 400 && typeof reply.body['detail'] !== 'string')
        t.fail(`${row.method} ${row.path}: a refusal without detail: ${reply.text}`);
      checked++;
    }
  }
  t.ok(checked > 800, `14.1: ${checked} combinations of endpoint and caller`);
  await otherProject(t, at, people.admin.token);
}

/** Somebody with every permission in one project meets 404 at everything of another one. */
async function otherProject(t: Test, at: TestApp, admin: string): Promise<void> {
  const call = (method: string, url: string, body?: unknown) => at.call(method, `${v1}${url}`, { token: admin, body });
  const mine = (await call('POST', '/projects', { name: 'mine' })).body['id'] as string;
  const theirs = (await call('POST', '/projects', { name: 'theirs' })).body['id'] as string;
  const application = (await call('POST', '/applications', { name: 'a', project_id: theirs })).body['id'] as string;
  const target = await call('POST', '/targets', { application_id: application, url: 'https://a.example' });
  const finding = await call('POST', '/vulnerabilities', { application_id: application, title: 'x', severity: 'high' });
  const assessment = await call('POST', '/assessments', { application_id: application, name: 'x' });
  await call('POST', '/rbac/roles', {
    name: 'owner',
    permissions: permissionNames.filter((name) => name !== 'manage_roles'),
  });
  const person = await at.user('operator');
  await call('PUT', `/rbac/grants/${person.id}`, { items: [{ scope: 'project', scope_id: mine, role: 'owner' }] });
  const ids: Readonly<Record<string, unknown>> = {
    projects: theirs,
    applications: application,
    targets: target.body['id'],
    vulnerabilities: finding.body['id'],
    assessments: assessment.body['id'],
  };
  let checked = 0;
  for (const row of endpoints) {
    const [, module = '', parameter] = row.path.split('/');
    if (ids[module] === undefined || parameter !== ':id' || row.upload !== undefined) continue;
    const url = `${v1}${row.path.replace(':id', textOf(ids[module]))}`;
    const body = row.body === undefined ? undefined : bodies[`${row.method} ${row.path}`];
    const reply = await at.call(row.method, url, { token: person.token, body });
    t.equal(reply.status, 404, `14.1: ${row.method} ${row.path} of another project: ${reply.text.slice(0, 100)}`);
    checked++;
  }
  t.ok(checked >= 15, `${checked} endpoints with an id of another project`);
  for (const list of ['projects', 'applications', 'targets', 'vulnerabilities', 'assessments', 'findings', 'runs'])
    t.equal(
      (await at.call('GET', `${v1}/${list}`, { token: person.token })).body['total'],
      list === 'projects' ? 1 : 0,
    );
  t.equal((await at.call('GET', `${v1}/audit`, { token: person.token })).status, 403, 'the log is of the whole');
}

/** Bodies that fit, so that the answer tells of what is not visible and not of the body. */
const bodies: Readonly<Record<string, unknown>> = {
  'PATCH /projects/:id': { name: 'n' },
  'PATCH /applications/:id': { name: 'n' },
  'PUT /applications/:id/site': { site: null },
  'PATCH /targets/:id': { kind: 'api' },
  'PATCH /assessments/:id': { name: 'n' },
  'PATCH /vulnerabilities/:id': { title: 'n' },
  'POST /vulnerabilities/:id/transition': { to: 'triaged' },
  'POST /vulnerabilities/:id/assign': { user_id: null },
  'PUT /vulnerabilities/:id/risk-override': { risk: 1, reason: 'r' },
};

t.test('14.1: endpoint × caller', (t) => onBothDatabases(t, 'endpoints', matrix));

t.test('14.1: the document and the explorer are made of the rows, and need nothing of others', async (t) => {
  const seen = new Set(endpoints.map(({ method, path }) => `${method} ${path}`));
  t.equal(seen.size, endpoints.length, 'no endpoint twice');
  await onBothDatabases(t, 'documents', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const document = (await at.call('GET', `${v1}/openapi.json`)).body;
    t.equal(document['openapi'], '3.1.0');
    const listed = Object.values(document['paths'] as object).flatMap((methods: object) => Object.keys(methods));
    t.equal(listed.length, endpoints.length);
    for (const path of ['/docs', `${v1}/docs`]) {
      const page = await at.call('GET', path);
      t.match(page, { status: 200, headers: { 'content-security-policy': /default-src 'none'/ } });
      t.notMatch(page.text, /https?:\/\//, 'nothing is fetched from elsewhere');
      t.notMatch(page.text, /<script>|style="/, 'nothing that the policy would stop');
    }
    t.match((await at.call('GET', `${v1}/docs/explorer.js`)).headers, { 'content-type': /javascript/ });
  });
});
