import t from 'tap';
import { Crowd } from './crowd.js';

t.test('so many at once, of one person and of all', async (t) => {
  const crowd = new Crowd({ what: 'reports', atOnce: { perPerson: 2, all: 3 } });
  const ends: (() => void)[] = [];
  const begin = (person: string) => crowd.within(person, () => new Promise<void>((resolve) => void ends.push(resolve)));
  const running = [begin('a'), begin('a')];
  await t.rejects(begin('a'), {
    code: 'too_many_requests',
    message: '2 of your reports are in the making, which is the most. Try again in 5 seconds.',
    extras: { headers: { 'retry-after': '5' } },
  });
  running.push(begin('b'));
  await t.rejects(begin('c'), { code: 'too_many_requests', message: /^3 reports are in the making/ });
  for (const end of ends) end();
  await Promise.all(running);
  await t.rejects(
    crowd.within('a', async () => Promise.reject(new Error('no'))),
    { message: 'no' },
  );
  t.equal(await crowd.within('a', async () => Promise.resolve(1)), 1, 'what failed is in the making no more');
  t.equal(crowd.refusalFor('a'), null);
});

t.test('so many within some minutes', async (t) => {
  const clock = { ms: 0 };
  const bounds = { minutes: 5, perPerson: 2, all: 3 };
  const crowd = new Crowd({ what: 'links', atOnce: { perPerson: 9, all: 9 }, within: bounds }, () => clock.ms);
  const make = (person: string) => crowd.within(person, async () => Promise.resolve(person));
  await make('a');
  clock.ms = 60_000;
  await make('a');
  await t.rejects(make('a'), {
    message: 'You have made 2 links within 5 minutes. Try again in 240 seconds.',
    extras: { headers: { 'retry-after': '240' } },
  });
  await make('b');
  await t.rejects(make('c'), { message: /^3 links were made within 5 minutes/ });
  clock.ms = 300_001;
  t.equal(await make('a'), 'a', 'the first is old by now');
});
