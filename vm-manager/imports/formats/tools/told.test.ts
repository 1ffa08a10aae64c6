// Over HTTP: what a report of a scanner or of a mapping says of one place is not lost, and what cannot be read is told.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const xml = '<?xml version="1.0"?>\n';

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  await t.test('22 E: a mapping of XML says what it did not find, and what it cannot find', async (t) => {
    const make = (name: string, more: Json) =>
      client.call('POST', '/imports/mappings', {
        name,
        format: 'xml',
        rows_path: 'errors/error',
        fields: { title: 'name', severity: '@severity' },
        ...more,
      });
    t.equal((await make('deep', {})).status, 201);
    t.equal((await make('flat', { rows_path: 'error' })).status, 201);
    const send = async (name: string, report: string) =>
      client.send(await client.application(), xml + report, { format: `mapping:${name}` });
    for (const report of ['<html><body>502</body></html>', '<r><error><name>x</name></error></r>', '<x:errors/>'])
      t.match(await send('deep', report), { status: 422, body: { detail: /errors\/error.*<.*rows_path/ } }, report);
    const none = { status: 202, body: { report: { parsed: 0, complete: true } } };
    t.match(await send('deep', '<r><errors/></r>'), none, 'the element around them is there');
    const told = { complete: false, problems: [{ detail: /<html>/ }] };
    t.match(await send('flat', '<html><body>502</body></html>'), { status: 202, body: { report: told } });
    const mixed = '<r><errors><error severity="high"><name>a<b>x</b>c</name></error></errors></r>';
    t.match(await send('deep', mixed), { status: 202, body: { report: { created: 1, complete: true } } });
    for (const title of ['x.y.@z.q', '@', 'x//y', 'x..y', '.x', 'x.@'])
      t.match(await make('bad', { fields: { title } }), { status: 422, body: { detail: /fields\/title/ } }, title);
    const severity_map = { blocker: 'sev' };
    t.match(await make('bad', { severity_map }), { status: 422, body: { detail: /severity_map\/blocker.*critical/ } });
  });

  await t.test('22 E: Wapiti: each thing that it says of one page is a finding, in any order', async (t) => {
    const app = await client.application();
    const infos = ['X-Frame-Options', 'X-XSS-Protection', 'Strict-Transport-Security'].map(
      (one) => `${one} is not set`,
    );
    const report = (of: readonly string[]) => ({
      classifications: {},
      vulnerabilities: {
        'HTTP Secure Headers': of.map((info) => ({ method: 'GET', path: '/', info, level: 1, parameter: '' })),
      },
      anomalies: {},
      additionals: {},
      infos: { target: 'https://shop.example/', version: 'Wapiti 3.0.4' },
    });
    t.match(await client.send(app, report(infos)), { body: { report: { created: 3, duplicates_in_file: 0 } } });
    const again = await client.send(app, report(infos.toReversed()), { mode: 'sync' });
    t.match(again, { body: { report: { created: 0, closed: 0 } } }, 'another order');
    // what was found from outside has to be missing twice
    await client.send(app, report(infos.slice(1)), { mode: 'sync' });
    const mended = await client.send(app, report(infos.slice(1)), { mode: 'sync' });
    t.match(mended, { body: { report: { created: 0, closed: 1 } } }, 'one is mended');
    const left = (await client.findings(app)).filter((row) => row['status'] === 'open' || row['status'] === 'new');
    t.same(
      left.map(({ title }) => title).toSorted(),
      infos
        .slice(1)
        .map((one) => `HTTP Secure Headers: ${one}`)
        .toSorted(),
    );
  });

  await t.test(
    '22 E: testssl: what the OpenSSL of the scanner lacks is no fault, and faults are told first',
    async (t) => {
      const row = (id: string, severity: string, finding: string) => ({
        id,
        ip: 'a/192.0.2.7',
        port: '443',
        severity,
        finding,
      });
      const lacks = row('RC4', 'WARN', 'RC4 ciphers not supported by local OpenSSL');
      const fine = Array.from({ length: 60 }, (_, index) => row(`ok${index}`, 'OK', 'not vulnerable'));
      const whole = await client.send(await client.application(), [lacks, ...fine]);
      t.match(whole, { status: 202, body: { report: { complete: true } } }, JSON.stringify(whole.body));
      const torn = await client.send(await client.application(), [
        ...fine,
        row('scanTime', 'WARN', 'Scan interrupted'),
      ]);
      t.match(torn.body, { report: { complete: false, problems: [{ at: /Scan interrupted/ }] } });
    },
  );
}

t.test('22 E: nothing is lost without a word', (t) => onBothDatabases(t, 'told', suite));
