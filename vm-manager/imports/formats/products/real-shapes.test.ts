// Reports of products in the further shapes that their releases and options write, read without a database.
import t, { type Test } from 'tap';
import { read } from '../../../testing/read-report.js';
import * as samples from '../../../testing/reports/products.js';
import { KeysOfReport } from '../../fingerprint.js';
import { isDropped, type FindingRecord } from '../../record.js';

const { products } = samples;
const reportOf = (format: string): unknown => products[format]?.[0];
const xmlOf = (format: string): string => String(reportOf(format));

async function recordsOf(t: Test, report: unknown, format = 'auto'): Promise<FindingRecord[]> {
  return (await read(t, report, format)).items.flatMap((item) => (isDropped(item) ? [] : [item]));
}
async function faultsOf(t: Test, report: unknown, format = 'auto'): Promise<string[]> {
  const { items } = await read(t, report, format);
  return items.flatMap((item) => (isDropped(item) && item.isFault === true ? [item.at] : []));
}
/** As many findings as the records make: those at one place without anything of their own are one. */
function findingsOf(records: readonly FindingRecord[]): number {
  const keys = new KeysOfReport('tool');
  return records.filter((record) => keys.take(record) !== null).length;
}

t.test('each report is that of its own product, whatever is in it', async (t) => {
  for (const [format, [report]] of Object.entries(products)) t.equal((await read(t, report)).format, format);
  const gitlab = samples.gitlabOf({ type: 'dependency_scanning', status: 'success' });
  const [first] = gitlab['vulnerabilities'] as samples.Json[];
  const bySnyk = { type: 'snyk_id', name: 'SNYK-JS-MINIMIST-2429795', value: 'SNYK-JS-MINIMIST-2429795' };
  const withSnyk = { ...gitlab, vulnerabilities: [{ ...first, identifiers: [bySnyk] }] };
  t.equal((await read(t, withSnyk)).format, 'gitlab', 'an identifier of Snyk in a report of GitLab');
  const snyk = samples.snykOf();
  const [of] = snyk['vulnerabilities'] as samples.Json[];
  const react = { ...snyk, vulnerabilities: [{ ...of, version: '15.6.1' }] };
  t.equal((await read(t, react)).format, 'snyk', 'a version such as that of a schema of GitLab');
  await t.rejects(read(t, { results: null, version: '1' }), /no format/, 'no result, of whatever tool');
});

t.test('Burp Suite', async (t) => {
  const doctype = `<!DOCTYPE issues [
<!ELEMENT issues (issue*)>
<!ATTLIST issues burpVersion CDATA "">
<!ELEMENT issue (serialNumber, type, name, host, path, location, severity, confidence, issueBackground?)>
<!ATTLIST host ip CDATA "">
]>`;
  const whole = xmlOf('burp').replace('<!DOCTYPE issues>', doctype);
  t.equal((await recordsOf(t, whole)).length, 1, 'with the declarations that it writes');
  for (const declared of [
    '<!ENTITY a "b">',
    '<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;',
    '<!NOTATION a SYSTEM "b">',
  ])
    await t.rejects(
      read(t, whole.replace('<!ELEMENT issues', `${declared}<!ELEMENT issues`)),
      /declarations/,
      declared,
    );
  const large = Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(900_000)}`).toString('base64');
  const answered = whole.replace('</requestresponse>', `<response base64="true">${large}</response></requestresponse>`);
  const [shown] = await recordsOf(t, answered, 'burp').catch(() => []);
  t.match(JSON.stringify(shown?.evidence), /200 OK/, 'a large response is cut');
  t.ok(JSON.stringify(shown?.evidence).length < 10_000);
  const parts = ['folder 1', 'filename'].map((part) => whole.replaceAll('[q parameter]', `[URL path ${part}]`));
  const both = (await Promise.all(parts.map(async (one) => recordsOf(t, one)))).flat();
  t.equal(findingsOf(both), 2, 'two parts of one path');
  const link = (id: number): string =>
    `<li><a href="https://cwe.mitre.org/data/definitions/${id}.html">CWE-${id}: ${'x'.repeat(120)}</a></li>`;
  const classes = whole.replace(/<ul><li>[^]*?<\/ul>/, `<ul>${[79, 80, 116, 159].map(link).join('\n')}</ul>`);
  t.same((await recordsOf(t, classes))[0]?.cwes, [79, 80, 116, 159], 'every class');
  const [odd] = await recordsOf(t, whole.replaceAll('Certain', 'constructor'));
  t.equal(odd?.quality, 0.7, 'a word that objects have by birth');
});

t.test('text that is no HTML holds nothing up', async (t) => {
  const since = performance.now();
  await recordsOf(t, xmlOf('burp').replace('<p>It is echoed.</p>', '<a'.repeat(50_000)));
  t.ok(performance.now() - since < 500, `${Math.round(performance.now() - since)} ms`);
});

t.test('Nikto: one id for each header and cookie', async (t) => {
  const found = [
    { id: '013587', msg: '/: Suggested security header missing: x-content-type-options.' },
    { id: '013587', msg: '/: Suggested security header missing: strict-transport-security.' },
    { id: '999100', msg: "/: Uncommon header 'x-served-by' found, with contents: cache-1." },
    { id: '999100', msg: "/: Uncommon header 'x-other' found, with contents: 1." },
    { id: '999961', msg: '/: Cookie sid created without the secure flag.' },
    { id: '999961', msg: '/: Cookie cart created without the secure flag.' },
  ].map((one) => ({ ...one, method: 'GET', url: '/', references: '' }));
  const [host] = samples.niktoOf();
  const records = await recordsOf(t, [{ ...host, vulnerabilities: found }]);
  t.equal(findingsOf(records), 6);
  const later = records.map((one) => ({ ...one, title: one.title.replace('cache-1', 'cache-2') }));
  t.equal(findingsOf([...records, ...later]), 6, 'another value is no other finding');
});

t.test('Nessus', async (t) => {
  const older = xmlOf('nessus')
    .replace(/<cvss3_base_score>.*<\/cvss3_vector>/s, '')
    .replace(
      '<cve>',
      '<cvss_base_score>5.0</cvss_base_score><cvss_vector>CVSS2#AV:N/AC:L/Au:N/C:P/I:N/A:N</cvss_vector><cve>',
    );
  t.match((await recordsOf(t, older))[0]?.cvss, { version: '2.0', score: 5 });
  const told = xmlOf('nessus').replace('severity="2"', '').replace('>Medium<', '>None<');
  t.match((await recordsOf(t, told))[0], { severity: 'info', severityProblem: undefined }, 'None only tells something');
  t.match((await recordsOf(t, told.replace('>None<', '>Critical<')))[0], { severity: 'critical' });
});

t.test('OpenVAS', async (t) => {
  const log = samples.openvasOf('Done', 'Log').replace('<severity>7.5', '<severity>0.0');
  const [record] = await recordsOf(t, log);
  t.equal(record?.severity, 'info');
  t.equal(record?.severityProblem, undefined, 'a log is no word that nobody knows');
  const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N';
  const rating = `<severities score="75"><severity type="cvss_base_v3"><value>${vector}</value></severity>
</severities>`;
  const newer = xmlOf('openvas').replace('<cvss_base>', `${rating}<cvss_base>`);
  t.match((await recordsOf(t, newer))[0]?.cvss, { version: '3.1', score: 7.5 });
  const page = xmlOf('openvas').replace(
    '<results ',
    '<result_count>9<full>9</full><filtered>9</filtered></result_count><results ',
  );
  t.match(await faultsOf(t, page), [/1 of 9 results/], 'one page of a report');
  const error = '<errors><error><host>192.0.2.7<asset asset_id=""/></host><description>NVT timed out</description>';
  const failed = xmlOf('openvas').replace('<results ', `${error}</error></errors><results `);
  t.match(await faultsOf(t, failed), ['192.0.2.7: NVT timed out']);
});

t.test('versions that fix it', async (t) => {
  const of = (version: string): unknown => {
    const entry = structuredClone(samples.osv) as { results: { packages: samples.Json[] }[] };
    const [found] = entry.results[0]?.packages ?? [];
    const [advisory] = (found?.['vulnerabilities'] ?? []) as samples.Json[];
    const ranges = [
      { type: 'SEMVER', events: [{ introduced: '1.0.0' }, { fixed: '1.10.6' }] },
      { type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '0.2.4' }] },
    ];
    const affected = [{ package: { name: 'minimist', ecosystem: 'npm' }, ranges }];
    const made = {
      ...found,
      package: { ...(found?.['package'] as object), version },
      vulnerabilities: [{ ...advisory, affected }],
    };
    return { results: [{ ...entry.results[0], packages: [made] }] };
  };
  for (const [there, fixed] of [
    ['0.0.8', '0.2.4'],
    ['1.9.0', '1.10.6'],
    ['2.0.0', undefined],
    ['', '1.10.6'],
  ] as const)
    t.equal((await recordsOf(t, of(there)))[0]?.fix.version, fixed, `OSV-Scanner of ${there}`);
  const snyk = samples.snykOf();
  const [first] = snyk['vulnerabilities'] as samples.Json[];
  const with_ = (more: object): unknown => ({ ...snyk, vulnerabilities: [{ ...first, ...more }] });
  const fixedIn = ['0.2.4', '1.2.6'];
  t.equal((await recordsOf(t, with_({ version: '1.2.0', fixedIn })))[0]?.fix.version, '1.2.6');
  const image = with_({ fixedIn: undefined, nearestFixedInVersion: '1.2.4-r3' });
  t.match((await recordsOf(t, image))[0]?.fix, { state: 'fixed_available', version: '1.2.4-r3' });
});

t.test('Snyk: an image with applications', async (t) => {
  const application = samples.snykOf({ path: 'shop:1', displayTargetFile: '/app/package-lock.json' });
  const image = samples.snykOf({
    vulnerabilities: [],
    ok: true,
    path: 'shop:1',
    docker: {},
    applications: [application],
  });
  const { items } = await read(t, image, 'snyk');
  t.equal(items.length, 1);
  t.match(items[0], { source: 'container', location: { name: 'minimist', path: '/app/package-lock.json' } });
});

t.test('TruffleHog', async (t) => {
  const lines = samples.trufflehog.split('\n');
  const [log = '', result = ''] = lines;
  const one = JSON.parse(result) as unknown;
  for (const text of [`[${result},${result}]`, JSON.stringify([one], null, 2), JSON.stringify(one, null, 2)])
    t.equal(findingsOf(await recordsOf(t, text)), 1, text.slice(0, 20));
  const ended = { level: 'info-0', ts: 'x', logger: 'trufflehog', msg: 'finished scanning', chunks: 12, bytes: 900 };
  t.same(await faultsOf(t, `${log}\n${JSON.stringify(ended)}`), [], 'its log says that it looked at twelve chunks');
  t.match(await faultsOf(t, `${log}\n${JSON.stringify({ ...ended, chunks: 0 })}`), [/nothing shows/], 'and at none');
});

t.test('kube-hunter in a pod, which has another name in each run', async (t) => {
  const report = samples.hunterOf([{ type: 'Node/Master', location: '192.0.2.9' }]);
  const [found] = report['vulnerabilities'] as samples.Json[];
  const runs = ['abc12', 'xyz99'].map((name) => ({
    ...report,
    vulnerabilities: [{ ...found, location: `Local to Pod (kube-hunter-${name})` }],
  }));
  t.equal(findingsOf((await Promise.all(runs.map(async (run) => recordsOf(t, run)))).flat()), 1);
});

t.test('Security Hub', async (t) => {
  const [first] = samples.asffOf()['Findings'] as samples.Json[];
  const report = (more: samples.Json): samples.Json[] => [{ ...first, ...more }];
  t.same(await recordsOf(t, report({ Workflow: { Status: 'RESOLVED' } })), [], 'what is resolved');
  t.match(await recordsOf(t, report({ Severity: { Normalized: 70 } })), [{ severity: 'high' }]);
  t.match(await recordsOf(t, report({ Severity: { Normalized: 0, Label: 'INFORMATIONAL' } })), [{ severity: 'info' }]);
});

t.test('GitLab', async (t) => {
  const ended = (end_time: string): samples.Json => samples.gitlabOf({ type: 'sast', status: 'success', end_time });
  for (const time of ['2026-11-02T10:00:00', '2026-11-02T10:00:00Z', '2026-11-02T11:00:00+01:00'])
    t.equal((await read(t, ended(time))).facts.scannedAt?.toISOString(), '2026-11-02T10:00:00.000Z', time);
  await t.rejects(read(t, samples.gitlabOf({ type: 'constructor', status: 'success' })), /of the type constructor/);
  const secrets = samples.gitlabOf({ type: 'secret_detection', status: 'success' });
  const [one] = secrets['vulnerabilities'] as samples.Json[];
  const runs = ['id-of-run-1', 'id-of-run-2'].map((id, line) => ({
    ...secrets,
    vulnerabilities: [{ ...one, id, cve: 'app/db.py:12ab:AWS', location: { file: 'app/db.py', start_line: line + 3 } }],
  }));
  t.equal(
    findingsOf((await Promise.all(runs.map(async (run) => recordsOf(t, run)))).flat()),
    1,
    'a new id, a line below',
  );
});

t.test('SonarQube', async (t) => {
  const [issue] = samples.sonarOf(1)['issues'] as samples.Json[];
  const report = (more: samples.Json): samples.Json => ({ paging: { total: 1 }, issues: [{ ...issue, ...more }] });
  t.match(await recordsOf(t, report({ status: undefined, issueStatus: 'FALSE_POSITIVE' })), [{ suppressed: true }]);
  t.same(await recordsOf(t, report({ status: 'RESOLVED', resolution: 'FIXED' })), [], 'said to be fixed');
  const impacts = [
    { softwareQuality: 'MAINTAINABILITY', severity: 'LOW' },
    { softwareQuality: 'SECURITY', severity: 'HIGH' },
  ];
  t.match(await recordsOf(t, report({ severity: undefined, impacts })), [{ severity: 'high', source: 'sast' }]);
});
