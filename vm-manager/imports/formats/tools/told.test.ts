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
    const fixed = await client.send(app, report(infos.slice(1)), { mode: 'sync' });
    t.match(fixed, { body: { report: { created: 0, closed: 1 } } }, 'one is fixed');
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
    '22 E: testssl: what the OpenSSL of the scanner lacks is no fault, and faults stand first',
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

  await t.test('22 E: Nmap: what its tables and scripts say, and scripts that failed', async (t) => {
    const table = (title: string, state: string) =>
      `<table key="CVE-2026-1001"><elem key="title">${title}</elem><elem key="state">${state}</elem></table>`;
    const vulners =
      '<table key="cpe:/a:x"><table><elem key="id">CVE-2026-42013</elem><elem key="cvss">7.5</elem>' +
      '<elem key="type">cve</elem></table></table>';
    const scripts: readonly (readonly [string, string, string, Json | null])[] = [
      ['http-vuln', 'VULNERABLE', table('Path traversal', 'VULNERABLE'), { title: 'Path traversal' }],
      [
        'dh-params',
        'x',
        table('Weak group', 'LIKELY VULNERABLE'),
        { title: 'Weak group', vuln_ids: ['CVE-2026-1001'] },
      ],
      ['backdoor', 'x', table('Backdoor', 'VULNERABLE (Exploitable)'), { title: 'Backdoor' }],
      ['poodle', 'NOT VULNERABLE', table('POODLE', 'NOT VULNERABLE'), null],
      ['vulners', 'x', vulners, { title: /CVE-2026-42013/, severity: 'high' }],
      ['http-sql-injection', 'Possible sqli for queries:', '', { cwe: ['CWE-89'] }],
      ['ftp-anon', 'Anonymous FTP login allowed (FTP code 230)', '', { cwe: ['CWE-306'] }],
      ['mysql-brute', 'root:x - Valid credentials', '', { cwe: ['CWE-1391'], severity: 'critical' }],
    ];
    const report = (script: string) =>
      `<?xml version="1.0"?><nmaprun version="7.94"><host><address addr="10.0.0.5" addrtype="ipv4"/><ports>` +
      `<port protocol="tcp" portid="443"><state state="open"/><service name="https"/>${script}</port></ports></host>` +
      `<runstats><finished exit="success"/></runstats></nmaprun>`;
    for (const [id, output, tables, wanted] of scripts) {
      const app = await client.application();
      const sent = await client.send(app, report(`<script id="${id}" output="${output}">${tables}</script>`));
      t.match(sent.body, { report: { complete: true } }, id);
      const found = (await client.findings(app)).filter((row) => row['rule_id'] !== 'open-port');
      t.match(found, wanted === null ? [] : [wanted], id);
      t.equal(found.length, wanted === null ? 0 : 1, id);
    }
    const failed = '<script id="smb-vuln-x" output="ERROR: Script execution failed (use -d to debug)"/>';
    t.match((await client.send(await client.application(), report(failed))).body, { report: { complete: false } });
  });

  await t.test('22 E: Clang: leaks, double frees, uses of freed memory, and a file that is not listed', async (t) => {
    const plist = (description: string, file = 0) =>
      `<plist version="1.0"><dict><key>clang_version</key><string>c</string><key>diagnostics</key>` +
      `<array><dict><key>description</key><string>${description}</string><key>type</key><string>Memory error</string>` +
      `<key>check_name</key><string>unix.Malloc</string><key>location</key><dict><key>line</key><integer>7</integer>` +
      `<key>file</key><integer>${file}</integer></dict></dict></array>` +
      `<key>files</key><array><string>a.c</string></array></dict></plist>`;
    for (const [text, cwe] of [
      ['Potential leak of memory pointed to by p', 'CWE-401'],
      ['Attempt to free released memory', 'CWE-415'],
      ['Use of memory after it is freed', 'CWE-416'],
    ] as const) {
      const app = await client.application();
      t.match((await client.send(app, plist(text))).body, { report: { complete: true } }, text);
      t.match(await client.findings(app), [{ cwe: [cwe], location: 'a.c:7' }], text);
    }
    const lost = await client.send(await client.application(), plist('Use of memory after it is freed', 9));
    t.match(lost.body, { report: { created: 1, complete: false, problems: [{ at: /file 9/ }] } });
  });
}

t.test('22 E: nothing is lost without a word', (t) => onBothDatabases(t, 'told', suite));
