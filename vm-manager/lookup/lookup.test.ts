// Finding things by a word, tags of many at once, the audit log entry by entry and as a file, what an import left out.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function start(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const made = async (url: string, body: object): Promise<string> => {
    const reply = await client.call('POST', url, body);
    if (reply.status >= 300) throw new Error(`POST ${url} → ${reply.status} ${reply.text}`);
    return String(reply.body['id']);
  };
  const [shop, blog] = [
    await made('/applications', { name: 'Zebra shop' }),
    await made('/applications', { name: 'Blog' }),
  ];
  const finding = (application: string, title: string, vulns: string[]): Promise<string> =>
    made('/vulnerabilities', {
      application_id: application,
      title,
      severity: 'high',
      vuln_ids: vulns,
      location: '/zebra',
    });
  const first = await finding(shop, 'Zebra crossing 100%', ['CVE-2021-44228']);
  const second = await finding(blog, 'Other', ['CVE-2021-44228', 'CVE-2020-0001']);
  const components = [{ type: 'library', name: 'zebra-lib', version: '1.0.0', purl: 'pkg:npm/zebra-lib@1.0.0' }];
  await client.send(shop, { bomFormat: 'CycloneDX', specVersion: '1.5', components });
  return { at, client, token, shop, blog, first, second };
}

const titles = (list: unknown): string[] => (list as Json[]).map(({ title }) => String(title));

async function lookup(t: Test, database: Database): Promise<void> {
  const { at, client, token, shop, blog, first, second } = await start(t, database);

  await t.test('30.search: by a word, an id, a place', async (t) => {
    const found = (await client.call('GET', '/search?q=ZEBRA')).body;
    t.same(titles(found['applications']), ['Zebra shop']);
    t.same(titles(found['findings']).sort(), ['Other', 'Zebra crossing 100%'], 'by title, and by place');
    t.same(titles(found['components']), ['zebra-lib 1.0.0']);
    t.match((await client.call('GET', '/search?q=cve-2021-44228')).body, {
      findings: [{}, {}],
      vulnerabilities: [{ id: 'CVE-2021-44228', about: '2 open findings' }],
    });
    t.same(
      titles((await client.call('GET', '/search?q=00%25')).body['findings']),
      ['Zebra crossing 100%'],
      '% is a sign',
    );
    for (const spaces of ['%20%20x', 'ab'])
      t.equal((await client.call('GET', `/search?q=${spaces}`)).status, 422, 'too little');
    for (const q of ['', 'x', encodeURIComponent('x'.repeat(101))])
      t.equal((await client.call('GET', `/search?q=${q}`)).status, 422, q);
  });

  await t.test('30.search: nobody sees by it what their lists do not show', async (t) => {
    const narrow = await client.call('POST', '/tokens', { name: 'n', scopes: ['read'], application_ids: [blog] });
    const other = new Client(at, String(narrow.body['token']));
    const found = (await other.call('GET', '/search?q=zebra')).body;
    t.same(titles(found['applications']), []);
    t.same(titles(found['findings']), ['Other']);
    t.same(titles(found['components']), []);
    t.match((await other.call('GET', '/search?q=CVE-2021')).body['vulnerabilities'], [{ about: '1 open findings' }]);
    t.match((await other.call('GET', '/tags')).body, { items: [] });
    t.equal((await other.call('POST', '/tags/assign', { entity: 'application', ids: [blog], add: ['x'] })).status, 403);
  });

  await t.test('30.tags: given and taken, an answer for each', async (t) => {
    const assign = (body: object) => client.call('POST', '/tags/assign', body);
    t.match((await assign({ entity: 'application', ids: [blog, shop, '9999'], add: ['payment', 'web'] })).body, {
      changed: 2,
      failed: 1,
      items: [{ ok: true }, { ok: true }, { id: '9999', ok: false, detail: /no application/ }],
    });
    t.match((await assign({ entity: 'finding', ids: [first, second], add: ['web'] })).body, { changed: 2, failed: 0 });
    t.match((await assign({ entity: 'application', ids: [blog], remove: ['payment'] })).body, { changed: 1 });
    t.same((await client.call('GET', '/tags')).body['items'], [
      { tag: 'web', applications: 2, findings: 2 },
      { tag: 'payment', applications: 1, findings: 0 },
    ]);
    t.match((await client.call('GET', '/tags?q=PAY')).body['items'], [{ tag: 'payment' }]);
    t.same((await client.call('GET', `/applications/${shop}`)).body['tags'], ['payment', 'web']);
    const many = Array.from({ length: 49 }, (_, n) => `t${n}`);
    t.match((await assign({ entity: 'application', ids: [shop], add: many })).body, {
      failed: 1,
      items: [{ detail: /50/ }],
    });
    for (const wrong of [
      { entity: 'moon', ids: ['1'], add: ['a'] },
      { entity: 'finding', ids: [], add: ['a'] },
      { entity: 'finding', ids: ['1'] },
    ])
      t.equal((await assign(wrong)).status, 422, JSON.stringify(wrong));
  });

  await t.test('30.audit: one entry, and all of them as a file', async (t) => {
    const list = (await client.call('GET', '/audit?limit=200')).body['items'] as Json[];
    const entry = list.find(({ summary }) => /changed tags/.test(String(summary)));
    t.match(await client.call('GET', `/audit/${String(entry?.['id'])}`), {
      status: 200,
      body: { hash: entry?.['hash'] },
    });
    const oldest = list.at(-1);
    t.not(oldest?.['id'], list[0]?.['id']);
    t.match(await client.call('GET', `/audit/${String(oldest?.['id'])}`), { body: { hash: oldest?.['hash'] } });
    for (const id of ['999999', '0', 'x', '9007199254740993'])
      t.equal((await client.call('GET', `/audit/${id}`)).status, 404, id);
    const read = async (query: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const reply = await at.app.inject({ method: 'GET', url: `/api/v1/audit/export${query}`, headers });
      return { status: reply.statusCode, headers: reply.headers, text: reply.body };
    };
    const csv = await read('');
    t.match(csv.headers, { 'content-type': /^text\/csv/, 'content-disposition': /audit-2026-03-01\.csv/ });
    t.equal(csv.text.trimEnd().split('\n').length, list.length + 1, 'every entry, and the head');
    const lines = (await read('?format=jsonl&q=changed%20tags')).text.trimEnd().split('\n');
    t.equal(lines.length, list.filter(({ summary }) => /changed tags/.test(String(summary))).length);
    t.match(JSON.parse(lines[0] ?? ''), { action: 'vm.update', hash: /^[0-9a-f]{64}$/ });
    t.equal((await read('?format=pdf')).status, 422);
    const viewer = await at.user('viewer');
    t.equal((await at.call('GET', '/api/v1/audit/export', { token: viewer.token })).status, 403);
  });

  await t.test('30.imports: what was not taken as it is', async (t) => {
    const results = [{ ruleId: 'r', message: { text: 'a' } }, 'nonsense', 7];
    const report = { version: '2.1.0', runs: [{ tool: { driver: { name: 'zebra' } }, results }] };
    const sent = await client.send(shop, report);
    const { problems } = sent.body['report'] as { problems: Json[] };
    t.ok(problems.length > 0);
    const run = `/imports/${String(sent.body['id'])}/errors`;
    t.same((await client.call('GET', run)).body, { items: problems, total: problems.length });
    t.same((await client.call('GET', `${run}?limit=1&offset=1`)).body['items'], problems.slice(1, 2));
    t.equal((await client.call('GET', '/imports/9999/errors')).status, 404);
  });

  await t.test('30.meta: release, and the document, for anybody', async (t) => {
    const version = await at.call('GET', '/api/v1/meta/version');
    t.match(version, { status: 200, body: { release: /^\d+\.\d+\.\d+/, api: 'v1', classifier: 1 } });
    const [one, other] = [
      await at.call('GET', '/api/v1/openapi.json'),
      await at.call('GET', '/api/v1/meta/openapi.json'),
    ];
    t.equal(other.text, one.text);
    t.match(other.body, { openapi: /^3\.1/ });
  });
}

void onBothDatabases(t, 'lookup', lookup);
