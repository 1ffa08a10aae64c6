import t from 'tap';
import { intervalOf, percentOf } from './share.js';

t.test('X1: a share is told as it is, and never as more', async (t) => {
  for (const [share, told] of [
    [0, '0'],
    [0.00001, '0.1'],
    [0.5, '50'],
    [0.923, '92.3'],
    [0.8389, '83.9'],
    [0.99999, '99.9'],
    [1, '100'],
  ] as const)
    t.equal(percentOf(share), told);
  t.equal(intervalOf({ low: 0.8389, high: 1 }), '95 % interval: 83.9 to 100 %');
  t.equal(intervalOf({ low: null, high: null }), '', 'without a case there is none');
});
