// R4: how soon a part that died is started again.
import { mock } from 'node:test';
import t from 'tap';
import type { Child } from './child.js';
import { keepAlive, patientPauses, urgentPauses, type Pauses } from './keep-alive.js';

/** The pauses before each of `count` starts of a part that dies at once. */
async function pausesOf(pauses: Pauses, count: number): Promise<number[]> {
  const waited: number[] = [];
  let isStarted = false;
  const child = {
    name: 'part',
    logFile: 'part.log',
    args: [],
    isStopping: false,
    onExit: (_reason: number | string): void => {},
    start: () => {
      isStarted = true;
      return Promise.resolve({ kind: 'ready' });
    },
  };
  keepAlive(child as unknown as Child, pauses);
  for (let nth = 0; nth < count; nth += 1) {
    isStarted = false;
    child.onExit('SIGKILL');
    let ms = 0;
    for (; !isStarted && ms < 60_000; ms += 10) mock.timers.tick(10);
    waited.push(ms);
    await Promise.resolve();
  }
  mock.timers.tick(61_000);
  return waited;
}

t.test('R4: the data plane comes back at once, and is never waited for long', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  t.teardown(() => mock.timers.reset());
  const { log } = console;
  console.log = () => {};
  t.teardown(() => (console.log = log));
  const urgent = await pausesOf(urgentPauses, 10);
  t.ok((urgent[0] as number) <= 100, 'the first time');
  t.same(urgent.slice(0, 4), [50, 100, 200, 400]);
  t.ok(Math.max(...urgent) <= 5000);
  const patient = await pausesOf(patientPauses, 7);
  t.same(patient, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});
