// 24: what segments of paths are, and paths as applications read them.
import t from 'tap';
import { objectsOfPath } from './objects.js';
import { normalPath, shapeOf } from './path.js';
import { segmentKind, valueKind } from './segment-kind.js';

t.test('24: kinds of segments', async (t) => {
  const cases: readonly [string, string][] = [
    ['OPS-88', 'prefixed'],
    ['OPS-1042', 'prefixed'],
    ['INV_07', 'prefixed'],
    ['top-10', 'slug'],
    ['Top-10', 'slug'],
    ['A-10', 'slug'],
    ['UTF-8', 'slug'],
    ['1.0', 'version'],
    ['2.1', 'version'],
    ['12.50', 'decimal'],
    ['52.5', 'decimal'],
    ['v1', 'version'],
  ];
  for (const [text, kind] of cases) t.equal(segmentKind(text), kind, text);
  t.equal(valueKind('1.0'), 'number', 'a parameter is a number still');
  t.equal(shapeOf('/api/1.0/orders/42'), '/api/1.0/orders/{integer}', 'versions stay apart');
});

t.test('24: a path with levels up is the path that it leads to', async (t) => {
  const cases: readonly [string, string][] = [
    ['/x/../orders/42', '/orders/42'],
    ['/x/%2e%2e/orders/42', '/orders/42'],
    ['/x/.%2E/orders/./42', '/orders/42'],
    ['/../../orders', '/orders'],
    ['/orders/..', '/'],
    ['/a..b/42', '/a..b/42'],
  ];
  for (const [path, wanted] of cases) t.equal(normalPath(path), wanted, path);
  t.same(objectsOfPath('/x/../orders/42'), [{ noun: 'order', label: 'order', value: '42' }]);
});
