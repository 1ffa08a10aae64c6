// EPSS and KEV fetched by themselves: off until an address is named, by the guarded client, and told when it fails.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const epss = '#model_version:v1,score_date:2026-02-27T00:00:00+0000\ncve,epss,percentile\nCVE-2026-1000,0.5,0.9';
const kev = JSON.stringify({
  title: 'Catalogue',
  catalogVersion: '2026.02.27',
  dateReleased: '2026-02-27T10:00:00.000Z',
  count: 1,
  vulnerabilities: [{ cveID: 'CVE-2026-1000', dateAdded: '2026-02-01', dueDate: '2026-02-22', cwes: [] }],
});

async function startPublisher(t: Test) {
  const answers: Record<string, { status: number; body: string | Buffer; location?: string }> = {};
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const answer = answers[request.url ?? ''] ?? { status: 404, body: '' };
    if (answer.location !== undefined) response.setHeader('location', answer.location);
    response.writeHead(answer.status).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { answers, asked, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function fetching(t: Test, database: Database): Promise<void> {
  const { answers, asked, base } = await startPublisher(t);
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.1']) });
  t.teardown(() => at.close());
  const { token, email } = await at.user('admin');
  const client = new Client(at, token);
  const application_id = await client.application();
  const finding = { application_id, title: 'x', severity: 'low', vuln_ids: ['CVE-2026-1000'] };
  const { id } = (await client.call('POST', '/vulnerabilities', finding)).body;
  const job = at.jobs.find(({ name }) => name === 'vm-intel-fetch');
  const round = () => job?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
  const feed = async (name: string): Promise<Json> =>
    ((await client.call('GET', '/threat-intel/feeds')).body['items'] as Json[]).find((one) => one['id'] === name) ?? {};
  const set = async (settings: Json) => {
    const login = await at.logIn(email); // hours have passed since the last one
    const reply = await at.call('PATCH', '/api/settings', { token: String(login.body['token']), body: settings });
    t.equal(reply.status, 200, reply.text);
    at.clock.nowMs += 3000;
  };

  await t.test('14/4: off until an address is named', async (t) => {
    t.equal(await round(), 'nothing is due');
    t.match(await feed('epss'), { state: 'absent', fetch: { enabled: false, tried_at: null, error: null } });
    t.same(asked, []);
    const bad = await at.call('PATCH', '/api/settings', { token, body: { vm_epss_url: 'ftp://x' } });
    t.equal(bad.status, 400);
  });
  await t.test('14/4: fetched at its pace; findings follow', async (t) => {
    answers['/epss.csv.gz'] = { status: 200, body: gzipSync(epss) };
    answers['/kev.json'] = { status: 200, body: kev };
    await set({ vm_epss_url: `${base}/epss.csv.gz`, vm_kev_url: `${base}/kev.json`, vm_intel_hours: 6 });
    t.equal(await round(), 'epss was fetched; kev was fetched');
    t.match(await feed('epss'), { state: 'known', rows: 1, fetch: { enabled: true, every_hours: 6, error: null } });
    t.match((await client.call('GET', `/vulnerabilities/${id}`)).body, { epss: 0.5, kev: true });
    t.equal(await round(), 'nothing is due');
    at.clock.nowMs += 6 * 3_600_000;
    t.equal(await round(), 'epss was fetched; kev was fetched');
    t.equal(asked.length, 4);
  });
  await t.test('14/4: a failure is told, keeps what was known, and is tried again within the hour', async (t) => {
    await set({ vm_kev_url: '' });
    for (const [answer, error] of [
      [{ status: 503, body: '' }, /answered 503/],
      [{ status: 200, body: 'no set' }, /./],
      [{ status: 200, body: gzipSync(epss).subarray(0, 30) }, /unpacked/],
      [{ status: 302, body: '', location: 'http://127.0.0.2:1/x' }, /another place/],
      [{ status: 200, body: kev }, /./],
    ] as const) {
      answers['/epss.csv.gz'] = answer;
      at.clock.nowMs += 6 * 3_600_000;
      t.match(await round(), /^epss was not/);
      const [row] = await database.sql<Json[]>`select error, fetched_at, tried_at from vm_intel_fetches
        where name = 'epss'`;
      t.match(row, { error });
      t.ok(row?.['fetched_at'] < row?.['tried_at'], 'when it last went well stays');
    }
    t.match((await database.sql`select rows from vm_feeds where name = 'epss'`)[0], { rows: 1 });
    t.equal(await round(), 'nothing is due');
    answers['/epss.csv.gz'] = { status: 200, body: epss };
    at.clock.nowMs += 3_600_000;
    t.equal(await round(), 'epss was fetched');
  });
}

async function feeds(t: Test, database: Database): Promise<void> {
  const { answers, asked, base } = await startPublisher(t);
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.1']) });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const own = await at.call('POST', '/api/v1/tokens', { token, body: { name: 't', scopes: ['admin'] } });
  const client = new Client(at, String(own.body['token']));
  const application_id = await client.application();
  const finding = { application_id, title: 'Exploited', severity: 'high', vuln_ids: ['CVE-2026-1000'] };
  const { id } = (await client.call('POST', '/vulnerabilities', finding)).body;
  const url = `${base}/mirror/kev.json`;
  const feed = { set: 'kev', url, every_hours: 6 };
  for (const [body, detail] of [
    [{ ...feed, url: 'https://10.0.0.1/kev.json' }, /url may not be asked/],
    [{ ...feed, url: 'https://u:p@mirror.example/kev.json' }, /without credentials/],
    [{ ...feed, set: 'other' }, /set/],
  ] as const)
    t.match(await client.call('POST', '/threat-intel/feeds', body), { status: 422, body: { detail } });
  const made = await client.call('POST', '/threat-intel/feeds', feed);
  t.match(made, { status: 201, body: { set: 'kev', url, state: 'absent', fetch: { tried_at: null } } }, made.text);
  t.equal((await client.call('POST', '/threat-intel/feeds', feed)).status, 409, 'a set has one source');
  const path = `/threat-intel/feeds/${String(made.body['id'])}`;
  t.match(await client.call('POST', `${path}/sync`), { status: 502 }, 'nothing is published yet');
  const read = async (): Promise<Json> =>
    ((await client.call('GET', '/threat-intel/feeds')).body['items'] as Json[]).at(-1) ?? {};
  t.match(await read(), { state: 'absent', fetch: { error: /404/, succeeded_at: null }, is_stale: true });
  answers['/mirror/kev.json'] = { status: 200, body: kev };
  const synced = await client.call('POST', `${path}/sync`);
  t.match(synced, {
    status: 202,
    body: { report: { set: 'kev', findings_changed: 1, rose_total: 1, rose: [{ id, title: 'Exploited' }] } },
  });
  const { from, to } = (synced.body['report'] as Json)['rose'][0] as Json;
  t.ok(to > from, 'ranked higher');
  const events = (await client.call('GET', '/events?type=intel.rose')).body['items'] as Json[];
  t.match(events, [{ type: 'intel.rose', payload: { total: 1, summary: /KEV: 1 open finding rises in risk/ } }]);
  t.match(await read(), { state: 'known', rows: 1, is_stale: false, fetch: { error: null } });
  t.match((await client.call('POST', `${path}/sync`)).body, { report: { rose_total: 0 } }, 'nothing rises twice');
  const job = at.jobs.find(({ name }) => name === 'vm-intel-fetch');
  at.clock.nowMs += 6 * 3_600_000;
  t.equal(await job?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) }), 'kev was fetched');
  t.equal(asked.length, 4);
  const send = async (name: string, body: string) =>
    at.app.inject({
      method: 'POST',
      url: `/api/v1/threat-intel/feeds/${name}/sync`,
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/octet-stream' },
      payload: body,
    });
  t.equal((await send('epss', epss)).statusCode, 202, 'from a file');
  t.equal((await send('osv', epss)).statusCode, 422, 'of another set');
  t.match(await client.call('POST', '/threat-intel/feeds/epss/sync'), { status: 409, body: { detail: /vm_epss_url/ } });
  t.match(await client.call('DELETE', '/threat-intel/feeds/kev'), { status: 409, body: { detail: /vm_kev_url/ } });
  t.equal((await client.call('DELETE', path)).status, 204);
  t.equal((await client.call('POST', `${path}/sync`)).status, 404);
  t.match((await client.call('GET', `/vulnerabilities/${id}`)).body, { kev: true }, 'what was known stays');
}

async function guarded(t: Test, database: Database): Promise<void> {
  const { asked, base } = await startPublisher(t);
  const at = await startTestApp(database, { outbound: createGuardedClient([]) });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const reply = await at.call('PATCH', '/api/settings', { token, body: { vm_kev_url: `${base}/kev.json` } });
  t.equal(reply.status, 200, reply.text);
  at.clock.nowMs += 3000;
  const job = at.jobs.find(({ name }) => name === 'vm-intel-fetch');
  t.match(
    await job?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) }),
    /kev was not: .*OUTBOUND_ALLOW/,
  );
  t.same(asked, [], 'an inner address that nobody allowed is not asked');
  const { items } = (await at.call('GET', '/api/v1/threat-intel/feeds', { token })).body as { items: Json[] };
  t.match(items[1], { id: 'kev', fetch: { error: /OUTBOUND_ALLOW/, succeeded_at: null } });
}

t.test('14/4: published sets are fetched', (t) => onBothDatabases(t, 'fetching', fetching));
t.test('30.threat-intel: feeds of an operator are synced, and what rose is told', (t) =>
  onBothDatabases(t, 'feeds', feeds),
);
t.test('14/4: only from where it is allowed', (t) => onBothDatabases(t, 'guarded fetching', guarded));
