// Reports that quote a secret as tools do, and honest ones beside them.

interface Sarif {
  readonly tool?: string;
  readonly rule?: string;
  readonly cwe?: number;
  readonly message?: string;
  readonly snippet?: string;
  readonly fix?: string;
}

export const sarif = ({ tool = 'checker', rule = 'r', cwe, message = 'A finding', snippet, fix }: Sarif) => ({
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: {
          name: tool,
          rules: [{ id: rule, properties: { tags: ['security', ...(cwe ? [`external/cwe/cwe-${cwe}`] : [])] } }],
        },
      },
      results: [
        {
          ruleId: rule,
          level: 'error',
          message: { text: message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: 'src/a.js' },
                region: { startLine: 7, ...(snippet === undefined ? {} : { snippet: { text: snippet } }) },
              },
            },
          ],
          ...(fix === undefined
            ? {}
            : {
                fixes: [
                  {
                    description: { text: 'fix' },
                    artifactChanges: [
                      {
                        artifactLocation: { uri: 'src/a.js' },
                        replacements: [{ deletedRegion: { startLine: 1 }, insertedContent: { text: fix } }],
                      },
                    ],
                  },
                ],
              }),
        },
      ],
    },
  ],
});

const semgrep = (id: string, extra: Record<string, unknown>) => ({
  version: '1',
  results: [
    {
      check_id: id,
      path: 'a.py',
      start: { line: 1, col: 1 },
      end: { line: 1, col: 9 },
      extra: { severity: 'ERROR', ...extra },
    },
  ],
  errors: [],
  paths: { scanned: [] },
});
export const nuclei = (address: string) =>
  JSON.stringify({
    'template-id': 't',
    info: { name: 'n', severity: 'high' },
    type: 'http',
    host: 'https://h.example',
    'matched-at': address,
  });
export const zap = (address: string) => ({
  '@version': '2.14.0',
  '@generated': 'x',
  site: [
    {
      '@name': 'https://s.example',
      '@host': 's',
      '@port': '443',
      '@ssl': 'true',
      alerts: [
        {
          pluginid: '10',
          alert: 'Leak',
          name: 'Leak',
          riskcode: '3',
          confidence: '2',
          riskdesc: 'High (Medium)',
          desc: 'd',
          instances: [{ uri: address, method: 'GET', param: '', attack: '', evidence: '' }],
          count: '1',
          solution: 'r',
          cweid: '200',
        },
      ],
    },
  ],
});
const wapiti = (info: string, request: string, curl: string) => ({
  vulnerabilities: {
    'Weak credentials': [
      {
        method: 'POST',
        path: '/login',
        info,
        level: 4,
        parameter: '',
        module: 'm',
        http_request: `POST /login HTTP/1.1\r\n\r\n${request}`,
        curl_command: curl,
      },
    ],
  },
  anomalies: {},
  additionals: {},
  infos: { target: 'http://w.example/', version: 'Wapiti 3.1.7' },
  classifications: {},
});
const nmap = (script: string, output: string) =>
  '<?xml version="1.0"?><nmaprun scanner="nmap" args="x" version="7"><host><status state="up"/>' +
  '<address addr="10.1.1.1" addrtype="ipv4"/><ports><port protocol="tcp" portid="21"><state state="open"/>' +
  `<service name="ftp"/><script id="${script}" output="VULNERABLE&#10;  Accounts:&#10;    ${output}"/></port></ports>` +
  '</host><runstats><finished time="1" exit="success"/></runstats></nmaprun>';
const checkov = (id: string, code: string) => ({
  check_type: 'secrets',
  results: {
    failed_checks: [
      {
        check_id: id,
        check_name: 'Base64 High Entropy String',
        check_result: { result: 'FAILED' },
        code_block: [[1, code]],
        file_path: '/a.tf',
        file_line_range: [1, 1],
        resource: 'r',
        severity: null,
      },
    ],
  },
  summary: { checkov_version: '3' },
});
const flawfinder = (context: string) =>
  'File,Line,Column,DefaultLevel,Level,Category,Name,Warning,Suggestion,Note,CWEs,Context,Fingerprint,' +
  'ToolVersion,RuleId,' +
  `HelpUri\na.c,12,3,4,4,buffer,strcpy,"W",s,n,CWE-120,"${context.replaceAll('"', '""')}",abc,2,FF1001,x\n`;
const cppcheck = (message: string) =>
  '<?xml version="1.0"?><results version="2"><cppcheck version="2.13"/><errors>' +
  `<error id="arrayIndexOutOfBounds" severity="error" msg="${message}" verbose="${message}" cwe="788">` +
  '<location file="a.c" line="3" column="1"/></error></errors></results>';
const testssl = (finding: string) => [{ id: 'cookie', ip: 't/10.0.0.1', port: '443', severity: 'HIGH', finding }];

/** What quotes it → the report of a secret. */
export const ways: Readonly<Record<string, (secret: string) => unknown>> = {
  'CodeQL js': (x) =>
    sarif({
      tool: 'CodeQL',
      rule: 'js/hardcoded-credentials',
      cwe: 798,
      message: `The hard-coded value "${x}" is used as [password](1).`,
    }),
  'CodeQL py, no CWE': (x) =>
    sarif({
      tool: 'CodeQL',
      rule: 'py/hardcoded-credentials',
      message: `This hardcoded value "${x}" is used as password.`,
    }),
  'CodeQL cpp': (x) =>
    sarif({ tool: 'CodeQL', rule: 'cpp/hardcoded-credentials', cwe: 798, message: `Hard-coded password "${x}".` }),
  'CodeQL header': (x) =>
    sarif({
      tool: 'CodeQL',
      rule: 'js/hardcoded-credentials',
      cwe: 798,
      message: `The hard-coded value "Basic ${x}" is used as [authorization header](1).`,
    }),
  'Sonar S6703': (x) =>
    sarif({
      tool: 'SonarQube',
      rule: 'secrets:S6703',
      message: `Make sure this database password "${x}" gets changed and removed from the code.`,
    }),
  'Sonar S2068': (x) =>
    sarif({
      tool: 'SonarQube',
      rule: 'java:S2068',
      message: `'password' detected in this expression, review this potentially hard-coded password: password=${x}`,
    }),
  'a password in quotation marks, no CWE': (x) => sarif({ message: `Hardcoded password '${x}' found` }),
  'a key in typographic words': (x) => sarif({ message: `"${x}" is a hard-coded secret` }),
  'connection string': (x) => sarif({ message: `Hardcoded value in "Server=db;UID=sa;PWD=${x};"` }),
  Cppcheck: (x) => cppcheck(`password = ${x}`),
  'Cppcheck with words around': (x) => cppcheck(`Assignment of passwd = ${x} never read`),
  'Semgrep message': (x) =>
    semgrep('a.hardcoded-password', {
      message: `Password ${x} is hardcoded`,
      metadata: { cwe: ['CWE-798: x'] },
      lines: `password = '${x}'`,
    }),
  'Semgrep fix': (x) => semgrep('a.b', { message: 'x', metadata: {}, lines: 'x', fix: `pw='${x}'` }),
  'SARIF fix': (x) => sarif({ fix: `db_pass = "${x}"` }),
  'Wapiti credentials': (x) =>
    wapiti(
      `Credentials found for URL http://w.example/login : admin / ${x}`,
      `user=admin&password=${x}`,
      `curl -d 'login=admin&password=${x}'`,
    ),
  'Nmap ftp-brute': (x) => nmap('ftp-brute', `admin:${x} - Valid credentials`),
  'Nmap ms-sql-brute': (x) => nmap('ms-sql-brute', `sa:${x} =&gt; Login Success`),
  'Checkov code': (x) => checkov('CKV_SECRET_6', `password = ${x}\n`),
  'Checkov literal': (x) => checkov('CKV_SECRET_6', `admin = "${x}"\n`),
  'Flawfinder context': (x) => flawfinder(`strcpy(password, "${x}");`),
  'Flawfinder context of a comparison': (x) => flawfinder(`if (!strcmp(pw, "${x}")) return;`),
  'snippet db_pass': (x) => sarif({ snippet: `db_pass = '${x}'\nrun()` }),
  'snippet dbPass': (x) => sarif({ snippet: `const dbPass = "${x}";` }),
  'snippet B106': (x) =>
    sarif({
      tool: 'Bandit',
      rule: 'B106',
      message: 'Possible hardcoded password',
      snippet: `login('admin', '${x}')`,
    }),
  'snippet strcmp': (x) =>
    sarif({ tool: 'CodeQL', rule: 'cpp/hc', cwe: 798, message: 'm', snippet: `if (!strcmp(pw, "${x}"))` }),
  'snippet of CWE-321': (x) => sarif({ cwe: 321, snippet: `aes.init("${x}", iv)` }),
  'snippet of CWE-259 unquoted': (x) => sarif({ cwe: 259, snippet: `login_default=${x}` }),
  'snippet G101': (x) => sarif({ tool: 'gosec', rule: 'G101', snippet: `var phrase = "${x}"` }),
  'snippet setter': (x) => sarif({ snippet: `source.setPassword("${x}");` }),
  'snippet of a map': (x) => sarif({ snippet: `put("password", "${x}")` }),
};

/** Tokens of digits: what is no word and no password. */
export const tokenWays: Readonly<Record<string, (secret: string) => unknown>> = {
  'Gitleaks SARIF': (x) => sarif({ tool: 'gitleaks', rule: 'generic-api-key', message: `leak: ${x}` }),
  'detect-secrets SARIF': (x) =>
    sarif({ tool: 'detect-secrets', rule: 'Hex High Entropy String', message: `Secret ${x} found` }),
  'testssl cookie': (x) => testssl(`Set-Cookie: session=${x}`),
  'a cookie of any name': (x) => testssl(`Set-Cookie: theme=dark; basket=${x}; Path=/; HttpOnly`),
  'SARIF cookie': (x) => sarif({ message: `response has Set-Cookie: JSESSIONID=${x.toUpperCase()}; Path=/` }),
  'request with a cookie': (x) => sarif({ snippet: `Cookie: a=1; b=${x}` }),
  'a session': (x) => sarif({ message: `The answer has session=${x} in it` }),
};

export const parameters = (
  'session sessionid JSESSIONID PHPSESSID ASP.NET_SessionId connect.sid sid sig signature code auth jwt api_key ' +
  'apikey ' +
  'api-key key client_secret id_token access_token refresh refresh_token otp X-Amz-Signature X-Amz-Security-Token ' +
  'X-Amz-Credential X-Goog-Signature AWSAccessKeyId pwd pass passwd password user[password] user%5Bpassword%5D state ' +
  'nonce csrf xsrf csrfmiddlewaretoken authenticity_token _csrf SAMLResponse SAMLRequest RelayState ticket assertion ' +
  'client_assertion token hmac credentials cookie code_verifier subscription-key userToken wp_session oauth_token'
).split(' ');

/** Readable as they are: `title` and `location` of what is made of them. */
export const honestAddresses = [
  'https://h.example/?code=404',
  'https://h.example/?state=open&key=name',
  'https://h.example/a/b?auth=basic&session=new',
  'https://h.example/?page=2&sort=created_at&q=O%27Neill',
  'https://h.example/?state=California',
  'https://h.example/items;v=2?id=6fa459ea-ee8a-3ca4-894e-db77e160355e',
  'https://h.example/?v=d41d8cd98f00b204e9800998ecf8427e',
];

export const honestMessages: readonly Sarif[] = [
  { message: 'The password is hard-coded in src/a.js' },
  { cwe: 798, message: 'Hard-coded credentials: use a vault instead of the code' },
  { cwe: 798, message: 'Password hashing is hardcoded to MD5' },
  { cwe: 259, message: 'Read it with `os.environ` or from "config.yaml"' },
  { cwe: 798, message: 'The token value is used as [password](1).' },
  { cwe: 798, message: 'The secret is assigned to `dbPassword` and read by `getPassword()`' },
  { cwe: 522, message: 'Credentials are sent in clear text' },
  { message: 'The key: value pairs of the session are not checked' },
  { message: 'Tests pass: 3 of 5; auth: required; key = "name"' },
  { message: 'Use of weak hash d41d8cd98f00b204e9800998ecf8427e in commit 41ad5f9181f5e14b2ad6ce01e6b5ef1f2f5f7a08' },
  { message: 'Account login is not limited: valid credentials can be guessed' },
  { message: 'lodash@4.17.20 in package-lock.json has a weakness' },
  { message: 'Hard-coded address "10.0.0.1" of the pass-through proxy' },
];
export const honestSnippets: readonly string[] = [
  'if (!strcmp(password, input)) return;',
  'const password = readPassword("Enter your password");',
  'token = tokenizer.next()',
  'for (const key of Object.keys(session)) pass(key);',
  'label("password", "required")',
  'auth = settings.auth.provider',
];
