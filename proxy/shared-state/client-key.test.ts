import t from 'tap';
import { ClientKey, mix, networkOf } from './client-key.js';

const keyOf = (address: string): string => {
  const key = new ClientKey([123, 456]);
  key.read(address);
  return `${key.low} ${key.high}`;
};

t.test('1: an IPv4 address is a client, an IPv6 client is its /64', async (t) => {
  t.not(keyOf('192.0.2.1'), keyOf('192.0.2.2'));
  t.equal(keyOf('2001:db8::1'), keyOf('2001:0db8:0:0:ffff:ffff:ffff:ffff'));
  t.not(keyOf('2001:db8::1'), keyOf('2001:db8:0:1::1'));
  t.equal(keyOf('fe80::1%eth0'), keyOf('fe80::2%eth1'), 'zones are of this machine');
  t.not(keyOf('::ffff:192.0.2.1'), keyOf('::ffff:192.0.2.2'), 'IPv4 in IPv6 is not one client');
  t.equal(keyOf('::ffff:192.0.2.1'), keyOf('192.0.2.1'), 'it is the same client');
  t.not(keyOf('not an address'), keyOf('neither'));
});

t.test('1: the client is named as people read it', async (t) => {
  t.equal(networkOf('192.0.2.1'), '192.0.2.1');
  t.equal(networkOf('2001:db8:0:1:2:3:4:5'), '2001:db8:0:1::/64');
  t.equal(networkOf('2001:db8::5'), '2001:db8::/64');
  t.equal(networkOf('::1'), '::/64');
  t.equal(networkOf('::ffff:192.0.2.1'), '192.0.2.1');
  t.equal(networkOf('fe80::1%eth0'), 'fe80::/64');
});

t.test('1: no two IPv4 addresses have the same key, and a remembered one is not mixed up', async (t) => {
  const halves = new Set(Array.from({ length: 100_000 }, (_, word) => mix(word)));
  t.equal(halves.size, 100_000);
  const key = new ClientKey([1, 2]);
  key.read('192.0.2.1');
  const { low } = key;
  key.readText('x');
  t.not(key.low, low);
  key.read('192.0.2.1');
  t.equal(key.low, low);
});

t.test('10: a text has the same key whatever it is cut from, also where it is long', async (t) => {
  const key = new ClientKey([1, 2]);
  const slow = (text: string): readonly number[] => {
    let [low, high] = [1, 2];
    for (let at = 0; at < text.length; at += 4) {
      let word = 0;
      for (let nth = 0; nth < 4 && at + nth < text.length; nth += 1) word |= text.charCodeAt(at + nth) << (nth * 8);
      low = Math.imul(low ^ word, 0x9e3779b1);
      low ^= low >>> 15;
      high = Math.imul(high + word, 0x85ebca77);
      high ^= high >>> 13;
    }
    return [mix(low ^ text.length), mix(high + text.length)];
  };
  const all = Array.from({ length: 10_000 }, (_, code) => String.fromCharCode((code * 7919) % 256)).join('');
  for (const length of [0, 1, 2, 3, 4, 5, 99, 4095, 4096, 4097, 9000])
    for (const from of [0, 1, 501]) {
      key.readText(all.slice(from, from + length));
      t.strictSame([key.low, key.high], slow(all.slice(from, from + length)), `${length} from ${from}`);
    }
});
