// Reports of tools that looked at nothing, or not at everything, and say so: they are not complete, say why in words,
// do not pass the gate, and close nothing, however often they come.
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onEmbeddedDatabase } from '#api/testing/databases';
import { Client } from '../../testing/import-client.js';
import { found, packages, run, sarif, trivy, zap } from '../../testing/reports-of-scopes.js';

const semgrepResult = {
  check_id: 'r.sqli',
  path: 'a.py',
  start: { line: 3 },
  extra: { message: 'SQL', severity: 'ERROR', metadata: {} },
};
const semgrep = (results: object[], paths: object, errors: object[] = []) => ({ version: '1', results, errors, paths });
const scanned = { scanned: ['a.py'] };
const bandit = (loc: number, ...paths: string[]) => ({
  errors: [],
  generated_at: 'x',
  metrics: { _totals: { loc } },
  results: paths.map((filename) => ({
    issue_text: 't',
    issue_severity: 'HIGH',
    filename,
    line_number: 1,
    test_id: 'B6',
  })),
});
const npm = (names: readonly string[], metadata: object) => ({
  auditReportVersion: 2,
  vulnerabilities: Object.fromEntries(
    names.map((name) => [
      name,
      { via: [{ source: 1, title: 'T', severity: 'high', url: 'https://x.example/GHSA-1' }] },
    ]),
  ),
  metadata,
});
const npm1 = (ids: readonly string[], metadata: object) => ({
  actions: [],
  advisories: Object.fromEntries(ids.map((id) => [id, { title: 'T', severity: 'high', module_name: 'm' }])),
  metadata,
});
const dependencies = { dependencies: { total: 4 }, vulnerabilities: { total: 0 } };
const grype = (names: readonly string[], more: object) => ({
  matches: names.map((name) => ({
    vulnerability: { id: 'CVE-2024-1', severity: 'High' },
    artifact: { name, version: '1', type: 'deb' },
    matchDetails: [],
  })),
  descriptor: { name: 'grype', version: '1' },
  ...more,
});
const misconfigured = (failures: number, ...ids: string[]) => ({
  Target: 'main.tf',
  Class: 'config',
  MisconfSummary: { Failures: failures },
  Misconfigurations: ids.map((ID) => ({ ID, Title: ID, Status: 'FAIL', Severity: 'HIGH' })),
});
const checkov = (summary: object, ...ids: string[]) => ({
  check_type: 'terraform',
  results: { failed_checks: ids.map((id) => ({ check_id: id, check_name: id, file_path: '/main.tf', resource: 'x' })) },
  summary: { checkov_version: '3', ...summary },
});
const kubeBench = (totals: object, ...numbers: string[]) => ({
  Controls: [
    {
      node_type: 'node',
      tests: [
        { section: '1', results: numbers.map((test_number) => ({ test_number, status: 'FAIL', test_desc: 'T' })) },
      ],
    },
  ],
  Totals: totals,
});
const zapXml = (sites: string): string => `<OWASPZAPReport version="2">${sites}</OWASPZAPReport>`;
const zapSite =
  '<site name="https://a.example"><alerts><alertitem><pluginid>1</pluginid><alert>A</alert><riskcode>3</riskcode>' +
  '<confidence>2</confidence><instances><instance><uri>https://a.example/</uri></instance></instances></alertitem>' +
  '</alerts></site>';
const nucleiInfo = { name: 'T', severity: 'high' };
const nuclei = (more: object): string =>
  `${JSON.stringify({ 'template-id': 't', info: nucleiInfo, host: 'https://a.example', ...more })}\n`;
const nmap = (hosts: string, up: number): string =>
  `<nmaprun version="7" start="1">${hosts}<runstats><finished time="2" exit="success"/>` +
  `<hosts up="${up}" down="1"/></runstats></nmaprun>`;
const host = (more: string, ports = '<port protocol="tcp" portid="80"><state state="open"/></port>'): string =>
  `<host ${more}><status state="up"/><address addr="10.0.0.1" addrtype="ipv4"/><ports>${ports}</ports></host>`;
const wapiti = (pages: number, ...paths: string[]) => ({
  classifications: {},
  vulnerabilities: { XSS: paths.map((path) => ({ path, level: 3, method: 'GET', info: '', parameter: 'q' })) },
  anomalies: {},
  infos: { target: 'https://a.example/', version: '3', crawled_pages_nbr: pages },
});
const silent = (ports: string): string => nmap(hostPn(ports), 1);
const hostPn = (ports: string): string =>
  '<host><status state="up" reason="user-set"/><address addr="10.0.0.1" addrtype="ipv4"/>' +
  `<ports>${ports}</ports></host>`;
const portOf = (state: string): string => `<port protocol="tcp" portid="80"><state state="${state}"/></port>`;
const extraPorts = (state: string): string => `<extraports state="${state}" count="999"/>`;
const skippedRule = { rule_id: 'r.apex', details: 'no parser of that language', position: {} };
const testssl = [{ id: 'POODLE', ip: 'a.example/192.0.2.1', port: '443', severity: 'HIGH', finding: 'vulnerable' }];
const image = (more: object, ...names: string[]) => ({
  ...trivy('img:1', 'container_image', packages(...names)),
  ...more,
});
const external = (more: object) => sarif(run('t', [], { externalPropertyFileReferences: more }));

/** What it shows → format, a report that has found something, one that did not look, what the problem says. */
const reports: readonly (readonly [what: string, format: string, before: unknown, now: unknown, why: RegExp])[] = [
  [
    'ZAP: no site',
    'zap-json',
    zap('https://a.example', 'https://a.example/'),
    { '@programName': 'ZAP', site: [] },
    /not reached/,
  ],
  [
    'ZAP: null',
    'zap-json',
    zap('https://a.example', 'https://a.example/'),
    { '@programName': 'ZAP', site: null },
    /not reached/,
  ],
  ['ZAP: no site in XML', 'zap-xml', zapXml(zapSite), zapXml(''), /not reached/],
  ['Nmap: the host is down', 'nmap', nmap(host(''), 1), nmap('', 0), /no host was up/],
  [
    'Nmap: the host is listed as down',
    'nmap',
    nmap(host(''), 1),
    nmap('<host><status state="down"/><address addr="10.0.0.1" addrtype="ipv4"/></host>', 0),
    /no host was up/,
  ],
  ['Nmap: the host was given up', 'nmap', nmap(host(''), 1), nmap(host('timedout="true"', ''), 1), /given up/],
  [
    'Nuclei: the host has no address',
    'nuclei',
    nuclei({ 'matched-at': 'https://a.example/x' }),
    nuclei({ 'matcher-status': false, error: 'no address found for host' }),
    /no address found/,
  ],
  [
    'Semgrep: no file',
    'semgrep',
    semgrep([semgrepResult], scanned),
    semgrep([], { scanned: [] }),
    /no file was scanned/,
  ],
  ...(['analysis_failed_parser_or_internal_error', 'exceeded_size_limit', 'too_many_matches'] as const).map(
    (reason) =>
      [
        `Semgrep: ${reason}`,
        'semgrep',
        semgrep([semgrepResult], scanned),
        semgrep([], { scanned: ['b.py', 'a.py'], skipped: [{ path: 'a.py', reason }] }),
        new RegExp(`a.py: ${reason}`),
      ] as const,
  ),
  ...[
    { code: 3, level: 'warn', type: ['PartialParsing', [{ path: 'a.py' }]], path: 'a.py', message: 'Syntax error' },
    { code: 2, level: 'warn', type: 'Timeout', path: 'a.py', message: 'took too long' },
    { code: 2, level: 'error', type: 'Lexical error', path: 'a.py', message: 'no' },
  ].map(
    (error) =>
      [
        `Semgrep: ${JSON.stringify(error.type)}`,
        'semgrep',
        semgrep([semgrepResult], scanned),
        semgrep([], scanned, [error]),
        /a\.py: (?:PartialParsing|Timeout|Lexical error)/,
      ] as const,
  ),
  [
    'Semgrep: no list of files',
    'semgrep',
    semgrep([semgrepResult], scanned),
    { version: '1', results: [], errors: [] },
    /nothing shows that a file was scanned \(paths.scanned is missing/,
  ],
  ['Semgrep: paths without files', 'semgrep', semgrep([semgrepResult], scanned), semgrep([], {}), /is missing/],
  [
    'Semgrep: a rule that was not run',
    'semgrep',
    semgrep([semgrepResult], scanned),
    { ...semgrep([], scanned), skipped_rules: [skippedRule] },
    /r\.apex: the rule was not run: no parser/,
  ],
  ['CSV: a head line alone', 'csv', 'title,severity,file\nA,high,a.js\n', 'title,severity,file\n', /and no row/],
  [
    'Nuclei: an empty list',
    'nuclei',
    nuclei({ 'matched-at': 'https://a.example/x' }),
    '[]',
    /nothing shows that a host was asked \(with -matcher-status/,
  ],
  ...([extraPorts('filtered'), portOf('filtered'), portOf('open|filtered'), ''] as const).map(
    (ports) =>
      [`Nmap -Pn: ${ports}`, 'nmap', nmap(host(''), 1), silent(ports), /10\.0\.0\.1: no port answered/] as const,
  ),
  ...([undefined, null, []] as const).map(
    (Results) =>
      [
        `Trivy: Results is ${JSON.stringify(Results)}`,
        'trivy',
        trivy('.', 'filesystem', packages('x')),
        { ...trivy('.', 'filesystem'), Results },
        /no file was looked at \(Results is empty or missing/,
      ] as const,
  ),
  [
    'Trivy: the system is not known',
    'trivy',
    image({}, 'x'),
    image({ Results: [], Metadata: { OS: { Family: 'none' } } }),
    /the system of the image is not known/,
  ],
  ['Bandit: no line', 'bandit', bandit(9, 'a.py'), bandit(0), /no line of code/],
  ['npm audit: no dependency', 'npm-audit', npm(['a'], {}), npm([], { dependencies: { total: 0 } }), /no dependency/],
  [
    'npm audit: more are counted',
    'npm-audit',
    npm(['a'], {}),
    npm([], { ...dependencies, vulnerabilities: { total: 5 } }),
    /counts 5, and 0 are listed/,
  ],
  ['npm audit 1: no dependency', 'npm-audit', npm1(['1'], {}), npm1([], { totalDependencies: 0 }), /no dependency/],
  [
    'npm audit 1: more are counted',
    'npm-audit',
    npm1(['1'], {}),
    npm1([], { totalDependencies: 4, vulnerabilities: { low: 0, high: 2 } }),
    /counts 2, and 0 are listed/,
  ],
  [
    'Checkov: more are counted',
    'checkov',
    checkov({ failed: 1 }, 'CKV_AWS_1'),
    checkov({ failed: 7 }),
    /summary.failed is 7/,
  ],
  [
    'Checkov: not parsed',
    'checkov',
    checkov({}, 'CKV_AWS_1'),
    checkov({ failed: 0, parsing_errors: 2 }),
    /not be parsed/,
  ],
  ['kube-bench: no check', 'kube-bench', kubeBench({}, '1.1'), kubeBench({ total_fail: 0 }), /no check was run/],
  [
    'kube-bench: more are counted',
    'kube-bench',
    kubeBench({}, '1.1'),
    kubeBench({ total_fail: 3 }, '1.2'),
    /total_fail is 3/,
  ],
  [
    'Trivy: more are counted',
    'trivy',
    trivy('.', 'filesystem', misconfigured(1, 'AVD-1')),
    trivy('.', 'filesystem', misconfigured(2)),
    /counts 2 failures, and 0 are listed/,
  ],
  [
    'Trivy: beyond the end of life',
    'trivy',
    image({}, 'x'),
    image({ Metadata: { OS: { Family: 'debian', Name: '8', EOSL: true } } }),
    /debian 8 is beyond its end of life/,
  ],
  ...(['distro-eol', 'distro-unknown'] as const).map(
    (type) =>
      [
        `Grype: ${type}`,
        'grype',
        grype(['p'], {}),
        grype([], { distro: { name: 'debian', version: '8' }, alertsByPackage: [{ name: 'p', alerts: [{ type }] }] }),
        new RegExp(`${type}.* debian 8`),
      ] as const,
  ),
  [
    'Grype: no data',
    'grype',
    grype(['p'], {}),
    grype([], { descriptor: { name: 'grype', db: { status: { valid: false, error: 'too old' } } } }),
    /too old/,
  ],
  ['Wapiti: no page', 'wapiti', wapiti(5, '/a'), wapiti(0), /no page of https:\/\/a\.example/],
  ['testssl: no target', 'testssl', testssl, [], /no target/],
  ['testssl: no target, pretty', 'testssl', testssl, { Invocation: 'x', scanResult: [] }, /no target/],
  ...(['results', 'driver', 'artifacts'] as const).map(
    (name) =>
      [
        `SARIF: ${name} in another file`,
        'sarif',
        sarif(run('t', [found()])),
        external({ [name]: [{ location: { uri: 'x.sarif-external-properties' }, itemCount: 12 }] }),
        new RegExp(`its ${name} lie outside`),
      ] as const,
  ),
  [
    'SARIF: results beside the runs',
    'sarif',
    sarif(run('t', [found()])),
    { ...sarif(run('t', [])), inlineExternalProperties: [{ guid: '1', results: [found()] }] },
    /inlineExternalProperties/,
  ],
];

void onEmbeddedDatabase(t, 'a report that did not look proves nothing', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [what, format, before, now, why] of reports) {
    const app = await client.application();
    const fields = { mode: 'sync', format, branch: 'main' };
    const first = await client.send(app, before, { ...fields, commit: 'c1' });
    t.match(first.body['report'], { created: 1, complete: true }, `${what}: one that looked is complete`);
    for (const commit of ['c2', 'c3', 'c3']) {
      const { status, body } = await client.send(app, now, { ...fields, commit });
      t.match(
        { status, ...body['report'] },
        { status: 202, closed: 0, complete: false, unfinished: true },
        `${what}: not complete`,
      );
      t.match(JSON.stringify(body['report'].problems), why, `${what}: in words`);
    }
    t.match(await client.findings(app), [{ status: 'new' }], `${what}: nothing is closed`);
    const { body } = await client.call('POST', '/gate/evaluate', { application_id: app, commit: 'c3' });
    t.match(body, { exit_code: 1, gaps: [/did not finish/] }, `${what}: the gate stops`);
    // what the gap asks for: the tool has run again
    await client.send(app, before, { ...fields, commit: 'c3' });
    const again = await client.call('POST', '/gate/evaluate', { application_id: app, commit: 'c3' });
    t.match(again.body, { gaps: [] }, `${what}: and goes on when the tool has looked`);
  }
});

const whole: readonly (readonly [what: string, format: string, report: unknown])[] = [
  [
    'Semgrep that was told to leave files out',
    'semgrep',
    semgrep([], { ...scanned, skipped: [{ path: 'x', reason: 'cli_exclude_flags_match' }] }),
  ],
  [
    'Semgrep with a rule for another version',
    'semgrep',
    semgrep([], scanned, [{ level: 'warn', type: 'IncompatibleRule', message: 'x' }]),
  ],
  ['npm audit that found nothing', 'npm-audit', npm([], dependencies)],
  ['Bandit that found nothing', 'bandit', bandit(7)],
  ['ZAP that found nothing', 'zap-json', zap('https://a.example')],
  ['Nmap of a network with hosts that are down', 'nmap', nmap(host('', ''), 1)],
  ...([portOf('closed'), extraPorts('closed'), portOf('unfiltered')] as const).map(
    (ports) => [`Nmap -Pn of a host that answered: ${ports}`, 'nmap', silent(ports)] as const,
  ),
  ['Nmap -Pn of two hosts, one of which answered', 'nmap', nmap(hostPn(extraPorts('filtered')) + host(''), 2)],
  [
    'Nuclei that lists what did not match',
    'nuclei',
    nuclei({ 'matched-at': 'https://a.example', 'matcher-status': false }),
  ],
  ['CSV with a row that is done with', 'csv', 'title,severity,file,status\nLooked at all,info,a.js,fixed\n'],
  ['Semgrep of an old release', 'semgrep', { results: [semgrepResult], errors: [] }],
  [
    'Semgrep with a rule left out for another version',
    'semgrep',
    {
      ...semgrep([], scanned),
      skipped_rules: [{ rule_id: 'r.new', details: 'This needs upgrading Semgrep from version 1 to at least 2' }],
    },
  ],
  ['Trivy that found nothing', 'trivy', trivy('.', 'filesystem', { Target: 'package-lock.json', Class: 'lang-pkgs' })],
  [
    'Trivy of a program in an image without a system',
    'trivy',
    image({ Metadata: { OS: { Family: 'none' } }, Results: [{ Target: 'app', Class: 'lang-pkgs', Type: 'gobinary' }] }),
  ],
  ['Trivy of a release that is kept', 'trivy', image({ Metadata: { OS: { Family: 'debian', Name: '12' } } })],
  [
    'Grype with an alert about a package',
    'grype',
    grype([], { alertsByPackage: [], descriptor: { name: 'grype', db: { status: { valid: true } } } }),
  ],
];

void onEmbeddedDatabase(t, 'a report that looked is complete', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const app = await client.application();
  for (const [what, format, report] of whole) {
    const { body } = await client.send(app, report, { mode: 'sync', format, commit: what });
    t.match(body['report'], { complete: true, unfinished: false }, what);
  }
});
