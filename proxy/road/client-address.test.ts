// Who the client is behind proxies, in the forms in which proxies write addresses, and whom limits per client count.
import t from 'tap';
import type { RequestHead } from '#engine';
import { trustedProxySet } from '../worker/trusted-proxies.js';
import { addressOf, clientBehindProxies, clientKey } from './client-address.js';

const head = (...values: string[]): RequestHead => ({
  method: 'GET',
  uri: '/',
  protocol: 'HTTP/1.1',
  headers: values.flatMap((value) => ['X-Forwarded-For', value]),
  clientIp: '10.0.0.1',
  clientPort: 1,
  serverIp: '',
  serverPort: 0,
});

t.test('A14: an address may have a port, brackets or quotes', async (t) => {
  for (const [text, address] of [
    ['2.2.2.2', '2.2.2.2'],
    ['2.2.2.2:443', '2.2.2.2'],
    ['2.2.2.2:0', '2.2.2.2'],
    ['"2.2.2.2:443"', '2.2.2.2'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:db8::1:443', '2001:db8::1:443'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['"[2001:db8::1]:443"', '2001:db8::1'],
    ['[::ffff:192.0.2.1]:1', '::ffff:192.0.2.1'],
    ['[fe80::1%eth0]:80', 'fe80::1%eth0'],
  ] as const)
    t.equal(addressOf(text), address, text);
  for (const text of [
    ...['', 'unknown', '_hidden', '2.2.2', '2.2.2.2:', '2.2.2.2:x', '2.2.2.2:65536', '2.2.2.2:123456', '2.2.2.2:-1'],
    ...['[2.2.2.2]:80', '[2001:db8::1', '[2001:db8::1]x', '[2001:db8::1]:', '[]:80', '[', '"', '""', ':80', '2.2.2.2 '],
    ...['2.2.2.2:80:80', 'http://2.2.2.2', '[2001:db8::1]:80:80'],
  ])
    t.equal(addressOf(text), null, `"${text}"`);
});

t.test('A14: the right-most address that is no trusted proxy, whatever stands behind it', async (t) => {
  const trusted = trustedProxySet(['10.0.0.0/8', '2001:db8:1::/48']);
  if (trusted === null) throw new Error('no set');
  for (const [values, client] of [
    [['2.2.2.2:443'], '2.2.2.2'],
    [['1.1.1.1, 2.2.2.2:443, 10.0.0.2:99'], '2.2.2.2'],
    [['2.2.2.2:443', '[2001:db8:1::5]:80'], '2.2.2.2'],
    [['[2001:db8:2::7]:1, 10.1.1.1'], '2001:db8:2::7'],
    [['1.1.1.1, unknown, 10.0.0.2'], '10.0.0.2'],
    [['2.2.2.2, , 10.0.0.2,'], '2.2.2.2'],
    [[''], '10.0.0.1'],
  ] as const)
    t.equal(clientBehindProxies(head(...values), trusted), client, values.join(' | '));
});

t.test('A2: whom limits count: an IPv4 address, the /64 of an IPv6 address', async (t) => {
  const same = (a: string, b: string): boolean => clientKey(a) === clientKey(b);
  t.ok(same('192.0.2.1', '::ffff:192.0.2.1'), 'IPv4 in either form');
  t.ok(same('2001:db8::1', '2001:db8:0:0:ffff::9'), 'one /64');
  t.ok(same('fe80::1%eth0', 'fe80::2'), 'zones do not count');
  t.notOk(same('2001:db8:0:1::1', '2001:db8::1'));
  t.notOk(same('192.0.2.1', '192.0.2.2'));
  t.equal(clientKey(''), '');
});
