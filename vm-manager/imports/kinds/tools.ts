// What is known of tools, as data: which kind of finding they report, which of their rules are about security, and how
// their SARIF says what their own format says. A tool that is not listed is never hidden: its findings are security.
import type { Severity, Source } from '../../findings/words.js';

export interface ToolProfile {
  /** Its name in the hub, also where SARIF spells it otherwise. */
  readonly name: string;
  /** Of the name in a report. */
  readonly names: RegExp;
  readonly kind?: Source;
  /** Rules (id, or id and title) of another kind; the first that fits counts. */
  readonly kinds?: readonly (readonly [rule: RegExp, kind: Source])[];
  /** Rules that are about security, of a tool that mostly is not. The others are quality unless the report names a
   * weakness, a vulnerability or a score. */
  readonly security?: RegExp;
  /** Rules that are not about security, of a tool that mostly is. */
  readonly quality?: RegExp;
  /** Its SARIF has the severity as a tag, in the words of its own format. */
  readonly hasSeverityTag?: true;
  /** Its SARIF has a level without a meaning where there is no score; its own format says this. */
  readonly withoutScore?: Severity;
}

const all = /^/;
const of = (name: string, names: RegExp, more: Omit<ToolProfile, 'name' | 'names'>): ToolProfile => ({
  name,
  names,
  ...more,
});
/** Tools of one kind whose names differ from their patterns in nothing but case. */
const each = (kind: Source, names: readonly string[]): ToolProfile[] =>
  names.map((name) => of(name, new RegExp(`^${name.replace(/[- ]/g, '[-_ ]?')}\\b`, 'i'), { kind }));
const linters = (names: readonly string[]): ToolProfile[] =>
  names.map((name) =>
    of(name, new RegExp(`^${name.replace(/[- ]/g, '[-_ ]?')}(?:[ @v-]*\\d[\\d.]*)?$`, 'i'), { quality: all }),
  );

const eslintLint = [
  'import',
  'import-x',
  'react',
  'react-hooks',
  'vue',
  'jsx-a11y',
  'n',
  'node',
  'promise',
  'unicorn',
  'prettier',
  'jest',
  'vitest',
  'jsdoc',
  'simple-import-sort',
  'sonarjs',
  '@typescript-eslint',
  '@stylistic',
  '@next/next',
  'eslint-comments',
].join('|');
const eslintSecurity = [
  '(?:@[\\w-]+/)?(?:security|security-node|no-unsanitized|no-secrets|xss|scanjs-rules|sdl|regexp-security)/',
  '(?:@typescript-eslint/)?no-(?:implied-)?eval$',
  '(?:@typescript-eslint/)?no-new-func$',
  'no-script-url$',
  'react/(?:no-danger|jsx-no-target-blank|jsx-no-script-url|iframe-missing-sandbox)',
  'vue/no-v-html',
  'sonarjs/(?:no-hardcoded|code-eval|os-command|sql-queries|weak-ssl|hashing|pseudo-random|encryption|xml-parser|cors)',
].join('|');

const profiles: readonly ToolProfile[] = [
  of('Trivy', /^(?:aqua )?trivy\b/i, {
    kinds: [
      [/^(?:CVE|GHSA|RUSTSEC|PYSEC|GO|ALAS|DLA|DSA|ELSA|RHSA|USN|TEMP|NSWG|MAL|OSV)-/i, 'sca'],
      [/^(?:AVD-)?K[CS]V-?\d/i, 'k8s'],
      [/^(?:AVD-)?(?:AWS|AZU|GCP|DS|DIG|GIT|NIF|OCI|OPNSTK|CLDSTK)-?\d/i, 'iac'],
    ],
    hasSeverityTag: true,
  }),
  of('Grype', /^grype\b/i, { kind: 'sca' }),
  of('Checkov', /^checkov\b/i, {
    kind: 'iac',
    kinds: [
      [/^CKV2?_SECRET/, 'secret'],
      [/^(?:CVE|GHSA|PRISMA|BC_VUL|BC_CVE)[-_]/, 'sca'],
      [/^CKV2?_K8S/, 'k8s'],
    ],
    withoutScore: 'medium',
  }),
  of('Gitleaks', /^(?:git|better)leaks\b/i, { kind: 'secret' }),
  of('Bandit', /^bandit\b/i, { kind: 'sast' }),
  of('Semgrep', /^(?:semgrep|opengrep)\b/i, {
    kinds: [
      [/(?:^|\.)secrets?\./i, 'secret'],
      [/^(?:ssc-|supply-chain)/i, 'sca'],
      [/(?:^|\.)terraform\.|(?:^|\.)dockerfile\./i, 'iac'],
      [/(?:^|\.)kubernetes\./i, 'k8s'],
    ],
  }),
  of('KICS', /^kics\b|infrastructure as code/i, { kind: 'iac', kinds: [[/passwords? and secrets?/i, 'secret']] }),
  of('Snyk Code', /^snyk ?code\b/i, { kind: 'sast' }),
  of('Snyk Container', /^snyk ?container\b/i, { kind: 'container' }),
  of('Snyk IaC', /^snyk ?(?:iac|infrastructure)/i, { kind: 'iac' }),
  of('Snyk Open Source', /^snyk\b/i, {
    kinds: [
      [/^(?:SNYK-|npm:|CVE-)/, 'sca'],
      [/^SNYK-CC-/, 'iac'],
    ],
  }),
  ...each('secret', [
    'secretlint',
    'ggshield',
    'gitguardian',
    'nosey parker',
    'trufflehog',
    'detect-secrets',
    'kingfisher',
    'whispers',
    'talisman',
    'git-secrets',
    'ripsecrets',
    'titus',
    'leaktk',
    'secret scanning',
  ]),
  ...each('sca', [
    'osv-scanner',
    'dependency-check',
    'owasp dependency-check',
    'dependabot',
    'npm audit',
    'yarn audit',
    'pip-audit',
    'safety',
    'cargo-audit',
    'cargo-deny',
    'bundler-audit',
    'retire',
    'govulncheck',
    'nancy',
    'anchore',
    'docker scout',
    'xray',
    'mend',
    'black duck',
    'depscan',
  ]),
  ...each('iac', ['tfsec', 'terrascan', 'cfn-nag', 'regula', 'cloudformation guard', 'ansible-lint', 'zizmor']),
  ...each('k8s', ['kubescape', 'kube-linter', 'kube-score', 'kubesec', 'kubeaudit', 'polaris', 'kube-bench']),
  ...each('container', ['dockle', 'clair']),
  ...each('cspm', ['prowler', 'scoutsuite', 'cloudsploit', 'steampipe', 'lynis']),
  ...each('dast', [
    'zap',
    'owasp zap',
    'checkmarx zap',
    'nuclei',
    'burp',
    'dastardly',
    'arachni',
    'wapiti',
    'nikto',
    'stackhawk',
    'acunetix',
    'invicti',
    'wpscan',
    'testssl',
    'nmap',
  ]),
  of('Hadolint', /^hadolint(?:[ @v-]*\d[\d.]*)?$/i, { kind: 'iac', security: /^DL(?:3002|3004|3006|3007|3020|3026)$/ }),
  of('ESLint', /^eslint(?:[ @v-]*\d[\d.]*)?$/i, {
    security: new RegExp(`^(?:${eslintSecurity})|^(?!(?:${eslintLint})/)@?[\\w-]+/`, 'i'),
  }),
  of('HTMLHint', /^html-?hint(?:[ @v-]*\d[\d.]*)?$/i, { security: /^inline-script/ }),
  of('ShellCheck', /^shellcheck(?:[ @v-]*\d[\d.]*)?$/i, { security: /^(?:SC)?(?:2046|2068|2086|2091|2115|2294)$/ }),
  of('Pylint', /^pylint(?:[ @v-]*\d[\d.]*)?$/i, {
    security: /^(?:W0122|W0123|W1509|exec-used|eval-used|subprocess-popen-preexec-fn)$/,
  }),
  of('Ruff', /^ruff(?:[ @v-]*\d[\d.]*)?$/i, { security: /^(?:S\d{3}|PGH001|DUO\d+)$/ }),
  of('Flake8', /^flake8(?:[ @v-]*\d[\d.]*)?$/i, { security: /^(?:S\d{3}|DUO\d+)$/ }),
  of('Cppcheck', /^cppcheck(?:[ @v-]*\d[\d.]*)?$/i, {
    quality: new RegExp(
      [
        '^(?:unused|variableScope|missing(?:Include|Override)|unreadVariable|constParameter|',
        'constVariable|constStatement|cstyleCast|functionStatic|functionConst|noExplicitConstructor|',
        'passedByValue|postfixOperator|redundant|shadow|useStlAlgorithm|useInitializationList|',
        'knownConditionTrueFalse|style|unmatchedSuppression|checkersReport|toomanyconfigs|',
        'normalCheckLevel)',
      ].join(''),
      'i',
    ),
  }),
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
  of('PMD', /^pmd(?:[ @v-]*\d[\d.]*)?$/i, {
    security: new RegExp(
      [
        '^(?:HardCodedCryptoKey|InsecureCryptoIv|Apex(?:SOQLInjection|XSS\\w*|SharingViolations|',
        'CRUDViolation|Insecure\\w+|OpenRedirect|DangerousMethods|BadCrypto|CSRF|SuggestUsingNamedCred)|',
        'Vf\\w+)$',
      ].join(''),
    ),
  }),
  of('RuboCop', /^rubocop(?:[ @v-]*\d[\d.]*)?$/i, { security: /^Security\// }),
  of('golangci-lint', /^golangci(?:-lint)?(?:[ @v-]*\d[\d.]*)?$/i, {
    quality: new RegExp(
      [
        '^(?:errcheck|govet|staticcheck|unused|gosimple|ineffassign|typecheck|revive|stylecheck|',
        'golint|gofmt|gofumpt|goimports|gci|lll|gocritic|gocyclo|cyclop|funlen|dupl|misspell|',
        'whitespace|wsl|nlreturn|godot|unparam|unconvert|prealloc|nakedret|deadcode|varcheck|',
        'structcheck|exhaustive|gochecknoglobals|testpackage|mnd|gomnd)\\b',
      ].join(''),
    ),
  }),
  of('Staticcheck', /^staticcheck(?:[ @v-]*\d[\d.]*)?$/i, { quality: /^(?:S|ST|QF|U)\d/ }),
  of('SonarQube', /^sonar(?:qube|cloud|lint)?\b/i, { quality: /\bcode[_ -]smell\b/i }),
  ...linters([
    'stylelint',
    'prettier',
    'markdownlint',
    'yamllint',
    'checkstyle',
    'ktlint',
    'detekt',
    'swiftlint',
    'pycodestyle',
    'pydocstyle',
    'pyflakes',
    'black',
    'isort',
    'mypy',
    'pyright',
    'jshint',
    'jslint',
    'standard',
    'tslint',
    'editorconfig-checker',
    'biome',
    'luacheck',
    'vale',
    'cpplint',
  ]),
];

const found = new Map<string, ToolProfile | null>();

/** By the name that a report gives; null: nobody knows it, so that nothing of it is hidden. */
export function profileOf(tool: string): ToolProfile | null {
  const name = tool.trim().slice(0, 200);
  const known = found.get(name);
  if (known !== undefined) return known;
  const profile = profiles.find(({ names }) => names.test(name)) ?? null;
  if (found.size < 1000) found.set(name, profile);
  return profile;
}

/** As the hub spells it, whatever the report does. */
export const canonicalName = (tool: string): string => profileOf(tool)?.name ?? tool;

/** Tags of rules, of any tool, that say which kind a finding is. */
export const kindOfTag: Readonly<Record<string, Source>> = {
  secret: 'secret',
  secrets: 'secret',
  credentials: 'secret',
  'hardcoded-secret': 'secret',
  dependency: 'sca',
  dependencies: 'sca',
  sca: 'sca',
  'vulnerable-dependency': 'sca',
  'supply-chain': 'sca',
  misconfiguration: 'iac',
  iac: 'iac',
  infrastructure: 'iac',
  terraform: 'iac',
  dockerfile: 'iac',
  kubernetes: 'k8s',
  k8s: 'k8s',
  container: 'container',
  dast: 'dast',
};

/** Tags of rules that are no security where no tag says otherwise (CodeQL, SpotBugs, SonarQube). */
export const qualityTags: ReadonlySet<string> = new Set(
  'maintainability,readability,reliability,style,performance,bad_practice,code_smell,i18n,documentation'.split(','),
);

export const profileTable = profiles;
