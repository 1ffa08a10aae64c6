import t from 'tap';
import { createLocalAddress } from './local-address.js';

t.test('U14: which address of this machine a client has reached', async (t) => {
  const interfaces = {
    ipv4: [
      { address: '198.51.100.7', base: Math.floor(0xc633_6407 / 256), hosts: 256 },
      { address: '10.0.0.9', base: Math.floor(0x0a00_0009 / 65_536), hosts: 65_536 },
    ],
    ipv6: '2001:db8::7',
  };
  const asked: number[] = [];
  const clock = { nowMs: 0 };
  const read = () => {
    asked.push(clock.nowMs);
    return interfaces;
  };
  for (const host of ['0.0.0.0', '::', '']) {
    const reached = createLocalAddress(host, read, () => clock.nowMs);
    t.equal(reached('127.0.0.9'), '127.0.0.1');
    t.equal(reached('::1'), '::1');
    t.equal(reached('198.51.100.200'), '198.51.100.7', 'a neighbour');
    t.equal(reached('10.0.200.1'), '10.0.0.9', 'a neighbour of the other network');
    t.equal(reached('203.0.113.5'), '198.51.100.7', 'from elsewhere');
    t.equal(reached('2001:db8::99'), '2001:db8::7');
  }
  t.equal(asked.length, 3, 'the interfaces are asked for once a listener');
  t.equal(createLocalAddress('192.0.2.1', read)('203.0.113.5'), '192.0.2.1', 'an address that was named is that one');
  const none = createLocalAddress('0.0.0.0', () => ({ ipv4: [], ipv6: null }));
  t.equal(none('203.0.113.5'), '0.0.0.0', 'nothing is known');
  t.not(createLocalAddress('0.0.0.0')('203.0.113.5'), undefined, 'this machine');
});
