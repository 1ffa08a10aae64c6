import t from 'tap';
import { layOut } from './hop-layout.js';

const hop = (caller: string, callee: string, unauthenticated = false) => ({ caller, callee, unauthenticated });

t.test('who asks stands left of who is asked', async (t) => {
  const { nodes, edges, width } = layOut([hop('shop', 'orders'), hop('orders', 'store', true), hop('shop', 'store')]);
  const at = Object.fromEntries(nodes.map(({ label, x }) => [label, x]));
  t.ok((at['shop'] ?? 0) < (at['orders'] ?? 0));
  t.equal(edges.length, 3);
  t.same(
    nodes.filter(({ isOpen }) => isOpen).map(({ label }) => label),
    ['store'],
  );
  t.ok(
    nodes.every(({ x, width: own }) => x + own <= width),
    'all of it is inside',
  );
});

t.test('L1: a service stands right of all that ask it, however far they stand', async (t) => {
  const hops = [hop('shop', 'orders'), hop('orders', 'payments'), hop('batch', 'payments'), hop('shop', 'payments')];
  const at = Object.fromEntries(layOut(hops).nodes.map(({ label, x }) => [label, x]));
  for (const { caller, callee } of hops) t.ok((at[caller] ?? 0) < (at[callee] ?? 0), `${caller} before ${callee}`);
  const drawn = layOut(hops);
  for (const { from, to, path } of drawn.edges)
    for (const box of drawn.nodes.filter(({ name }) => name !== from && name !== to))
      for (const [, x = '', y = ''] of path.matchAll(/(-?[\d.]+) (-?[\d.]+)/g))
        t.notOk(
          Number(x) >= box.x && Number(x) <= box.x + box.width && Number(y) >= box.y && Number(y) <= box.y + box.height,
          `${from} to ${to} runs past ${box.name}`,
        );
  t.ok(
    drawn.nodes.every(({ y, height }) => y + height <= drawn.height),
    'all of it is inside',
  );
  const back = [hop('a', 'b'), hop('b', 'c'), hop('c', 'b'), hop('c', 'd')];
  const of = Object.fromEntries(layOut(back).nodes.map(({ label, x }) => [label, x]));
  t.ok((of['a'] ?? 0) < (of['b'] ?? 0) && (of['c'] ?? 0) < (of['d'] ?? 0), 'a circle in the middle');
});

t.test('circles, services that ask themselves, and nothing', async (t) => {
  t.equal(layOut([]).nodes.length, 0);
  t.equal(layOut([hop('a', 'a')]).nodes.length, 1);
  const { nodes } = layOut([hop('a', 'b'), hop('b', 'c'), hop('c', 'a')]);
  t.equal(nodes.length, 3);
  t.equal(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size, 3, 'no two stand on each other');
});

t.test('a thousand hops are drawn as far as a picture goes', async (t) => {
  const hops = [...Array(1000).keys()].map((at) => hop(`s${at}`, `s${(at * 7) % 1000}`));
  t.equal(layOut(hops).edges.length, 200);
});
