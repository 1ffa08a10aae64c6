// An address whose connections end for excesses is never cut: allowances shrink, then the rate of new connections is
// limited. It is forgotten in time, and fills no memory.
import t from 'tap';
import { connectionsLimited, excessesFree, Penalties, penaltyClientsMax } from './penalties.js';

const address = '192.0.2.1';

/** How many of so many new connections a second are let in, over `seconds`. */
function letIn(penalties: Penalties, fromMs: number, perSecond: number, seconds: number): number {
  let count = 0;
  for (let n = 0; n < perSecond * seconds; n += 1)
    if (!penalties.isRefused(address, fromMs + (n * 1000) / perSecond)) count += 1;
  return count;
}

t.test('issue 22 B6: excesses of a few connections refuse no other connection of the address', async (t) => {
  const penalties = new Penalties();
  for (let excess = 0; excess < excessesFree.burst; excess += 1) {
    penalties.add(address, 0);
    t.equal(letIn(penalties, 0, 1000, 1), 1000, `after ${excess + 1}`);
  }
});

t.test('issue 22 B6: one abuser that comes back every few seconds never limits its address', async (t) => {
  const penalties = new Penalties();
  for (let second = 0; second < 600; second += 4) penalties.add(address, second * 1000);
  t.equal(letIn(penalties, 600_000, 1000, 1), 1000);
});

t.test('issue 22 B6: an attacker that opens many connections is limited to a rate', async (t) => {
  const penalties = new Penalties();
  for (let excess = 0; excess <= excessesFree.burst; excess += 1) penalties.add(address, 0);
  const { burst, perSecond } = connectionsLimited;
  const count = letIn(penalties, 0, 1000, 10);
  t.ok(count >= 10 * perSecond && count <= burst + 10 * perSecond + 1, `${count} of 10,000`);
  t.notOk(penalties.isRefused('192.0.2.2', 10), 'nobody else is meant');
  t.equal(letIn(penalties, 31_000, 1000, 1), 1000, 'no more half a minute after the last excess');
});

t.test('issue 22 B6: new connections of an address in excess have smaller allowances, for a minute', async (t) => {
  const penalties = new Penalties();
  const shares: number[] = [penalties.shareOf(address, 0)];
  for (let excess = 0; excess < 6; excess += 1) {
    penalties.add(address, 0);
    shares.push(penalties.shareOf(address, 0));
  }
  t.same(shares, [1, 1, 1 / 2, 1 / 2, 1 / 2, 1 / 4, 1 / 4], 'one excess is free');
  t.equal(penalties.shareOf('192.0.2.2', 0), 1);
  t.equal(penalties.shareOf(address, 60_001), 1, 'forgotten after a minute without one');
});

t.test('issue 10: a subscriber of IPv6 is one client, and IPv4 in IPv6 is that of IPv4', (t) => {
  const penalties = new Penalties();
  for (const one of ['2001:db8::1', '2001:db8::ffff:2']) penalties.add(one, 0);
  t.equal(penalties.shareOf('2001:db8::3', 10), 1 / 2);
  t.equal(penalties.shareOf('2001:db8:0:1::3', 10), 1);
  for (const one of [address, `::ffff:${address}`]) penalties.add(one, 0);
  t.equal(penalties.shareOf(address, 10), 1 / 2);
  t.end();
});

t.test('issue 10: a flood of addresses is remembered up to a bound, the latest', (t) => {
  const penalties = new Penalties();
  const addressOf = (n: number): string => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  const last = 3 * penaltyClientsMax - 1;
  for (let n = 0; n <= last; n += 1) {
    penalties.add(addressOf(n), n);
    penalties.add(addressOf(n), n);
  }
  t.equal(penalties.size, penaltyClientsMax);
  t.equal(penalties.shareOf(addressOf(last), last), 1 / 2);
  t.end();
});
