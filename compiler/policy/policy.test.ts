import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { Diagnostics } from '../diagnostics/diagnostics.js';
import { formatDiagnostic } from '../diagnostics/format.js';
import { dumpProgram } from '../artifact/dump.js';
import { renderPolicy, resolvePolicy, type Policy } from './policy.js';
import { loadCoreRuleSet, type CoreRuleSet } from './crs.js';
import { renderVisualRule } from './custom-rules.js';
import { pathExpression } from './exclusions.js';
import { toBytes } from './quoting.js';
import { categoryTags, type VisualRule } from './settings.js';
import { compileProgram } from '../compile-program.js';
import { createMemoryStore } from '#engine';
import { compileRe2, createInterpreter } from '#engine/compile';
import { findCrs } from '../testing/core-rules.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = join(root, 'fixtures/policy');

/** A rule set of our own with one rule per category tag. */
const rulesText = [
  `SecComponentSignature "${['OWASP_CRS', '4.9.0'].join('/')}"`,
  ...Object.values(categoryTags)
    .flat()
    .map(
      (tag, index) =>
        `SecRule ARGS "@rx attack${index}" "id:${950_000 + index},phase:2,block,msg:'${tag}',tag:'${tag}'"`,
    ),
].join('\n');
const smallCrs: CoreRuleSet = {
  version: '4.9.0',
  setupVersion: 490,
  rules: [{ path: 'crs/rules/REQUEST-901-INITIALIZATION.conf', text: `${rulesText}\n` }],
  pluginsBefore: [],
  pluginsAfter: [],
  tags: new Set(Object.values(categoryTags).flat()),
};

/** Runs the interpreter: is a request without a body blocked? */
function createJudge(policy: Policy | null): (uri: string, headers?: readonly string[]) => boolean {
  const { program } = compileProgram(policy === null ? [] : renderPolicy(policy));
  if (program === null) throw new Error('the policy does not compile');
  const inspector = createInterpreter(program);
  return (uri, headers = []) => {
    const head = {
      method: 'GET',
      uri,
      protocol: 'HTTP/1.1',
      headers: ['Host', 'a', ...headers],
      clientIp: '192.0.2.1',
      clientPort: 1,
      serverIp: '192.0.2.2',
      serverPort: 80,
    };
    const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
    const blocked =
      inspector.requestHeaders(transaction) !== null || inspector.requestBody(transaction, null, 0) !== null;
    inspector.finish(transaction);
    return blocked;
  };
}

t.test('golden files: settings → rule text or diagnostics', (t) => {
  let count = 0;
  for (const name of readdirSync(folder)
    .filter((entry) => entry.endsWith('.json'))
    .sort()) {
    const settings = JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown;
    const { policy, diagnostics } = resolvePolicy(settings, smallCrs);
    const own = policy === null ? [] : renderPolicy(policy).filter(({ path }) => path.startsWith('gatehouse/'));
    const found = [
      ...own.map(({ path, text }) => `==== ${path}\n${text}`),
      ...diagnostics.map((one) => `${formatDiagnostic(one)}\n`),
    ].join('');
    const expected = join(folder, name.replace(/json$/, 'conf'));
    if (process.env['UPDATE'] === '1') writeFileSync(expected, found, 'latin1');
    else t.equal(found, readFileSync(expected, 'latin1'), name);
    if (policy !== null)
      t.same(
        compileProgram(renderPolicy(policy)).diagnostics.filter(({ severity }) => severity === 'error'),
        [],
        `${name} compiles`,
      );
    count += 1;
  }
  t.ok(count >= 6, `${count} settings`);
  t.end();
});

const visual: VisualRule = {
  kind: 'visual',
  id: 1_000_000,
  name: 'n',
  enabled: true,
  variable: 'ARGS',
  operator: 'contains',
  value: '',
  action: 'block',
  phase: 2,
  transformations: [],
  redirect_url: '',
};

t.test('any value and name stay what they are: one rule, the same meaning', (t) => {
  const nasty = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '"',
          '\\',
          "'",
          '\n',
          ' ',
          ',',
          '"id:2',
          '%{',
          '\\"',
          '\\\n',
          'SecRuleEngine Off',
          '\t',
          '@',
          '!',
        ),
        fc.string({ maxLength: 3, unit: 'binary' }),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(''));
  let exact = 0;
  fc.assert(
    fc.property(
      nasty,
      nasty,
      fc.constantFrom('contains', '!streq', 'beginsWith', '@endsWith', 'within', 'pm', 'rx'),
      (value, name, operator) => {
        const diagnostics = new Diagnostics();
        const text = renderVisualRule({ ...visual, value, name, operator }, '/custom_rules/0', diagnostics);
        if (text === null) return diagnostics.hasErrors;
        const { program, diagnostics: found } = compileProgram([{ path: 'x', text }]);
        // The value itself may be no expression, no phrase: never a problem of quoting or structure.
        if (program === null)
          return (
            ['rx', 'pm'].includes(operator) &&
            found.every(
              ({ code, severity }) => severity !== 'error' || ['GH-C3002', 'GH-C3003', 'GH-C3004'].includes(code),
            )
          );
        const [item, ...others] = program.items;
        if (others.length > 0 || item?.kind !== 'rule' || item.id !== 1_000_000 || item.disruptive.kind !== 'deny')
          return false;
        if (program.settings.ruleEngine !== 'Off') return false;
        const bound = item.links[0]?.operator;
        if (bound === undefined || bound === null || item.links.length !== 1) return false;
        const bytes = toBytes(value);
        if (operator === 'rx' || bound.name !== operator.replace(/^[!@]+/, '')) {
          if (operator === 'rx') return true; // its own test below
          const pattern = compileRe2(bound.argument, { caseless: false, dotAll: true, multiline: false });
          return (
            pattern.test(bytes) && (bytes === '' || !pattern.test(bytes.slice(1)) || bytes.slice(1).includes(bytes))
          );
        }
        exact += 1;
        return bound.argument === bytes;
      },
    ),
    { numRuns: 1500 },
  );
  t.ok(exact > 300, `${exact} values were written as they are`);
  t.end();
});

t.test('a redirect goes to exactly the address of the form, or is refused', (t) => {
  for (const [url, isTaken] of [
    ['https://a.test/x?a=b,c&d=%20#e', true],
    ['/sorry', true],
    ["/a'b", false],
    ['/a"b', false],
    ['/%{TX.a}', false],
    ['/a b', false],
    ['/a\\', false],
    ['/a\nLocation: b', false],
    ['', false],
  ] as const) {
    const text = renderVisualRule(
      { ...visual, value: 'x', action: 'redirect', redirect_url: url },
      '',
      new Diagnostics(),
    );
    t.equal(text !== null, isTaken, JSON.stringify(url));
    const item = compileProgram([{ path: 'x', text: text ?? '' }]).program?.items[0];
    if (isTaken) t.match(item, { kind: 'rule', disruptive: { kind: 'redirect', status: 302, url: [url] } });
  }
  t.end();
});

t.test('expressions keep their meaning when quotes are hidden', (t) => {
  for (const [value, sample] of [
    ['say "x"', 'say "x"'],
    ['a\\"b', 'a"b'],
    ['["\']+\\\\', '"\\'],
    [' lead', ' lead'],
    ['\\x22\\d+"', '"12"'],
  ] as const) {
    const text = renderVisualRule({ ...visual, operator: 'rx', value }, '', new Diagnostics());
    const { program } = compileProgram([{ path: 'x', text: text ?? '' }]);
    const item = program?.items[0];
    const argument = item?.kind === 'rule' ? (item.links[0]?.operator?.argument ?? '') : '';
    t.ok(
      compileRe2(argument, { caseless: false, dotAll: true, multiline: false }).test(sample),
      `${value} finds ${sample}`,
    );
  }
  t.equal(renderVisualRule({ ...visual, operator: 'rx', value: 'a\\' }, '', new Diagnostics()), null);
  t.equal(renderVisualRule({ ...visual, operator: 'pmFromFile', value: '/etc/passwd' }, '', new Diagnostics()), null);
  t.end();
});

t.test('no text of a raw rule reaches the rule behind it', (t) => {
  const first = 'SecRule ARGS:a "@rx a" "id:1000000,phase:2,deny"';
  const links = (text: string): unknown => {
    const rules = [text, 'SecRule ARGS:b "@rx b" "id:1000001,phase:2,block"'].map((raw, index) => ({
      id: 1_000_000 + index,
      kind: 'raw',
      text: raw,
    }));
    const patch = { id: 1_007_000, text: 'SecRule ARGS:c "@rx c" "id:1007000,phase:2,block"' };
    const { policy, diagnostics } = resolvePolicy({ custom_rules: rules, virtual_patches: [patch] }, smallCrs);
    if (policy === null) return diagnostics.map(({ path, message }) => `${path} ${message}`);
    const { program } = compileProgram(renderPolicy(policy));
    return program?.items.flatMap((item) =>
      item.kind === 'rule' && item.id >= 1_000_000 ? [`${item.id}: ${item.links.length}`] : [],
    );
  };
  const neighbours = ['1000001: 1', '1007000: 1'];
  for (const [text, expected] of [
    ['# nothing yet \\', neighbours],
    [`${first}\n# the end \\\n`, ['1000000: 1', ...neighbours]],
    [`${first} \\`, ['1000000: 1', ...neighbours]],
    [`${first} \\ \r\n`, ['1000000: 1', ...neighbours]],
    [`\uFEFF${first}`, ['1000000: 1', ...neighbours]],
    [first, ['1000000: 1', ...neighbours]],
    [
      first.replace('deny', 'deny,chain'),
      [
        '/custom_rules/0/text line 1, column 1: the chain is not continued, so that the next rule of the settings ' +
          'would become a part of it',
      ],
    ],
  ] as const)
    t.same(links(text), expected, JSON.stringify(text));
  t.end();
});

t.test('excluded paths are compared by segments', (t) => {
  const covers = (path: string, candidate: string): boolean =>
    compileRe2(pathExpression(path), { caseless: false, dotAll: true, multiline: false }).test(candidate);
  for (const [path, candidate, expected] of [
    ['/api', '/api', true],
    ['/api', '/api/', true],
    ['/api', '/api/x/y', true],
    ['/api', '/apiary', false],
    ['/api', '/x/api', false],
    ['/api/', '/api', true],
    ['/api/*', '/api/x', true],
    ['/a/*/c', '/a/b/c/d', true],
    ['/a/*/c', '/a/b/b/c', false],
    ['/', '/anything', true],
    ['/a.b', '/axb', false],
    ['/ü', '/\xc3\xbc', true],
    ['/u%C3%bc', '/u\xc3\xbc', true],
    ['/a%20b', '/a b', true],
    ['/a%20b', '/a%20b', false],
    ['/100%', '/100%', true],
    ['/a%2ac', '/a*c', true],
    ['/a%2ac', '/abc', false],
  ] as const)
    t.equal(covers(path, candidate), expected, `${path} ${candidate}`);
  t.end();
});

t.test('excluded paths that nothing could ever reach are refused', (t) => {
  for (const [path, isRefused] of [
    ['/a//b', true],
    ['/a/./b', true],
    ['/a/.', true],
    ['/a\\b', true],
    ['/a/../b', true],
    ['/a/.b', false],
    ['/a.b/', false],
    ['/', false],
    ['/a//', false],
  ] as const) {
    const { policy } = resolvePolicy({ categories: { sqli: { enabled: true, excluded_paths: [path] } } }, smallCrs);
    t.equal(policy === null, isRefused, path);
  }
  const many = Array.from({ length: 501 }, (_, index) => `/p${index}`);
  t.match(
    resolvePolicy({ categories: { sqli: { enabled: true, excluded_paths: many } } }, smallCrs).diagnostics,
    [{ path: '/categories', message: /more than 500/ }],
    'ids of other exclusions are left alone',
  );
  t.end();
});

t.test('a directory without a rule set, a rule set without a tag', (t) => {
  const { crs, diagnostics } = loadCoreRuleSet('nowhere', { read: () => null, glob: () => [] });
  t.equal(crs, null);
  t.match(diagnostics, [{ code: 'GH-C7003', severity: 'error' }]);
  const { policy, diagnostics: found } = resolvePolicy(
    {},
    { ...smallCrs, tags: new Set([...smallCrs.tags].filter((tag) => !tag.endsWith('ATTACK-XSS'))) },
  );
  t.ok(policy !== null);
  t.match(found, [{ code: 'GH-C7004', path: '/categories/xss' }]);
  t.end();
});

t.test('below an excluded path the category does not run, and only there', (t) => {
  const denying = {
    ...smallCrs,
    rules: smallCrs.rules.map(({ path, text }) => ({ path, text: text.replaceAll(',block,', ',deny,') })),
  };
  const { policy } = resolvePolicy(
    { categories: { sqli: { enabled: true, excluded_paths: ['/search', '/a b', '/c++/docs', '/d%20e'] } } },
    denying,
  );
  const isBlocked = createJudge(policy);
  const attack = '?q=attack0'; // the one rule that is tagged ATTACK-SQLI
  for (const path of [
    '/search',
    '/search/',
    '/search/deep',
    '/%73earch',
    '/a%20b/c',
    '/c++/docs/1',
    '/c%2b%2b/docs',
    '/d%20e',
  ])
    t.equal(isBlocked(path + attack), false, `${path} is excluded`);
  for (const path of [
    '/',
    '/searching',
    '/x/search',
    '/search/../admin',
    '/search/..%2fadmin',
    '/search/%252e%252e/admin',
    '/search/..%5cadmin',
    '/x/..%2fsearch',
    '/c%20%20/docs',
    '/c++/docs/../x',
  ])
    t.equal(isBlocked(path + attack), true, `${path} is not`);
  t.equal(isBlocked('/search?q=attack1'), true, 'other categories run');
  t.end();
});

t.test('a charset whose parameter is spelled past the CRS is one that rules can read', (t) => {
  const isBlocked = createJudge(resolvePolicy({}, smallCrs).policy);
  const types: readonly (readonly [string, boolean])[] = [
    ['', false],
    ['; Charset=UTF-8', false],
    [';CHARSET = "utf-8"', false],
    ["; Charset='ISO-8859-15'; boundary=x", false],
    ['; charset=utf-16', false], // rule 920480 of the CRS judges these
    ['; Charset=utf-16', true],
    [';\tCHARSET="ibm037"', true],
    ['; Charset=utf-8x', true],
    ["; charset*=utf-8''utf-7", true],
  ];
  for (const [parameter, expected] of types)
    t.equal(isBlocked('/', ['Content-Type', `application/x-www-form-urlencoded${parameter}`]), expected, parameter);
  t.end();
});

t.test('settings of any shape give diagnostics, never an exception', (t) => {
  const keys = fc.constantFrom(
    'mode',
    'paranoia_level',
    'categories',
    'custom_rules',
    'virtual_patches',
    'allowed_methods',
    'inbound_threshold',
  );
  const rule = fc.record(
    {
      id: fc.oneof(fc.integer(), fc.constant(1_000_000)),
      kind: fc.constantFrom('raw', 'visual', 'x'),
      text: fc.string(),
      variable: fc.string(),
      operator: fc.string(),
      value: fc.string(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.anything(),
        fc.dictionary(
          keys,
          fc.oneof(fc.anything(), fc.array(rule), fc.dictionary(fc.constantFrom('sqli', 'xyz'), fc.anything())),
        ),
      ),
      (settings) => {
        const { policy, diagnostics } = resolvePolicy(settings, smallCrs);
        if ((policy === null) !== diagnostics.some(({ severity }) => severity === 'error'))
          throw new Error('policy and errors disagree');
        if (policy !== null) renderPolicy(policy);
      },
    ),
    { numRuns: 500 },
  );
  t.end();
});

const crsDirectory = findCrs();
t.test(
  'the real rule set with every category switched off, and with exclusions',
  { skip: crsDirectory === null ? 'no rule set: set CRS_DIR or run `node bin/crs.mjs`' : false },
  (t) => {
    const reader = {
      read: (path: string): string | null => (existsSync(path) ? readFileSync(path, 'latin1') : null),
      glob: (pattern: string): string[] => {
        const [before = '', after = ''] = basename(pattern).split('*');
        const directory = dirname(pattern);
        return existsSync(directory)
          ? readdirSync(directory)
              .filter((name) => name.startsWith(before) && name.endsWith(after))
              .map((name) => join(directory, name))
          : [];
      },
    };
    const { crs } = loadCoreRuleSet(crsDirectory ?? '', reader);
    if (crs === null) throw new Error('CRS_DIR holds no rule set');
    const compile = (settings: unknown): ReturnType<typeof compileProgram>['program'] => {
      const { policy, diagnostics } = resolvePolicy(settings, crs);
      t.same(diagnostics, []);
      return policy === null ? null : compileProgram(renderPolicy(policy), { reader }).program;
    };
    const all = compile({});
    const none = compile({
      categories: Object.fromEntries(Object.keys(categoryTags).map((key) => [key, { enabled: false }])),
    });
    const some = compile({
      categories: {
        sqli: { enabled: true, excluded_paths: ['/a', '/b'] },
        rce: { enabled: true, excluded_paths: ['/a'] },
      },
    });
    const tagged = (program: typeof all): number =>
      program?.items.filter(
        (item) =>
          item.kind === 'rule' && item.tags.some((tag) => tag.startsWith('OWASP_CRS/') && !/OWASP_CRS\/\d/.test(tag)),
      ).length ?? 0;
    t.ok(tagged(all) >= 340, `${tagged(all)} detection rules`);
    t.equal(tagged(none), 0);
    t.match(
      dumpProgram(some as NonNullable<typeof some>),
      /rule 1009002 phase 1 pass[^]*ctl ruleRemoveByTag "\^OWASP_CRS\/WEB-SHELLS\$"/,
    );
    t.end();
  },
);
