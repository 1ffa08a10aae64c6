// Who comes back after an excess is cut for longer and longer, is forgotten in time, and fills no memory.
import t from 'tap';
import { Penalties, penaltyClientsMax } from './penalties.js';

t.test('issue 10: one excess is free, each further one doubles, up to half a minute', (t) => {
  const penalties = new Penalties();
  t.notOk(penalties.isRefused('192.0.2.1', 0));
  const waits: number[] = [];
  for (let excess = 0; excess < 8; excess += 1) {
    penalties.add('192.0.2.1', 0);
    let ms = 0;
    while (penalties.isRefused('192.0.2.1', ms)) ms += 500;
    waits.push(ms);
  }
  t.same(waits, [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  t.notOk(penalties.isRefused('192.0.2.2', 0), 'nobody else is meant');
  penalties.add('192.0.2.1', 60_001);
  t.notOk(penalties.isRefused('192.0.2.1', 60_001), 'forgotten after a minute without one');
  t.end();
});

t.test('issue 10: a subscriber of IPv6 is one client, and IPv4 in IPv6 is that of IPv4', (t) => {
  const penalties = new Penalties();
  for (const address of ['2001:db8::1', '2001:db8::ffff:2']) penalties.add(address, 0);
  t.ok(penalties.isRefused('2001:db8::3', 10));
  t.notOk(penalties.isRefused('2001:db8:0:1::3', 10));
  for (const address of ['192.0.2.1', '::ffff:192.0.2.1']) penalties.add(address, 0);
  t.ok(penalties.isRefused('192.0.2.1', 10));
  t.end();
});

t.test('issue 10: a flood of addresses is remembered up to a bound, the latest', (t) => {
  const penalties = new Penalties();
  for (let n = 0; n < 3 * penaltyClientsMax; n += 1)
    for (const _ of [1, 2]) penalties.add(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, n);
  t.equal(penalties.size, penaltyClientsMax);
  const last = 3 * penaltyClientsMax - 1;
  t.ok(penalties.isRefused(`10.${last >> 16}.${(last >> 8) & 255}.${last & 255}`, last));
  t.end();
});
