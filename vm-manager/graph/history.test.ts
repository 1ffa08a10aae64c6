// Chains over time, through the API and the job, on both databases.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Organisation, type Body } from '../testing/organisation.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
interface Item extends Body {
  readonly chain_id: string;
  readonly state: string;
  readonly since: string;
}

async function history(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const here = new Organisation(at, admin.token);
  const project = await here.made('/projects', { name: 'shop' });
  const shop = await here.application('Shop', { project_id: project });
  const vault = await here.application('Vault', { project_id: project, environment: 'staging' });
  const entry = await here.finding(shop, 'CWE-918', 'Server-side request forgery');
  const impact = await here.finding(vault, 'CWE-639', 'Statements of others can be read');
  const chain = `chain:${shop}:cross-${vault}`;
  const job = at.jobs.find(({ name }) => name === 'vm-chain-history');
  const look = async (): Promise<string> => {
    at.clock.nowMs += 60_000;
    return String(await job?.run({ nowMs: at.clock.nowMs } as never));
  };
  const told = async (query = '', token = here.token): Promise<Item[]> => {
    const reply = await here.call('GET', `/graph/history${query}`, undefined, token);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    return reply.body['items'] as Item[];
  };
  const now = (): string => new Date(at.clock.nowMs).toISOString();
  const move = (id: string, to: string, more: Body = {}) =>
    here.call('POST', `/vulnerabilities/${id}/transition`, { to, reason: 'test', ...more });

  await t.test('H1: a chain is new once, and what stands is not written again', async (t) => {
    t.equal(await look(), '1 chains are new, 0 are gone');
    const first = now();
    t.match(await told(), [
      { chain_id: chain, hop_vuln_ids: [entry, impact], state: 'standing', first_seen: first, since: first },
    ]);
    t.equal(await look(), '0 chains are new, 0 are gone');
    await here.finding(shop, 'CWE-614', 'Cookie without Secure flag');
    t.equal(await look(), '0 chains are new, 0 are gone', 'a change that makes no chain');
    t.match(await told(), [{ since: first, gone_at: null }]);
    t.match(await here.call('GET', `/graph/attack-chains/${chain}`), {
      status: 200,
      body: { chain: { id: chain, hops: [{ vuln_id: entry }, { vuln_id: impact }] }, history: { since: first } },
    });
  });

  await t.test('H1: gone and back: first_seen stays, since begins anew', async (t) => {
    const [before] = await told();
    await move(impact, 'false_positive', { justification: 'component_not_present' });
    t.equal(await look(), '0 chains are new, 1 are gone');
    t.match(await told('?state=gone'), [{ chain_id: chain, gone_at: now(), since: before?.since }]);
    t.strictSame(await told('?state=standing'), []);
    t.equal((await here.call('GET', `/graph/attack-chains/${chain}`)).status, 404);
    await move(impact, 'reopened');
    t.equal(await look(), '1 chains are new, 0 are gone');
    t.match(await told(), [{ first_seen: before?.['first_seen'], since: now(), gone_at: null }]);
    t.strictSame((await told(`?new_since=${now()}`)).length, 1);
    t.strictSame(await told(`?gone_since=${now()}`), []);
  });

  await t.test('H1: other findings under the same id are another chain; its score follows', async (t) => {
    const worse = await here.finding(shop, 'CWE-918', 'Another forgery', { severity: 'critical' });
    t.equal(await look(), '1 chains are new, 1 are gone');
    t.match(await told('?state=standing'), [{ chain_id: chain, hop_vuln_ids: [worse, impact] }]);
    const [{ score } = { score: 0 }] = (await told('?state=standing')) as unknown as { score: number }[];
    await here.call('PATCH', `/vulnerabilities/${worse}`, { reachable: true });
    t.equal(await look(), '0 chains are new, 0 are gone');
    const [after] = await told('?state=standing');
    t.ok(after?.['danger'] === true && Number(after['score']) > score, JSON.stringify(after));
  });

  await t.test('H1: a pair that is no more among the best of its project still stands', async (t) => {
    for (let index = 0; index < 60; index++) {
      const next = await here.application(`Better ${index}`, { project_id: project });
      await here.finding(next, 'CWE-639', `Orders of ${index}`, { severity: 'critical', reachable: true });
    }
    await look();
    t.match(
      (await told(`?state=standing&limit=500`)).find(({ chain_id: id }) => id === chain),
      { state: 'standing' },
      'sixty others came',
    );
    await here.call('PATCH', `/applications/${vault}`, { project_id: null });
    await look();
    t.notOk(
      (await told('?state=standing&limit=500')).some(({ chain_id: id }) => id === chain),
      'another trust group',
    );
    await here.call('PATCH', `/applications/${vault}`, { project_id: project });
    await look();
  });

  await t.test('H1: whoever does not see all of a chain does not see it, nor by its id', async (t) => {
    const person = await at.user('operator');
    const grant = (scope: string, id: string) =>
      here.call('PUT', `/rbac/grants/${person.id}`, {
        items: [{ scope, scope_id: id, role: 'developer' }],
        confined: true,
      });
    await grant('application', shop);
    t.strictSame(await told('', person.token), []);
    const asked = (id: string) => here.call('GET', `/graph/attack-chains/${id}`, undefined, person.token);
    t.equal((await asked(chain)).status, 404);
    await grant('project', project);
    t.ok((await told('?limit=500', person.token)).length > 1);
    t.equal((await asked(chain)).status, 200);
    for (const wrong of [
      'x',
      'chain:0:kill-chain',
      `chain:${shop}:kill-chain`,
      'chain:99999999999999999:x',
      `${chain}x`,
    ])
      t.match(await asked(wrong), { status: 404, body: { detail: String } }, wrong);
  });

  await t.test('H1: wrong questions; pages; deleted and archived applications', async (t) => {
    for (const query of ['?state=x', '?new_since=yesterday', '?new_since=2026-99-99T00:00:00Z', '?sort=x', '?x=1'])
      t.match(await here.call('GET', `/graph/history${query}`), { status: 422, body: { detail: String } }, query);
    t.equal((await here.call('GET', '/graph/history?application_id=999999')).status, 404);
    const { body } = await here.call('GET', '/graph/history?limit=2');
    t.equal((body['items'] as unknown[]).length, 2);
    const next = await told(`?limit=2&cursor=${encodeURIComponent(String(body['next_cursor']))}`);
    t.equal(next.length, 2);
    await database.sql`update vm_applications set status = 'archived' where id = ${shop}`;
    await look();
    t.strictSame(await told(`?state=standing&application_id=${shop}`), []);
    await database.sql`delete from vm_applications where id = ${shop}`;
    await look();
    t.strictSame(
      await database.sql`select 1 from vm_chain_history where application_id = ${shop}`.then((rows) => [...rows]),
      [],
    );
    at.clock.nowMs += 401 * 86_400_000;
    await look();
    const [left] = await database.sql<{ n: number }[]>`
      select count(*) as n from vm_chain_history where gone_at is not null`;
    t.equal(left?.n, 0, 'what went long ago is forgotten');
  });
}

void onBothDatabases(t, 'H1 chain history', history);
