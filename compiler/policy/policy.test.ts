// Settings → rule text: golden files, settings of any shape, and the real rule set.
import {
  checkSettings,
  defaultSettings,
  formatProblems,
  readLocalFile,
  requireSettings,
  withCurrentNames,
} from '#settings';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { dumpProgram } from '../artifact/dump.js';
import { compileProgram } from '../compile-program.js';
import { formatDiagnostic } from '../diagnostics/format.js';
import { findCrsOf, withoutVersion4 } from '../testing/core-rules.js';
import { createJudge, smallCrs } from '../testing/small-policy.js';
import { loadCoreRuleSet, type CoreRuleSet } from './crs.js';
import { renderPolicy, resolvePolicy } from './policy.js';
import { generationOf } from './generations.js';
import { findRuleIds } from './raw-rule.js';
import { categoryTags } from './settings.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = join(root, 'fixtures/policy');

t.test('golden files: settings → rule text or diagnostics', (t) => {
  let count = 0;
  for (const name of readdirSync(folder)
    .filter((entry) => entry.endsWith('.json'))
    .sort()) {
    const read = readLocalFile(readFileSync(join(folder, name), 'utf8'), 'compile');
    const { policy, diagnostics } =
      read.kind === 'fine' ? resolvePolicy(read.settings, smallCrs) : { policy: null, diagnostics: [] };
    const own = policy === null ? [] : renderPolicy(policy).filter(({ path }) => path.startsWith('gatehouse/'));
    const found = [
      ...(read.kind === 'fine' ? read.notes.map(({ path, note }) => `note: ${path} ${note}\n`) : []),
      ...(read.kind === 'refused' ? [`${formatProblems(read.problems)}\n`] : []),
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

t.test('a directory without a rule set, a rule set without a tag', (t) => {
  const { crs, diagnostics } = loadCoreRuleSet('nowhere', { read: () => null, glob: () => [] });
  t.equal(crs, null);
  t.match(diagnostics, [{ code: 'GH-C7003', severity: 'error' }]);
  const { policy, diagnostics: found } = resolvePolicy(defaultSettings(), {
    ...smallCrs,
    tags: new Set([...smallCrs.tags].filter((tag) => !tag.endsWith('ATTACK-XSS'))),
  });
  t.ok(policy !== null);
  t.match(found, [{ code: 'GH-C7004', path: '/categories/xss' }]);
  t.end();
});

t.test('a charset whose parameter is spelled past the CRS is one that rules can read', (t) => {
  const isBlocked = createJudge(resolvePolicy(defaultSettings(), smallCrs).policy);
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
      (candidate) => {
        const checked = checkSettings(withCurrentNames(candidate).value);
        if (checked.kind === 'refused') {
          if (checked.problems.length === 0) throw new Error('refused without a reason');
          return;
        }
        const { policy, diagnostics } = resolvePolicy(checked.settings, smallCrs);
        if ((policy === null) !== diagnostics.some(({ severity }) => severity === 'error'))
          throw new Error('policy and errors disagree');
        if (policy !== null) renderPolicy(policy);
      },
    ),
    { numRuns: 500 },
  );
  t.end();
});

const crsDirectory = findCrsOf('4'); // what holds of 3.3 is in generations.test.ts
t.test('the real rule set with every category switched off, and with exclusions', { skip: withoutVersion4 }, (t) => {
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
    const { policy, diagnostics } = resolvePolicy(requireSettings(settings), crs);
    t.same(diagnostics, []);
    return policy === null ? null : compileProgram(renderPolicy(policy), { reader }).program;
  };
  const all = compile({});
  const none = compile({
    categories: Object.fromEntries(Object.keys(categoryTags).map((key) => [key, { enabled: false }])),
  });
  const some = compile({
    categories: {
      sqli: { path_exclusions: ['/a', '/b'] },
      rce: { path_exclusions: ['/a'] },
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
});

t.test('U9: a local file names the field of what cannot be used, and needs no ids', async (t) => {
  const problemsOf = (candidate: object) => {
    const read = readLocalFile(JSON.stringify(candidate), 'compile', { inText: findRuleIds, ofCve: () => [] });
    if (read.kind === 'refused') return read.problems.map(({ path }) => path);
    const crs: CoreRuleSet = {
      version: '4.0.0',
      generation: generationOf('4.0.0') as CoreRuleSet['generation'],
      setupVersion: 400,
      rules: [],
      pluginsBefore: [],
      pluginsAfter: [],
      tags: new Set(Object.values(categoryTags).flat()),
    };
    return resolvePolicy(read.settings, crs).diagnostics.map(({ path }) => path);
  };
  const raw = (id: number) => ({ seclang: `SecAction "id:${id},phase:1,pass"` });
  const visual = { variable: 'ARGS', operator: 'contains', value: 'x', action: 'log' };
  const exclusion = { rule_id: 942_100, reason: 'r', owner: 'o' };
  t.same(problemsOf({ custom_rules: [raw(1_000_005), visual, raw(1_000_006)], rule_exclusions: [exclusion] }), []);
  t.same(problemsOf({ custom_rules: [raw(1_000_005), { id: 1_000_009, ...raw(1_000_005) }] }), [
    '/custom_rules/1/seclang',
  ]);
  t.same(problemsOf({ custom_rules: [{ ...visual, variable: 'NOPE' }] }), ['/custom_rules/0/variable']);
  t.same(problemsOf({ custom_rules: [{ ...visual, operator: 'rx', value: 'a(' }] }), ['/custom_rules/0/value']);
  t.same(problemsOf({ rule_exclusions: [exclusion, { ...exclusion, target: 'NOPE:x' }] }), [
    '/rule_exclusions/1/target',
  ]);
});
