// What-if and the evidence of hops through the API, on both databases.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Organisation } from '../testing/organisation.js';
import type { Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function whatIf(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const here = new Organisation(at, admin.token);
  const mine = await here.made('/projects', { name: 'mine' });
  const shop = await here.application('Shop', { project_id: mine });
  const sqli = await here.finding(shop, 'CWE-89', 'SQL injection', { reachable: true, severity: 'critical' });
  const spare = await here.finding(shop, 'CWE-918', 'Fetches what it is told', { severity: 'low' });
  const key = await here.finding(shop, 'CWE-798', 'Key in code');
  const ask = async (body: object, token = admin.token): Promise<{ status: number; body: Json }> =>
    here.call('POST', '/graph/attack-chains/what-if', body, token);

  await t.test('14.W1: a fixed hop is gone, the next best takes its place, and the counts tell', async (t) => {
    const before = await here.chains();
    const { status, body } = await ask({ remove_vuln_ids: [sqli] });
    t.equal(status, 200, JSON.stringify(body));
    t.match(body['removed'], [{ vuln_id: sqli, title: 'SQL injection', application_id: shop }]);
    t.same(body['before'], before.stats);
    t.match(body['chains_gone'], [{ kind: 'kill-chain', danger: true, stands_again: true, hop_vuln_ids: [sqli, key] }]);
    t.match(body['chains_new'], [{ kind: 'kill-chain', danger: false, hop_vuln_ids: [spare, key] }]);
    t.match(body['change'], { chains: 0, danger_chains: -1 });
    t.ok(body['change'].max_chain_risk < 0);
    t.same(await here.chains(), before, 'nothing was changed');
  });

  await t.test('14.W1: it is what happens when they are fixed', async (t) => {
    const both = (await ask({ remove_vuln_ids: [sqli, spare, sqli] })).body;
    t.match(both, { after: { chains: 0 }, chains_gone: [{ stands_again: false }], chains_new: [] });
    const said = (await ask({ remove_vuln_ids: [sqli] })).body;
    await here.call('POST', `/vulnerabilities/${sqli}/transition`, { to: 'resolved', reason: 'fixed' });
    const now = await here.chains();
    t.same({ chains: said['chains_after'], stats: said['after'] }, { chains: now.chains, stats: now.stats });
    await here.call('POST', `/vulnerabilities/${sqli}/transition`, { to: 'reopened', reason: 'not fixed' });
  });

  await t.test('14.W2: more findings than are kept in reserve are fixed at once', async (t) => {
    const wide = await here.application('Wide');
    const ids: string[] = [];
    for (let n = 0; n < 55; n++) ids.push(await here.finding(wide, 'CWE-79', `Markup ${n}`, { severity: 'critical' }));
    await here.finding(wide, 'CWE-918', 'Fetches', { severity: 'low' });
    await here.finding(wide, 'CWE-798', 'Key', { severity: 'low' });
    const { body } = await ask({ remove_vuln_ids: ids, application_id: wide });
    t.match(body, { before: { chains: 0 }, after: { chains: 1 } }, 'what was hidden behind them stands');
  });

  await t.test('14.W3: controls, refusals, and nothing of what the caller may not see', async (t) => {
    t.match((await ask({ controls: ['virtual_patches'] })).body, { removed: [], change: { chains: 0 } });
    await database.sql`update vm_findings set virtually_patched = true where id = ${sqli}`;
    t.match((await ask({ controls: ['virtual_patches'] })).body, { removed: [{ vuln_id: sqli }] });
    for (const [body, status] of [
      [{}, 422],
      [{ remove_vuln_ids: [] }, 422],
      [{ remove_vuln_ids: ['999999'] }, 404],
      [{ remove_vuln_ids: ['x'] }, 404],
      [{ remove_vuln_ids: Array.from({ length: 501 }, () => sqli) }, 422],
      [{ controls: ['walls'] }, 422],
      [{ remove_vuln_ids: [sqli], application_id: '999999' }, 404],
    ] as const)
      t.match(await ask(body), { status, body: { detail: String } }, JSON.stringify(body).slice(0, 60));
    const theirs = await here.made('/projects', { name: 'theirs' });
    const person = await at.user('viewer');
    await here.call('PUT', `/rbac/grants/${person.id}`, {
      confined: true,
      items: [{ scope: 'project', scope_id: theirs, role: 'viewer' }],
    });
    t.equal((await ask({ remove_vuln_ids: [sqli] }, person.token)).status, 404);
    t.match((await ask({ controls: ['virtual_patches'] }, person.token)).body, { removed: [], before: { chains: 0 } });
  });

  await t.test('14.W4: a chain by its id tells what each hop rests on', async (t) => {
    await here.call('POST', '/runtime/events', {
      events: [
        {
          application_id: shop,
          sensor_id: 's',
          attack_type: 'sql_injection',
          confirmed: true,
          route: '/search',
          proof: { password: 'correct horse battery', query: 'select 1' },
          at: '2026-02-28T10:00:00Z',
        },
      ],
    });
    const { chains } = await here.chains(`?application_id=${shop}`);
    const [first] = chains;
    const reply = await here.call('GET', `/graph/attack-chains/${first?.id}`);
    const body: Json = reply.body;
    const { status } = reply;
    t.equal(status, 200, JSON.stringify(body));
    const hops = (body['chain'].hops as Json[]).map(({ vuln_id }) => vuln_id as string);
    t.same(
      (body['evidence'] as Json[]).map(({ vuln_id }) => vuln_id as string),
      hops,
    );
    const proven = (body['evidence'] as Json[]).find(({ proof }) => proof === 'runtime');
    t.match(proven, { runtime_events: 1, last_event_at: '2026-02-28T10:00:00.000Z', why: /proven at run time/ });
    t.match(proven?.['items'], [{ kind: 'runtime', proof: { query: 'select 1' } }]);
    t.notMatch(JSON.stringify(body), /correct horse/);
  });
}

void onBothDatabases(t, 'what if', whatIf);
