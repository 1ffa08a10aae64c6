// ESLint, and what runs its rules: which plugins are about style, and which rules of those are about security.

/** Plugins that are about style, types, tests or frameworks: their rules are quality but for those below. */
const stylePlugins = [
  'import|import-x|react|react-hooks|react-native|react-refresh|react-compiler|react-perf|react-dom|react-x|dom|preact',
  'vue|vuejs-accessibility|jsx-a11y|jsx-a11y-x|n|node|promise',
  'unicorn|prettier|jest|jest-dom|jest-formatting|vitest|mocha',
  'ava|cypress|playwright|testing-library|storybook|jsdoc|tsdoc',
  'simple-import-sort|sonarjs|eslint-comments|oxc|typescript',
  '@typescript-eslint|typescript-eslint|@stylistic|@stylistic/\\w+',
  '@next/next|nextjs|@babel|babel|@eslint-react|@eslint-community',
  'astro|svelte|svelte3|solid|@angular-eslint|@angular-eslint/template',
  'regexp|lwc|@lwc/lwc|@html-eslint|html|es|es-x|compat',
  'tailwindcss|better-tailwindcss|perfectionist|functional|fp|lodash|lodash-fp|ember|qwik|@nx|@nrwl/nx|@graphql-eslint',
  'graphql|yml|jsonc|json|json-schema-validator|toml|mdx|markdown',
  'i18next|@intlify/vue-i18n|i18n|formatjs|deprecation|etc',
  'rxjs|rxjs-angular|ngrx|@ngrx|boundaries|no-only-tests|turbo',
  '@tanstack/query|drizzle|lit|lit-a11y|wc|header|license-header',
  'filenames|check-file|canonical|flowtype|ft-flow|github|decorator-position',
  '@shopify|@wordpress|@salesforce|headers|unused-imports',
  'sort-keys-fix|sort-destructure-keys|sort-class-members',
  'no-relative-import-paths|import-newlines|prefer-arrow|jasmine|qunit',
  'cflint|googleappsscript|you-dont-need-lodash-underscore',
  'eslint-plugin|internal|n8n-nodes-base|tsc|tslint|expo|valtio|zod',
].join('|');

const securityPlugins =
  'security|security-node|no-unsanitized|no-secrets|no-secrets-next|' +
  'xss|scanjs-rules|sdl|@microsoft/sdl|regexp-security|' +
  'redos|redos-detector|anti-trojan-source|no-wildcard-postmessage|pii|secure-coding|eslint-plugin-security|' +
  'html-security|prototype-pollution|prototype-pollution-security-rules|jsx-security|react-security' +
  '|no-hardcoded-credentials';

/** Rules of SonarJS that are vulnerabilities or hotspots of SonarQube. */
const sonarSecurity = [
  'no-hardcoded|hardcoded-secret|code-eval|os-command|no-os-command',
  'sql-queries|weak-ssl|hashing|pseudo-random|encryption',
  'xml-parser|cors|csrf|cookies|cookie-no-httponly|insecure-|no-weak-',
  'unverified-|disabled-(?:auto-escaping|resource-integrity)',
  'no-clear-text|content-length|content-security-policy',
  'file-(?:permissions|uploads)|hidden-files|certificate-transparency',
  'confidential-information|no-mime-sniff|no-mixed-content',
  'no-referrer-policy|no-(?:vue|angular)-bypass|link-with-target-blank',
  'post-message|production-debug|publicly-writable|session-regeneration',
  'slow-regex|super-linear-regex|strict-transport|sockets',
  'x-powered-by|aws-|no-intrusive-permissions|no-ip-forward',
  'no-unsafe-unzip|no-session-cookies|web-sql-database|process-argv',
  'dynamically-constructed-templates|no-(?:inner|outer)-?html',
  'standard-input|dns-prefetching|review-blockchain|disabled-timeout',
].join('|');

/** Last parts of rules, of whatever plugin. */
const securityRules = [
  'no-(?:implied-|global-|script-)?eval|no-eval-\\w+|no-new-func|no-script-urls?|jsx-no-script-url|no-document-write',
  'no-(?:dangerously-)?(?:set-)?(?:inner|outer)-?html(?:-\\w+)?',
  'no-insert-adjacent-html|no-at-html-tags|no-v-html(?:-\\w+)*',
  'no-v-text-v-html-on-component|no-danger(?:-with-children)?|no-dangerously-\\w[\\w-]*|no-set-(?:html|text)-directive',
  'no-unsafe-(?:html|target-blank|iframe-sandbox|inner-html|href|innerhtml)',
  'unescaped-html-literal|no-raw-html|no-html-link-\\w+',
  '(?:jsx-|template-|no-)?(?:no-)?(?:template-)?target-blank',
  'no-target-blank|iframe-missing-sandbox|no-missing-iframe-sandbox',
  'no-super-linear-(?:backtracking|move)|no-(?:vulnerable|unsafe)-?(?:regexp?)?',
  'detect-\\w[\\w-]*|no-bidi|no-control-bidi',
  'no-hard-?coded-(?:credentials?|passwords?|secrets?|keys?|tokens?)|no-secrets?|no-insecure-\\w[\\w-]*|no-cookies?',
  'no-postmessage-star-origin|no-wildcard-postmessage|no-bypass-\\w[\\w-]*|no-sanitizer\\w*|no-buffer-constructor',
  'no-unsanitized(?:-\\w+)?|no-mixed-html|no-location-href-assign|no-sql-\\w+|no-raw-sql|no-csp-\\w+|' +
    'no-nodejs-eval|no-proto|no-dynamic-require|no-document-cookie|no-unsafe-query',
].join('|');

export const eslintSecurity = new RegExp(
  `^(?:(?:${securityPlugins})/|(?:@?[\\w-]+/){0,3}(?:${securityRules})$|sonarjs/(?:${sonarSecurity})|` +
    `(?!(?:${stylePlugins})/)@?[\\w-]+/)`,
  'i',
);

/** `eslint-plugin-react(no-danger)` of oxlint is `react/no-danger`. */
export function ofOxlint(ruleId: string): string {
  const [, plugin, rule] = /^([\w@/-]+)\(([\w/-]+)\)$/.exec(ruleId) ?? [];
  const whole = rule === undefined ? ruleId : `${plugin}/${rule}`;
  return whole
    .replace(/^eslint-plugin-/, '')
    .replace(/^eslint\//, '')
    .replace(/^typescript(?:-eslint)?\//, '@typescript-eslint/');
}
