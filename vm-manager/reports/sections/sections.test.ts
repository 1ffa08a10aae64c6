// What reports say of findings over time, over HTTP: found and closed by day of the zone, how long it took, and where.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { sql } = database;
  at.clock.nowMs = Date.parse('2026-11-29T05:20:00Z');
  const { token } = await at.user('admin');
  const call = (method: string, path: string, body?: unknown) => at.call(method, `/api/v1${path}`, { token, body });
  const made = async (path: string, body: object): Promise<string> => {
    const reply = await call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  };
  const content = async (body: object) => {
    const id = await made('/reports', { format: 'json', sections: ['open-findings'], ...body });
    return call('GET', `/reports/${id}/download`);
  };
  const [shop, pay] = [
    await made('/applications', { name: 'Shop', environment: 'prod' }),
    await made('/applications', { name: 'Pay', environment: 'prod' }),
  ];
  const find = async (application: string, severity: string, firstSeen: string, closedAt?: string): Promise<void> => {
    const body = { application_id: application, cwe: ['CWE-79'], title: 'x', severity };
    const id = await made('/vulnerabilities', body);
    if (closedAt !== undefined) await sql`update vm_findings set status = 'resolved' where id = ${id}`;
    await sql`update vm_findings set first_seen = ${new Date(firstSeen)},
      closed_at = ${closedAt === undefined ? null : new Date(closedAt)} where id = ${id}`;
  };

  await t.test('nothing open, nothing closed', async (t) => {
    t.strictSame((await content({ days: 7 })).body['summary'], [
      'No findings are open.',
      'In the last 7 days 0 findings came up and 0 were closed.',
    ]);
  });

  await t.test('found and closed in the days, the median, and the application with most urgent ones', async (t) => {
    await find(shop, 'critical', '2026-11-28T22:00:00Z');
    await find(shop, 'high', '2026-11-27T00:00:00Z');
    await find(pay, 'low', '2026-11-01T12:00:00Z');
    await find(pay, 'high', '2026-11-20T10:00:00Z', '2026-11-27T10:00:00Z');
    await find(pay, 'high', '2026-11-28T10:00:00Z', '2026-11-28T12:00:00Z');
    await find(pay, 'high', '2026-11-28T10:00:00Z', '2026-11-29T05:00:00Z');
    // closed before the first of the days
    await find(pay, 'high', '2026-10-28T10:00:00Z', '2026-11-26T23:59:59Z');
    t.strictSame((await content({ days: 3 })).body['summary'], [
      '3 findings are open in 2 applications: 1 critical, 1 high, 1 low.',
      '0 open findings are known to be exploited; 0 are overdue.',
      'In the last 3 days 4 findings came up and 3 were closed, fewer than came up.',
      'Half of what was closed in this time was closed within 1 day of its first sight.',
      'Most critical and high findings are in Shop: 2.',
    ]);
    const html = (await content({ days: 3, format: 'html', time_zone: 'UTC' })).text;
    t.match(html, '2026-11-27 to 2026-11-29');
    const picture = /aria-label="Found and closed, by day">(.*?)<\/svg>/.exec(html)?.[1] ?? '';
    const heights = (colour: string) =>
      [...picture.matchAll(/<rect x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)" fill="([^"]+)"/g)]
        .filter(([, y, , fill]) => Number(y) > 20 && fill === colour)
        .map(([, , height]) => Math.round(Number(height)));
    // 110 points are five: one and three found on the first two days, none on the third; one closed on each
    t.strictSame(
      [heights('#9aa7b8'), heights('#3f51b5')],
      [
        [22, 66],
        [22, 22, 22],
      ],
      picture,
    );
  });
}

void onBothDatabases(t, 'sections of reports', suite);
