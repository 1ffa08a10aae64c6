// U2: the template learner on a labelled set, in any order, with literals of a specification, and under floods.
import t from 'tap';
import { normalPath, segmentsOf } from '#proxy/contract';
import { families, seeded } from './families.js';
import { learnTemplates, type LearnedPath, type TemplateNode } from './learn.js';
import { foldedPath, matchTemplate } from './match.js';

const toPaths = (paths: readonly string[]): LearnedPath[] => {
  const hits = new Map<string, number>();
  for (const path of paths) hits.set(normalPath(path), (hits.get(normalPath(path)) ?? 0) + 1);
  return [...hits].map(([path, count]) => ({ segments: segmentsOf(path), hits: count }));
};

function templatesOf(node: TemplateNode, above = ''): string[] {
  const own = node.isEnd ? [above === '' ? '/' : above] : [];
  const literals = [...node.literals].flatMap(([name, below]) => templatesOf(below, `${above}/${name}`));
  const { parameter } = node;
  const merged = parameter === null ? [] : templatesOf(parameter.node, `${above}/{${parameter.name}}`);
  return [...own, ...literals, ...merged];
}

const learned = (paths: readonly string[], options = {}): string[] =>
  templatesOf(learnTemplates(toPaths(paths), options)).sort();

t.test('U2: the labelled set, after 200 requests', async (t) => {
  t.ok(families.length >= 300, `${families.length} families`);
  for (const seed of [1, 20_261_122]) {
    let right = 0;
    let all = 0;
    const wrong: string[] = [];
    families.forEach(({ name, make, expected }, index) => {
      const random = seeded(seed + index);
      const found = learned(Array.from({ length: 200 }, () => make(random)));
      const isRight = found.join('\n') === [...expected].sort().join('\n');
      all += 1;
      if (isRight) right += 1;
      else wrong.push(`${name}: ${found.slice(0, 6).join(' ')}${found.length > 6 ? ' …' : ''}`);
    });
    t.ok(right / all >= 0.99, `seed ${seed}: ${right} of ${all} right; wrong: ${wrong.slice(0, 30).join(' | ')}`);
    t.comment(`seed ${seed}: ${right} of ${all}`);
  }
});

t.test('U2: the order of requests changes nothing', async (t) => {
  const random = seeded(5);
  const paths = families.flatMap(({ make }, index) =>
    index % 9 === 0 ? Array.from({ length: 12 }, () => `/app${make(random)}`) : [],
  );
  const whole = learned(paths);
  for (let round = 0; round < 5; round += 1) {
    const shuffled = paths
      .map((path) => ({ path, at: random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ path }) => path);
    t.same(learned(shuffled), whole);
  }
});

t.test('U2: declared literals are never merged, declared parameters keep their names', async (t) => {
  const random = seeded(9);
  for (const { name, make } of families) {
    const paths = Array.from({ length: 60 }, () => make(random));
    const declared = [segmentsOf(normalPath(paths[0] as string)), segmentsOf(normalPath(paths[7] as string))];
    const tree = learnTemplates(toPaths(paths), { declared });
    for (const one of declared) {
      const path = one.length === 0 ? '/' : `/${one.join('/')}`;
      if (matchTemplate(tree, one)?.template !== path) t.fail(`${name}: ${path} was merged`);
    }
  }
  t.same(
    learned(['/users/7', '/users/8', '/users/bob', '/users/me'], {
      declared: [
        ['users', '{userId}'],
        ['users', 'me'],
      ],
    }),
    ['/users/me', '/users/{userId}'],
  );
});

t.test('U2: a merge says why, and can be taken back without loss', async (t) => {
  const paths = Array.from({ length: 31 }, (_, at) => `/orders/${at + 100}`);
  const tree = learnTemplates(toPaths(paths));
  const evidence = tree.literals.get('orders')?.parameter?.evidence;
  t.match(evidence, { distinct: 31, isMore: false, kinds: { integer: 31 } });
  t.match(evidence?.reason, /^merged because 31 distinct values stand here \(entropy 5\.0 bits\)/);
  const apart = learned(paths, { apart: new Set(['/orders']) });
  t.equal(apart.length, 31);
  t.ok(apart.includes('/orders/117'));
  t.same(learned([...paths, '/orders/{integer}'], { apart: new Set(['/orders']) }).length, 32, 'folded ones stay one');
});

const logins = 'adoe bjones cmiller dsmith ebrown fwilson gtaylor hmoore ijackson jwhite kharris lmartin'.split(' ');
const persons = 'jane-doe john-smith ana-lima max-muster li-wei omar-khan eva-berg tom.jones mia.rossi'.split(' ');
const things = 'roles groups permissions teams invitations countries languages'.split(' ');
const posts = Array.from({ length: 15 }, (_, at) => `how-to-bake-${logins[at % 12]}-${at}`);
const each = (names: readonly string[], path: (name: string) => string): string[] => names.map(path);

t.test('U2: names of people become a parameter by their variety, and names of resources do not', async (t) => {
  const cases: Readonly<Record<string, readonly [given: readonly string[], expected: readonly string[]]>> = {
    'logins with the same below them': [each(logins, (name) => `/u/${name}/orders`), ['/u/{name}/orders']],
    'five of them': [each(logins.slice(0, 5), (name) => `/u/${name}/orders`), ['/u/{name}/orders']],
    'four of them': [
      each(logins.slice(0, 4), (name) => `/u/${name}/orders`),
      each(logins.slice(0, 4), (name) => `/u/${name}/orders`),
    ],
    'first and last names': [each(persons, (name) => `/api/users/${name}`), ['/api/users/{slug}']],
    'both, and with ids below': [
      [...each(logins, (name) => `/users/${name}/orders/7`), ...each(persons, (name) => `/users/${name}`)],
      ['/users/{slug}', '/users/{slug}/orders/{id}'],
    ],
    'beside /me and /search': [
      [...each(logins, (name) => `/users/${name}/posts`), '/users/me', '/users/search', '/users/export'],
      ['/users/export', '/users/me', '/users/search', '/users/{name}/posts'],
    ],
    'beside what users have besides members': [
      [...each(logins, (name) => `/users/${name}/posts`), ...each(things.slice(0, 4), (name) => `/users/${name}`)],
      [...each(things.slice(0, 4), (name) => `/users/${name}`), '/users/{name}/posts'],
    ],
    'what users have besides members': [
      each(things, (name) => `/users/${name}`),
      each(things, (name) => `/users/${name}`),
    ],
    'collections below users, with ids': [
      each(things, (name) => `/users/${name}/7`),
      each(things, (name) => `/users/${name}/{id}`),
    ],
    'collections below users, with what one does with collections': [
      each(things, (name) => `/users/${name}/export`),
      each(things, (name) => `/users/${name}/export`),
    ],
    'collections below users, each with its own': [
      each(things, (name) => `/users/${name}/${name}-of-mine`),
      each(things, (name) => `/users/${name}/${name}-of-mine`),
    ],
    'resources of an API': [
      ['users', 'orders', 'carts', 'people', 'members', 'accounts', 'customers'].map((name) => `/api/${name}`),
      ['users', 'orders', 'carts', 'people', 'members', 'accounts', 'customers'].map((name) => `/api/${name}`),
    ],
    'resources with the same below them': [
      each(things, (name) => `/api/${name}/history`),
      each(things, (name) => `/api/${name}/history`),
    ],
    'slugs of a blog, by their own variety': [each(posts, (name) => `/blog/${name}`), ['/blog/{slug}']],
    'a few pages of a blog': [each(persons, (name) => `/blog/${name}`), each(persons, (name) => `/blog/${name}`)],
  };
  for (const [what, [given, expected]] of Object.entries(cases)) t.same(learned(given), [...expected].sort(), what);
});

t.test('U2: what a scanner got is one template, and what was there before it stays', async (t) => {
  const random = seeded(11);
  const letters = (length: number): string =>
    Array.from({ length }, () => 'abcdefghijklmnopqrstuvwxyz'[Math.floor(random() * 26)]).join('');
  const real = [
    ...Array.from({ length: 20 }, (_, at) => `/api/resource${at}/list`),
    ...['/about', '/orders', '/orders/7', '/shop/cart', '/shop/checkout'],
  ];
  const kept = [...real.filter((path) => path !== '/orders/7'), '/orders/{id}'].sort();
  const scan = (count: number, below: () => string): string[] =>
    Array.from({ length: count }, () => `/${letters(7)}/${below()}`);
  const few = scan(60, () => letters(6));
  t.equal(learned([...real, ...few]).length, kept.length + 60, 'few may be resources');
  for (const [what, paths] of [
    ['words below words', scan(2000, () => letters(6))],
    ['slugs below words', scan(2000, () => `x${letters(6)}-9`)],
  ] as const) {
    const found = learned([...real, ...paths]);
    t.same(
      found.filter((path) => !/^\/\{\w+\}\/\{\w+\}$/.test(path)),
      kept,
      what,
    );
    t.equal(found.length, kept.length + 1, what);
  }
});

t.test('U2: a merge of names says why', async (t) => {
  const tree = learnTemplates(toPaths(each(logins, (name) => `/u/${name}/orders`)));
  t.match(
    tree.literals.get('u')?.parameter?.evidence.reason,
    /^merged because 12 distinct values stand here \(entropy 3\.6 bits\): at least 5 names behind a word for people/,
  );
});

t.test('U2: values that are no longer told apart keep their template', async (t) => {
  const random = seeded(3);
  for (const { name, make } of families) {
    const paths = toPaths(Array.from({ length: 200 }, () => make(random)));
    const tree = learnTemplates(paths);
    const few = paths.filter((_, index) => index % 4 === 0);
    const folded = paths.flatMap(({ segments, hits }) => {
      const path = foldedPath(tree, segments);
      return path === null ? [] : [{ segments: segmentsOf(path), hits }];
    });
    t.same(templatesOf(learnTemplates([...few, ...folded])).sort(), templatesOf(tree).sort(), name);
  }
});

t.test('U2: paths that were never seen are matched by kind', async (t) => {
  const tree = learnTemplates(toPaths(['/orders/1', '/orders/2/items', '/users/me']));
  t.equal(matchTemplate(tree, ['orders', '99'])?.template, '/orders/{id}');
  t.equal(matchTemplate(tree, ['orders', '99'])?.parameters[0]?.value, '99');
  t.equal(matchTemplate(tree, ['orders', 'export']), null);
  t.equal(matchTemplate(tree, ['orders', '9', 'items'])?.template, '/orders/{id}/items');
  t.equal(matchTemplate(tree, ['orders', '9', 'refunds']), null);
});
