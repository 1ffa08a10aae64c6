// Categories that do not run below some paths: which paths are meant, and that nothing else is.
import { checkSettings, requireSettings } from '#settings';
import t from 'tap';
import { createMatcher } from '#engine/compile';
import { createJudge, smallCrs } from '../testing/small-policy.js';
import { pathArgument } from './exclusions.js';
import { resolvePolicy } from './policy.js';

t.test('excluded paths are compared by segments', (t) => {
  const covers = (path: string, candidate: string): boolean => {
    const argument = pathArgument(path);
    const operator = { name: 'pathBelow', negated: false, argument, template: null, phrases: null };
    return createMatcher(operator, argument).matches(candidate);
  };
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
    ['/a%20b', '/a%20b', true],
    ['/a%20b', '/a%2520b', false],
    ['/"a\\', '/%22a%5c', false],
    ['/{a}', '/%7ba}/b', true],
    ['/a*c/d', '/abbc/d', true],
    ['/a*b*c', '/abc', true],
    ['/a*b*c', '/acb', false],
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
    const checked = checkSettings({ categories: { sqli: { path_exclusions: [path] } } });
    t.equal(checked.kind === 'refused', isRefused, path);
  }
  const many = { path_exclusions: Array.from({ length: 167 }, (_, index) => `/p${index}`) };
  t.match(
    resolvePolicy(requireSettings({ categories: { sqli: many, xss: many, rce: many } }), smallCrs).diagnostics,
    [{ path: '/categories', message: /more than 500/ }],
    'ids of other exclusions are left alone',
  );
  t.end();
});

t.test('below an excluded path the category does not run, and only there', (t) => {
  const denying = {
    ...smallCrs,
    rules: smallCrs.rules.map(({ path, text }) => ({ path, text: text.replaceAll(',block,', ',deny,') })),
  };
  const { policy } = resolvePolicy(
    requireSettings({ categories: { sqli: { path_exclusions: ['/search', '/a b', '/c++/docs', '/d%20e'] } } }),
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
    '//search',
    '/search/%u002e%u002e/admin',
    '/search/%ef%bc%8e%ef%bc%8e/admin',
    '/search/..;/admin',
    '/search/%2e%2e;x=1/admin',
    '/search/../admin/..%5csearch',
    '/search/../admin/..%252fsearch',
    '/search/%252e%252e;/admin',
  ])
    t.equal(isBlocked(path + attack), true, `${path} is not`);
  t.equal(isBlocked('/search?q=attack1'), true, 'other categories run');
  t.end();
});

t.test('A4: a rule exclusion holds below its path only in every reading', (t) => {
  const [rule] = smallCrs.rules;
  if (rule === undefined) throw new Error('no rules');
  const denying = { ...smallCrs, rules: [{ ...rule, text: rule.text.replaceAll(',block,', ',deny,') }] };
  const exclusion = { id: 1_009_500, rule_id: 950_000, path: '/both', method: 'GET', owner: 'me', reason: 'a form' };
  const { policy, diagnostics } = resolvePolicy(requireSettings({ rule_exclusions: [exclusion] }), denying);
  t.same(diagnostics, []);
  const isBlocked = createJudge(policy);
  for (const [path, expected] of [
    ['/both', false],
    ['/both/x;v=1/y', false],
    ['/both/a%20b/%C3%BC', false],
    ['/both/..;/admin', true],
    ['/both/%2e%2e;/admin', true],
    ['/both/../admin/..%5cboth', true],
    ['/both/../admin/..%252fboth', true],
    ['/both/%252e%252e;/admin', true],
    ['/both/%u002e%u002e/admin', true],
    ['http://a/both/..%c0%afadmin', true],
  ] as const)
    t.equal(isBlocked(`${path}?q=attack0`), expected, path);
  t.end();
});
