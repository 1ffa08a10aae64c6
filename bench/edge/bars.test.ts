// A bar that nothing can break is none.
import t from 'tap';
import type { BenchContext } from '../context.js';
import { Recorder } from '../results.js';
import { Bars } from './bars.js';

const open = (): { bars: Bars; recorder: Recorder } => {
  const recorder = new Recorder();
  return { bars: new Bars({ recorder, progress: () => {} } as unknown as BenchContext, 'edge-x'), recorder };
};

t.test('a case ends well only when each of its bars holds', async (t) => {
  const { bars, recorder } = open();
  bars.check('p99', 'ms', 3, { most: 3 });
  bars.check('lost', 'requests', 0, { exact: 0 });
  bars.finish();
  t.match(recorder.notes, ['edge-x: held: p99: 3 ms, wanted at most 3', /^edge-x: held: lost/]);
});

t.test('a measure beyond its bar fails the case and is named', async (t) => {
  for (const [value, bar] of [
    [3.01, { most: 3 }],
    [1, { exact: 0 }],
    [-1, { exact: 0 }],
    [Number.NaN, { most: 3 }], // nothing was measured
    [Number.POSITIVE_INFINITY, { most: 3 }], // it never happened
  ] as const) {
    const { bars } = open();
    bars.check('p99', 'ms', value, bar);
    t.throws(() => bars.finish(), { message: /bars that do not hold: p99: / }, String(value));
  }
});
