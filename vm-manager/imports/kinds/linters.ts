// Linters, compilers and other tools that are mostly about style and correctness, and which of their rules are about
// security. What is not listed here is quality unless the report itself says that it is about security.
import { cppcheckStyle } from './cppcheck.js';
import { eslintSecurity, ofOxlint } from './eslint.js';
import { linter, of, startsWithAny, type ToolProfile } from './profile.js';
import { androidStyle } from './rules/android.js';
import { spotbugsSecurity, spotbugsStyle } from './rules/bytecode.js';
import { inferStyle } from './rules/native.js';
import { nugetAudit, roslynCarries, roslynSecurity, roslynStyle } from './rules/roslyn.js';
import * as sonar from './rules/sonar.js';

/** Of ShellCheck, also where Hadolint runs it: words that are split, deletions that reach `/`, code from names. */
const shell = '(?:SC)?(?:2046|2048|2068|2086|2087|2091|2114|2115|2145|2156|2294)$';
const dockerfile = 'DL(?:3002|3004|3006|3007|3020|3026)$';
const python = [
  'W0122|W0123|W1509|W3101|E2502|E80\\d\\d$|W80\\d\\d$|exec-used$|eval-used$|subprocess-popen-preexec-fn$',
  'missing-timeout$|bidirectional-unicode$|avoid-(?:eval|os-|shell|jsonpickle|debug|assert)|replace-yaml|shell-true',
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
export const linters: readonly ToolProfile[] = [
  linter('Hadolint', startsWithAny(dockerfile, shell), { kind: 'iac' }),
  linter('ESLint', eslintSecurity, { kinds: [[/^no-secrets(?:-next)?\//i, 'secret']] }),
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
  linter('HTMLHint', /^(?:inline-script|iframe-|target-blank)/, {}, 'html-?hint'),
  linter('html-validate', /^(?:require-sri|require-csp-nonce)$/),
  linter('ShellCheck', startsWithAny(shell)),
  linter('Pylint', startsWithAny(...python)),
  linter('Ruff', startsWithAny('S\\d{3}$|PGH001$|DUO\\d+$|PLW1509$|PLE2502$|B613$', ...python)),
  linter('Flake8', startsWithAny('S\\d{3}$|DUO\\d+$|SCS\\d+$|B613$'), {}, 'flake8|pylama|dlint'),
  of('Cppcheck', /^cppcheck(?:[ @v-]*\d[\d.]*)?$/i, { quality: cppcheckStyle }),
  of('clang-tidy', /^clang-?tidy(?:[ @v-]*\d[\d.]*)?$/i, {
    rulesOf: 'Clang Static Analyzer',
    spelled: (rule) => rule.replace(/^clang-analyzer-/, ''),
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
    {
      style: startsWithAny(
        '(?:Style|Layout|Lint|Metrics|Naming|Bundler|Gemspec|Rails|RSpec\\w*|Performance|Capybara|FactoryBot|' +
          'Minitest|Rake',
        'ThreadSafety|Sorbet|I18n|Migration|InternalAffairs|Packaging|Chef|Packs|GraphQL|Sequel|Obsession)/|[A-Z]\\w+$',
      ),
    },
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
    carries: [
      [/^(?:gosec[:/.])?(?<rule>G\d{3})$/, 'gosec'],
      [/^(?:staticcheck[:/.])?(?<rule>(?:SA|ST|QF|S|U)\d{4})$/, 'Staticcheck'],
    ],
  }),
  linter('Staticcheck', /(?!)/, { quality: /^(?:SA|S|ST|QF|U)\d/ }),
  of('SonarQube', /^sonar(?:qube|cloud|lint|source|scanner|analyzer|js)?\b/i, {
    kinds: [
      [sonar.isSonarSecret, 'secret'],
      [sonar.isSonarKubernetes, 'k8s'],
      [sonar.isSonarConfiguration, 'iac'],
    ],
    security: sonar.sonarSecurity,
    style: sonar.sonarStyle,
    spelled: sonar.sonarRule,
    carries: [
      [/^external_(?<tool>[a-z][\w-]*?)(?:_(?:repo|rules?|issues))?:(?<rule>.+)$/i, ''],
      [/^fb-contrib:(?<rule>.+)$/i, 'SpotBugs'],
      [
        /^(?<tool>findbugs|spotbugs|findsecbugs|pmd|checkstyle|pylint|eslint|tslint|phpcs|psalm|rubocop):(?<rule>.+)$/i,
        '',
      ],
    ],
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
      'Magento\\d?\\.(?:SQL|Functions\\.Discouraged)|WordPress\\.(?:DB\\.|WP\\.Capabilities)|Squiz\\.PHP\\.Eval|' +
        '(?:\\w+\\.)*EscapeOutput',
      'WordPressVIPMinimum\\.(?:Security|JS|Functions\\.DynamicCalls)',
      'Generic\\.PHP\\.(?:BacktickOperator|ForbiddenFunctions)',
    ),
    {},
    'php[-_ ]?code[-_ ]?sniffer|phpcs',
  ),
  linter('PHPMD', startsWithAny('EvalExpression')),
  of('SpotBugs', /^(?:spot|find)bugs\b/i, { security: spotbugsSecurity, style: spotbugsStyle }),
  linter(
    'Error Prone',
    startsWithAny('Insecure|Ban[A-Z]|UnsafeReflective|CompileTimeConstant|JNDI|XmlParser'),
    {},
    'error[-_ ]?prone',
  ),
  linter(
    'Android Lint',
    startsWithAny(...androidLint),
    { style: { test: (rule) => androidStyle.has(rule) } },
    'android[-_ ]?lint',
  ),
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
      kinds: [[nugetAudit, 'sca']],
      security: roslynSecurity,
      style: roslynStyle,
      carries: roslynCarries,
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
    /^-?W?(?:error=)?(?:analyzer-(?!too-complex|symbol)|format-(?:security|nonliteral)|stringop|dangling)/i,
    { spelled: (rule) => rule.replace(/^-?W(?:error=)?/, '') },
    'c compiler|compiler|gcc|g\\+\\+|gnu c(?:\\+\\+)?\\d*',
  ),
  // the driver of each language has a name of its own: QDJVM, QDPY, QDJS, …
  linter(
    'Qodana',
    startsWithAny(...inspections),
    { kinds: [[/^Vulnerable(?:Librar|Dep|Api|Package)|^\w*VulnerableDependenc/i, 'sca']] },
    'qodana(?: community)?(?: for [\\w. #+]{1,30})?|qd(?:jvm|andc?|py|js|net|cnet|go|php|rst|ruby|cpp|clc|cl)[ch]?',
  ),
  of('Infer', /^(?:facebook[-_ /]|fb)?infer(?:#|sharp)?(?:[ @v-]*\d[\d.]*)?$/i, {
    style: inferStyle,
    security: /(?!)/,
  }),
  of('Bicep', /^(?:azure[-_ ]*)?bicep\b/i, {
    kind: 'iac',
    security: /secur|secret|password|credential|adminusername|protect-/i,
    style: startsWithAny(
      'no-(?:unused|conflicting|deployments|hardcoded|loc-expr|unnecessary)|prefer-|simplify-|max-|BCP\\d',
      'explicit-values|use-(?:parent|recent|resource|stable|safe)|nested-deployment|artifacts-parameters|what-if',
    ),
  }),
  // each of them runs dozens of others
  of('MegaLinter', /^mega-?linter\b/i, { carriesAny: true }),
  of('Super-Linter', /^(?:github[-_ /])?super-?linter\b/i, { carriesAny: true }),
  of('reviewdog', /^reviewdog\b/i, { carriesAny: true }),
  of('Trunk', /^trunk(?:[-_ ](?:check|io|cli))?(?:[ @v-]*\d[\d.]*)?$/i, { carriesAny: true }),
  of('Codacy', /^codacy\b/i, { carriesAny: true }),
  of('Qlty', /^(?:qlty|code ?climate)\b/i, { carriesAny: true }),
  linter('tflint', /^terraform_module_(?:pinned_source|version)$/, { style: /^(?:aws|google|azurerm|opa|terraform)_/ }),
  linter('cfn-lint', /^(?:W2501|W1011|E2507|W2511|W3663)$/, { style: /^[EWI]\d{4}$/ }),
  linter('Scalastyle'),
  ...[
    'stylelint|prettier|markdownlint|markdownlint-cli2|yamllint|checkstyle',
    'ktlint|detekt|swiftlint|swiftformat|pycodestyle|pydocstyle',
    'pyflakes|black|isort|mypy|pyright|basedpyright|editorconfig-checker',
    'luacheck|selene|vale|cpplint|tsc|typescript',
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
