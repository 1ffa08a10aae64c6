import t from 'tap';
import { Outbox } from './outbox.js';

t.test('what a turn gathers leaves once, in order, after the turn', async (t) => {
  const outbox = new Outbox();
  const log: string[] = [];
  const writer = (name: string): { flush(): void } => ({ flush: () => log.push(name) });
  outbox.add(writer('a'));
  outbox.add(writer('b'));
  t.same(log, [], 'not at once');
  await new Promise((resolve) => setImmediate(resolve));
  t.same(log, ['a', 'b']);
  outbox.add({ flush: () => outbox.add(writer('later')) });
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  t.same(log, ['a', 'b', 'later'], 'a writer may add the next');
});
