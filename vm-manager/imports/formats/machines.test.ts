// A CSV of hosts: each machine and each port is a place of its own, whatever its column is called.
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { adds, Client, type Json } from '../../testing/import-client.js';

/** Head line and rows → the places of the findings; the severity of each is that of its row. */
const tables: readonly (readonly [head: string, rows: readonly string[], places: readonly RegExp[]])[] = [
  [
    'Plugin ID,CVE,Severity,Host,Protocol,Port,Name,Description',
    [
      '1,CVE-2021-1,High,10.0.0.1,tcp,443,RCE,d',
      '1,CVE-2021-1,Low,10.0.0.2,tcp,443,RCE,d',
      '1,,High,10.0.0.2,udp,53,RCE,d',
    ],
    [/tcp:\/\/10\.0\.0\.1:443/, /tcp:\/\/10\.0\.0\.2:443/, /udp:\/\/10\.0\.0\.2:53/],
  ],
  ['title,severity,ip', ['A,high,10.0.0.1', 'A,low,10.0.0.2'], [/10\.0\.0\.1$/, /10\.0\.0\.2$/]],
  ['title,severity,IP Address', ['A,high,10.0.0.1', 'A,low,2001:db8::1'], [/10\.0\.0\.1$/, /\[2001:db8::1\]/]],
  ['title,severity,hostname,port', ['A,high,web,80', 'A,low,web,443'], [/web:80/, /web:443/]],
  ['title,severity,Asset', ['A,high,srv1', 'A,low,srv2'], [/srv1/, /srv2/]],
  ['title,severity,Asset Name', ['A,high,the old server', 'A,low,the new one'], [/the old server/, /the new one/]],
  ['title,severity,Target', ['A,high,https://a.example/x', 'A,low,https://b.example/'], [/a\.example/, /b\.example/]],
  ['title,severity,FQDN', ['A,high,a.example', 'A,low,b.example'], [/a\.example/, /b\.example/]],
  ['title,severity,NetBIOS Name', ['A,high,PC-1', 'A,low,PC-2'], [/pc-1/i, /pc-2/i]],
  ['title,severity,Affected Host', ['A,high,a', 'A,low,b'], [/:\/\/a$/, /:\/\/b$/]],
  ['title,severity,location', ['A,high,src/a.py:4', 'A,low,src/b.py:4'], [/src\/a\.py:4/, /src\/b\.py:4/]],
  ['title,severity,location', ['A,high,https://a.example/', 'A,low,10.0.0.1'], [/https:\/\/a\.example/, /10\.0\.0\.1/]],
  ['title,severity,Affected URL', ['A,high,http://a/', 'A,low,http://b/'], [/http:\/\/a/, /http:\/\/b/]],
  ['title,severity,component,host', ['A,high,openssl,a', 'A,low,openssl,b'], [/openssl/, /openssl/]],
  ['title,severity,file,host', ['A,high,etc/x,a', 'A,low,etc/x,b'], [/etc\/x/, /etc\/x/]],
  ['title,severity,url,host', ['A,high,/login,a', 'A,low,/login,b'], [/login/, /login/]],
  ['title,severity,resource,host', ['A,high,sshd,a', 'A,low,sshd,b'], [/sshd/, /sshd/]],
];

void onBothDatabases(t, 'a CSV of hosts keeps each host and port', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [head, rows, places] of tables) {
    const app = await client.application();
    const { body } = await client.send(app, `${[head, ...rows].join('\n')}\n`, { format: 'csv', mode: 'sync' });
    adds(t, body['report'] as Json);
    t.match(body['report'], { created: rows.length, duplicates_in_file: 0, complete: true }, head);
    const found = await client.findings(app);
    t.match(
      found.map((one) => one['location'] as string),
      places,
      head,
    );
    t.equal(new Set(found.map((one) => one['severity'] as string)).size, 2, `${head}: each has its severity`);
    // what is the same twice is one
    const again = await client.send(app, `${[head, ...rows, ...rows].join('\n')}\n`, { format: 'csv', mode: 'sync' });
    t.match(again.body['report'], { created: 0, updated: 0, unchanged: rows.length, closed: 0 }, `${head}: again`);
    // the first is fixed: the others stay what they are, in any order
    const rest = [head, ...rows.slice(1).toReversed()].join('\n');
    for (const round of [1, 2]) {
      const { report } = (await client.send(app, `${rest}\n`, { format: 'csv', mode: 'sync' })).body;
      t.match(report, { created: 0, updated: 0, unchanged: rows.length - 1 }, `${head}: without the first, ${round}`);
    }
    const states = await client.findings(app);
    t.strictSame(
      states.map(({ status }) => status as string),
      ['resolved', ...rows.slice(1).map(() => 'new')],
      `${head}: the first alone is fixed`,
    );
  }
});

void onBothDatabases(t, 'rows that name no machine are what they were', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const before =
    'title,severity,file,line,url,component\nA,high,a.py,1,,\nA,high,a.py,2,,\nB,low,,,https://a/,\nC,low,,,,lodash\n';
  const now = before.replaceAll('\n', ',shop\n').replace(',shop\n', ',asset\n');
  const app = await client.application();
  await client.send(app, before, { format: 'csv', mode: 'sync' });
  const { body } = await client.send(app, now, { format: 'csv', mode: 'sync' });
  t.match(body['report'], { created: 0, closed: 0 }, 'a column of machines makes nothing new');
  t.equal((await client.findings(app)).filter(({ status }) => status === 'new').length, 4);
});

void onBothDatabases(t, 'what the words and lines around a CSV mean', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const app = await client.application();
  const sent = await client.send(
    app,
    'sep=;\r\ntitle;severity;ip;status\r\nA;high;10.0.0.1;Verified\r\nB;low;10.0.0.1;Closed\r\n',
  );
  t.match(sent, { status: 202, body: { report: { created: 1, dropped: 1 } } });
  t.match(await client.findings(app), [{ title: 'A', status: 'new' }], 'verified: it is real');
});

/** Head line, rows with the tool's own words → severities in the order of the rows; null: set aside. */
const ownWords: readonly (readonly [string, readonly string[], readonly (string | null)[]])[] = [
  ['Plugin ID,CVE,Risk,Host,Protocol,Port,Name', ['1,,None,a,tcp,0,A', '2,,High,a,tcp,1,B'], ['info', 'high']],
  [
    'IP,Hostname,Port,Port Protocol,CVSS,Severity,NVT Name,NVT OID',
    ['10.0.0.1,a,0,tcp,0.0,Log,A,1', '10.0.0.1,a,1,tcp,9.8,High,B,2', '10.0.0.1,a,2,tcp,7.0,False Positive,C,3'],
    ['info', 'high', null],
  ],
  ['title,severity,ip', ['A,C,10.0.0.1', 'B,H,10.0.0.1', 'C,i,10.0.0.1'], ['critical', 'high', 'info']],
];

void onBothDatabases(t, 'the words of Nessus and OpenVAS mean what they mean there', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [head, rows, severities] of ownWords) {
    const app = await client.application();
    const { body } = await client.send(app, `${[head, ...rows].join('\n')}\n`, { format: 'csv', mode: 'sync' });
    const open = severities.filter((one) => one !== null);
    t.match(body['report'], { complete: true, created: open.length, dropped: rows.length - open.length }, head);
    const found = await client.findings(app);
    t.same(found.map((one) => one['severity']).toSorted(), open.toSorted(), head);
  }
  const app = await client.application();
  const { body } = await client.send(app, 'title,severity,ip\nA,None,10.0.0.1\n', { format: 'csv', mode: 'sync' });
  t.match(body['report'], { complete: false, unknown_severities: 1 }, 'elsewhere None says that nobody has rated it');
});

void onBothDatabases(t, 'an image in the two formats of Trivy', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const [image, lock, key] = ['shop:1', 'app/package-lock.json', 'app/.env'];
  const own = {
    SchemaVersion: 2,
    ArtifactName: image,
    ArtifactType: 'container_image',
    Results: [
      {
        Target: lock,
        Class: 'lang-pkgs',
        Type: 'npm',
        Vulnerabilities: [
          { VulnerabilityID: 'CVE-2020-8203', PkgName: 'lodash', InstalledVersion: '4.17.15', Severity: 'HIGH' },
        ],
      },
      {
        Target: `/${key}`,
        Class: 'secret',
        Secrets: [{ RuleID: 'k', Title: 'Key', Severity: 'HIGH', StartLine: 1, Match: 'K=****' }],
      },
    ],
  };
  const result = (ruleId: string, text: string, uri: string): Json => ({
    ruleId,
    level: 'error',
    message: { text },
    locations: [{ physicalLocation: { artifactLocation: { uri, uriBaseId: 'ROOTPATH' }, region: { startLine: 1 } } }],
  });
  const sarif = {
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'Trivy', rules: [{ id: 'CVE-2020-8203', name: 'LanguageSpecificPackageVulnerability' }] },
        },
        originalUriBaseIds: { ROOTPATH: { uri: 'file:///' } },
        properties: { imageName: image },
        results: [
          result(
            'CVE-2020-8203',
            'Package: lodash\nInstalled Version: 4.17.15\nVulnerability CVE-2020-8203\nSeverity: HIGH',
            lock,
          ),
        ],
      },
    ],
  };
  for (const [first, second] of [
    [own, sarif],
    [sarif, own],
  ]) {
    const app = await client.application();
    await client.send(app, first, { mode: 'sync' });
    await client.send(app, second, { mode: 'sync' });
    const found = (await client.findings(app)).filter(({ title }) => title !== 'Key');
    t.equal(found.length, 1, JSON.stringify(found.map(({ title, location }) => [title, location])));
  }
});
