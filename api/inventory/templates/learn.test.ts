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
