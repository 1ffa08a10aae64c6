import t from 'tap';
import { judgeSpace } from './storage.js';

const gigabyte = 1_000_000_000;

t.test('30.health: room on the disk, by share and by size', async (t) => {
  for (const [free, total, state] of [
    [50, 100, 'ok'],
    [9, 100, 'warning'],
    [2, 100, 'failing'],
    [1.9, 10, 'warning'],
    [0.4, 2, 'failing'],
    [0, 0, 'failing'],
  ] as const) {
    const judged = judgeSpace({ free: free * gigabyte, total: total * gigabyte });
    t.match(judged, { state, measure: { value: free * gigabyte } }, `${free} of ${total} GB: ${judged.summary}`);
    t.equal(judged.action === null, state === 'ok');
  }
});
