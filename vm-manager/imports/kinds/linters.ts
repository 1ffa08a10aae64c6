// Linters, compilers and other tools that are mostly about style and correctness, and which of their rules are about
// security. What is not listed here is quality unless the report itself says that it is about security.
import { cppcheckStyle } from './cppcheck.js';
import { eslintSecurity, ofOxlint } from './eslint.js';
import { linter, of, startsWithAny, type ToolProfile } from './profile.js';

/** Of ShellCheck, also where Hadolint runs it: words that are split, deletions that reach `/`, code from names. */
const shell = '(?:SC)?(?:2046|2048|2068|2086|2087|2091|2114|2115|2145|2156|2294)$';
const dockerfile = 'DL(?:3002|3004|3006|3007|3020|3026)$';
const python = [
  'W0122|W0123|W1509|W3101|E2502|E80\\d\\d$|W80\\d\\d$|exec-used$|eval-used$|subprocess-popen-preexec-fn$',
  'missing-timeout$|bidirectional-unicode$|avoid-(?:eval|os-|shell|jsonpickle|debug|assert)|replace-yaml|shell-true',
];
/** Find Security Bugs and the category SECURITY of SpotBugs itself. */
const bytecode = [
  'SQL_|XSS_|HRS_|PT_|SCALA_|PLAY_|ANDROID_|SERVLET_|COOKIE_',
  'PATH_TRAVERSAL|COMMAND_INJECTION|PREDICTABLE_RANDOM|WEAK_|JAXWS_',
  'JAXRS_|TAPESTRY_|WICKET_|STRUTS|SPRING_|DEFAULT_HTTP_CLIENT',
  'SSL_CONTEXT|CUSTOM_|FILE_UPLOAD|REDOS|XXE_|XPATH_|XML_DECODER',
  'LDAP_|SCRIPT_ENGINE|SPEL_|EL_INJECTION|SEAM_|OGNL_|GROOVY_|HTTP_',
  'HTTPONLY_|CRLF_|EXTERNAL_CONFIG|BAD_HEXA|HAZELCAST|NULL_CIPHER',
  'UNENCRYPTED|DES_USAGE|TDES_|RSA_|HARD_CODE|UNSAFE_HASH|BLOWFISH',
  'UNVALIDATED_|JSP_|ENTITY_|STATIC_IV|ECB_|PADDING_ORACLE|CIPHER_',
  'ESAPI|EXTERNAL_FILE|INSECURE_|OBJECT_DESERIALIZATION|JACKSON_',
  'DESERIALIZATION|TRUST_BOUNDARY|MALICIOUS_XSLT|TEMPLATE_INJECTION',
  'PERMISSIVE_CORS|PERSISTENT_COOKIE|URL_REWRITING|URLCONNECTION|AWS_QUERY',
  'BEAN_PROPERTY|RPC_|SAML_|OVERLY_PERMISSIVE|INFORMATION_EXPOSURE',
  'SMTP_|FORMAT_STRING|IMPROPER_UNICODE|MODIFICATION_AFTER|NORMALIZATION_AFTER',
  'DANGEROUS_PERMISSION|SENSITIVE_DATA|DMI_(?:CONSTANT|EMPTY)_DB',
];
const androidLint = [
  'SetJavaScriptEnabled|AddJavascriptInterface|JavascriptInterface',
  'Exported|HardcodedDebugMode|InsecureBase|GetInstance|SecureRandom',
  'World(?:Readable|Writeable)|SetWorld|Unprotected|UnsafeProtected',
  'BadHostname|AllowAllHostname|CustomX509|TrustAllX509|AcceptsUser',
  'PackagedPrivateKey|SSLCertificate|GrantAllUris|SignatureOrSystem',
  'UnsafeNative|UnsafeDynamically|Vulnerable|MutableImplicit|UnsafeIntent',
  'UnspecifiedRegister|HardwareIds|AllowBackup|TrulyRandom',
  'PackageManagerGetSignatures|UnsafeCrypto|WeakPrng|IntentSpoof|Cleartext',
];
/** Inspections of JetBrains that are about security, of all of its languages. */
const inspections = [
  'UnsecureRandom|InsecureRandom|RuntimeExec|JDBC(?:Prepare|Execute)|LoadLibrary|SystemSetSecurity|SystemGetProperty',
  '\\w*Taint|\\w*SqlInjection|\\w*InSecureContext|CustomClassloader|CustomSecurityManager|PublicStaticArray',
  'PublicStaticCollection|Hardcoded|HardCoded|\\w*(?:Password|Credential|Secret)|\\w*VulnerablePaths|\\w*Vulnerab',
  'HttpUrlsUsage|TrustAll|Insecure|Unsafe(?:Deserial|Eval|Yaml|Pickle)|JSEval|EvalJS|DynamicallyGeneratedCode',
  'PhpEval|PyUnsafe|PyAssertFrom|SSL|Weak(?:Hash|Crypto|Cipher)|XXE|Xxe',
];
const solidity = [
  'avoid-(?:low-level|tx-origin|suicide|call-value|sha3|throw)|reentrancy',
  'check-send-result|not-rely-on|no-inline-assembly|multiple-sends',
  'no-complex-fallback|state-visibility|func-visibility|mark-callable',
];
/** SonarQube: vulnerabilities and hotspots of all languages, and its analysis of configuration. */
const sonar = new RegExp(
  '^(?:S(?:1313|1523|2053|2068|207[0678]|2083|209[12]|2115|2245|225[57]|227[78]|2612|2631|2647|2653' +
    '|2658|2755|2817|2819|3271|3329|' +
    '3330|3331|3355|3374|3649|3752|4036|4347|4423|4426|443[234]|' +
    '4499|4502|4507|4512|4529|4601|4684|4721|4787|479[02]|481[78]|' +
    '4823|4829|4830|5042|5122|513[15]|514[4-8]|5167|5247|5300|532[024]|' +
    '533[24]|5344|544[35]|5496|5527|5542|5547|5604|5659|5679|' +
    '5689|569[13]|5725|5728|573[02469]|574[23]|575[79]|580[48]|5852|' +
    '5876|5883|6096|6105|6173|62(?:45|49|52|58|65|70|75|81|8[78]|99)|' +
    '63(?:0[0-48]|17|19|2[1379]|3[0235]|50|7[3467]|8[457]|99)|' +
    '640[1-9]|641[0-8]|6432|6437|647[0-3]|6497|650[0-6]|654[79]|6639|' +
    '6641|6680|670\\d|679\\d|69\\d\\d|7044))$|vulnerab|hotspot',
  'i',
);

export const linters: readonly ToolProfile[] = [
  linter('Hadolint', startsWithAny(dockerfile, shell), { kind: 'iac' }),
  linter('ESLint', eslintSecurity),
  linter('oxlint', eslintSecurity, { rulesOf: 'ESLint', spelled: ofOxlint }, 'oxlint|oxc'),
  linter('XO', eslintSecurity, { rulesOf: 'ESLint' }),
  linter('StandardJS', eslintSecurity, { rulesOf: 'ESLint' }, 'standard'),
  linter(
    'Biome',
    startsWithAny(
      '(?:[\\w-]+/)*security/',
      '(?:[\\w-]+/)*(?:noSecrets|noGlobalEval|noDangerouslySetInnerHtml\\w*|noBlankTarget|noScriptUrl|n' +
        'oUnsafe\\w*Html|noDocumentCookie)$',
    ),
    { spelled: (rule) => rule.replace(/^.*\//, '') },
    'biome|rome',
  ),
  linter('Deno', /^no-eval$/i, { rulesOf: 'ESLint' }, 'deno[-_ ]?lint|deno'),
  linter('HTMLHint', /^inline-script/, {}, 'html-?hint'),
  linter('ShellCheck', startsWithAny(shell)),
  linter('Pylint', startsWithAny(...python)),
  linter('Ruff', startsWithAny('S\\d{3}$|PGH001$|DUO\\d+$|PLW1509$|PLE2502$|B613$', ...python)),
  linter('Flake8', startsWithAny('S\\d{3}$|DUO\\d+$|SCS\\d+$|B613$'), {}, 'flake8|pylama|dlint'),
  of('Cppcheck', /^cppcheck(?:[ @v-]*\d[\d.]*)?$/i, { quality: cppcheckStyle }),
  of('clang-tidy', /^clang-?tidy(?:[ @v-]*\d[\d.]*)?$/i, {
    quality: new RegExp(
      [
        '^(?:readability|modernize|google|llvm|llvmlibc|fuchsia|hicpp|cppcoreguidelines|misc|',
        'performance|portability|altera|abseil|boost|darwin|openmp|mpi|objc|zircon)-',
      ].join(''),
    ),
  }),
  // its driver in SARIF is called `clang`
  of('Clang Static Analyzer', /^(?:clang(?: static analyzer|-analyzer|sa)?|scan-build)(?:[ @v-]*\d[\d.]*)?$/i, {
    quality: /^(?:deadcode|llvm|webkit|optin\.performance|optin\.osx)\./i,
  }),
  linter(
    'PMD',
    startsWithAny(
      'HardCodedCryptoKey$|InsecureCryptoIv$|NoUnsanitizedJSPExpression$|Vf\\w+$',
      'Apex(?:SOQLInjection|XSS\\w*|SharingViolations|CRUDViolation|Insecure\\w+|OpenRedirect|Dangerous' +
        'Methods|BadCrypto|CSRF)$',
      'Apex(?:SuggestUsingNamedCred)$|(?:\\w+/)*security(?:\\.xml)?/',
    ),
  ),
  linter(
    'RuboCop',
    startsWithAny(
      '(?:\\w+/)*\\w*Security/|Rails/(?:OutputSafety|LinkToBlank|UnsafeRedirect|Eval)$|Lint/Eval$|Style/Send$',
      'Bundler/InsecureProtocolSource$',
    ),
  ),
  of('golangci-lint', /^golangci(?:-?lint)?\b/i, {
    quality: startsWithAny(
      '(?:asasalint|asciicheck|bodyclose|canonicalheader|containedctx|contextcheck|copyloopvar|cyclop|d' +
        'ecorder|deadcode|depguard',
      'dogsled|dupl|dupword|durationcheck|embeddedstructfieldcheck',
      'err113|goerr113|errcheck|errchkjson|errname|errorlint|exhaustive',
      'exhaustivestruct|exhaustruct|exportloopref|exptostd|fatcontext',
      'forbidigo|forcetypeassert|funcorder|funlen|gci|ginkgolinter',
      'gocheckcompilerdirectives|gochecknoglobals|gochecknoinits',
      'gochecksumtype|gocognit|goconst|gocritic|gocyclo|godot|godox|gofmt',
      'gofumpt|goheader|goimports|golines|gomoddirectives|gomodguard',
      'goprintffuncname|gosimple|gosmopolitan|govet|grouper|golint',
      'iface|ifshort|importas|inamedparam|ineffassign|interfacebloat',
      'interfacer|intrange|ireturn|lll|loggercheck|maintidx|makezero',
      'maligned|mirror|misspell|mnd|gomnd|modernize|musttag|nakedret',
      'nestif|nilerr|nilnesserr|nilnil|nlreturn|noctx|noinlineerr',
      'nolintlint|nonamedreturns|nosnakecase|nosprintfhostport',
      'paralleltest|perfsprint|prealloc|predeclared|promlinter|protogetter',
      'reassign|recvcheck|revive|rowserrcheck|scopelint|sloglint',
      'spancheck|sqlclosecheck|staticcheck|structcheck|stylecheck',
      'swaggo|tagalign|tagliatelle|testableexamples|testifylint',
      'testpackage|thelper|tparallel|typecheck|unconvert|unparam|unused',
      'usestdlibvars|usetesting|varcheck|varnamelen|wastedassign|whitespace',
      'wrapcheck|wsl(?:_v5)?|zerologlint|unqueryvet|arangolint)$',
    ),
    rulesOf: 'gosec',
  }),
  linter('Staticcheck', /(?!)/, { quality: /^(?:SA|S|ST|QF|U)\d/ }),
  of('SonarQube', /^sonar(?:qube|cloud|lint|source|scanner|analyzer|js)?\b/i, {
    kinds: [[/^secrets:/i, 'secret']],
    security: sonar,
    spelled: (rule) => rule.replace(/^.*:/, ''),
  }),
  linter(
    'clippy',
    startsWithAny(
      '(?:clippy::)?(?:not_unsafe_ptr_arg_deref|uninit_|mem_replace_with_uninit|cast_ref_to_mut|transmu' +
        't|unsound_|missing_safety_doc)',
      '(?:clippy::)?(?:undocumented_unsafe_blocks|permissions_set_readonly_false|join_absolute_paths|no' +
        'n_send_fields|cast_slice)',
    ),
    { spelled: (rule) => rule.replace(/^clippy::/, '') },
    'clippy|rustc',
  ),
  linter('PHPStan', startsWithAny('disallowed|ekinoBannedCode|bannedCode|\\w*\\.?taint'), {}, 'phpstan|larastan'),
  linter('Psalm', startsWithAny('Tainted|ForbiddenCode$'), { spelled: (rule) => rule.replace(/^.*[.:]/, '') }),
  linter('Phan', startsWithAny('SecurityCheck|PhanPluginTaint'), {}, 'phan'),
  linter(
    'PHP_CodeSniffer',
    startsWithAny(
      '(?:\\w+\\.)*\\w*Security\\w*\\.|PHPCS_SecurityAudit',
      'WordPress\\.DB\\.Prepared|Squiz\\.PHP\\.Eval|(?:\\w+\\.)*EscapeOutput',
      'WordPressVIPMinimum\\.(?:Security|JS|Functions\\.DynamicCalls)',
      'Generic\\.PHP\\.(?:BacktickOperator|ForbiddenFunctions)',
    ),
    {},
    'php[-_ ]?code[-_ ]?sniffer|phpcs',
  ),
  linter('PHPMD', startsWithAny('EvalExpression')),
  of('SpotBugs', /^(?:spot|find)bugs\b/i, { security: startsWithAny(...bytecode) }),
  linter(
    'Error Prone',
    startsWithAny('Insecure|Ban[A-Z]|UnsafeReflective|CompileTimeConstant|JNDI|XmlParser'),
    {},
    'error[-_ ]?prone',
  ),
  linter('Android Lint', startsWithAny(...androidLint), {}, 'android[-_ ]?lint'),
  linter(
    'PSScriptAnalyzer',
    startsWithAny(
      'PSAvoidUsing(?:InvokeExpression|ConvertToSecureString|PlainText|UserName|UsernameAndPassword|Com' +
        'puterName|BrokenHash|AllowUnenc)',
      'PSUsePSCredentialType|InjectionRisk|InjectionHunter',
    ),
  ),
  of(
    'Roslyn',
    new RegExp(
      '^(?:microsoft (?:\\(r\\) )?visual (?:c#|basic)|(?:dotnet |\\.net )?roslyn|microsoft\\.codeanalys' +
        'is|dotnet (?:format|build))',
      'i',
    ),
    {
      security: startsWithAny(
        'CA(?:2100|2109|23\\d\\d|30\\d\\d|31\\d\\d|53\\d\\d|54\\d\\d)$|SCS\\d{4}$|SEC\\d{4}$|SYSLIB0011$',
      ),
    },
  ),
  linter('JSHint', /^(?:W054|W060|W061|W066|W107|W109S)$/),
  linter('JSLint', /eval|script[-_ ]?url/i),
  linter(
    'TSLint',
    startsWithAny(
      '(?:[\\w-]+/)?(?:tsr-|no-eval|function-constructor|no-function-constructor|no-string-based|react-' +
        'no-dangerous|no-inner-html)',
      '(?:[\\w-]+/)?(?:no-document-write|insecure-random|no-cookies|no-disable-auto-sanitization|non-li' +
        'teral|possible-timing|no-http-string)',
    ),
    { rulesOf: 'ESLint' },
  ),
  linter(
    'Credo',
    startsWithAny('(?:Elixir\\.)?(?:Credo\\.Check\\.)?(?:\\w+\\.)?(?:Unsafe\\w+|LeakyEnvironment)$|\\w*\\.?Security'),
    {
      spelled: (rule) => rule.replace(/^.*\./, ''),
    },
  ),
  linter('Solhint', startsWithAny(...solidity)),
  linter('actionlint', startsWithAny('credentials$|untrusted'), { kind: 'iac' }),
  linter('ansible-lint', startsWithAny('risky-|no-log-password|no-plaintext|command-instead-of-shell|insecure'), {
    kind: 'iac',
  }),
  linter(
    'Perl::Critic',
    /StringyEval|BacktickOperators|TwoArgOpen|ProlongedStrictureOverride/,
    {},
    'perl[-_: ]*critic',
  ),
  linter(
    'C compiler',
    startsWithAny(
      '-?W?(?:analyzer-|format-(?:security|overflow|nonliteral|truncation)|stringop|array-bounds|use-af' +
        'ter-free|free-nonheap)',
      '-?W?(?:dangling|return-local-addr|mismatched-|alloc-|alloca|vla|uninitialized|maybe-uninitialize' +
        'd|null-dereference)',
      '-?W?(?:bidi-chars|overflow|restrict|implicit-function-declaration|sizeof-pointer|memset|varargs|nonnull)',
    ),
    {},
    'c compiler|compiler|gcc|g\\+\\+|gnu c(?:\\+\\+)?\\d*',
  ),
  // the driver of each language has a name of its own: QDJVM, QDPY, QDJS, …
  linter(
    'Qodana',
    startsWithAny(...inspections),
    { kinds: [[/^Vulnerable(?:Librar|Dep|Api|Package)|^\w*VulnerableDependenc/i, 'sca']] },
    'qodana(?: community)?(?: for [\\w. #+]{1,30})?|qd(?:jvm|andc?|py|js|net|cnet|go|php|rst|ruby|cpp|clc|cl)[ch]?',
  ),
  linter('Scalastyle'),
  ...[
    'stylelint|prettier|markdownlint|markdownlint-cli2|yamllint|checkstyle',
    'ktlint|detekt|swiftlint|swiftformat|pycodestyle|pydocstyle',
    'pyflakes|black|isort|mypy|pyright|basedpyright|editorconfig-checker',
    'luacheck|selene|vale|cpplint|tflint|cfn-lint|tsc|typescript',
    'cspell|codespell|misspell|vulture|radon|xenon|interrogate|pydoclint',
    'docformatter|bashate|checkbashisms|shfmt|wartremover|scapegoat',
    'scalafix|nullaway|hlint|elm-review|dartanalyzer|dart|flutter',
    'protolint|buf|spectral-lint|sqlfluff|sqlint|djlint|curlylint|erb-lint',
    'haml-lint|slim-lint|reek|flay|flog|knip|jscpd|lizard|codenarc',
    'csslint|lesshint|sass-lint|scss-lint|textlint|proselint|write-good',
    'alex|commitlint|dotenv-linter|gofmt|golint|revive|errcheck|ineffassign',
    'go vet|govet|inspectcode|jetbrains|resharper|stylecop',
    'autopep8|yapf|pyre|pytype|ty|pymarkdown|remark-lint|remark|jsonlint',
    'taplo|xmllint|tidy|lychee|puppet-lint|cookstyle|foodcritic',
  ]
    .flatMap((names) => names.split('|'))
    .map((name) => linter(name)),
];
