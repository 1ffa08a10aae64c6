// How far a replica is, by what both servers say: it may fall behind, come back, and have less after a crash than
// before.
import t from 'tap';
import { testMsMax, until } from '../testing/waiting.js';
import type { Sql } from './client.js';
import { watchReplica } from './replica.js';

t.setTimeout(testMsMax);

/** A server that answers each statement with what `say` says. */
const serverOf = (say: () => object): Sql =>
  Object.assign(async () => [say()], { end: async () => undefined }) as unknown as Sql;

t.test('what a replica has is never believed to be more than it says', async (t) => {
  let [end, replayed] = [100, 100];
  const primary = serverOf(() => ({ at: new Date(), end, system: '1' }));
  const replica = serverOf(() => ({ follows: true, end: replayed, system: '1' }));
  const watched = watchReplica(replica, primary, { lagMsMax: 60_000, everyMs: 5, answerMsMax: 1000 });
  t.teardown(() => watched.close());
  const freshMs = (): number => watched.freshAt()?.getTime() ?? 0;
  await until('it has all', async () => freshMs() > 0);
  end = 200;
  await until('the primary was asked', async () => (watched.state().lagMs ?? 0) > 100);
  const behind = freshMs();
  t.ok(behind > 0, 'it answers as far as it is');
  t.equal(watched.state().state, 'ok');

  replayed = 90; // it crashed, and had not written what it had replayed
  await until('what it lost is noticed', async () => watched.freshAt() === null);
  replayed = 150;
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(watched.freshAt(), null, 'of what lies before the newest moments nothing is known');
  replayed = 200;
  await until('it has caught up', async () => freshMs() > behind);
});
