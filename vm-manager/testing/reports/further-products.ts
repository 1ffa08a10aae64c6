// Reports of further products, written here in the shape that each writes, and what becomes of them.
import { zipOf } from '../archives.js';
import type { Json } from '../import-client.js';

const xml = '<?xml version="1.0" encoding="UTF-8"?>\n';

const group = (name: string, value: string): string => `<Group name="${name}">${value}</Group>`;
const fortifyIssue = (id: string, place: string): string => `<Vulnerability><ClassInfo><ClassID>R1</ClassID>
<Kingdom>Input Validation and Representation</Kingdom><Type>SQL Injection</Type><AnalyzerName>dataflow</AnalyzerName>
<DefaultSeverity>5.0</DefaultSeverity></ClassInfo><InstanceInfo><InstanceID>${id}</InstanceID>
<InstanceSeverity>5.0</InstanceSeverity><Confidence>5.0</Confidence></InstanceInfo><AnalysisInfo><Unified>
<Context><Function name="find" namespace="shop"/></Context><Trace><Primary>
<Entry><Node><SourceLocation path="app/in.java" line="3" colStart="0"/></Node></Entry><Entry>${place}</Entry>
</Primary></Trace></Unified></AnalysisInfo></Vulnerability>`;
export const fvdlOf = (files: number, more = '', issues?: string): string =>
  `${xml}<FVDL xmlns="xmlns://www.fortifysoftware.com/schema/fvdl" version="1.16"><Build><BuildID>shop</BuildID>
<NumberFiles>${files}</NumberFiles><SourceBasePath>/ci/shop</SourceBasePath></Build><Vulnerabilities>${
    issues ??
    fortifyIssue('A1', '<NodeRef id="7"/>') +
      fortifyIssue('A2', '<Node isDefault="true"><SourceLocation path="app/b.java" line="9"/></Node>')
  }</Vulnerabilities><UnifiedNodePool><Node id="7"><SourceLocation path="app/db.java" line="12" colStart="4"/></Node>
</UnifiedNodePool><Description classID="R1"><Abstract>A query is built from input.</Abstract>
<Recommendations>Bind values.</Recommendations></Description><EngineData><EngineVersion>23.1</EngineVersion>
<Errors>${more}</Errors><RuleInfo><Rule id="R1"><MetaInfo>${group('Accuracy', '5.0')}${group('Impact', '5.0')}${group(
    'Probability',
    '4.0',
  )}${group('altcategoryCWE', 'CWE ID 89')}</MetaInfo></Rule></RuleInfo></EngineData></FVDL>`;
/** The second one is suppressed, and the sources that were scanned lie in it, too. */
export const fprOf = (fvdl: string): Buffer =>
  zipOf([
    { name: 'src-archive/a', data: 'class A {}' },
    {
      name: 'audit.xml',
      data: `${xml}<ns2:Audit xmlns:ns2="xmlns://www.fortify.com/schema/audit"><ns2:IssueList>
<ns2:Issue instanceId="A2" suppressed="true" revision="0"/></ns2:IssueList></ns2:Audit>`,
    },
    { name: 'audit.fvdl', data: fvdl },
    { name: 'audit.properties', data: 'a=b' },
  ]);

export const checkmarxOf = (files: number, state = '0'): string =>
  `${xml}<CxXMLResults ScanId="1" ProjectName="Shop" CheckmarxVersion="9.5" FilesScanned="${files}" ScanType="Full">
<Query id="430" cweId="89" name="SQL_Injection" group="Java_High_Risk" Severity="High" Language="Java">
<Result NodeId="11" FileName="app/in.java" Status="New" Line="3" Column="1" FalsePositive="False" Severity="High"
 state="${state}"><Path ResultId="1" PathId="1" SimilarityId="-140804"><PathNode><FileName>app/in.java</FileName>
<Line>3</Line><Column>1</Column><Name>input</Name></PathNode><PathNode><FileName>app/db.java</FileName><Line>39</Line>
<Column>5</Column><Name>executeQuery</Name><Snippet><Line><Number>39</Number><Code>run(input)</Code></Line></Snippet>
</PathNode></Path></Result></Query></CxXMLResults>`;
export const checkmarxOneOf = (totalCount: number): Json => ({
  results: [
    {
      ...{ type: 'sast', id: 'x1', similarityId: '-77', status: 'NEW', state: 'TO_VERIFY', severity: 'HIGH' },
      data: {
        ...{ queryId: 1, queryName: 'Reflected_XSS', group: 'JavaScript', languageName: 'JavaScript' },
        nodes: [
          { fileName: '/src/in.js', line: 3, column: 2, name: 'q' },
          { fileName: '/src/out.js', line: 9, column: 4, name: 'send', fullName: 'Out.send' },
        ],
      },
      vulnerabilityDetails: { cweId: 79, compliances: ['OWASP Top 10 2021'] },
    },
    {
      ...{ type: 'sca', id: 'CVE-2021-44906', similarityId: '5', status: 'RECURRENT', state: 'CONFIRMED' },
      severity: 'CRITICAL',
      data: { packageIdentifier: 'Npm-minimist-0.0.8', recommendedVersion: '1.2.8' },
      vulnerabilityDetails: { cweId: 'CWE-1321', cveName: 'CVE-2021-44906', cvssScore: 9.8 },
    },
    {
      ...{ type: 'kics', id: 'k1', similarityId: '6', status: 'NEW', state: 'TO_VERIFY', severity: 'MEDIUM' },
      data: { queryId: 'q', queryName: 'Bucket Is Public', fileName: '/infra/s3.tf', line: 4 },
      vulnerabilityDetails: {},
    },
    { type: 'sast', status: 'FIXED', data: { queryName: 'Old', nodes: [{ fileName: 'a.js' }] }, severity: 'LOW' },
  ],
  totalCount,
  scanID: 's',
});

export const veracodeFlaw = (status: string): string => `<flaw severity="5" categoryname="SQL Injection" issueid="7"
 module="shop.war" type="executeQuery" description="&lt;p&gt;A query.&lt;/p&gt;" cweid="89" sourcefile="Db.java"
 line="18" sourcefilepath="com/shop/" functionprototype="void find(String)" remediation_status="${status}"
 mitigation_status="none"/>`;
export const veracodeOf = (published: string, flaws = veracodeFlaw('New') + veracodeFlaw('Fixed')): string =>
  `${xml}<detailedreport xmlns="https://www.veracode.com/schema/reports/export/1.0" app_name="Shop" app_id="1"
 last_update_time="2026-11-02 00:35:18 UTC"><static-analysis published_date="${published}" engine_version="20260101">
<modules><module name="shop.war"/></modules></static-analysis><severity level="5"><category categoryid="19">
<cwe cweid="89" cwename="SQL Injection"><staticflaws>${flaws}</staticflaws></cwe></category></severity>
<software_composition_analysis><vulnerable_components><component file_name="log4j-core-2.14.1.jar"
 library="log4j-core" version="2.14.1"><file_paths><file_path value="shop.war/lib/log4j-core-2.14.1.jar"/></file_paths>
<vulnerabilities><vulnerability cve_id="CVE-2021-44228" cvss_score="10.0" severity="5" cwe_id="CWE-502"
 cve_summary="JNDI" mitigation="false"/></vulnerabilities></component></vulnerable_components>
</software_composition_analysis></detailedreport>`;
export const pipelineOf = (scan_status: string): Json => ({
  ...{ pipeline_scan: '23.1', scan_status, modules: ['shop.war'], modules_count: 1 },
  findings: [
    {
      ...{ title: 'java.sql.Statement.executeQuery', issue_id: 1000, severity: 4, issue_type_id: 'taint' },
      ...{ issue_type: 'SQL Injection', cwe_id: '89', display_text: '<span>A query.</span>' },
      files: { source_file: { file: 'com/shop/Db.java', line: 18, function_name: 'find', function_prototype: 'f(S)' } },
      flaw_match: { procedure_hash: '1', prototype_hash: '2', flaw_hash: '3', flaw_hash_ordinal: 1 },
    },
  ],
});

const cat = (severity: number): string => `<CAT value="Web" port="443" protocol="tcp"><VULN number="38170"
 severity="${severity}" cveid="CVE-2016-2183"><TITLE>Weak ciphers</TITLE><CVSS3_BASE>7.5</CVSS3_BASE>
<DIAGNOSIS>The host offers them.</DIAGNOSIS><SOLUTION>Switch them off.</SOLUTION></VULN></CAT>`;
export const qualysOf = (status: string, hosts = `<IP value="192.0.2.7"><VULNS>${cat(3)}</VULNS></IP>`): string =>
  `${xml}<SCAN value="scan/1.2"><HEADER><KEY value="USERNAME">a</KEY><KEY value="STATUS">${status}</KEY></HEADER>
${hosts}</SCAN>`;
export const wasOf = (status: string, ignored = 'false'): string =>
  `${xml}<WAS_SCAN_REPORT><SUMMARY><STATUS>${status}</STATUS></SUMMARY><RESULTS><VULNERABILITY_LIST><VULNERABILITY>
<UNIQUE_ID>5e3c</UNIQUE_ID><ID>1</ID><QID>150001</QID><URL>https://shop.example/search</URL><PARAM>q</PARAM>
<POTENTIAL>false</POTENTIAL><IGNORED>${ignored}</IGNORED><PAYLOADS><PAYLOAD><NUM>1</NUM><PAYLOAD>%3Cb%3E</PAYLOAD>
<REQUEST><METHOD>GET</METHOD></REQUEST></PAYLOAD></PAYLOADS></VULNERABILITY></VULNERABILITY_LIST></RESULTS>
<GLOSSARY><QID_LIST><QID><QID>150001</QID><SEVERITY>5</SEVERITY><TITLE>Reflected XSS</TITLE><CWE>CWE-79</CWE>
<DESCRIPTION>It is echoed.</DESCRIPTION><SOLUTION>Encode.</SOLUTION></QID></QID_LIST></GLOSSARY></WAS_SCAN_REPORT>`;
export const qualysHead =
  '"IP","DNS","QID","Title","Vuln Status","Type","Severity","Port","Protocol","CVE ID","Threat","Solution"';

export const githubCode = (more: readonly Json[] = []): Json[] => [
  {
    ...{ number: 4, state: 'open', url: 'https://api.github.com/repos/o/shop/code-scanning/alerts/4' },
    html_url: 'https://github.com/o/shop/security/code-scanning/4',
    rule: {
      ...{ id: 'js/sql-injection', severity: 'error', security_severity_level: 'critical' },
      ...{ description: 'Query built from input', tags: ['security', 'external/cwe/cwe-089'] },
    },
    tool: { name: 'CodeQL', version: '2.1' },
    most_recent_instance: {
      ...{ ref: 'refs/heads/main', message: { text: 'This query depends on input.' } },
      location: { path: 'app/db.js', start_line: 12, end_line: 12, start_column: 3 },
    },
  },
  ...more,
];
export const dependabot: Json = {
  ...{ number: 1, state: 'open', url: 'https://api.github.com/repos/o/shop/dependabot/alerts/1' },
  dependency: { package: { ecosystem: 'npm', name: 'minimist' }, manifest_path: 'package-lock.json' },
  security_advisory: {
    ...{ ghsa_id: 'GHSA-xvch-5gv4-984h', cve_id: 'CVE-2021-44906', summary: 'Prototype Pollution' },
    ...{ severity: 'critical', cwes: [{ cwe_id: 'CWE-1321' }], references: [] },
    cvss: { vector_string: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', score: 9.8 },
  },
  security_vulnerability: { severity: 'critical', first_patched_version: { identifier: '0.2.4' } },
};
const secretScanning: Json = {
  ...{ number: 2, state: 'open', url: 'https://api.github.com/repos/o/shop/secret-scanning/alerts/2' },
  ...{ secret_type: 'aws_access_key_id', secret_type_display_name: 'Amazon AWS Access Key ID', validity: 'unknown' },
  // gatehouse:ignore aws-access-key of a sample
  ...{ secret: 'AKIASECRETVALUEXXXXX', first_location_detected: { path: 'app/.env', start_line: 3 } },
};

export const trackOf = (findings?: readonly Json[]): Json => ({
  ...{ version: '1.2', meta: { application: 'Dependency-Track', version: '4.11', timestamp: '2026-11-02T10:00:00Z' } },
  project: { name: 'Shop', version: '1' },
  findings: findings ?? [
    {
      component: { name: 'minimist', version: '0.0.8', purl: 'pkg:npm/minimist@0.0.8' },
      vulnerability: {
        ...{ source: 'NVD', vulnId: 'CVE-2021-44906', severity: 'CRITICAL', cvssV3BaseScore: 9.8 },
        ...{ aliases: [{ cveId: 'CVE-2021-44906', ghsaId: 'GHSA-xvch-5gv4-984h' }], cwes: [{ cweId: 1321 }] },
      },
      analysis: { isSuppressed: false },
    },
  ],
});

export const ocsf = (status_code: string, uid: string): Json => ({
  ...{ status_code, status: 'New', severity: 'High', severity_id: 4, status_detail: 'Bucket b is public.' },
  metadata: { event_code: 's3_bucket_public_access', product: { name: 'Prowler', version: '4.3.0' } },
  finding_info: { title: 'Bucket is public', desc: 'Anybody reads it.', uid },
  resources: [{ uid: 'arn:aws:s3:::b', name: 'b', region: 'eu-west-1', group: { name: 's3' } }],
  cloud: { provider: 'aws', account: { uid: '1' } },
  remediation: { desc: 'Block it.', references: ['https://a.example'] },
});

export const acunetixOf = (end: string, items?: string): string =>
  `${xml}<ScanGroup ExportedOn="02/11/2026"><Scan><Name>Shop</Name><StartURL>https://shop.example/</StartURL>
<FinishTime>${end}</FinishTime><Aborted>False</Aborted><ReportItems>${
    items ??
    `<ReportItem id="0" color="red"><Name>Cross site scripting</Name><ModuleName>XSS</ModuleName>
<Affects>/search</Affects><Parameter>q</Parameter><IsFalsePositive>False</IsFalsePositive><Severity>high</Severity>
<Description>It is echoed.</Description><Recommendation>Encode.</Recommendation><TechnicalDetails>
<Request>GET /search?q=x HTTP/1.1</Request></TechnicalDetails><CWEList><CWE id="79">CWE-79</CWE></CWEList>
<CVSS3><Descriptor>CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N</Descriptor><Score>6.1</Score></CVSS3></ReportItem>`
  }</ReportItems></Scan></ScanGroup>`;
export const invictiOf = (url: string): Json => ({
  ...{ Generated: '02/11/2026 09:59 AM', Target: { Url: url, ScanId: 's' } },
  Vulnerabilities: [
    {
      ...{ Name: 'SQL Injection', Type: 'SqlInjection', Url: 'https://shop.example/p', Severity: 'Critical' },
      ...{ State: 'Present', LookupId: 'l1', Confirmed: true, Description: '<p>A query.</p>' },
      Classification: { Cwe: '89', Cvss31: { Vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' } },
      HttpRequest: { Method: 'GET', Parameters: [{ Name: 'id', Type: 'Querystring' }], Content: 'GET /p?id=1' },
    },
  ],
});
export const netsparkerOf = (target: string): string =>
  `${xml}<netsparker-enterprise generated="02/11/2026"><target><url>${target}</url></target><vulnerabilities>
<vulnerability><LookupId>l2</LookupId><url>https://shop.example/a</url><type>CookieNotSecure</type>
<name>Cookie Not Marked as Secure</name><severity>Low</severity><state>Present</state><confirmed>True</confirmed>
<classification><cwe>614</cwe></classification></vulnerability></vulnerabilities></netsparker-enterprise>`;

export const assessment = (code: string): Json => ({
  id: '/subscriptions/s/resourceGroups/g/providers/x/storageAccounts/b/providers/Microsoft.Security/assessments/a1',
  ...{ name: 'a1', type: 'Microsoft.Security/assessments' },
  properties: {
    ...{
      displayName: 'Storage is public',
      status: { code },
      resourceDetails: { Source: 'Azure', Id: '/subscriptions/s/b' },
    },
    metadata: { severity: 'High', description: 'Anybody reads it.', remediationDescription: 'Close it.' },
  },
});
export const azureHead =
  'subscriptionId,resourceName,resourceId,recommendationId,recommendationName,recommendationDisplayName,severity,state';

export const scc = (state: string, name: string): Json => ({
  finding: {
    ...{ name, canonicalName: name, state, category: 'PUBLIC_BUCKET_ACL', severity: 'HIGH', mute: 'UNMUTED' },
    ...{ resourceName: '//storage.googleapis.com/b', findingClass: 'MISCONFIGURATION', description: 'Public.' },
  },
  resource: { name: '//storage.googleapis.com/b' },
});

export const clairOf = (image: string): Json => ({
  ...{ image, unapproved: ['CVE-2026-3000'] },
  vulnerabilities: [
    {
      ...{ featurename: 'openssl', featureversion: '1.1', vulnerability: 'CVE-2026-3000', namespace: 'debian:12' },
      ...{ description: 'd', link: 'https://a.example', severity: 'Defcon1', fixedby: '1.2' },
    },
  ],
});
export const anchoreOf = (imageDigest: string): Json => ({
  ...{ imageDigest, vulnerability_type: 'all' },
  vulnerabilities: [
    {
      ...{ vuln: 'CVE-2026-3001', package: 'libc-2.1', package_name: 'libc', package_version: '2.1', fix: 'None' },
      ...{ severity: 'Medium', package_path: 'pkgdb', url: 'https://a.example', feed: 'vulnerabilities' },
      nvd_data: [{ id: 'CVE-2026-3001', cvss_v3: { base_score: 5.5 } }],
    },
  ],
});

/** Format → a report, and the findings that it makes. */
export const products: Readonly<Record<string, readonly [report: unknown, wanted: Json[]]>> = {
  fortify: [
    fprOf(fvdlOf(3)),
    [{ source: 'sast', severity: 'critical', cwe: ['CWE-89'], location: 'app/db.java:12', title: 'SQL Injection' }],
  ],
  checkmarx: [
    checkmarxOf(9),
    [{ source: 'sast', severity: 'high', cwe: ['CWE-89'], location: 'app/db.java:39', rule_id: 'SQL_Injection' }],
  ],
  'checkmarx-one': [
    checkmarxOneOf(4),
    [
      { source: 'sast', severity: 'high', cwe: ['CWE-79'], location: /src\/out\.js:9/ },
      { source: 'sca', severity: 'critical', vuln_ids: ['CVE-2021-44906'], fix_state: 'fixed_available' },
      { source: 'iac', severity: 'medium', location: /s3\.tf/ },
    ],
  ],
  veracode: [
    veracodeOf('2026-11-02 00:35:18 UTC'),
    [
      { source: 'sast', severity: 'critical', cwe: ['CWE-89'], location: 'com/shop/Db.java:18' },
      { source: 'sca', severity: 'critical', cwe: ['CWE-502'], vuln_ids: ['CVE-2021-44228'] },
    ],
  ],
  'veracode-pipeline': [
    pipelineOf('SUCCESS'),
    [{ source: 'sast', severity: 'high', cwe: ['CWE-89'], location: 'com/shop/Db.java:18' }],
  ],
  qualys: [
    qualysOf('FINISHED'),
    [{ source: 'dast', severity: 'medium', vuln_ids: ['CVE-2016-2183'], location: /192\.0\.2\.7:443/ }],
  ],
  'qualys-was': [
    wasOf('FINISHED'),
    [{ source: 'dast', severity: 'critical', cwe: ['CWE-79'], location: /shop\.example\/search.*q/ }],
  ],
  'qualys-csv': [
    `${qualysHead}\n"192.0.2.7","shop","38170","Weak","Active","Vuln","4","443","tcp","CVE-2016-2183","t","s"\n` +
      '"192.0.2.7","shop","1","Gone","Fixed","Vuln","4","443","tcp","","t","s"\n',
    [{ source: 'dast', severity: 'high', vuln_ids: ['CVE-2016-2183'] }],
  ],
  github: [
    githubCode([
      { number: 5, state: 'fixed', rule: { id: 'x' }, most_recent_instance: {} },
      dependabot,
      secretScanning,
    ]),
    [
      { source: 'sast', severity: 'critical', cwe: ['CWE-89'], location: 'app/db.js:12', rule_id: 'js/sql-injection' },
      { source: 'sca', severity: 'critical', vuln_ids: ['CVE-2021-44906', 'GHSA-XVCH-5GV4-984H'] },
      { source: 'secret', severity: 'high', cwe: ['CWE-798'], location: 'app/.env:3' },
    ],
  ],
  'dependency-track': [
    trackOf(),
    [{ source: 'sca', severity: 'critical', cwe: ['CWE-1321'], vuln_ids: ['CVE-2021-44906', 'GHSA-XVCH-5GV4-984H'] }],
  ],
  'prowler-ocsf': [
    [ocsf('FAIL', 'p1'), ocsf('PASS', 'p2')],
    [{ source: 'cspm', severity: 'high', rule_id: 's3_bucket_public_access', location: /arn:aws:s3:::b/ }],
  ],
  acunetix: [
    acunetixOf('02/11/2026'),
    [{ source: 'dast', severity: 'high', cwe: ['CWE-79'], cvss: { score: 6.1 }, location: /shop\.example\/search.*q/ }],
  ],
  invicti: [
    invictiOf('https://shop.example/'),
    [{ source: 'dast', severity: 'critical', cwe: ['CWE-89'], cvss: { score: 9.8 }, location: /\/p.*id/ }],
  ],
  'invicti-xml': [
    netsparkerOf('https://shop.example/'),
    [{ source: 'dast', severity: 'low', cwe: ['CWE-614'], location: /shop\.example\/a/ }],
  ],
  'azure-defender': [
    { value: [assessment('Unhealthy'), assessment('Healthy')] },
    [{ source: 'cspm', severity: 'high', rule_id: 'a1', location: /\/subscriptions\/s\/b/ }],
  ],
  'azure-defender-csv': [
    `${azureHead}\ns,b,/subscriptions/s/b,r/a1,a1,Storage is public,High,Unhealthy\n` +
      's,b,/subscriptions/s/b,r/a2,a2,Storage is old,High,NotApplicable\n',
    [{ source: 'cspm', severity: 'high', rule_id: 'a1' }],
  ],
  'gcp-scc': [
    [scc('ACTIVE', 'organizations/1/findings/1'), scc('INACTIVE', 'organizations/1/findings/2')],
    [{ source: 'cspm', severity: 'high', rule_id: 'PUBLIC_BUCKET_ACL', location: /storage\.googleapis\.com\/b/ }],
  ],
  hackerone: [
    'id,title,severity_rating,severity_score,state,substate,weakness,structured_scope\n' +
      '7,Reads orders of others,high,8.1,open,triaged,CWE-639: IDOR,shop.example\n' +
      '8,Says hello,low,2.0,closed,informative,,shop.example\n',
    [{ source: 'manual', severity: 'high', cwe: ['CWE-639'], cvss: { score: 8.1 }, location: /shop\.example/ }],
  ],
  bugcrowd: [
    'reference_number,title,priority,bug_url,substate,vrt_lineage,description\n' +
      'ab12,Takes accounts over,1,https://shop.example/login,unresolved,Broken Access Control,Send it twice\n' +
      'ab13,Old,2,https://shop.example/,duplicate,,d\n',
    [{ source: 'manual', severity: 'critical', location: /shop\.example\/login/ }],
  ],
  clair: [
    clairOf('registry.example/shop:1'),
    [{ source: 'container', severity: 'critical', vuln_ids: ['CVE-2026-3000'], fix_state: 'fixed_available' }],
  ],
  anchore: [
    anchoreOf('sha256:aa'),
    [{ source: 'container', severity: 'medium', vuln_ids: ['CVE-2026-3001'], cvss: { score: 5.5 } }],
  ],
};
