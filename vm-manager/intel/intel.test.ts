// EPSS and KEV through the API, on both databases: counts that add up, findings that follow, hostile files.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const epss = (rows: readonly string[], date = '2026-02-27'): string =>
  [`#model_version:v2026.01.15,score_date:${date}T00:00:00+0000`, 'cve,epss,percentile', ...rows].join('\n');
const kev = (ids: readonly string[], released = '2026-02-27'): string =>
  JSON.stringify({
    title: 'Catalogue',
    catalogVersion: '2026.02.27',
    dateReleased: `${released}T10:00:00.000Z`,
    count: ids.length,
    vulnerabilities: ids.map((cveID) => ({
      cveID,
      dateAdded: '2026-02-01',
      dueDate: '2026-02-22',
      knownRansomwareCampaignUse: 'Known',
      cwes: [],
    })),
  });

async function send(at: TestApp, token: string, payload: string | Buffer) {
  const reply = await at.app.inject({
    method: 'POST',
    url: '/api/v1/threat-intel/bundles',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    payload,
  });
  return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
}

function adds(t: Test, { body }: { readonly body: Json }): void {
  const { parsed, created, updated, unchanged, duplicates_in_file: twice, dropped } = body['report'];
  t.equal(created + updated + unchanged + twice + dropped, parsed, `the numbers add up: ${JSON.stringify(body)}`);
}

async function intel(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const application = await client.application();
  const made = async (ids: string[]): Promise<string> =>
    String(
      (
        await client.call('POST', '/vulnerabilities', {
          application_id: application,
          title: ids.join(' '),
          severity: 'high',
          vuln_ids: ids,
        })
      ).body['id'],
    );
  const one = await made(['CVE-2026-1000', 'CVE-2026-1001']);
  const other = await made(['CVE-2026-2000']);
  const read = async (id: string): Promise<Json> => (await client.call('GET', `/vulnerabilities/${id}`)).body;
  const before = await read(one);

  await t.test('14.I1: EPSS, packed or not: findings follow, the same again changes nothing', async (t) => {
    const rows = [
      'CVE-2026-1000,0.10000,0.5',
      'CVE-2026-1001,0.93,0.99',
      'CVE-2026-1001,0.1,0.9',
      'nonsense,1,1',
      'CVE-2026-9,2,3',
    ];
    t.match((await client.call('GET', '/threat-intel/cves/CVE-2026-1001')).body, { epss: { state: 'unknown' } });
    const first = await send(at, token, gzipSync(epss(rows)));
    t.match(first, {
      status: 202,
      body: {
        kind: 'intel',
        status: 'succeeded',
        report: {
          set: 'epss',
          date: '2026-02-27',
          parsed: 5,
          created: 2,
          duplicates_in_file: 1,
          dropped: 2,
          findings_changed: 1,
        },
      },
    });
    adds(t, first);
    t.match(first.body['report'].problems, [{ at: 'line 6', dropped: /no CVE/ }, { at: 'line 7' }]);
    const after = await read(one);
    t.ok(Math.abs(after['epss'] - 0.93) < 1e-6 && after['risk_score'] > before['risk_score'], 'the worst of its two');
    const again = await send(at, token, epss(rows));
    t.match(again.body['report'], { created: 0, updated: 0, unchanged: 2, removed: 0, findings_changed: 0 });
    t.same((await read(one))['version'], after['version']);
    t.match((await client.call('GET', '/threat-intel/cves/cve-2026-1001')).body, {
      epss: { state: 'known', percentile: /0.99/, date: '2026-02-27', model: 'v2026.01.15' },
      kev: { state: 'unknown' },
      applications: [{ id: application, open: 1 }],
    });
    t.match((await client.call('GET', '/threat-intel/cves/CVE-2026-5555')).body, {
      epss: { state: 'absent', value: null },
    });
  });

  await t.test('14.I2: KEV: due dates and priorities, and what is taken off the list', async (t) => {
    const first = await send(at, token, kev(['CVE-2026-1000', 'CVE-2026-2000', 'CVE-2026-2000']));
    t.match(first.body['report'], { set: 'kev', created: 1, updated: 1, duplicates_in_file: 1, findings_changed: 2 });
    adds(t, first);
    t.match(await read(other), { kev: true });
    t.match((await client.call('GET', '/threat-intel/exposure')).body, { items: [{ kev: 2, epss: 1 }] });
    const second = await send(at, token, kev(['CVE-2026-1000'], '2026-02-28'));
    t.match(second.body['report'], { unchanged: 1, removed: 1, findings_changed: 1 });
    t.match(await read(other), { kev: false });
    t.match(await read(one), { kev: true });
    t.match((await client.call('GET', '/threat-intel/cves/CVE-2026-2000')).body, {
      kev: { state: 'absent', due: null },
    });
    const { items } = (await client.call('GET', '/threat-intel/feeds')).body as { items: Json[] };
    t.match(items, [
      { id: 'epss', state: 'known', rows: 2, sha256: /^[0-9a-f]{64}$/ },
      { id: 'kev', state: 'known', rows: 1, date: '2026-02-28' },
    ]);
  });

  await t.test('14.I3: refusals leave what was there', async (t) => {
    const state = async () => (await client.call('GET', '/threat-intel/feeds')).body;
    const was = await state();
    const wrong: readonly (readonly [string, string | Buffer, number])[] = [
      ['an older set', epss(['CVE-2026-1000,0.5,0.5'], '2025-01-01'), 409],
      ['no set', 'hello', 422],
      ['no rows', epss([]), 422],
      ['rows that are none', epss(['x', 'y']), 422],
      ['another CSV', 'cve,score\nCVE-2026-1000,1', 422],
      ['another JSON', '{"a":1}', 422],
      ['broken JSON', '{"vulnerabilities":[{"cveID":"CVE-2026-1000"}', 400],
      ['a list that is none', '{"vulnerabilities":{"cveID":"CVE-2026-1000"}}', 422],
      [
        'a damaged archive',
        Buffer.concat([gzipSync(epss(['CVE-2026-1000,0.5,0.5'])).subarray(0, 30), Buffer.alloc(40)]),
        422,
      ],
      ['a bomb', gzipSync(Buffer.alloc(300 * 1024 * 1024, 'a')), 413],
    ];
    for (const [name, payload, status] of wrong) {
      const reply = await send(at, token, payload);
      t.equal(reply.status, status, `${name}: ${JSON.stringify(reply.body)}`);
      t.type(reply.body['detail'], 'string', name);
    }
    t.same(await state(), was);
    const viewer = await at.user('viewer');
    t.equal((await send(at, viewer.token, epss(['CVE-2026-1000,0.5,0.5']))).status, 403);
  });
}

void onBothDatabases(t, 'threat intelligence', intel);
