// Which tool a report of no tool is of (Checkstyle XML, lines of compilers): recognised by the names of its rules, and
// where the ids of two tools look alike, by the file. A rule that tells of no tool is of none, so that it is never
// hidden.
import { isCppcheckId } from './cppcheck.js';
import { profileOf } from './tools.js';

export interface NamedRule {
  /** null: nothing is known of the rule. */
  readonly tool: string | null;
  /** As the tool itself calls it in its other formats. */
  readonly rule: string;
}

/** Names of files. */
const files = {
  python: /\.(?:py[iwx]?|ipynb)$/i,
  lua: /\.(?:lua|rockspec)$/i,
  script: /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i,
  style: /\.(?:css|scss|sass|less|styl|pcss)$/i,
  solidity: /\.sol$/i,
  prose: /\.(?:md|mdx|markdown|txt|rst|adoc)$/i,
  yaml: /\.ya?ml$/i,
  template: /\.(?:ya?ml|json|template)$/i,
  go: /\.go$/i,
  c: /\.(?:[ch](?:c|pp|xx|\+\+|h|u)?|cl|inl|ino|ipp|tpp|txx|mm?)$/i,
  php: /\.(?:php\d?|phtml|inc|module|install|theme)$/i,
  kotlin: /\.kts?$/i,
  terraform: /\.(?:tf|tofu|hcl)(?:vars)?$/i,
  dotnet: /\.(?:cs|vb|fs|csproj)$/i,
  powershell: /\.(?:ps1|psm1|psd1)$/i,
} as const;

interface Shape {
  readonly rule: RegExp;
  readonly tool: string;
  readonly file?: RegExp;
  /** What stands before the rule's own name. */
  readonly bare?: RegExp;
}
const shape = (tool: string, rule: RegExp, file?: RegExp, bare?: RegExp): Shape => ({
  rule,
  tool,
  ...(file === undefined ? {} : { file }),
  ...(bare === undefined ? {} : { bare }),
});
const ofEslint = /^eslint\.rules\./;
const oneOf = (names: string): RegExp => new RegExp(`^(?:${names.split(' ').join('|')})$`);

/** Rules of ESLint itself that no other tool has, in files of any kind. */
const isCoreOfEslint = oneOf(
  'no-undef no-unused-vars no-console no-debugger no-redeclare no-empty no-extra-semi no-var no-unreachable no-eval ' +
    'no-implied-eval no-new-func no-prototype-builtins no-useless-escape no-case-declarations no-fallthrough ' +
    'no-shadow no-undef-init no-unused-expressions no-use-before-define no-trailing-spaces no-multi-spaces ' +
    'no-mixed-spaces-and-tabs no-constant-condition no-cond-assign no-dupe-keys no-else-return no-plusplus ' +
    'no-underscore-dangle no-param-reassign no-restricted-syntax no-magic-numbers prefer-const prefer-template ' +
    'prefer-arrow-callback prefer-destructuring object-shorthand object-curly-spacing comma-dangle eol-last ' +
    'space-before-function-paren arrow-parens consistent-return default-case require-await',
);

/** The first that fits counts. */
const shapes: readonly Shape[] = [
  shape('ShellCheck', /^(?:shellcheck[.:/])?SC\d{4}$/i, undefined, /^shellcheck[.:/]/i),
  shape('Hadolint', /^(?:hadolint[.:/])?DL\d{4}$/i, undefined, /^hadolint[.:/]/i),
  // the formatter of ESLint is that of others, too
  shape('stylelint', ofEslint, files.style, ofEslint),
  shape('Solhint', ofEslint, files.solidity, ofEslint),
  shape('textlint', ofEslint, files.prose, ofEslint),
  shape('ESLint', ofEslint, undefined, ofEslint),
  shape(
    'RuboCop',
    new RegExp(
      '^(?:com\\.puppycrawl\\.tools\\.checkstyle\\.|rubocop\\.)?(?:Style|Layout|Lint|Metrics|Naming|Security|Bundler|' +
        'Gemspec|Rails|RSpec|RSpecRails|Performance|Capybara|FactoryBot|Minitest|Rake|ThreadSafety|Sorbet|I18n|' +
        'Migration)/(?:\\w+/)?[A-Z]\\w+$',
    ),
    undefined,
    /^(?:com\.puppycrawl\.tools\.checkstyle\.|rubocop\.)/,
  ),
  shape('checkstyle', /^(?:com\.puppycrawl\.|com\.github\.sevntu\.|checkstyle\.)/),
  shape('PMD', /^net\.sourceforge\.pmd\./, undefined, /^.*\./),
  shape('PHPMD', /^(?:net\.sourceforge\.)?phpmd\./i, undefined, /^.*\./),
  shape('CSSLint', /^net\.csslint\./, undefined, /^net\.csslint\./),
  shape('TSLint', /^failure\.tslint\./, undefined, /^failure\.tslint\./),
  shape('Scalastyle', /^(?:org\.)?scalastyle\./),
  shape('clang-tidy', /^clang-(?:analyzer|diagnostic)-/),
  shape(
    'clang-tidy',
    new RegExp(
      '^(?:abseil|altera|android|boost|bugprone|cert|concurrency|cppcoreguidelines|darwin|fuchsia|google|hicpp|' +
        'linuxkernel|llvm|llvmlibc|misc|modernize|mpi|objc|openmp|performance|portability|readability|zircon)-[a-z]',
    ),
    files.c,
  ),
  shape(
    'Clang Static Analyzer',
    /^(?:core|security|unix|cplusplus|deadcode|alpha|nullability|optin|valist|nullptr|fuchsia|osx|webkit)\./,
    files.c,
  ),
  shape('C compiler', /^-[Wf]/),
  shape(
    'Biome',
    /^(?:lint|format|assist|parse|suppressions|organizeImports|internalError)[./]\w|^(?:format|organizeImports|parse)$/,
  ),
  shape(
    'oxlint',
    new RegExp(
      '^(?:eslint|oxc|typescript|unicorn|react|import|node|promise|jsx-a11y|nextjs|vitest|jest|vue|[\\w-]*plugin-)' +
        '[\\w-]*\\([\\w/@-]+\\)$',
    ),
  ),
  shape('ktlint', /^(?:standard|experimental|diktat-ruleset|ktlint)(?::[\w-]+)+$/, undefined, /^ktlint:/),
  shape(
    'ktlint',
    new RegExp(
      '^(?:indent|filename|final-newline|import-ordering|max-line-length|modifier-order|string-template|' +
        'chain-wrapping|no-(?:wildcard-imports|unused-imports|trailing-spaces|consecutive-blank-lines|semi|' +
        'multi-spaces|line-break-\\S+|blank-line-\\S+|empty-class-body|unit-return)|' +
        '(?:comment|colon|comma|curly|dot|keyword|op|paren|range|angle-bracket|double-colon)-spacing)$',
    ),
    files.kotlin,
  ),
  shape('SonarQube', /^(?:[a-z][\w-]*:S\d{2,4}|squid:\w+)$/),
  shape('markdownlint', /^MD\d{3}(?:\/[\w-]+)*$/),
  shape('typescript', /^TS\d{4,5}$/),
  shape('clippy', /^clippy::/),
  shape('Perl::Critic', /^Perl::Critic::/),
  shape('Credo', /^(?:Elixir\.)?Credo\.Check\./),
  shape('PSScriptAnalyzer', /^PS[A-Z][A-Za-z]+$/, files.powershell),
  shape('Roslyn', /^(?:CA|CS|IDE|SA|SX|SYSLIB|SCS|SEC|RCS|BC|FS|MA|VSTHRD|xUnit)\d{3,5}$/, files.dotnet),
  // numbers of a letter: the same of several tools
  shape('luacheck', /^[EWI]?\d{3}$/, files.lua),
  shape('JSHint', /^[EWI]\d{3}$/, files.script),
  shape('cfn-lint', /^[EWI]\d{4}$/, files.template),
  shape('ESLint', isCoreOfEslint),
  shape(
    'Ruff',
    /^(?:PL[CERW]\d{4}|(?:RUF|PGH|UP|PERF|FURB|FBT|TRY|ERA|ANN|NPY|PD|AIR|FAST|TC|FLY)\d{3})$/,
    files.python,
  ),
  shape('Bandit', /^B[1-7]\d{2}$/, files.python),
  shape('Pylint', /^[CRWEFI]\d{4}$/),
  shape('gosec', /^G\d{3}$/, files.go),
  shape('Staticcheck', /^(?:SA|ST|QF|S|U)\d{4}$/, files.go),
  shape('Flake8', /^(?:[EWFCNDQ]|[A-Z]{1,3})\d{3}$/, files.python),
  shape('Flake8', /^[EWFCND]\d{3}$/),
  shape(
    'mypy',
    oneOf(
      'name-defined attr-defined arg-type assignment return-value return union-attr call-arg call-overload index ' +
        'operator import import-not-found import-untyped misc override var-annotated valid-type type-arg type-var ' +
        'no-untyped-def no-untyped-call no-any-return list-item dict-item typeddict-item has-type no-redef abstract ' +
        'func-returns-value truthy-bool unreachable redundant-cast unused-ignore empty-body safe-super',
    ),
    files.python,
  ),
  shape(
    'yamllint',
    oneOf(
      'anchors braces brackets colons commas comments comments-indentation document-end document-start empty-lines ' +
        'empty-values float-values hyphens indentation key-duplicates key-ordering line-length ' +
        'new-line-at-end-of-file new-lines octal-values quoted-strings trailing-spaces truthy',
    ),
    files.yaml,
  ),
  shape('stylelint', /^(?:[\w-]+\/)?[a-z]+(?:-[a-z]+)+$/, files.style),
  shape('tflint', /^(?:terraform|aws|google|azurerm|opa)_[a-z0-9_]+$/, files.terraform),
  shape('golangci-lint', /^[a-z][a-z0-9_]{1,29}$/, files.go),
  shape('Phan', /^Phan[A-Z]\w+$/),
  shape(
    'PHP_CodeSniffer',
    new RegExp(
      '^(?:Generic|PEAR|PSR1|PSR2|PSR12|PER|Squiz|Zend|MySource|WordPress\\w*|Drupal\\w*|SlevomatCodingStandard|' +
        'Magento\\w*|Symfony\\w*|Doctrine|PHPCompatibility\\w*|PHPCS_SecurityAudit|Internal|Universal|Modernize|' +
        'NormalizedArrays|VariableAnalysis|Joomla|Yii2|moodle|CakePHP)\\.\\w+(?:\\.\\w+){0,3}$',
    ),
  ),
  shape('PHP_CodeSniffer', /^[A-Z]\w+(?:\.[A-Z]\w+){2,3}$/, files.php),
  shape(
    'Psalm',
    new RegExp(
      '^(?:Tainted|Mixed|Undefined|Invalid|Possibly|Missing|Unused|TooMany|TooFew|Redundant|Deprecated|' +
        'LessSpecific|MoreSpecific|Null|Implicit|Unresolvable|UnrecognizedStatement|ParseError|Docblock|' +
        'TypeDoesNot|NoValue|Impure|Property|Paradoxical)\\w*$',
    ),
    files.php,
  ),
  shape('PHPStan', /^[a-z][A-Za-z]+\.[a-z][A-Za-z]+(?:\.[A-Za-z]+)?$/, files.php),
];

/** Names of tools that are words of other rules: `typescript.react.security.…` is a rule of Semgrep. */
const words =
  /^(?:typescript|dart|flutter|compiler|standard|clang|gcc|security|retire|safety|mend|tidy|black|dom|node)$/i;

/** Between a name and its rule: `swiftlint.rules.line_length`, `yamllint.truthy`, `detekt:MagicNumber`. */
function ofPrefix(source: string): NamedRule | null {
  const [, prefix = '', rule = ''] = /^([A-Za-z][\w-]{2,30}?)(?:[.:/]rules?)?[.:/]+(\S.*)$/.exec(source) ?? [];
  if (prefix === '' || words.test(prefix)) return null;
  const profile = profileOf(prefix);
  return profile === null ? null : { tool: profile.name, rule };
}

/** `… > @secretlint/secretlint-rule-slack` of a preset. */
const ofSecretlint = /(?:^|[\s>.])(@?[\w-]*\/?secretlint-rule-[\w/-]+)$/;

const style = /^(?:style|performance|portability|information|debug)$/;
const camelCase = /^[a-z]+\d*(?:[A-Z]\w*)+$/;
const isOfGolangci = (rule: string): boolean =>
  rule === 'gosec' || profileOf('golangci-lint')?.quality?.test(rule) === true;

/** Whether Cppcheck has the id: a known one, or one of its form in a file of C (`level` may be a word of its own). */
const isCppcheck = (rule: string, path: string, level: string): boolean =>
  isCppcheckId(rule) ||
  /^(?:misra-c|premium-|autosar-|cppcheck)/i.test(rule) ||
  (files.c.test(path) && (camelCase.test(rule) || (style.test(level) && /^\w+$/.test(rule))));

/** Of the `source` of a report's error, its file, and its level where the tool has words of its own. */
export function ruleOf(source: string, path: string, level = ''): NamedRule {
  const leak = ofSecretlint.exec(source)?.[1];
  if (leak !== undefined) return { tool: 'secretlint', rule: leak };
  if (isCppcheck(source, path, level)) return { tool: 'Cppcheck', rule: source };
  for (const { rule, tool, file, bare } of shapes) {
    if (!rule.test(source) || file?.test(path) === false) continue;
    if (tool === 'golangci-lint' && !isOfGolangci(source)) continue;
    return { tool, rule: bare === undefined ? source : source.replace(bare, '') };
  }
  return ofPrefix(source) ?? { tool: null, rule: source };
}

/** `-Wformat-security` of `-Werror=format-security` and of `-Werror,-Wformat-security`; the first of several checks. */
export function ruleOfLine(names: string): string {
  const [first = '', ...more] = names.split(',').map((name) => name.trim());
  const named = first === '-Werror' ? (more[0] ?? first) : first;
  return named.replace(/^-Werror=/, '-W').replace(/=\S*$/, '');
}
