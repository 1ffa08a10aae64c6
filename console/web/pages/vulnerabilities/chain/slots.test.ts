import t from 'tap';
import { slotsOf } from './slots.js';

t.test('slots are lines of capabilities', async (t) => {
  t.same(slotsOf('ssrf\n\n idor, stage:privesc \n? xss'), [
    { any_of: ['ssrf'] },
    { any_of: ['idor', 'stage:privesc'] },
    { any_of: ['xss'], optional: true },
  ]);
  t.same(slotsOf(' \n?'), []);
});
