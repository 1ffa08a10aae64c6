// How many test files run at a time: two at least, more only while processors are idle.
import t from 'tap';
import { mayBegin, runPaced } from './pace.js';

t.test('two always run, a further one where processors are idle', async (t) => {
  const cases: readonly (readonly [running: number, processors: number, idleShare: number, may: boolean])[] = [
    [0, 2, 0, true],
    [1, 2, 0, true],
    [1, 1, 0, true],
    [2, 2, 0, false],
    [2, 2, 0.14, false],
    [2, 2, 0.15, true],
    [3, 2, 0.14, false],
    [3, 2, 0.15, true],
    [4, 2, 1, false],
    [3, 1, 1, false],
    [17, 16, 0.5, true],
    [18, 16, 1, false],
  ];
  for (const [running, processors, idleShare, may] of cases)
    t.equal(mayBegin(running, processors, idleShare), may, `${running} of ${processors}, ${idleShare} idle`);
});

t.test('every item is run once, in order, and the end is that of the last', async (t) => {
  const begun: number[] = [];
  let ended = 0;
  const items = [...Array(20).keys()];
  await runPaced(items, async (item) => {
    begun.push(item);
    await new Promise((resolve) => setTimeout(resolve, (item * 7) % 5));
    ended += 1;
  });
  t.strictSame(begun, items);
  t.equal(ended, items.length);
  await runPaced([], () => t.fail('there is nothing to run') as never);
});

t.test('a run that fails is not swallowed', (t) => t.rejects(runPaced([1], () => Promise.reject(new Error('no')))));
