import t from 'tap';
import { crc32c, readProxyHeader, type ProxyHeaderReading } from './proxy-header.js';

const line = (text: string): ProxyHeaderReading => readProxyHeader(Buffer.from(text, 'latin1'));
const signature = '0d0a0d0a000d0a515549540a';
const hex = (text: string): ProxyHeaderReading => readProxyHeader(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const four = { clientIp: '192.0.2.1', serverIp: '198.51.100.2', clientPort: 56_324, serverPort: 443 };
const six = { clientIp: '2001:db8::1', serverIp: '2001:db8::2', clientPort: 1, serverPort: 65_535 };

t.test('PROXY: lines of version 1', async (t) => {
  const first = 'PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n';
  t.strictSame(line(`${first}GET / HTTP/1.1\r\n`), { kind: 'header', bytes: first.length, addresses: four });
  const second = 'PROXY TCP6 2001:DB8:0:0:0:0:0:1 2001:db8::2 1 65535\r\n';
  t.strictSame(line(second), { kind: 'header', bytes: second.length, addresses: six });
  t.match(line('PROXY TCP6 ::ffff:192.0.2.1 ::ffff:198.51.100.2 56324 443\r\n'), { addresses: four }, 'mapped');
  t.strictSame(line('PROXY UNKNOWN\r\n'), { kind: 'header', bytes: 15, addresses: null });
  t.match(line('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n'), { addresses: null });
  for (let end = 0; end < first.length; end += 1) t.strictSame(line(first.slice(0, end)), { kind: 'more' });
});

t.test('PROXY: what is no line of version 1 is refused', async (t) => {
  for (const text of [
    'GET / HTTP/1.1\r\n',
    'proxy TCP4 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY\tTCP4 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 2 3\r\n',
    'PROXY TCP4  192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 65536\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 -1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n',
    'PROXY TCP4 192.0.2.01 198.51.100.2 1 2\r\n',
    'PROXY TCP4 192.0.2.1, 198.51.100.2 1 2\r\n',
    'PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n',
    'PROXY TCP6 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY TCP6 fe80::1%eth0 fe80::2 1 2\r\n',
    'PROXY UDP4 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY UNKNOWNX\r\n',
    `PROXY TCP4 192.0.2.1 ${' '.repeat(100)}`,
    `PROXY UNKNOWN ${'a'.repeat(200)}\r\n`,
  ])
    t.equal(line(text).kind, 'refused', JSON.stringify(text));
});

t.test('PROXY: headers of version 2', async (t) => {
  const v4 = `${signature} 21 11 000c c0000201 c6336402 dc04 01bb`;
  t.strictSame(hex(`${v4} 474554`), { kind: 'header', bytes: 28, addresses: four });
  const ip6 = (last: string): string => `20010db8${'0'.repeat(20)}${last}`;
  const v6 = `${signature} 21 21 0024 ${ip6('0001')} ${ip6('0002')} 0001 ffff`;
  t.strictSame(hex(v6), { kind: 'header', bytes: 52, addresses: six });
  const mapped = `${'0'.repeat(20)}ffff`;
  const v6of4 = `${signature} 21 21 0024 ${mapped}c0000201 ${mapped}c6336402 dc04 01bb`;
  t.match(hex(v6of4), { addresses: four }, 'mapped');
  t.strictSame(hex(`${signature} 20 00 0000`), { kind: 'header', bytes: 16, addresses: null }, 'a health check');
  t.match(hex(`${signature} 20 11 000c c0000201 c6336402 dc04 01bb`), { addresses: null }, 'LOCAL, with addresses');
  t.match(hex(`${signature} 21 12 000c c0000201 c6336402 dc04 01bb`), { addresses: null }, 'UDP');
  t.match(hex(`${signature} 21 31 00d8 ${'00'.repeat(216)}`), { addresses: null }, 'UNIX');
  t.match(hex(`${signature} 21 00 0000`), { addresses: null }, 'unspecified');
  t.match(hex(`${signature} 21 11 0013 c0000201 c6336402 dc04 01bb 04 0001 00 ea 0000`), { addresses: four }, 'values');
  const bytes = Buffer.from(v4.replaceAll(' ', ''), 'hex');
  for (let end = 0; end < bytes.length; end += 1)
    t.strictSame(readProxyHeader(bytes.subarray(0, end)), { kind: 'more' });
});

t.test('PROXY: what is no header of version 2 is refused', async (t) => {
  for (const text of [
    `${signature} 11 11 000c c0000201 c6336402 dc04 01bb`,
    `${signature} 22 11 000c c0000201 c6336402 dc04 01bb`,
    `${signature} 21 11 000b c0000201 c6336402 dc04 01`,
    `${signature} 21 11 ffff`,
    `${signature} 21 11 000e c0000201 c6336402 dc04 01bb 0400`,
    `${signature} 21 11 0010 c0000201 c6336402 dc04 01bb 04 0002 00`,
    '0d0a0d0a000d0a515549540b',
  ])
    t.equal(hex(text).kind, 'refused', text);
});

t.test('PROXY: a checksum is held to', async (t) => {
  t.equal(crc32c(Buffer.from('123456789')), 0xe306_9283, 'the check value of the polynomial');
  const header = Buffer.from(`${signature}21110013c0000201c6336402dc0401bb03000400000000`.replaceAll(' ', ''), 'hex');
  header.writeUInt32BE(crc32c(header), header.length - 4);
  t.match(readProxyHeader(header), { kind: 'header', addresses: four });
  header[16] = 10;
  t.equal(readProxyHeader(header).kind, 'refused', 'another address under the same checksum');
});
