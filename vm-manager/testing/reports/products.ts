// A report of each product, written here in the shape that it writes, and what becomes of each.
import type { Json } from '../import-client.js';
export type { Json };

const xml = '<?xml version="1.0"?>\n';
export const burpOf = (issues: string): string =>
  `${xml}<!DOCTYPE issues>\n<issues burpVersion="2024.9" exportTime="Mon Nov 02 10:00:00 UTC 2026">${issues}</issues>`;
const request = Buffer.from('GET /search?q=x HTTP/1.1').toString('base64');
const burpIssue = `<issue><serialNumber>81</serialNumber><type>2097920</type>
<name>Cross-site scripting (reflected)</name>
<host ip="192.0.2.7">https://shop.example</host><path><![CDATA[/search]]></path>
<location><![CDATA[/search [q parameter]]]></location><severity>High</severity><confidence>Certain</confidence>
<issueBackground><![CDATA[<p>It is echoed.</p>]]></issueBackground>
<vulnerabilityClassifications><![CDATA[<ul><li><a href="https://cwe.mitre.org/data/definitions/79.html">CWE-79: XSS</a>
</li></ul>]]></vulnerabilityClassifications><issueDetail><![CDATA[The value of <b>q</b> is copied.]]></issueDetail>
<requestresponse><request method="GET" base64="true"><![CDATA[${request}]]>
</request></requestresponse></issue>`;
const nessusItem = (
  severity: number,
  more = '',
) => `<ReportItem port="443" svc_name="www" protocol="tcp" severity="${severity}"
pluginID="42873" pluginName="SSL Medium Strength Cipher Suites Supported (SWEET32)" pluginFamily="General">
<cve>CVE-2016-2183</cve><cwe>326</cwe><cvss3_base_score>7.5</cvss3_base_score>
<cvss3_vector>CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N</cvss3_vector><risk_factor>Medium</risk_factor>
<synopsis>Weak ciphers.</synopsis><description>The host offers them.</description><solution>Switch them off.</solution>
<see_also>https://sweet32.info</see_also>${more}</ReportItem>`;
export const nessusOf = (items: string, end = '<tag name="HOST_END">Mon Nov  2 10:10:00 2026</tag>'): string =>
  `${xml}<NessusClientData_v2><Policy><policyName>Basic</policyName></Policy><Report name="weekly"><ReportHost
name="shop.example"><HostProperties><tag name="host-ip">192.0.2.7</tag>${end}</HostProperties>${items}</ReportHost>
</Report></NessusClientData_v2>`;
export const openvasOf = (status: string, threat = 'High'): string =>
  `${xml}<report id="a" format_id="b" extension="xml" content_type="text/xml">
<report id="a"><gmp><version>22.4</version></gmp>
<scan_run_status>${status}</scan_run_status><results start="1" max="100"><result id="r1"><name>Cleartext login</name>
<host>192.0.2.7<asset asset_id="x"/><hostname>shop.example</hostname></host><port>21/tcp</port>
<nvt oid="1.3.6.1.4.1.25623.1.0.108528">
<type>nvt</type><name>FTP Unencrypted Cleartext Login</name><cvss_base>4.8</cvss_base>
<tags>cvss_base_vector=AV:A/AC:L/Au:N/C:P/I:P/A:N|summary=Logins are not encrypted.</tags>
<refs><ref type="cve" id="CVE-2026-1000"/><ref type="url" id="https://a.example/x"/></refs>
<solution type="VendorFix">Use FTPS.</solution></nvt><threat>${threat}</threat><severity>7.5</severity>
<qod><value>70</value></qod><description>It answers.</description></result></results>
<host><ip>192.0.2.7</ip><start>2026-11-02T10:00:00Z</start><end>2026-11-02T10:10:00Z</end></host></report></report>`;

export const osv: Json = {
  results: [
    {
      source: { path: '/ci/shop/package-lock.json', type: 'lockfile' },
      packages: [
        {
          package: { name: 'minimist', version: '0.0.8', ecosystem: 'npm' },
          vulnerabilities: [
            {
              ...{ id: 'GHSA-xvch-5gv4-984h', aliases: ['CVE-2021-44906'], summary: 'Prototype Pollution in minimist' },
              severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
              affected: [
                {
                  package: { name: 'minimist', ecosystem: 'npm' },
                  ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '0.2.4' }] }],
                },
              ],
              references: [{ type: 'ADVISORY', url: 'https://github.com/advisories/GHSA-xvch-5gv4-984h' }],
              database_specific: { severity: 'CRITICAL', cwe_ids: ['CWE-1321'] },
            },
          ],
          groups: [{ ids: ['GHSA-xvch-5gv4-984h'], aliases: ['CVE-2021-44906'], max_severity: '9.8' }],
        },
      ],
    },
  ],
};
export const dependencyCheck = (more: Json = {}): Json => ({
  reportSchema: '1.1',
  scanInfo: { engineVersion: '9.0.9', dataSource: [], ...more },
  projectInfo: { name: 'Shop', reportDate: '2026-11-02T10:00:00Z' },
  dependencies: [
    { isVirtual: false, fileName: 'clean.jar', filePath: '/ci/shop/lib/clean.jar' },
    {
      ...{ isVirtual: false, fileName: 'log4j-core-2.14.1.jar', filePath: '/ci/shop/lib/log4j-core-2.14.1.jar' },
      packages: [{ id: 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1', confidence: 'HIGHEST' }],
      vulnerabilities: [
        {
          ...{ source: 'NVD', name: 'CVE-2021-44228', severity: 'CRITICAL', cwes: ['CWE-502', 'CWE-20'] },
          cvssv3: { baseScore: 10, baseSeverity: 'CRITICAL', attackVector: 'NETWORK' },
          ...{
            description: 'JNDI',
            references: [{ source: 'x', url: 'https://a.example', name: 'see CVE-2000-0001' }],
          },
        },
      ],
    },
  ],
});
export const snykOf = (more: Json = {}): Json => ({
  vulnerabilities: [
    {
      ...{ id: 'SNYK-JS-MINIMIST-2429795', title: 'Prototype Pollution', severity: 'critical', cvssScore: 9.8 },
      CVSSv3: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
      identifiers: { CVE: ['CVE-2021-44906'], CWE: ['CWE-1321'], GHSA: ['GHSA-xvch-5gv4-984h'] },
      ...{ packageName: 'minimist', version: '0.0.8', packageManager: 'npm', fixedIn: ['0.2.4'] },
      ...{ from: ['shop@1.0.0', 'minimist@0.0.8'], isUpgradable: true, references: [] },
    },
    { id: 'snyk:lic:npm:x:GPL-3.0', type: 'license', severity: 'medium', packageName: 'x', version: '1.0.0' },
  ],
  ...{ ok: false, dependencyCount: 42, packageManager: 'npm', projectName: 'shop', path: '/ci/shop' },
  displayTargetFile: 'package-lock.json',
  ...more,
});
const truffle = {
  SourceMetadata: { Data: { Git: { commit: 'abc', file: 'app/.env', line: 3 } } },
  DetectorName: 'AWS',
};
export const trufflehog = [
  { level: 'info-0', ts: '2026-11-02T10:00:00Z', logger: 'trufflehog', msg: 'running source' },
  // gatehouse:ignore aws-access-key of a sample
  { ...truffle, Verified: true, Raw: 'AKIASECRETVALUEXXXXX', Redacted: 'AKIAS***************', ExtraData: null },
]
  .map((line) => JSON.stringify(line))
  .join('\n');
export const baseline = (more: Json = {}): Json => ({
  ...{
    version: '1.4.0',
    plugins_used: [{ name: 'AWSKeyDetector' }],
    filters_used: [],
    generated_at: '2026-11-02T10:00:00Z',
  },
  results: {
    'app/settings.py': [
      {
        ...{ type: 'AWS Access Key', filename: 'app/settings.py', line_number: 7, is_verified: false },
        hashed_secret: '25910f981e85ca04baf359199dd0bd4a3ae738b6', // gatehouse:ignore named-secret of a test
      },
    ],
  },
  ...more,
});
export const kicsOf = (more: Json = {}): Json => ({
  ...{ kics_version: 'v1.7.13', files_scanned: 3, files_parsed: 3, files_failed_to_scan: 0, ...more },
  queries: [
    {
      ...{ query_name: 'S3 Bucket Is Public', query_id: '38c5ee0d-7f22-4260-ab72-5073048df100', severity: 'HIGH' },
      ...{ platform: 'Terraform', cwe: '284', category: 'Access Control', description: 'Anybody reads it' },
      files: [
        {
          ...{ file_name: 'infra/s3.tf', similarity_id: 'f1a2', line: 4, resource_type: 'aws_s3_bucket' },
          ...{ resource_name: 'b', expected_value: 'acl is private', actual_value: 'acl is public-read' },
        },
      ],
    },
  ],
});
export const tfsecOf = (...more: readonly Json[]): Json => ({
  results: [
    {
      ...{
        rule_id: 'AVD-AWS-0088',
        long_id: 'aws-s3-enable-bucket-encryption',
        rule_description: 'Unencrypted bucket',
      },
      ...{
        rule_provider: 'aws',
        rule_service: 's3',
        impact: 'Readable',
        resolution: 'Encrypt',
        links: ['https://a.example'],
      },
      ...{ description: 'Bucket has no encryption', severity: 'HIGH', status: 0, resource: 'aws_s3_bucket.b' },
      location: { filename: '/ci/shop/infra/s3.tf', start_line: 4, end_line: 9 },
    },
    ...more,
  ],
});
export const hunterOf = (nodes: readonly Json[]): Json => ({
  nodes,
  services: [{ service: 'Kubelet API', location: '192.0.2.9:10250' }],
  vulnerabilities: [
    {
      ...{ location: '192.0.2.9:10250', vid: 'KHV036', category: 'Remote Code Execution', severity: 'high' },
      ...{ vulnerability: 'Anonymous Authentication', description: 'The kubelet lets anybody in', evidence: '' },
      ...{ avd_reference: 'https://avd.aquasec.com/kube-hunter/khv036/', hunter: 'Kubelet Secure Ports Hunter' },
    },
  ],
});
const aws = { SchemaVersion: '2018-10-08', ProductArn: 'arn:aws:securityhub:x', ProductName: 'Security Hub' };
const bucket = { Type: 'AwsS3Bucket', Id: 'arn:aws:s3:::b', Region: 'eu-west-1' };
const control = { ...aws, GeneratorId: 'aws-foundational/S3.2', AwsAccountId: '1', Resources: [bucket] };
export const asffOf = (more: Json = {}): Json => ({
  Findings: [
    {
      ...{ ...control, Id: 'arn:1', Title: 'S3 buckets should prohibit public read access', Types: ['Checks/AWS'] },
      ...{ Severity: { Label: 'CRITICAL', Normalized: 90 }, Description: 'd', RecordState: 'ACTIVE' },
      ...{ Compliance: { Status: 'FAILED', SecurityControlId: 'S3.2' }, Workflow: { Status: 'NEW' } },
    },
    { ...control, Id: 'arn:2', Title: 'passed', Severity: { Label: 'LOW' }, Compliance: { Status: 'PASSED' } },
  ],
  ...more,
});
export const gitlabOf = (scan: Json = { type: 'sast', status: 'success' }): Json => ({
  version: '15.0.7',
  vulnerabilities: [
    {
      ...{
        id: 'a1',
        category: 'sast',
        name: 'Improper neutralization',
        message: 'SQL injection',
        severity: 'Critical',
      },
      ...{ confidence: 'High', scanner: { id: 'semgrep', name: 'Semgrep' }, description: 'd' },
      location: { file: 'app/db.py', start_line: 12, end_line: 13, method: 'find' },
      identifiers: [
        { type: 'semgrep_id', name: 'bandit.B608', value: 'bandit.B608', url: 'https://a.example' },
        { type: 'cwe', name: 'CWE-89', value: '89', url: 'https://cwe.mitre.org' },
      ],
    },
  ],
  scan: { scanner: { id: 'semgrep', name: 'Semgrep', version: '1.5' }, ...scan },
});
export const sonarOf = (total: number): Json => ({
  ...{ total, p: 1, ps: 500, paging: { pageIndex: 1, pageSize: 500, total }, effortTotal: 15 },
  issues: [
    {
      ...{ key: 'AX1', rule: 'javascript:S2076', severity: 'BLOCKER', component: 'shop:src/run.js', project: 'shop' },
      ...{ line: 9, status: 'OPEN', message: 'Make sure that this command is safe', type: 'VULNERABILITY' },
      tags: ['cwe-78'],
    },
    {
      key: 'AX2',
      rule: 'javascript:S1',
      severity: 'MAJOR',
      component: 'shop:src/a.js',
      status: 'CLOSED',
      message: 'm',
    },
  ],
});
export const niktoOf = (host = 'shop.example'): Json[] => [
  {
    ...{ host, ip: '192.0.2.7', port: '8080', banner: 'Apache' },
    vulnerabilities: [
      { id: '999957', references: 'https://a.example', method: 'GET', url: '/admin', msg: '/admin: The page is open.' },
    ],
  },
];

/** Format → a report, and the findings that it makes. */
export const products: Readonly<Record<string, readonly [report: unknown, wanted: Json[]]>> = {
  burp: [
    burpOf(burpIssue + burpIssue.replace('<severity>High', '<severity>False positive')),
    [{ source: 'dast', severity: 'high', cwe: ['CWE-79'], location: /https:\/\/shop\.example\/search.*q/ }],
  ],
  nessus: [
    nessusOf(nessusItem(2)),
    [{ source: 'dast', severity: 'medium', cwe: ['CWE-326'], vuln_ids: ['CVE-2016-2183'], cvss: { score: 7.5 } }],
  ],
  openvas: [openvasOf('Done'), [{ source: 'dast', severity: 'high', vuln_ids: ['CVE-2026-1000'], location: /:21/ }]],
  nikto: [niktoOf(), [{ source: 'dast', severity: 'low', location: /http:\/\/shop\.example:8080\/admin/ }]],
  'osv-scanner': [
    osv,
    [
      {
        ...{
          source: 'sca',
          severity: 'critical',
          cwe: ['CWE-1321'],
          cvss: { score: 9.8 },
          fix_state: 'fixed_available',
        },
        vuln_ids: ['CVE-2021-44906', 'GHSA-XVCH-5GV4-984H'],
      },
    ],
  ],
  'dependency-check': [
    dependencyCheck(),
    [{ source: 'sca', severity: 'critical', cwe: ['CWE-502', 'CWE-20'], vuln_ids: ['CVE-2021-44228'] }],
  ],
  snyk: [
    snykOf(),
    [
      {
        ...{ source: 'sca', severity: 'critical', cwe: ['CWE-1321'], fix_state: 'fixed_available' },
        vuln_ids: ['CVE-2021-44906', 'GHSA-XVCH-5GV4-984H', 'SNYK-JS-MINIMIST-2429795'],
      },
    ],
  ],
  trufflehog: [trufflehog, [{ source: 'secret', severity: 'critical', cwe: ['CWE-798'], location: 'app/.env:3' }]],
  'detect-secrets': [
    baseline(),
    [{ source: 'secret', severity: 'high', cwe: ['CWE-798'], location: 'app/settings.py:7' }],
  ],
  kics: [kicsOf(), [{ source: 'iac', severity: 'high', cwe: ['CWE-284'], location: /aws_s3_bucket\.b/ }]],
  tfsec: [tfsecOf(), [{ source: 'iac', severity: 'high', location: /aws_s3_bucket\.b/ }]],
  'kube-hunter': [
    hunterOf([{ type: 'Node/Master', location: '192.0.2.9' }]),
    [{ source: 'k8s', severity: 'high', rule_id: 'KHV036' }],
  ],
  asff: [asffOf(), [{ source: 'cspm', severity: 'critical', rule_id: 'S3.2', location: /arn:aws:s3:::b/ }]],
  gitlab: [gitlabOf(), [{ source: 'sast', severity: 'critical', cwe: ['CWE-89'], location: /app\/db\.py:12/ }]],
  sonarqube: [sonarOf(2), [{ source: 'sast', severity: 'critical', cwe: ['CWE-78'], location: /src\/run\.js:9/ }]],
};

/** What these products write where they did not look, or not to the end. */
export const unfinished: Readonly<Record<string, readonly [format: string, report: unknown]>> = {
  'no issue of Burp': ['burp', burpOf('')],
  'a host of Nessus without an end': ['nessus', nessusOf('', '')],
  'OpenVAS that was stopped': ['openvas', openvasOf('Stopped')],
  'no host of Nikto': ['nikto', []],
  'an analyzer that failed': [
    'dependency-check',
    dependencyCheck({ analysisExceptions: [{ exception: { message: 'm' } }] }),
  ],
  'Snyk without a dependency': ['snyk', snykOf({ vulnerabilities: [], ok: true, dependencyCount: 0 })],
  'Snyk that failed': ['snyk', { ok: false, error: 'Could not detect supported target files', path: '/ci/shop' }],
  'nothing of TruffleHog': ['trufflehog', trufflehog.split('\n')[0] ?? ''],
  'no plugin of detect-secrets': ['detect-secrets', baseline({ plugins_used: [], results: {} })],
  'KICS without a file': ['kics', kicsOf({ files_scanned: 0 })],
  'files that KICS failed at': ['kics', kicsOf({ files_failed_to_scan: 2 })],
  'nothing of tfsec': ['tfsec', { results: null }],
  'no node of kube-hunter': ['kube-hunter', hunterOf([])],
  'the first page of Security Hub': ['asff', asffOf({ NextToken: 'x' })],
  'a scan of GitLab that failed': ['gitlab', gitlabOf({ type: 'sast', status: 'failure' })],
  'one page of SonarQube': ['sonarqube', sonarOf(700)],
};
