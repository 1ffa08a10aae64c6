// Reports of tools about one thing, of another, and of the first again, for tests of what a report may close.

export const found = (rule = 'r', path = 'a.py') => ({
  ruleId: rule,
  level: 'error',
  message: { text: `${rule} in ${path}` },
  locations: [{ physicalLocation: { artifactLocation: { uri: path }, region: { startLine: 3 } } }],
});
export const run = (name: string, results: readonly object[], more: object = {}) => ({
  tool: { driver: { name } },
  results,
  ...more,
});
export const sarif = (...runs: object[]) => ({ version: '2.1.0', runs });
const language = (name: string, day = '') => ({ automationDetails: { id: `/language:${name}/${day}` } });
const repository = (uri: string) => ({ versionControlProvenance: [{ repositoryUri: uri }] });
const onPage = (url: string) => ({
  ...found('x', url),
  locations: [{ physicalLocation: { artifactLocation: { uri: url } } }],
});

const vulnerability = (name: string) => ({
  VulnerabilityID: 'CVE-2024-1',
  PkgName: name,
  InstalledVersion: '1',
  Severity: 'HIGH',
});
export const trivy = (artifact: string, type: string, ...results: object[]) => ({
  SchemaVersion: 2,
  ArtifactName: artifact,
  ArtifactType: type,
  Results: results,
});
export const packages = (...names: string[]) => ({
  Target: 'package-lock.json',
  Class: 'lang-pkgs',
  Vulnerabilities: names.map(vulnerability),
});
const settings = (...ids: string[]) => ({
  Target: 'main.tf',
  Class: 'config',
  MisconfSummary: { Failures: ids.length },
  Misconfigurations: ids.map((ID) => ({ ID, Title: ID, Status: 'FAIL', Severity: 'HIGH' })),
});
const grype = (target: unknown, type: string, ...names: string[]) => ({
  matches: names.map((name) => ({
    vulnerability: { id: 'CVE-2024-1', severity: 'High' },
    artifact: { name, version: '1', type: 'npm' },
    matchDetails: [],
  })),
  source: { type, target },
  descriptor: { name: 'grype', version: '1' },
});
const checkov = (type: string, ...checks: (readonly [id: string, path: string])[]) => ({
  check_type: type,
  results: {
    failed_checks: checks.map(([check_id, path]) => ({
      check_id,
      check_name: check_id,
      file_path: path,
      resource: path,
    })),
    passed_checks: [],
    parsing_errors: [],
  },
  summary: { failed: checks.length, passed: 1, checkov_version: '3' },
});
const kubeBench = (node: string, ...numbers: string[]) => ({
  Controls: [
    {
      id: '1',
      node_type: node,
      tests: [
        {
          section: '1',
          results: [
            ...numbers.map((test_number) => ({ test_number, status: 'FAIL', test_desc: 'T' })),
            { test_number: '9.9', status: 'PASS', test_desc: 'looked at in any case' },
          ],
        },
      ],
    },
  ],
});
const bill = (name: string, ...ids: string[]) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  metadata: { component: { type: 'application', name, version: '1' }, tools: [{ name: 'scan' }] },
  components: [{ 'bom-ref': 'x', name: 'x', version: '1', purl: 'pkg:npm/x@1' }],
  vulnerabilities: ids.map((id) => ({ id, ratings: [{ severity: 'high' }], affects: [{ ref: 'x' }] })),
});
const bandit = (files: readonly string[], ...paths: string[]) => ({
  errors: [],
  generated_at: '2026-01-01T00:00:00Z',
  metrics: Object.fromEntries([['_totals', { loc: 5 }], ...files.map((file) => [file, { loc: 5 }])]),
  results: paths.map((filename) => ({
    issue_text: 'shell',
    issue_severity: 'HIGH',
    filename,
    line_number: 3,
    test_id: 'B602',
  })),
});
export const zap = (site: string, ...pages: string[]) => ({
  '@programName': 'ZAP',
  site: [
    {
      '@name': site,
      alerts: pages.map((uri) => ({
        pluginid: '1',
        alert: 'A',
        riskcode: '3',
        confidence: '2',
        instances: [{ uri, method: 'GET' }],
      })),
    },
  ],
});
const zapXml = (site: string, ...pages: string[]) =>
  `<OWASPZAPReport version="2"><site name="${site}"><alerts>${pages
    .map(
      (uri) =>
        '<alertitem><pluginid>1</pluginid><alert>A</alert><riskcode>3</riskcode><confidence>2</confidence>' +
        `<instances><instance><uri>${uri}</uri><method>GET</method></instance></instances></alertitem>`,
    )
    .join('')}</alerts></site></OWASPZAPReport>`;
const nuclei = (...urls: string[]) =>
  urls
    .map((url) =>
      JSON.stringify({ 'template-id': 't', info: { name: 'T', severity: 'high' }, 'matched-at': url, host: url }),
    )
    .concat('')
    .join('\n');
const nucleiStatus = (host: string) =>
  JSON.stringify({ 'template-id': 't', info: { name: 'T', severity: 'high' }, host, 'matcher-status': false });
const nmap = (host: string, services: string, ...ports: number[]) =>
  `<nmaprun version="7" start="1700000000"><scaninfo type="connect" protocol="tcp" services="${services}"/>` +
  `<host><status state="up"/><address addr="${host}" addrtype="ipv4"/><ports>${ports
    .map((port) => `<port protocol="tcp" portid="${port}"><state state="open"/></port>`)
    .join(
      '',
    )}</ports></host><runstats><finished exit="success"/><hosts up="1" down="0" total="1"/></runstats></nmaprun>`;
const testssl = (host: string, port: string, ...ids: string[]) => [
  { id: 'service', ip: `${host}/192.0.2.1`, port, severity: 'INFO', finding: 'HTTP' },
  ...ids.map((id) => ({ id, ip: `${host}/192.0.2.1`, port, severity: 'HIGH', finding: 'vulnerable' })),
];
const wapiti = (target: string, ...paths: string[]) => ({
  classifications: {},
  vulnerabilities: { XSS: paths.map((path) => ({ path, level: 3, method: 'GET', info: '', parameter: 'q' })) },
  anomalies: {},
  additionals: {},
  infos: { target, version: '3', date: 'Thu, 01 Jan 2026 00:00:00 +0000', crawled_pages_nbr: 4 },
});
const lynis = (host: string, ...tests: string[]) =>
  [
    '# Lynis Report',
    `hostname=${host}`,
    'lynis_version=3',
    'tests_executed=A-1|',
    'report_datetime_end=2026-01-01 00:00:00',
    ...tests.map((id) => `warning[]=${id}|text|-|-|`),
    '',
  ].join('\n');
const checkstyle = (path: string, ...sources: string[]) =>
  `<checkstyle version="8"><file name="${path}">${sources
    .map((source) => `<error line="3" severity="error" message="m ${source}" source="${source}"/>`)
    .join('')}</file></checkstyle>`;

export interface ScopeCase {
  readonly what: string;
  readonly first: unknown;
  /** Of something else, and again what it was about, found no more. */
  readonly other: unknown;
  readonly fixed: unknown;
  readonly format?: string;
}

export const scopeCases: readonly ScopeCase[] = [
  ...(
    [
      ['CodeQL', 'Semgrep OSS'],
      ['Bandit', 'ESLint'],
      ['gitleaks', 'CodeQL'],
      ['Trivy', 'CodeQL'],
      ['a tool', 'another tool'],
    ] as const
  ).map(([one, two]) => ({
    what: `SARIF of ${one}, then of ${two}`,
    first: sarif(run(one, [found()])),
    other: sarif(run(two, [])),
    fixed: sarif(run(one, [])),
  })),
  {
    what: 'SARIF of many tools, then of fewer',
    first: sarif(run('A', [found()]), run('B', [])),
    other: sarif(run('B', []), run('C', [])),
    fixed: sarif(run('C', []), run('A', [])),
  },
  {
    what: 'CodeQL of two languages',
    first: sarif(run('CodeQL', [found()], language('python', '2026-01-01'))),
    other: sarif(run('CodeQL', [], language('javascript'))),
    fixed: sarif(run('CodeQL', [], language('python', '2026-02-02'))),
  },
  {
    what: 'SARIF of two repositories',
    first: sarif(run('t', [found()], repository('https://user@git.example/a/one.git'))),
    other: sarif(run('t', [], repository('https://git.example/a/two'))),
    fixed: sarif(run('t', [], repository('git@git.example:a/one'))),
  },
  {
    what: 'SARIF of two images',
    first: sarif(run('Trivy', [found()], { properties: { imageName: 'img-a:1' } })),
    other: sarif(run('Trivy', [], { properties: { imageName: 'img-b:1' } })),
    fixed: sarif(run('Trivy', [], { properties: { imageName: 'img-a:2' } })),
  },
  {
    what: 'SARIF of a scanner of two hosts',
    first: sarif(run('ZAP', [onPage('https://a.example/')])),
    other: sarif(run('ZAP', [onPage('https://b.example/')])),
    fixed: sarif(run('ZAP', [onPage('https://a.example/other')])),
  },
  {
    what: 'Trivy of two images',
    first: trivy('reg:5000/img-a:1', 'container_image', packages('x')),
    other: trivy('reg:5000/img-b:1', 'container_image', packages()),
    fixed: trivy('reg:5000/img-a:2@sha256:00ff', 'container_image', packages()),
  },
  {
    what: 'Trivy of a directory, then of an image',
    first: trivy('services/a', 'filesystem', packages('x')),
    other: trivy('img-b:1', 'container_image', packages()),
    fixed: trivy('./services/a/', 'filesystem', packages()),
  },
  {
    what: 'Trivy of packages, then of settings',
    first: trivy('.', 'filesystem', packages('x')),
    other: trivy('.', 'filesystem', settings()),
    fixed: trivy('.', 'filesystem', packages()),
  },
  {
    what: 'Trivy of settings, then of packages',
    first: trivy('.', 'filesystem', settings('AVD-1')),
    other: trivy('.', 'filesystem', packages()),
    fixed: trivy('.', 'filesystem', settings()),
  },
  {
    what: 'Grype of two images',
    first: grype({ userInput: 'img-a:1' }, 'image', 'x'),
    other: grype({ userInput: 'img-b:1' }, 'image'),
    fixed: grype({ userInput: 'img-a:2' }, 'image'),
  },
  {
    what: 'Grype of two directories',
    first: grype('services/a', 'directory', 'x'),
    other: grype('services/b', 'directory'),
    fixed: grype('services/a', 'directory'),
  },
  {
    what: 'Checkov of two frameworks',
    first: checkov('terraform', ['CKV_AWS_1', '/main.tf']),
    other: checkov('dockerfile', ['CKV_DOCKER_1', '/Dockerfile']),
    fixed: checkov('terraform'),
  },
  {
    what: 'Checkov of charts, then of files',
    first: checkov('helm', ['CKV_K8S_1', '/x.yaml']),
    other: checkov('terraform'),
    fixed: [checkov('helm'), checkov('terraform')],
  },
  {
    what: 'kube-bench of two kinds of nodes',
    first: kubeBench('master', '1.1'),
    other: kubeBench('node', '4.1'),
    fixed: kubeBench('master'),
  },
  { what: 'CycloneDX of two components', first: bill('a', 'CVE-2024-1'), other: bill('b'), fixed: bill('a') },
  {
    what: 'Bandit of other files',
    first: bandit(['./a.py'], './a.py'),
    other: bandit(['./b.py']),
    fixed: bandit(['./a.py', './b.py']),
  },
  {
    what: 'ZAP of two sites',
    first: zap('http://localhost:3000', 'http://localhost:3000/x'),
    other: zap('http://localhost:4000', 'http://localhost:4000/x'),
    fixed: zap('http://localhost:3000'),
  },
  {
    what: 'ZAP of two sites, XML',
    first: zapXml('https://a.example', 'https://a.example/x'),
    other: zapXml('https://b.example'),
    fixed: zapXml('http://a.example'),
  },
  {
    what: 'Nuclei of two hosts',
    format: 'nuclei',
    first: nuclei('https://a.example/x'),
    other: nuclei('https://b.example/x'),
    fixed: nucleiStatus('https://a.example'),
  },
  {
    what: 'Nuclei that finds nothing any more',
    format: 'nuclei',
    first: nuclei('https://a.example/x'),
    other: nuclei('https://b.example/x'),
    fixed: nuclei('https://a.example/y'),
  },
  {
    what: 'Nmap of two hosts',
    first: nmap('10.0.0.1', '1-1000', 80),
    other: nmap('10.0.0.2', '1-1000', 80),
    fixed: nmap('10.0.0.1', '1-1000'),
  },
  {
    what: 'Nmap of other ports',
    first: nmap('10.0.0.1', '1-1000,8080', 8080),
    other: nmap('10.0.0.1', '1-1000'),
    fixed: nmap('10.0.0.1', '22,8000-9000'),
  },
  {
    what: 'testssl of two hosts',
    first: testssl('a.example', '443', 'POODLE'),
    other: testssl('b.example', '443'),
    fixed: testssl('a.example', '443'),
  },
  {
    what: 'testssl of two ports',
    first: testssl('a.example', '8443', 'POODLE'),
    other: testssl('a.example', '443'),
    fixed: testssl('a.example', '8443'),
  },
  {
    what: 'Wapiti of two targets',
    first: wapiti('http://a.example/', '/x'),
    other: wapiti('http://b.example/'),
    fixed: wapiti('http://a.example/'),
  },
  { what: 'Lynis of two hosts', first: lynis('one', 'A-1'), other: lynis('two'), fixed: lynis('one') },
  {
    what: 'Checkstyle of two tools',
    first: checkstyle('a.js', 'eslint.rules.no-eval'),
    other: checkstyle('a.sh', 'ShellCheck.SC2086'),
    fixed: checkstyle('a.js', 'eslint.rules.no-new-func'),
  },
  {
    what: 'lines of two tools',
    format: 'gcc',
    first: 'a.c:3:1: warning: leak [memleak]\n',
    other: 'a.sh:3:1: warning: quote [SC2086]\n',
    fixed: 'b.c:3:1: warning: leak [memleak]\n',
  },
];
