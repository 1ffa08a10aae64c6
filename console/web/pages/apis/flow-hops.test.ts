import t from 'tap';
import { drawnMax, flowHops } from './flow-hops.js';
import { layOut } from './hop-layout.js';

const flow = (template: string, unprotected = false, site = 'shop') => ({
  ...{ site, method: 'GET', template, unprotected },
  categories: ['card', 'email'],
});

t.test('F1: kinds of data stand left, endpoints in the middle, sites right', async (t) => {
  const { hops } = flowHops([flow('/a'), flow('/b', true)], (kind) => `the ${kind}`);
  const { nodes } = layOut(hops);
  const columnOf = (label: string): number => nodes.find((one) => one.label === label)?.x ?? -1;
  t.ok(columnOf('the card') < columnOf('GET /a'));
  t.ok(columnOf('GET /a') < columnOf('shop '));
  t.same(
    nodes.filter(({ isOpen }) => isOpen).map(({ label }) => label),
    ['GET /b'],
    'what anybody may have stands out, the site does not',
  );
});

t.test('F1: what anybody may have is drawn first, and no more than can be looked at', async (t) => {
  const many = [...Array(100).keys()].map((at) => flow(`/kept/${at}`));
  const { hops, drawn, all } = flowHops([...many, flow('/open', true)], (kind) => kind);
  t.same([drawn, all], [drawnMax, 101]);
  t.ok(hops.some(({ callee }) => callee === 'GET /open'));
});

t.test(
  'F1: the same endpoint of two sites is two endpoints; a site named like a kind of data is no circle',
  async (t) => {
    const { nodes } = layOut(flowHops([flow('/a'), flow('/a', false, 'card')], (kind) => kind).hops);
    t.equal(nodes.length, 2 + 2 + 2);
  },
);
