// Rule → CWE of linters, compilers and analysers of style that have rules about security, too. `*` at the end of a rule
// stands for any rest.
import { androidWeaknesses } from './rules/android.js';
import { spotbugsWeaknesses } from './rules/bytecode.js';
import { clangTidyWeaknesses, compilerWeaknesses, inferWeaknesses } from './rules/native.js';
import { roslynWeaknesses } from './rules/roslyn.js';
import { sonarWeaknesses } from './rules/sonar.js';
import type { WeaknessTable } from './weakness-tables.js';

/** By whole id, and by the last part of it, whatever the plugin is called. */
const eslint: WeaknessTable = {
  20: 'sonarjs/standard-input sonarjs/process-argv',
  22: `security/detect-non-literal-fs-filename security-node/detect-non-literal-fs-filename sonarjs/no-unsafe-unzip
    non-literal-fs-path tsr-detect-non-literal-fs-filename`,
  78: 'security/detect-child-process security-node/detect-child-process sonarjs/os-command* tsr-detect-child-process',
  79: `security/detect-disable-mustache-escape no-unsanitized/method no-unsanitized/property no-mixed-html no-danger
    no-danger-with-children no-v-html* no-script-url no-script-urls jsx-no-script-url no-inner-html no-innerhtml
    no-outer-html no-insert-adjacent-html no-at-html-tags no-set-html-directive no-document-write
    no-dangerously-set-innerhtml no-dangerously-set-innerhtml-with-children no-html-link-for-pages-unsafe
    no-unsafe-html unescaped-html-literal no-raw-html no-bypass-sanitizer xss/* scanjs-rules/assign_to_innerHTML
    scanjs-rules/call_write scanjs-rules/property_innerHTML sonarjs/disabled-auto-escaping sonarjs/no-vue-bypass*
    sonarjs/no-angular-bypass* no-angular-bypass-sanitizer no-angular-sanitization-trusted-urls react-no-dangerous-html
    security-node/detect-html-injection no-v-text-v-html-on-component no-unsanitized no-location-href-assign
    security-node/non-literal-reg-expr-xss no-disable-auto-sanitization tsr-detect-html-injection
    tsr-detect-disabled-mustache-escape`,
  89: `security-node/detect-sql-injection sonarjs/sql-queries no-raw-sql no-sql-format no-sql-injection no-unsafe-query
    tsr-detect-sql-literal-injection`,
  95: `security/detect-eval-with-expression security-node/detect-eval-with-expr no-eval no-implied-eval no-new-func
    no-global-eval no-script-eval no-nodejs-eval scanjs-rules/call_eval sonarjs/code-eval function-constructor
    no-function-constructor-with-string-args no-string-based-set-timeout no-string-based-set-interval
    no-string-based-set-immediate scanjs-rules/call_Function tsr-detect-eval-with-expression`,
  117: 'security-node/detect-crlf',
  119: 'security/detect-buffer-noassert no-buffer-constructor',
  208: 'security/detect-possible-timing-attacks security-node/detect-possible-timing-attacks possible-timing-attack*',
  209: 'security-node/detect-unhandled-async-errors sonarjs/production-debug',
  295: 'sonarjs/unverified-certificate sonarjs/unverified-hostname security-node/disable-ssl-across-node-server',
  319: 'sonarjs/no-clear-text-protocols no-insecure-url no-http-string',
  326: 'sonarjs/no-weak-keys sonarjs/weak-ssl',
  327: 'sonarjs/no-weak-cipher sonarjs/encryption sonarjs/encryption-secure-mode',
  328: 'sonarjs/hashing',
  338: `security/detect-pseudoRandomBytes security-node/detect-insecure-randomness sonarjs/pseudo-random
    no-insecure-random insecure-random`,
  346: `tsr-detect-unsafe-cross-origin-communication no-postmessage-star-origin no-wildcard-postmessage
      sonarjs/post-message`,
  347: 'sonarjs/insecure-jwt*',
  352: 'security/detect-no-csrf-before-method-override sonarjs/csrf',
  377: 'sonarjs/publicly-writable-directories',
  532: 'sonarjs/confidential-information-logging',
  565: 'no-cookies no-document-cookie',
  601: 'security-node/detect-dangerous-redirects',
  611: 'sonarjs/xml-parser-xxe',
  614: 'sonarjs/insecure-cookie security-node/detect-absence-of-name-option-in-exrpress-session-unsafe',
  693: 'sonarjs/content-security-policy sonarjs/strict-transport-security sonarjs/no-mime-sniff',
  732: 'sonarjs/file-permissions',
  798: `no-secrets/no-secrets no-secrets no-hardcoded-credentials no-hardcoded-passwords no-hardcoded-secrets
    no-hardcoded-password no-hardcoded-secret no-hardcoded-keys no-hardcoded-tokens sonarjs/hardcoded-secret*`,
  829: `security/detect-non-literal-require no-dynamic-require tsr-detect-non-literal-require
      security-node/detect-non-literal-require-calls sonarjs/disabled-resource*
    iframe-missing-sandbox no-missing-iframe-sandbox no-unsafe-iframe-sandbox`,
  915: 'security/detect-object-injection',
  942: 'sonarjs/cors',
  1004: 'sonarjs/cookie-no-httponly',
  1007: 'security/detect-bidi-characters anti-trojan-source/no-bidi no-bidi',
  1022: `jsx-no-target-blank no-target-blank no-template-target-blank template-no-target-blank target-blank
    no-unsafe-target-blank sonarjs/link-with-target-blank`,
  1321: 'prototype-pollution/* no-proto',
  1333: `security/detect-unsafe-regex security/detect-non-literal-regexp no-super-linear-backtracking
    no-super-linear-move
    redos/* no-vulnerable security-node/detect-unsafe-regex sonarjs/slow-regex sonarjs/super-linear-regex
    security-node/non-literal-reg-expr tsr-detect-unsafe-regexp tsr-detect-non-literal-regexp`,
};

export const linterTables: Readonly<Record<string, WeaknessTable>> = {
  ESLint: eslint,
  Biome: {
    79: 'noDangerouslySetInnerHtml*',
    95: 'noGlobalEval',
    798: 'noSecrets',
    1022: 'noBlankTarget',
  },
  JSHint: { 79: 'W060 W107', 95: 'W054 W061 W066' },
  Hadolint: {
    73: 'SC2114 SC2115',
    78: 'SC2046 SC2048 SC2068 SC2086 SC2087 SC2091 SC2156 SC2294',
    250: 'DL3002 DL3004',
    829: 'DL3006 DL3007 DL3020 DL3026',
  },
  ShellCheck: {
    73: 'SC2114 SC2115 2114 2115',
    78: `SC2046 SC2048 SC2068 SC2086 SC2087 SC2091 SC2156 SC2294 2046 2048 2068 2086 2087 2091 2156 2294`,
  },
  Pylint: {
    78: 'W1509 subprocess-popen-preexec-fn',
    95: 'W0122 W0123 exec-used eval-used',
    400: 'W3101 missing-timeout',
    1007: 'E2502 bidirectional-unicode',
  },
  Ruff: { 78: 'PLW1509', 95: 'PGH001', 1007: 'PLE2502' },
  /** Dlint; Bandit's tests are in the table of Bandit. */
  Flake8: {
    22: 'DUO112 DUO115',
    78: 'DUO106 DUO116 DUO125 DUO126',
    79: 'DUO135',
    95: 'DUO104 DUO105 DUO108 DUO110',
    242: 'DUO117 DUO118',
    295: 'DUO122 DUO123 DUO131 DUO132',
    327: 'DUO133 DUO134',
    328: 'DUO130',
    338: 'DUO102',
    347: 'DUO127 DUO128 DUO129 DUO136 DUO137',
    377: 'DUO121',
    489: 'DUO111',
    502: 'DUO103 DUO109 DUO119 DUO120',
    611: 'DUO107 DUO124',
    1333: 'DUO138',
  },
  RuboCop: {
    78: 'Security/Open Security/IoMethods GitlabSecurity/SystemCommandInjection',
    79: 'Rails/OutputSafety',
    89: 'GitlabSecurity/SqlInjection',
    95: 'Security/Eval Lint/Eval',
    22: 'GitlabSecurity/SendFileParams',
    319: 'Bundler/InsecureProtocolSource',
    470: 'GitlabSecurity/PublicSend',
    502: 'Security/YAMLLoad Security/MarshalLoad Security/JSONLoad Security/YamlLoad Security/JsonLoad',
    601: 'GitlabSecurity/RedirectToParamsUpdate Rails/UnsafeRedirect',
    1022: 'Rails/LinkToBlank',
  },
  Psalm: {
    20: 'TaintedInput TaintedCustom',
    22: 'TaintedFile',
    78: 'TaintedShell ForbiddenCode',
    79: 'TaintedHtml TaintedTextWithQuotes',
    89: 'TaintedSql',
    90: 'TaintedLdap',
    95: 'TaintedEval',
    98: 'TaintedInclude',
    113: 'TaintedHeader',
    200: 'TaintedUserSecret TaintedSystemSecret',
    400: 'TaintedSleep',
    470: 'TaintedCallable',
    502: 'TaintedUnserialize',
    565: 'TaintedCookie',
    621: 'TaintedExtract',
    643: 'TaintedXpath',
    918: 'TaintedSSRF',
  },
  Phan: {
    22: 'SecurityCheck-PathTraversal',
    78: 'SecurityCheck-ShellInjection',
    79: 'SecurityCheck-XSS SecurityCheck-DoubleEscaped',
    89: 'SecurityCheck-SQLInjection',
    94: 'SecurityCheck-RCE',
    502: 'SecurityCheck-PHPSerializeInjection',
    1333: 'SecurityCheck-ReDoS',
  },
  PHP_CodeSniffer: {
    20: `WordPress.Security.ValidatedSanitizedInput* WordPressVIPMinimum.Security.PHPFilterFunctions*
      WordPressVIPMinimum.Security.StaticStrreplace* PHPCS_SecurityAudit.BadFunctions.FringeFunctions*
      Magento2.Security.Superglobal*`,
    22: 'PHPCS_SecurityAudit.BadFunctions.FilesystemFunctions*',
    78: `PHPCS_SecurityAudit.BadFunctions.SystemExecFunctions* PHPCS_SecurityAudit.BadFunctions.Backticks*
      Generic.PHP.BacktickOperator*`,
    79: `WordPress.Security.EscapeOutput* WordPressVIPMinimum.Security.ProperEscapingFunction*
      WordPressVIPMinimum.Security.Underscorejs* WordPressVIPMinimum.Security.Mustache*
      WordPressVIPMinimum.Security.Twig*
      WordPressVIPMinimum.Security.Vuejs* WordPressVIPMinimum.Security.EscapingVoid* Magento2.Security.XssTemplate*
      WordPressVIPMinimum.JS.* PHPCS_SecurityAudit.BadFunctions.EasyXSS* PHPCS_SecurityAudit.Drupal7.XSS*`,
    89: `WordPress.DB.* Magento2.SQL.RawQuery* PHPCS_SecurityAudit.BadFunctions.SQLFunctions*
      PHPCS_SecurityAudit.BadFunctions.Mysqli* PHPCS_SecurityAudit.Drupal7.SQLi*
      PHPCS_SecurityAudit.Drupal7.DynQueries*`,
    95: `Squiz.PHP.Eval* PHPCS_SecurityAudit.BadFunctions.NoEvals* PHPCS_SecurityAudit.BadFunctions.PregReplace*
      PHPCS_SecurityAudit.BadFunctions.Asserts* Magento2.Security.LanguageConstruct*`,
    98: `PHPCS_SecurityAudit.BadFunctions.EasyRFI* PHPCS_SecurityAudit.Misc.IncludeMismatch*
      Magento2.Security.IncludeFile*`,
    200: 'PHPCS_SecurityAudit.BadFunctions.Phpinfos* WordPress.Security.PluginMenuSlug*',
    209: 'PHPCS_SecurityAudit.BadFunctions.ErrorHandling*',
    327: 'PHPCS_SecurityAudit.BadFunctions.CryptoFunctions*',
    352: 'WordPress.Security.NonceVerification*',
    470: `PHPCS_SecurityAudit.BadFunctions.CallbackFunctions* PHPCS_SecurityAudit.BadFunctions.FunctionHandling*
      WordPressVIPMinimum.Functions.DynamicCalls*`,
    601: 'WordPress.Security.SafeRedirect*',
    676: 'Magento2.Security.InsecureFunction* Magento2.Functions.DiscouragedFunction* Generic.PHP.ForbiddenFunctions*',
    698: 'WordPressVIPMinimum.Security.ExitAfterRedirect*',
    862: 'WordPress.WP.Capabilities*',
    942: 'PHPCS_SecurityAudit.Misc.BadCorsHeader*',
    1395: 'PHPCS_SecurityAudit.CVE.*',
  },
  PHPMD: { 95: 'EvalExpression' },
  PSScriptAnalyzer: {
    95: 'PSAvoidUsingInvokeExpression',
    256: 'PSAvoidUsingConvertToSecureStringWithPlainText PSAvoidUsingPlainTextForPassword',
    319: 'PSAvoidUsingAllowUnencryptedAuthentication',
    328: 'PSAvoidUsingBrokenHashAlgorithms',
    522: 'PSAvoidUsingUserNameAndPasswordParams PSAvoidUsingUsernameAndPasswordParams PSUsePSCredentialType',
  },
  Credo: { 78: 'UnsafeExec', 200: 'LeakyEnvironment', 400: 'UnsafeToAtom' },
  Roslyn: roslynWeaknesses,
  SonarQube: sonarWeaknesses,
  'Android Lint': androidWeaknesses,
  Infer: inferWeaknesses,
  'clang-tidy': clangTidyWeaknesses,
  'C compiler': compilerWeaknesses,
  'cfn-lint': { 269: 'E2507 W2511', 441: 'W3663', 522: 'W2501', 798: 'W1011' },
  'ansible-lint': { 532: 'no-log-password', 732: 'risky-file-permissions risky-octal' },
  actionlint: { 798: 'credentials' },
  HTMLHint: { 829: 'iframe-sandbox-require', 1022: 'target-blank' },
  'html-validate': { 353: 'require-sri', 693: 'require-csp-nonce' },
  'Perl::Critic': {
    78: 'InputOutput::ProhibitTwoArgOpen InputOutput::ProhibitBacktickOperators',
    95: 'BuiltinFunctions::ProhibitStringyEval',
  },
  'golangci-lint': { 1007: 'bidichk' },
  tflint: { 829: 'terraform_module_pinned_source terraform_module_version' },
  /** By the registry of weaknesses of smart contracts (SWC). */
  Solhint: {
    252: 'check-send-result avoid-low-level-calls',
    330: 'not-rely-on-block-hash',
    477: 'avoid-tx-origin avoid-suicide avoid-sha3 avoid-throw',
    695: 'no-inline-assembly',
    703: 'multiple-sends no-complex-fallback',
    710: 'func-visibility state-visibility mark-callable-contracts',
    829: 'not-rely-on-time',
    841: 'reentrancy avoid-call-value',
  },
  Sobelow: {
    22: 'Traversal*',
    78: 'CI.*',
    79: 'XSS*',
    89: 'SQL*',
    94: 'RCE*',
    319: 'Config.HTTPS*',
    352: 'Config.CSRF*',
    400: 'DOS*',
    502: 'Misc.BinToTerm*',
    693: 'Config.Headers* Config.CSP*',
    798: 'Config.Secrets*',
    1385: 'Config.CSWH*',
  },
  clippy: {
    131: 'uninit_vec',
    457: 'uninit_assumed_init mem_replace_with_uninit',
    732: 'permissions_set_readonly_false',
    843: 'transmute_* transmuting_null unsound_collection_transmute cast_ref_to_mut',
  },
  SpotBugs: spotbugsWeaknesses,
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
    676: 'ApexDangerousMethods',
    798: 'ApexSuggestUsingNamedCred',
  },
};
