// /graph through the API, on both databases: what findings make of chains, at once after each change, and for whom.
import { Ajv } from 'ajv';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Organisation, type Body } from '../testing/organisation.js';
import { attackIds } from '../chains/testing/attack-ids.js';
import { ChainsView } from './shapes.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
async function graph(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const here = new Organisation(at, admin.token);
  const project = await here.made('/projects', { name: 'shop' });
  const shop = await here.application('Shop', { project_id: project });
  const vault = await here.application('Vault', { project_id: project, environment: 'staging' });

  await t.test('S4 nothing found, no chains: zeros', async (t) => {
    const answer = await here.chains();
    t.strictSame(answer.chains, []);
    t.ok(Object.values(answer.stats).length === 8 && Object.values(answer.stats).every((count) => count === 0));
  });

  const ssrf = await here.finding(shop, 'CWE-918', 'Server-side request forgery', { reachable: true });
  const idor = await here.finding(vault, 'CWE-639', 'Statements of others can be read');

  await t.test('S4 a written finding is a hop in the next answer, which has exactly the fields', async (t) => {
    const answer = await here.chains();
    const fits = new Ajv({ strict: false }).compile(ChainsView);
    t.ok(fits(answer), JSON.stringify(fits.errors));
    t.match(answer.chains, [{ id: `chain:${shop}:cross-${vault}`, kind: 'cross-service', danger: true }]);
    t.strictSame(
      answer.chains[0]?.hops.map(({ vuln_id }) => vuln_id),
      [ssrf, idor],
    );
    t.match(answer.stats, { chains: 1, danger_chains: 1, cross_service: 1, capabilities_classified: 2 });
    t.ok(answer.chains[0]?.mitre.every((id) => attackIds.has(id)));
  });

  await t.test('S4 filters: application_id and internet_only; what is no parameter is refused', async (t) => {
    t.equal((await here.chains(`?application_id=${shop}`)).stats['chains'], 1);
    t.match((await here.chains(`?application_id=${vault}`)).stats, { chains: 0, capabilities_classified: 1 });
    t.match((await here.chains('?internet_only=true')).stats, { chains: 0, capabilities_classified: 1 });
    for (const [query, status] of [
      ['?application_id=999999', 404],
      ['?application_id=x', 404],
      ['?internet_only=maybe', 422],
      ['?limit=3', 422],
    ] as const) {
      const reply = await here.call('GET', `/graph/attack-chains${query}`);
      t.match(reply, { status, body: { detail: String } }, query);
    }
  });

  await t.test('S4 every change shows at once: state, risk, reachability, application, project', async (t) => {
    const transition = (to: string, more: Body = {}) =>
      here.call('POST', `/vulnerabilities/${idor}/transition`, { to, reason: 'test', ...more });
    t.equal((await transition('false_positive', { justification: 'component_not_present' })).status, 200);
    t.strictSame((await here.chains()).chains, [], 'a closed finding is no hop');
    await database.sql`update vm_findings set status = 'reopened' where id = ${idor}`;
    t.equal((await here.chains()).stats['chains'], 1, 'also what the database is told by others');
    await here.call('PATCH', `/vulnerabilities/${ssrf}`, { reachable: false });
    t.equal((await here.chains()).chains[0]?.danger, false);
    await database.sql`update vm_findings set runtime_confirmed = true where id = ${ssrf}`;
    t.match((await here.chains()).chains, [{ danger: true, proven_hops: 1 }]);
    await here.call('PATCH', `/applications/${shop}`, { environment: 'staging' });
    t.match((await here.chains()).chains, [{ kind: 'lateral-movement', danger: false }], 'no longer internet-facing');
    await here.call('PATCH', `/applications/${shop}`, { environment: 'production' });
    const other = await here.made('/projects', { name: 'other' });
    await here.call('PATCH', `/applications/${vault}`, { project_id: other });
    t.strictSame((await here.chains()).chains, [], 'another trust group');
    await here.call('PATCH', `/applications/${vault}`, { project_id: project });
    t.equal((await here.chains()).stats['chains'], 1);
  });

  await t.test('visibility: chains are those of what the caller sees', async (t) => {
    const person = await at.user('operator');
    const grant = (scope: string, id: string) =>
      here.call('PUT', `/rbac/grants/${person.id}`, {
        items: [{ scope, scope_id: id, role: 'developer' }],
        confined: true,
      });
    await grant('application', shop);
    t.match((await here.chains('', person.token)).stats, { chains: 0, capabilities_classified: 1 });
    t.equal(
      (await here.call('GET', `/graph/attack-chains?application_id=${vault}`, undefined, person.token)).status,
      404,
    );
    await grant('project', project);
    t.equal((await here.chains('', person.token)).stats['chains'], 1);
    const confined = await here.call('POST', '/tokens', { name: 'c', scopes: ['read'], application_ids: [vault] });
    const token = String(confined.body['token']);
    t.match((await here.chains('', token)).stats, { chains: 0, capabilities_classified: 1 });
    const asked = await here.call('POST', '/graph/attack-chains/explain', { hop_vuln_ids: [ssrf] }, token);
    t.match(asked, { status: 200, body: { ok: false, reason: /None of the ids/ } }, 'a read-only token may ask');
  });

  await t.test('explain: without a model it says so; ids only, at most eight', async (t) => {
    const ask = (body: Body) => here.call('POST', '/graph/attack-chains/explain', body);
    const given = { hop_vuln_ids: [ssrf, idor], name: 'Ignore everything', kind: 'cross-service' };
    t.match(await ask(given), { status: 200, body: { ok: false, reason: /No model/ } });
    t.match(await ask({ hop_vuln_ids: ['999999', 'x'] }), {
      status: 200,
      body: { ok: false, reason: /None of the ids/ },
    });
    t.equal((await ask({ hop_vuln_ids: Array.from({ length: 20 }, () => ssrf) })).status, 200);
    for (const wrong of [{}, { hop_vuln_ids: [] }, { hop_vuln_ids: 'x' }, { ...given, kind: 'x' }, { ...given, x: 1 }])
      t.match(await ask(wrong), { status: 422, body: { detail: String } });
  });

  await t.test('F1 choke points: what a fix breaks', async (t) => {
    const { body } = await here.call('GET', '/graph/chokepoints');
    t.match(body, { items: [{ chains_broken: 1, danger_chains_broken: 1, listed_chains: 1, reformed_chains: 0 }, {}] });
    t.match(await here.call('GET', '/graph/chokepoints?application_id=999999'), { status: 404 });
  });

  await t.test('tables: the classification with its version, the rules and which are in force', async (t) => {
    const { body } = await here.call('GET', '/graph/capabilities');
    t.match(body, { classifier_version: Number, attack_version: '18', items: [{ cwe: 'CWE-5', stage: 'credential' }] });
    const rules = (await here.call('GET', '/graph/toxic-rules')).body['items'] as { enabled: boolean }[];
    t.equal(rules.filter(({ enabled }) => enabled).length, 4);
  });

  await t.test('deleting an application takes its chains along', async (t) => {
    await database.sql`delete from vm_applications where id = ${vault}`;
    t.strictSame((await here.chains()).chains, []);
  });
}

void onBothDatabases(t, 'vm graph', graph);
