// A report of every format beside SARIF, written here, and what becomes of it.
import type { Json } from './import-client.js';

const zap = `<?xml version="1.0"?><OWASPZAPReport version="2.15"><site name="https://a.example"><alerts><alertitem>
<pluginid>40012</pluginid><alertRef>40012-1</alertRef><alert>Script in page</alert><riskcode>3</riskcode>
<confidence>2</confidence><desc>&lt;p&gt;It runs&lt;/p&gt;</desc><cweid>79</cweid><instances>
<instance><uri>https://a.example/items/17</uri><method>GET</method><param>q</param></instance>
<instance><uri>https://a.example/items/18</uri><method>GET</method><param>q</param></instance></instances></alertitem>
</alerts></site></OWASPZAPReport>`;

const nucleiLines = ['m1', 'm2']
  .map((matcher) => ({
    'template-id': 't1',
    info: { name: 'Panel', severity: 'high', classification: { 'cwe-id': ['cwe-306'] } },
    'matched-at': 'https://a.example/x',
    'matcher-name': matcher,
  }))
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

/** Format → a report, and what becomes of it. */
export const others: Readonly<Record<string, readonly [unknown, Json[]]>> = {
  cyclonedx: [
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      components: [{ 'bom-ref': 'r1', name: 'left', version: '1.0.0', purl: 'pkg:npm/left@1.0.0' }],
      vulnerabilities: [
        {
          id: 'CVE-2026-1000',
          cwes: [79],
          ratings: [
            {
              method: 'CVSSv31',
              score: 1,
              vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
              severity: 'critical',
            },
          ],
          affects: [{ ref: 'r1' }],
        },
      ],
    },
    [
      {
        title: 'CVE-2026-1000 in left',
        severity: 'critical',
        vuln_ids: ['CVE-2026-1000'],
        cvss: { score: 9.8 },
        source: 'sca',
        cwe: ['CWE-79'],
      },
    ],
  ],
  openvex: [
    {
      '@context': 'https://openvex.dev/ns/v0.2.0',
      statements: [
        { vulnerability: { name: 'CVE-2026-1' }, products: [{ '@id': 'pkg:npm/a@1' }], status: 'affected' },
        { vulnerability: { name: 'CVE-2026-2' }, products: [{ '@id': 'pkg:npm/a@1' }], status: 'not_affected' },
      ],
    },
    [{ vuln_ids: ['CVE-2026-1'] }],
  ],
  csaf: [
    {
      document: { csaf_version: '2.0' },
      product_tree: {
        branches: [{ product: { product_id: 'P', name: 'p', product_identification_helper: { purl: 'pkg:rpm/p@1' } } }],
      },
      vulnerabilities: [{ cve: 'CVE-2026-3', cwe: { id: 'CWE-20' }, product_status: { known_affected: ['P'] } }],
    },
    [{ vuln_ids: ['CVE-2026-3'], location: 'pkg:rpm/p@1', cwe: ['CWE-20'] }],
  ],
  trivy: [
    {
      SchemaVersion: 2,
      Results: [
        {
          Target: 'package-lock.json',
          Class: 'lang-pkgs',
          Vulnerabilities: [
            {
              VulnerabilityID: 'CVE-2026-4',
              PkgName: 'x',
              InstalledVersion: '1',
              FixedVersion: '2',
              Severity: 'HIGH',
              Title: 'Bad x',
              CweIDs: ['CWE-400'],
            },
          ],
          Misconfigurations: [
            { ID: 'M1', Status: 'PASS' },
            { ID: 'M2', Status: 'FAIL', Title: 'Root', Severity: 'LOW' },
          ],
          Secrets: [{ RuleID: 'aws', Title: 'Key', Severity: 'CRITICAL', StartLine: 4, Match: 'key = ****' }],
        },
      ],
    },
    [
      { title: 'Bad x', severity: 'high', fix_state: 'fixed_available', source: 'sca' },
      { title: 'Root', severity: 'low', source: 'iac' },
      { title: 'Key', severity: 'critical', source: 'secret' },
    ],
  ],
  grype: [
    {
      descriptor: { name: 'grype', version: '0.8' },
      matches: [
        {
          vulnerability: { id: 'GHSA-aaaa-bbbb-cccc', severity: 'Medium', fix: { state: 'not-fixed', versions: [] } },
          relatedVulnerabilities: [{ id: 'CVE-2026-5' }],
          matchDetails: [{ type: 'exact-direct-match' }],
          artifact: { name: 'y', version: '3', type: 'npm', purl: 'pkg:npm/y@3' },
        },
      ],
    },
    [{ severity: 'medium', vuln_ids: ['CVE-2026-5', 'GHSA-AAAA-BBBB-CCCC'], fix_state: 'no_fix' }],
  ],
  semgrep: [
    {
      version: '1',
      results: [
        {
          check_id: 'js.eval',
          path: 'src/e.js',
          start: { line: 3 },
          extra: {
            message: 'eval',
            severity: 'ERROR',
            metadata: { cwe: ['CWE-95: Eval'] },
            lines: 'eval(x)',
            fingerprint: 'requires login',
          },
        },
        {
          check_id: 'js.odd',
          path: 'src/o.js',
          start: { line: 1 },
          extra: { severity: 'NEVER-HEARD-OF', message: '' },
        },
      ],
      errors: [],
      paths: { scanned: ['src/e.js', 'src/o.js'] },
    },
    [
      { severity: 'high', cwe: ['CWE-95'], location: 'src/e.js:3', source: 'sast' },
      { severity: 'high', severity_basis: 'assumed' },
    ],
  ],
  gitleaks: [
    [
      {
        RuleID: 'aws-key',
        Description: 'AWS key',
        File: 'a.env',
        StartLine: 2,
        Secret: 'SECRETVALUE0123456789',
        Match: 'k=SECRETVALUE0123456789',
        Email: 'a@b.c',
      },
      {
        RuleID: 'aws-key',
        Description: 'AWS key',
        File: 'b.env',
        StartLine: 9,
        Secret: 'SECRETVALUE0123456789',
        Match: 'k=SECRETVALUE0123456789',
      },
    ],
    [{ severity: 'critical', cwe: ['CWE-798'], source: 'secret', description: 'k=SECR****' }],
  ],
  'zap-json': [
    {
      '@version': '2',
      site: [
        {
          alerts: [
            {
              pluginid: '1',
              alert: 'Header',
              riskcode: '1',
              confidence: '2',
              cweid: '-1',
              desc: '<p>x</p>',
              instances: [{ uri: 'https://a.example/p', method: 'GET', param: '' }],
            },
          ],
        },
      ],
    },
    [{ title: 'Header', severity: 'low', cwe: [], location: 'GET https://a.example/p', description: 'x' }],
  ],
  'zap-xml': [
    zap,
    [
      {
        title: 'Script in page',
        severity: 'high',
        cwe: ['CWE-79'],
        description: 'It runs',
        location: 'GET https://a.example/items/17 [q]',
      },
    ],
  ],
  nuclei: [nucleiLines, [{ title: 'Panel (m1)', severity: 'high', cwe: ['CWE-306'] }, { title: 'Panel (m2)' }]],
  checkov: [
    {
      check_type: 'terraform',
      results: {
        failed_checks: [
          {
            check_id: 'C1',
            check_name: 'Public bucket',
            severity: null,
            file_path: '/m.tf',
            file_line_range: [1, 5],
            resource: 'b.x',
          },
        ],
        skipped_checks: [{ check_id: 'C2', check_name: 'n', resource: 'b.y', file_path: '/m.tf' }],
      },
      summary: {},
    },
    [{ title: 'Public bucket', severity: 'medium', source: 'iac', location: 'b.x (m.tf:1)' }],
  ],
  'kube-bench': [
    {
      Controls: [
        {
          node_type: 'master',
          tests: [
            {
              section: '1.2',
              results: [
                { test_number: '1.2.1', test_desc: 'Anonymous authorization off', status: 'FAIL', scored: true },
                { test_number: '1.2.2', status: 'PASS' },
              ],
            },
          ],
        },
      ],
    },
    [{ severity: 'high', cwe: ['CWE-306'], location: 'master/1.2.1', source: 'k8s' }],
  ],
  lynis: [
    `# Lynis Report
hostname=web1
vulnerable_package[]=openssl
network_listen[]=raw,ss,v1|tcp|127.0.0.1:80|x|
manual[]=Verify the firewall
exception_event[]=BOOT-5104:001|Unknown service manager|
warning[]=PKGS-7392|Found one or more vulnerable packages.|-|-|
suggestion[]=KRNL-6000|Settings differ||Change them|
details[]=KRNL-6000|sysctl|desc:No TTYs;field:dev.tty;prefval:0;value:1;|
details[]=KRNL-6000|sysctl|desc:;field:fs.fifos;prefval:2;value:0;|
suggestion[]=SSH-7408|Consider hardening SSH configuration|AllowTcpForwarding (set YES to (LOCAL|NO))|text:edit it|
suggestion[]=SSH-7408|Consider hardening SSH configuration|LogLevel (set INFO to VERBOSE)|-|
suggestion[]=AUTH-9286|Configure minimum password age|-|-|
suggestion[]=AUTH-9286|Configure maximum password age|-|-|
suggestion[]=FILE-1|Two texts|/etc/x|-|
suggestion[]=FILE-1|of one file|/etc/x|-|
suggestion[]=|nothing|-|-|
tests_executed=FILE-1|AUTH-9286|SSH-7408|PKGS-7392|
report_datetime_end=2026-11-23 06:45:00
`,
    [
      { title: 'openssl has a known vulnerability', severity: 'medium', source: 'sca', rule_id: 'PKGS-7392' },
      { title: 'Found one or more vulnerable packages.', severity: 'medium', source: 'cspm' },
      { description: /field:dev\.tty, prefval:0, value:1\n.*field:fs\.fifos/ },
      { severity: 'low', location: 'web1: AllowTcpForwarding (set YES to (LOCAL|NO)) (SSH-7408)' },
      { location: 'web1: LogLevel (set INFO to VERBOSE) (SSH-7408)' },
      { location: 'web1: Configure minimum password age (AUTH-9286)' },
      { location: 'web1: Configure maximum password age (AUTH-9286)' },
      { title: 'Two texts', location: 'web1: /etc/x (FILE-1)' },
      { title: 'of one file', location: 'web1: /etc/x: of one file (FILE-1)' },
    ],
  ],
  'npm-audit': [
    {
      auditReportVersion: 2,
      vulnerabilities: {
        low: {
          name: 'low',
          severity: 'high',
          range: '<2',
          fixAvailable: true,
          via: [
            {
              source: 1,
              name: 'low',
              dependency: 'low',
              title: 'Bad low',
              url: 'https://github.com/advisories/GHSA-2222-3333-4444',
              severity: 'moderate',
              cwe: ['CWE-1321'],
              cvss: { score: 0, vectorString: null },
            },
          ],
        },
        top: { name: 'top', via: ['low'] },
      },
    },
    [{ title: 'Bad low', severity: 'medium', vuln_ids: ['GHSA-2222-3333-4444'], cwe: ['CWE-1321'] }],
  ],
  retire: [
    {
      version: '5.7.0',
      start: '2026-11-20T10:00:00.000Z',
      data: [
        {
          file: '/src/web/left.js',
          results: [
            {
              component: 'left',
              npmname: '@a/left',
              version: '1.2.0',
              vulnerabilities: [
                {
                  below: '1.3.0',
                  severity: 'medium',
                  cwe: ['CWE-79'],
                  identifiers: { CVE: ['CVE-2026-7001'], githubID: 'GHSA-2222-3333-4444', summary: 'Script by left' },
                  info: ['https://a.example/7'],
                },
                { severity: 'low', identifiers: { bug: '12', summary: 'One' }, cwe: [], info: [] },
                { severity: 'low', identifiers: { bug: '13' }, cwe: [], info: [] },
              ],
            },
            { component: 'right', version: '1.0.0' },
          ],
        },
      ],
      errors: [],
    },
    [
      {
        title: 'Script by left',
        severity: 'medium',
        vuln_ids: ['CVE-2026-7001', 'GHSA-2222-3333-4444'],
        cwe: ['CWE-79'],
        source: 'sca',
        fix_state: 'fixed_available',
        location: 'left@1.2.0 (web/left.js)',
      },
      { title: 'One', rule_id: 'left bug 12', fix_state: 'unknown' },
      { title: 'left 1.2.0 is vulnerable', rule_id: 'left bug 13' },
    ],
  ],
  bandit: [
    {
      errors: [],
      generated_at: '2026-11-20T10:00:00Z',
      metrics: { _totals: { loc: 8 } },
      results: [
        {
          filename: './a.py',
          issue_severity: 'HIGH',
          issue_text: 'exec is used',
          issue_cwe: { id: 78 },
          line_number: 10,
          test_id: 'B102',
        },
      ],
    },
    [
      {
        title: 'exec is used',
        severity: 'high',
        cwe: ['CWE-78'],
        location: 'a.py:10',
        rule_id: 'B102',
        tool: 'Bandit',
      },
    ],
  ],
  csv: [
    '\ufefftitle;severity;file;line;cwe;team\r\n"A; b";HIGH;src/a.c;3;120;blue\r\n;LOW;x;1;;\r\n',
    [{ title: 'A; b', severity: 'high', cwe: ['CWE-120'], location: 'src/a.c:3', extra: { team: 'blue' } }],
  ],
};
