// Rule → CWE of tools that do not write the weakness into their reports, as data. Facts of what each rule looks for;
// a tool's own CWE always wins. `*` at the end of a rule stands for any rest.
import { profileOf } from './tools.js';

/** CWE → its rules, separated by white space. */
export type WeaknessTable = Readonly<Record<number, string>>;

const eslint: WeaknessTable = {
  22: 'security/detect-non-literal-fs-filename',
  78: 'security/detect-child-process security-node/detect-child-process',
  79: `security/detect-disable-mustache-escape no-unsanitized/method no-unsanitized/property
    react/no-danger vue/no-v-html no-script-url react/jsx-no-script-url`,
  89: 'security-node/detect-sql-injection',
  95: 'security/detect-eval-with-expression no-eval no-implied-eval no-new-func @typescript-eslint/no-implied-eval',
  119: 'security/detect-buffer-noassert',
  208: 'security/detect-possible-timing-attacks',
  338: 'security/detect-pseudoRandomBytes',
  352: 'security/detect-no-csrf-before-method-override',
  798: 'no-secrets/no-secrets',
  829: 'security/detect-non-literal-require',
  915: 'security/detect-object-injection',
  1007: 'security/detect-bidi-characters',
  1022: 'react/jsx-no-target-blank',
  1333: 'security/detect-unsafe-regex security/detect-non-literal-regexp',
};

const bandit: WeaknessTable = {
  22: 'B202 B310',
  78: 'B102 B404 B601 B602 B603 B604 B605 B606 B607 B609',
  79: 'B308 B702 B703 B704',
  89: 'B608 B610 B611',
  94: 'B201 B612 B701',
  95: 'B307',
  259: 'B105 B106 B107',
  284: 'B412',
  295: 'B323 B501 B507',
  319: 'B309 B312 B321 B401 B402 B415 B508 B509',
  326: 'B505',
  327: 'B303 B304 B305 B324 B413 B502 B503 B504',
  330: 'B311',
  377: 'B108 B306 B325',
  400: 'B113',
  494: 'B615',
  502: 'B301 B302 B403 B506 B614',
  605: 'B104',
  611: 'B313 B314 B315 B316 B317 B318 B319 B320 B405 B406 B407 B408 B409 B410 B411',
  703: 'B101 B110 B112',
  732: 'B103',
  838: 'B613',
};

/** By the name of the tool's profile, else of the tool. */
export const weaknessTables: Readonly<Record<string, WeaknessTable>> = {
  Bandit: bandit,
  gosec: {
    22: 'G111 G304 G305',
    78: 'G204',
    79: 'G203',
    89: 'G201 G202',
    190: 'G109 G115',
    200: 'G108',
    242: 'G103',
    276: 'G301 G302 G306 G307',
    295: 'G402',
    322: 'G106',
    326: 'G403',
    327: 'G405 G502 G503 G504',
    328: 'G401 G406 G501 G505 G506 G507',
    338: 'G404',
    377: 'G303',
    400: 'G112 G114',
    409: 'G110',
    444: 'G113',
    605: 'G102',
    703: 'G104',
    798: 'G101',
    838: 'G116',
    918: 'G107',
    1204: 'G407',
  },
  ESLint: eslint,
  Brakeman: {
    22: 'CheckFileAccess CheckSendFile CheckRender',
    78: 'CheckExecute',
    79: 'CheckCrossSiteScripting CheckLinkTo CheckLinkToHref CheckRenderInline CheckContentTag CheckSanitizeMethods',
    89: 'CheckSQL',
    94: 'CheckEvaluation',
    295: 'CheckSSLVerify',
    352: 'CheckForgerySetting',
    470: 'CheckUnsafeReflection',
    502: 'CheckDeserialize',
    601: 'CheckRedirect',
    287: 'CheckBasicAuth',
    327: 'CheckWeakHash CheckWeakRSAKey',
    798: 'CheckSecrets CheckBasicAuthTimingAttack',
    915: 'CheckMassAssignment CheckModelAttributes CheckPermitAttributes',
    1333: 'CheckDynamicFinders CheckRegexDoS',
  },
  SpotBugs: {
    22: 'PATH_TRAVERSAL_*',
    78: 'COMMAND_INJECTION*',
    79: 'XSS_*',
    89: 'SQL_*',
    90: 'LDAP_INJECTION',
    94: 'SCRIPT_ENGINE_INJECTION GROOVY_SHELL',
    113: 'HTTP_RESPONSE_SPLITTING',
    117: 'CRLF_INJECTION_LOGS',
    259: 'HARD_CODE_PASSWORD DMI_CONSTANT_DB_PASSWORD',
    295: 'WEAK_TRUST_MANAGER WEAK_HOSTNAME_VERIFIER',
    321: 'HARD_CODE_KEY',
    327: 'DES_USAGE ECB_MODE TDES_USAGE PADDING_ORACLE CIPHER_INTEGRITY',
    328: 'WEAK_MESSAGE_DIGEST_*',
    330: 'PREDICTABLE_RANDOM*',
    352: 'SPRING_CSRF_*',
    501: 'TRUST_BOUNDARY_VIOLATION',
    502: 'OBJECT_DESERIALIZATION JACKSON_UNSAFE_DESERIALIZATION',
    601: 'UNVALIDATED_REDIRECT SPRING_UNVALIDATED_REDIRECT',
    611: 'XXE_*',
    614: 'INSECURE_COOKIE',
    643: 'XPATH_INJECTION',
    917: 'EL_INJECTION SPEL_INJECTION OGNL_INJECTION',
    918: 'URLCONNECTION_SSRF_FD',
    1004: 'HTTPONLY_COOKIE',
    1336: 'TEMPLATE_INJECTION_*',
  },
  PMD: {
    79: 'ApexXSSFromEscapeFalse ApexXSSFromURLParam Vf*',
    89: 'ApexSOQLInjection',
    285: 'ApexCRUDViolation ApexSharingViolations',
    319: 'ApexInsecureEndpoint',
    321: 'HardCodedCryptoKey',
    327: 'ApexBadCrypto',
    329: 'InsecureCryptoIv',
    352: 'ApexCSRF',
    601: 'ApexOpenRedirect',
  },
  Cppcheck: {
    119: 'bufferAccessOutOfBounds',
    121: 'pointerOutOfBounds',
    134: 'invalidPrintfArgType_s wrongPrintfScanfArgNum',
    401: 'memleak memleakOnRealloc',
    415: 'doubleFree',
    416: 'deallocuse useAfterFree',
    457: 'uninitvar uninitdata uninitStructMember legacyUninitvar',
    476: 'nullPointer*',
    562: 'returnDanglingLifetime danglingLifetime',
    762: 'mismatchAllocDealloc',
    775: 'resourceLeak',
    788: 'arrayIndexOutOfBounds*',
  },
  'Clang Static Analyzer': {
    119: 'alpha.security.ArrayBound alpha.security.ArrayBoundV2 security.ArrayBound unix.cstring.OutOfBounds',
    131: 'unix.MallocSizeof',
    242: 'security.insecureAPI.gets security.insecureAPI.vfork security.insecureAPI.getpw',
    338: 'security.insecureAPI.rand',
    369: 'core.DivideZero',
    377: 'security.insecureAPI.mktemp security.insecureAPI.mkstemp',
    252: 'security.insecureAPI.UncheckedReturn',
    401: 'cplusplus.NewDeleteLeaks',
    416: 'cplusplus.NewDelete cplusplus.InnerPointer unix.Malloc cplusplus.Move',
    457: 'core.uninitialized.* core.UndefinedBinaryOperatorResult core.CallAndMessage',
    476: 'core.NullDereference core.NonNullParamChecker nullability.*',
    562: 'core.StackAddressEscape',
    676: 'security.insecureAPI.strcpy security.insecureAPI.bcopy security.insecureAPI.DeprecatedOrUnsafeBufferHandling',
    762: 'unix.MismatchedDeallocator',
  },
  Flawfinder: {
    78: 'system popen execl execlp execle execv execvp',
    119: 'char',
    120: 'strcpy strcat gets sprintf vsprintf memcpy scanf sscanf fscanf read',
    126: 'strlen',
    134: 'printf fprintf vprintf vfprintf syslog snprintf vsnprintf',
    327: 'random drand48 rand srand crypt EVP_des_ecb',
    362: 'open fopen access chmod chown',
    377: 'mktemp tmpnam tempnam tmpfile',
    676: 'strncpy strncat',
    732: 'umask',
  },
  Hadolint: { 250: 'DL3002 DL3004', 829: 'DL3006 DL3007 DL3020 DL3026' },
  ShellCheck: { 78: 'SC2046 SC2068 SC2086 SC2091 SC2294 2046 2068 2086 2091 2294', 73: 'SC2115 2115' },
  Pylint: { 95: 'W0122 W0123 exec-used eval-used', 78: 'W1509 subprocess-popen-preexec-fn' },
  ZAP: {
    22: '6',
    79: '40012 40014 40016 40017 40026',
    89: '40018 40019 40020 40021 40022 40024 40027',
    78: '90020',
    94: '90019',
    98: '7',
    200: '10062 90022',
    352: '10202 20012',
    601: '20019 10028',
    611: '90023',
    614: '10011',
    643: '90021',
    693: '10021 10038',
    918: '40046',
    942: '10098',
    1004: '10010',
    1021: '10020',
    1275: '10054',
    1336: '90035 90036',
  },
  /** By their tags, which stand for rules. */
  Nuclei: {
    22: 'lfi traversal',
    78: 'cmdi',
    79: 'xss',
    89: 'sqli',
    93: 'crlf',
    94: 'rce',
    200: 'exposure disclosure',
    306: 'unauth',
    347: 'jwt',
    352: 'csrf',
    434: 'fileupload',
    502: 'deserialization',
    601: 'redirect',
    611: 'xxe',
    639: 'idor',
    798: 'default-login token',
    918: 'ssrf',
    942: 'cors',
    1336: 'ssti',
  },
};

/** Ruff and Flake8 number Bandit's tests with an S. */
const aliases: Readonly<Record<string, string>> = { 'Find Security Bugs': 'SpotBugs', FindSecBugs: 'SpotBugs' };

/** Classes of misconfigurations, by the words of a check's title; the first that fits counts. */
export const topics: readonly (readonly [words: RegExp, cwe: number])[] = [
  [/hard[- ]?coded|secret|password|credential|api key|access key/i, 798],
  [/privileged|root user|run as root|as root|capabilit|privilege escalation|sudo/i, 250],
  [/host ?(?:pid|ipc|network|path|port)|docker\.?sock/i, 653],
  [/wildcard|\*:\*|full admin|administrat|iam polic|assume ?role|cluster-admin/i, 269],
  [/public(?:ly)?|0\.0\.0\.0|::\/0|any source|open to|ingress/i, 284],
  [/anonymous|without auth|authentication|mfa/i, 306],
  [/authorization|rbac|service account/i, 862],
  [/in transit|https|tls|ssl|plain ?text|secure transport/i, 319],
  [/encrypt|kms|cmk/i, 311],
  [/rotat/i, 324],
  [/logging|audit|monitoring|flow log|trail/i, 778],
  [/(?:cpu|memory|resource) (?:limit|request|quota)/i, 770],
  [/latest tag|image tag|digest|unpinned|pinned|checksum/i, 829],
  [/read[- ]?only|permission|writable/i, 732],
];
/** Categories of Wapiti, which are its rules. */
const wapitiTopics: readonly (readonly [words: RegExp, cwe: number])[] = [
  [/sql injection/i, 89],
  [/cross site scripting|\bxss\b/i, 79],
  [/command execution|log4shell|shellshock|spring4shell/i, 78],
  [/path traversal|file (?:handling|inclusion)/i, 22],
  [/xml external|xxe/i, 611],
  [/server side request|ssrf/i, 918],
  [/cross site request|csrf/i, 352],
  [/open redirect/i, 601],
  [/crlf/i, 93],
  [/ldap/i, 90],
  [/htaccess|weak credentials/i, 287],
  [/secure flag/i, 614],
  [/httponly/i, 1004],
  [/clickjacking|x-frame/i, 1021],
  [/content security policy|security header|mime type/i, 693],
  [/strict transport|cleartext|unencrypted/i, 319],
  [/backup file|information disclosure|source code disclosure/i, 200],
  [/unrestricted.*upload/i, 434],
  [/template injection/i, 1336],
];
const configurationTools =
  /^(?:checkov|trivy|kics|tfsec|terrascan|kubescape|kube-?linter|kube-?score|snyk iac|dockle|prowler)/i;

interface Rules {
  readonly exact: ReadonlyMap<string, number>;
  readonly beginnings: readonly (readonly [string, number])[];
}
const readTable = (table: WeaknessTable): Rules => {
  const all = Object.entries(table).flatMap(([cwe, rules]) =>
    rules.split(/\s+/).map((rule) => [rule, Number(cwe)] as const),
  );
  return {
    exact: new Map(all.filter(([rule]) => !rule.endsWith('*'))),
    beginnings: all.filter(([rule]) => rule.endsWith('*')).map(([rule, cwe]) => [rule.slice(0, -1), cwe]),
  };
};
const tables = new Map(Object.entries(weaknessTables).map(([tool, table]) => [tool.toLowerCase(), readTable(table)]));

const lookUp = ({ exact, beginnings }: Rules, rule: string): number | undefined =>
  exact.get(rule) ?? beginnings.find(([beginning]) => rule.startsWith(beginning))?.[1];

/** The weakness of a rule; empty: the tables say nothing of it. */
export function weaknessesOf(tool: string, ruleId: string, title: string, tags: readonly string[] = []): number[] {
  const name = aliases[tool] ?? profileOf(tool)?.name ?? tool;
  const [named, rules] =
    /^(?:Ruff|Flake8)$/.test(name) && /^S\d{3}$/.test(ruleId)
      ? [`B${ruleId.slice(1)}`, tables.get('bandit')]
      : [ruleId, tables.get(name.toLowerCase()) ?? tables.get(name.split(/[ (]/)[0]?.toLowerCase() ?? '')];
  if (rules !== undefined) {
    // Brakeman: CheckSQL/SQL Injection; ZAP: 40012-1
    const found = [named, named.split('/')[0] ?? '', named.split('-')[0] ?? '', title.split('/')[0] ?? '', ...tags]
      .map((rule) => lookUp(rules, rule))
      .find((cwe) => cwe !== undefined);
    if (found !== undefined) return [found];
  }
  const isWapiti = /^wapiti$/i.test(name);
  if (!isWapiti && !configurationTools.test(name)) return [];
  const topic = (isWapiti ? wapitiTopics : topics).find(([words]) => words.test(title));
  return topic === undefined ? [] : [topic[1]];
}
