// Part 2, sections 4 and 5, and decision 14.1: whoever has every permission in one project meets nothing of another
// one, at any endpoint: not by id (404), not in a list, not by naming it in a query or a body, not in a number.
import type { Test } from 'tap';
import type { Reply, TestApp } from '#api/testing/app';
import type { onBothDatabases } from '#api/testing/databases';
import { endpoints } from '../endpoints.js';
import type { Endpoint } from '../kit/endpoint.js';
import { permissionNames } from '../kit/permissions.js';
import { fillOrganisation, type Filled } from './filled-organisation.js';
import { sampleOf } from './sample.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
type Caller = (method: string, path: string, body?: unknown) => Promise<Reply>;
const v1 = '/api/v1';
const pathOf = (row: Endpoint, id: string): string => row.path.replace(/:\w+/, id);
const moduleOf = (path: string): string => path.split('/:')[0] ?? path;
const bodyFor = (row: Endpoint, filled: Filled): object | undefined =>
  row.body === undefined ? undefined : { ...(sampleOf(row.body) as object), ...filled.bodyOf(row) };

/** Somebody whose only grant is the role with every permission but that over roles, in a project of their own. */
async function ownerOf(at: TestApp, admin: string, scope: 'project' | 'application'): Promise<Caller> {
  const call = (method: string, path: string, body: unknown) => at.call(method, `${v1}${path}`, { token: admin, body });
  const name = `owner-of-${scope}`;
  const permissions = permissionNames.filter((one) => one !== 'manage_roles');
  await call('POST', '/rbac/roles', { name, permissions });
  const project = String((await call('POST', '/projects', { name })).body['id']);
  const application = String((await call('POST', '/applications', { name, project_id: project })).body['id']);
  const { id, token } = await at.user('operator');
  const items = [{ scope, scope_id: scope === 'project' ? project : application, role: name }];
  const granted = await call('PUT', `/rbac/grants/${id}`, { items, confined: true });
  if (granted.status !== 200) throw new Error(granted.text);
  return (method, path, body) => at.call(method, `${v1}${path}`, { token, body });
}

/** A token of an administrator that is confined to an application of another project. */
async function confinedToken(at: TestApp, admin: string): Promise<Caller> {
  const call = (path: string, body: unknown) => at.call('POST', `${v1}${path}`, { token: admin, body });
  const application = String((await call('/applications', { name: 'elsewhere' })).body['id']);
  const made = await call('/tokens', { name: 'c', scopes: ['admin'], application_ids: [application] });
  const token = String(made.body['token']);
  return (method, path, body) => at.call(method, `${v1}${path}`, { token, body });
}

async function byId(t: Test, call: Caller, filled: Filled, who: string): Promise<void> {
  let checked = 0;
  for (const row of endpoints) {
    if (!row.path.includes('/:') || !filled.confined.has(moduleOf(row.path)) || row.permission === 'public') continue;
    if (row.upload !== undefined) continue;
    // refused whole, whatever the id names: accounts/organisation.test.ts
    if (row.ofOrganisation !== undefined) continue;
    const reply = await call(row.method, pathOf(row, filled.idOf(row.path)), bodyFor(row, filled));
    t.equal(reply.status, 404, `${row.method} ${row.path} by id, ${who}: ${reply.text.slice(0, 200)}`);
    checked++;
  }
  t.ok(checked >= 55, `${checked} endpoints by id`);
}

/** Bodies and queries that name the application, the project or a finding of somebody else. */
async function byName(t: Test, call: Caller, filled: Filled, who: string): Promise<void> {
  const { application, project, finding } = filled;
  const named = ['application_id', 'project_id', 'vuln_id', 'vulnerability_id', 'entity_id'] as const;
  const values = { application_id: application, project_id: project, vuln_id: finding, vulnerability_id: finding };
  let checked = 0;
  for (const row of endpoints) {
    if (row.upload !== undefined || row.path.includes('/:')) continue;
    const inBody =
      named.some((name) => row.body?.['properties']?.[name] !== undefined) ||
      /vuln_ids|"ids"/.test(JSON.stringify(Object.keys((row.body?.['properties'] as object | undefined) ?? {})));
    const inQuery = named.filter((name) => row.query?.properties[name] !== undefined && name !== 'entity_id');
    if (!inBody && inQuery.length === 0) continue;
    for (const name of inQuery) {
      const reply = await call(row.method, `${row.path}?${name}=${values[name as keyof typeof values]}`);
      t.equal(leak(reply, filled), null, `${row.method} ${row.path}?${name}, ${who}: ${reply.text.slice(0, 300)}`);
    }
    if (inBody) {
      const reply = await call(row.method, row.path, bodyFor(row, filled));
      t.equal(leak(reply, filled), null, `${row.method} ${row.path} in the body, ${who}: ${reply.text.slice(0, 300)}`);
      if (row.kind !== 'B' && row.kind !== 'A')
        t.ok(reply.status >= 400, `${row.method} ${row.path} makes nothing there`);
    }
    checked++;
  }
  t.ok(checked >= 30, `${checked} endpoints by name`);
}

/** What a reply says of the other project; null: nothing. */
function leak(reply: Reply, filled: Filled): string | null {
  if (reply.status >= 500 && reply.status !== 503) return 'the server failed';
  if (reply.status >= 400) return null;
  for (const word of ['filled', 'zebra']) if (reply.text.includes(word)) return `it says ${word}`;
  for (const name of ['total', 'count', 'open_total', 'chains_total', 'changed'])
    if (typeof reply.body[name] === 'number' && reply.body[name] > 0) return `${name} is ${reply.body[name]}`;
  const ids = new RegExp(`"(?:application_id|vuln_id|id)":"(?:${filled.application}|${filled.finding})"`);
  return ids.test(reply.text) && /"(?:application_id|vuln_id)"/.test(reply.text) ? 'it has an id' : null;
}

/** Lists and numbers of the whole: what others have is not in them. */
async function inLists(t: Test, call: Caller, filled: Filled, who: string): Promise<void> {
  let checked = 0;
  for (const row of endpoints) {
    if (row.method !== 'GET' || row.path.includes(':') || row.permission === 'public') continue;
    const needed = ((row.query?.required as readonly string[] | undefined) ?? []).length > 0;
    if (needed) continue;
    const reply = await call('GET', row.path);
    if (reply.status === 403) continue; // of the whole organisation
    for (const word of ['"filled"', 'zebra', 'filled.example'])
      t.notOk(reply.text.includes(word), `${row.path} says ${word}, ${who}: ${reply.text.slice(0, 300)}`);
    if (wholeLists.has(row.path)) continue;
    const items = (reply.body['items'] ?? []) as { application_id?: unknown }[];
    t.notOk(
      items.some(({ application_id: id }) => id === filled.application),
      `${row.path} lists something of another project, ${who}`,
    );
    checked++;
  }
  t.ok(checked >= 40, `${checked} lists`);
}
/** What is of the organisation, and of no project: catalogues, roles, feeds. */
const wholeLists = new Set(['/rbac/roles', '/threat-intel/feeds', '/imports/mappings', '/target-groups']);

/** Everything above, for somebody of another project, and on PostgreSQL for two other kinds of callers. */
export async function otherProject(t: Test, at: TestApp, database: Database, token: string): Promise<void> {
  const filled = await fillOrganisation(at, database, token);
  const callers: Record<string, Caller> = { 'owner of another project': await ownerOf(at, token, 'project') };
  // the conditions of the statements are the same ones: one kind of caller is enough on the slower database
  if (database.kind === 'postgres') {
    callers['owner of another application'] = await ownerOf(at, token, 'application');
    callers['confined token'] = await confinedToken(at, token);
  }
  for (const [who, call] of Object.entries(callers)) {
    await byId(t, call, filled, who);
    await byName(t, call, filled, who);
    await inLists(t, call, filled, who);
  }
  const after = await at.call('GET', `${v1}/vulnerabilities/${filled.finding}`, { token });
  t.match(after, { status: 200, body: { title: /zebra/ } }, 'it stands as it stood');
}
