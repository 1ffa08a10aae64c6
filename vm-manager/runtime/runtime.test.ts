// /runtime/events through the API, on both databases: events prove findings, proofs hold no secrets, chains see it.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { maskText, maskValue } from './mask.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const key = `AKIA${'Q7XW2LPO5ZRT'}`;
const random = 'wJa1rXUtn'.concat('FEMIK7MDENGbPxRfiCY', 'EXAMPLEKEY3a');
const signed = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxIn0xx', 'c2lnbmF0dXJl'].join('.');

t.test('P3 proofs hold no secrets, by the name of the member or by the form of the value', (t) => {
  const masked = JSON.stringify(
    maskValue({
      AccessKeyId: key,
      SecretAccessKey: random,
      nested: [{ Authorization: `Bearer ${signed}` }, `curl -H "authorization: Bearer ${signed}"`],
      body: `{"password": "correct horse", "SessionToken": "${random}"}`,
      query: `user=1&token=${signed}`,
      [`header ${key}`]: 1,
      pin_token: 12345678901,
      text: `key ${random}.`,
    }),
  );
  for (const secret of [key, random, signed, 'correct', '12345678901', 'eyJzdWIiOiIxIn0xx'])
    t.notOk(masked.includes(secret), secret);
  t.equal(maskText('GET /orders/17 by user 4711, status 200'), 'GET /orders/17 by user 4711, status 200');
  t.equal(maskText('x'.repeat(100_000)).length, 4000);
  const deep = Array.from({ length: 50 }).reduce<unknown>((inner) => ({ inner }), 'end');
  t.notOk(JSON.stringify(maskValue(deep)).includes('end'));
  t.strictSame(maskValue({ ok: true, none: null, count: 3 }), { ok: true, none: null, count: 3 });
  t.end();
});

async function runtime(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const call = (method: string, path: string, body?: unknown, who = token) =>
    at.call(method, `/api/v1${path}`, { token: who, body });
  const made = async (path: string, body: object): Promise<string> => {
    const reply = await call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  };
  const shop = await made('/applications', { name: 'Shop', environment: 'prod', business_criticality: 'critical' });
  const other = await made('/applications', { name: 'Other', environment: 'prod' });
  const sqli = await made('/vulnerabilities', {
    application_id: shop,
    cwe: ['CWE-89'],
    title: 'SQL injection',
    severity: 'high',
    location: 'GET /search?q',
  });
  await made('/vulnerabilities', { application_id: shop, cwe: ['CWE-639'], title: 'IDOR', severity: 'high' });
  const sensor = String((await call('POST', '/tokens', { name: 's', scopes: ['ingest'] })).body['token']);
  const event = (more: object = {}) => ({
    application_id: shop,
    sensor_id: 'node-1',
    attack_type: 'sql_injection',
    confirmed: true,
    method: 'GET',
    route: '/search',
    at: '2026-11-22T10:00:00Z',
    ...more,
  });
  const send = (events: object[], who = sensor) => call('POST', '/runtime/events', { events }, who);
  const chains = async () =>
    (await call('GET', '/graph/attack-chains')).body as unknown as {
      chains: { kind: string; proven_hops: number; danger: boolean; hops: { vuln_id: string; confirmed: boolean }[] }[];
      stats: Record<string, number>;
    };

  await t.test(
    'P1 a suspicion proves nothing; a confirmed event proves its finding and raises proven_hops',
    async (t) => {
      t.match(await send([event({ confirmed: false })]), { status: 202, body: { accepted: 1, deduped: 0, linked: 0 } });
      t.match(await chains(), { stats: { chains: 1, runtime_proven_chains: 0 } });
      const proof = { query: `select '${key}'`, password: 'hunter2hunter2' };
      const reply = await send([event({ event_id: 'e1', request_id: 'r-1', proof })]);
      t.match(reply, { status: 202, body: { accepted: 1, deduped: 0, linked: 1 } });
      t.match(await send([event({ event_id: 'e1' })]), { body: { accepted: 0, deduped: 1, linked: 0 } }, 'sent twice');
      const { chains: list, stats } = await chains();
      t.match(list, [
        { proven_hops: 1, danger: true, hops: [{ vuln_id: sqli, confirmed: true }, { confirmed: false }] },
      ]);
      t.equal(stats['runtime_proven_chains'], 1);
      const row = (await call('GET', `/vulnerabilities/${sqli}`)).body;
      t.match(row, { status: 'confirmed', runtime_confirmed: true, exploit_confirmed: true });
      t.match(
        (await call('GET', '/vulnerabilities?exploit_confirmed=true')).body,
        { total: 1, items: [{ id: sqli, exploit_confirmed: true }] },
        'the proof is found by its filter',
      );
      const [details] = await database.sql`select evidence from vm_finding_details where finding_id = ${sqli}`;
      const kept = JSON.stringify(details);
      t.ok(kept.includes('r-1') && !kept.includes(key) && !kept.includes('hunter2hunter2'), 'the proof, masked');
      const listed = (await call('GET', `/runtime/events?vuln_id=${sqli}`)).body;
      t.match(listed, { total: 1, items: [{ vuln_id: sqli, request_id: 'r-1', confirmed: true }] });
      const [{ id }] = listed['items'] as [{ id: string }];
      t.match((await call('GET', `/runtime/events/${id}`)).body, { id, proof: { password: 'hunt****' } });
    },
  );

  await t.test('P2 the place counts as a whole; where there is no finding a proven one is written', async (t) => {
    await send([event({ event_id: 'e2', route: '/sea' }), event({ event_id: 'e3', route: '/search/archive' })]);
    const { body } = await call('GET', `/vulnerabilities?application_id=${shop}&source=iast`);
    t.match(body, { total: 2, items: [{ runtime_confirmed: true, status: 'confirmed' }, {}] });
    await send([event({ event_id: 'e4', route: '/sea' })]);
    t.match((await call('GET', `/vulnerabilities?application_id=${shop}&source=iast`)).body, { total: 2 }, 'once');
  });

  await t.test('P1 the pivots of live scans: credentials, object graph, metadata service', async (t) => {
    const pivots = [
      ['credential_propagation', 'CWE-522', 'critical'],
      ['object_graph_idor', 'CWE-639', 'high'],
      ['ssrf_metadata', 'CWE-918', 'critical'],
    ] as const;
    await send(
      pivots.map(([attack_type]) =>
        event({ application_id: other, attack_type, route: `/${attack_type}`, proof: { AccessKeyId: key } }),
      ),
    );
    for (const [type, cwe, severity] of pivots) {
      const list = (await call('GET', `/vulnerabilities?application_id=${other}&cwe=${cwe}`)).body;
      t.match(list, { total: 1, items: [{ severity, runtime_confirmed: true, source: 'iast' }] }, type);
    }
    t.match((await chains()).chains[0], { proven_hops: 3, danger: true }, 'the proven chain comes first');
    const [{ n } = { n: -1 }] = await database.sql<{ n: number }[]>`
      select count(*) as n from vm_runtime_events where proof::text like ${`%${key}%`}`;
    t.equal(n, 0);
  });

  await t.test('P2 the events of one batch are listed by when they happened, page by page', async (t) => {
    const days = [3, 1, 4, 2];
    await send(days.map((day) => event({ sensor_id: 'batch', event_id: `d${day}`, at: `2026-10-0${day}T10:00:00Z` })));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await call('GET', `/runtime/events?application_id=${shop}&limit=2${query}`);
      const items = body['items'] as { sensor_id: string; at: string }[];
      seen.push(...items.filter(({ sensor_id: sensor }) => sensor === 'batch').map(({ at }) => at.slice(8, 10)));
      cursor = body['next_cursor'] as string | null;
    }
    t.same(seen, ['04', '03', '02', '01']);
  });

  await t.test('P2 a proof beats an opinion: a closed finding comes back', async (t) => {
    const body = { to: 'false_positive', reason: 'no', justification: 'component_not_present' };
    t.equal((await call('POST', `/vulnerabilities/${sqli}/transition`, body)).status, 200);
    await send([event({ event_id: 'e5' })]);
    t.match((await call('GET', `/vulnerabilities/${sqli}`)).body, { status: 'reopened', runtime_confirmed: true });
  });

  await t.test('P4 refusals: scope, reach, form, size; a batch is taken whole or not at all', async (t) => {
    const viewer = await at.user('viewer');
    t.equal((await send([event()], viewer.token)).status, 403);
    t.equal((await call('GET', '/runtime/events', undefined, sensor)).status, 403, 'a sensor reads nothing');
    const total = async () => (await call('GET', '/runtime/events')).body['total'];
    const before = await total();
    t.match(await send([event({ event_id: 'x' }), event({ application_id: '999999' })]), { status: 404 });
    t.equal(await total(), before, 'nothing of it was stored');
    for (const wrong of [{ attack_type: 'x' }, { at: 'now' }, { at: '2026-99-99T10:00:00Z' }, { nonsense: 1 }])
      t.match(await send([event(wrong)]), { status: 422, body: { detail: String } }, JSON.stringify(wrong));
    t.equal((await send([])).status, 422);
    t.equal((await send(Array.from({ length: 501 }, () => event()))).status, 422);
  });
}

void onBothDatabases(t, 'vm runtime', runtime);
