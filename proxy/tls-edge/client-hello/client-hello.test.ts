// Published fingerprints, our own vectors, and hellos in every cut that records and segments can make.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parseClientHello, type ClientHello } from './client-hello.js';
import { ja3Hash, ja3String, ja4, ja4Raw } from './fingerprints.js';
import { HelloReader, helloBytesMax, helloWireBytesMax, type HelloReading } from './hello-reader.js';

const root = resolve(fileURLToPath(new URL('../../../..', import.meta.url)));
const shared = process.env['GATEHOUSE_SHARED'] ?? join(root, '..', 'shared');
const folder = join(shared, 'corpora', 'tls');
const skip = existsSync(folder) ? false : `no corpus at ${folder} (set GATEHOUSE_SHARED)`;

const random = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
/** Made here: GREASE and ALPN; TLS 1.2 without names; TLS 1.0 without extensions; an ALPN that is no text. */
const ours = [
  {
    record:
      `160301008c010000880303${random}00000c2a2a130113021303c02bc02f010000533a3a0000` +
      '0000000e000c000009776161702e74657374000a000a00084a4a001d00170018000b00020100000d0008000604030804' +
      '04010010000e000c02683208687474702f312e31002b0007065a5a03040303',
    ja3: '771,4865-4866-4867-49195-49199,0-10-11-13-16-43,29-23-24,0',
    hash: '7b8e79475b94f7460b9f2dba2659a2a3',
    ja4: 't13d0506h2_e133e205ac38_0d385148b956',
    serverName: 'waap.test',
  },
  {
    record:
      `160301004f0100004b0303${random}000008c02fc030009c00ff0100001a000a0006000400170018000b00020100000d0006000404` +
      '010501',
    ja3: '771,49199-49200-156-255,10-11-13,23-24,0',
    hash: '7a1f6f18f0728dcb7fca6a56f4393c62',
    ja4: 't12i040300_fe3406f53c8c_637ee6fc4330',
    serverName: null,
  },
  {
    record: `16030100410100003d0301${random}00001600040005000a000900640062000300060013001200630100`,
    ja3: '769,4-5-10-9-100-98-3-6-19-18-99,,,',
    hash: 'de350869b8c85de67a350c8d186f11e6',
    ja4: 't10i110000_3609b414f052_000000000000',
    serverName: null,
  },
  {
    record: `1603010044010000400303${random}000002130101000015000000080006000003612e6200100005000302abcd`,
    ja3: '771,4865,0-16,,',
    hash: '33b746a27502e1c870d11cfc1893be87',
    ja4: 't12d0102ad_0f2cb44170f4_000000000000',
    serverName: 'a.b',
  },
] as const;

function read(pieces: Iterable<Buffer>): HelloReading {
  const reader = new HelloReader();
  let reading: HelloReading = { kind: 'more' };
  for (const piece of pieces) {
    reading = reader.push(piece);
    if (reading.kind !== 'more') break;
  }
  return reading;
}

function helloOf(pieces: Iterable<Buffer>): ClientHello {
  const reading = read(pieces);
  if (reading.kind !== 'hello') throw new Error(`no hello: ${JSON.stringify(reading)}`);
  const hello = parseClientHello(reading.body);
  if (hello === null) throw new Error('not parsed');
  return hello;
}

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** The handshake message of one record, or of several. */
function messageOf(records: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < records.length; ) {
    const length = records.readUInt16BE(at + 3);
    parts.push(records.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return Buffer.concat(parts);
}

function inRecords(message: Buffer, sizes: Iterable<number>): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    if (at >= message.length) break;
    const part = message.subarray(at, at + size);
    parts.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
    at += size;
  }
  return Buffer.concat(parts);
}

function* cut(bytes: Buffer, sizes: Iterable<number>): Generator<Buffer> {
  let at = 0;
  for (const size of sizes) {
    if (at >= bytes.length) return;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Sizes from 1 to `max` for ever, the same for the same seed. */
function* sizes(seed: number, max: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield 1 + ((state >>> 8) % max);
  }
}

t.test('TLS: our own vectors have the fingerprints that were computed for them', async (t) => {
  for (const { record, ja3, hash, ja4: wanted, serverName } of ours) {
    const hello = helloOf([fromHex(record)]);
    t.equal(ja3String(hello), ja3);
    t.equal(ja3Hash(hello), hash);
    t.equal(ja4(hello), wanted);
    t.equal(hello.serverName, serverName);
  }
  t.equal(
    ja4Raw(helloOf([fromHex(ours[0].record)])),
    't13d0506h2_1301,1302,1303,c02b,c02f_000a,000b,000d,002b_0403,0804,0401',
  );
});

t.test('TLS: the worked example of the specification of JA4, with and without signature algorithms', async (t) => {
  const list = (text: string): number[] => text.split(',').map((part) => Number.parseInt(part, 16));
  const hello: ClientHello = {
    legacyVersion: 0x0303,
    ciphers: list('1301,1302,1303,c02b,c02f,c02c,c030,cca9,cca8,c013,c014,009c,009d,002f,0035'),
    extensions: list('001b,0000,0033,0010,4469,0017,002d,000d,0005,0023,0012,002b,ff01,000b,000a,0015'),
    serverName: 'a',
    firstAlpn: Buffer.from('h2'),
    groups: [],
    pointFormats: [],
    signatureAlgorithms: list('0403,0804,0401,0503,0805,0501,0806,0601'),
    supportedVersions: [0x1a1a, 0x0304, 0x0303],
  };
  t.equal(ja4(hello), 't13d1516h2_8daaf6152771_e5627efa2ab1');
  t.equal(ja4({ ...hello, signatureAlgorithms: [] }), 't13d1516h2_8daaf6152771_6d807ffa2a79');
  t.match(ja4({ ...hello, firstAlpn: Buffer.from('x') }), /^t13d1516xx_/, 'one character stands for both');
  t.match(ja4({ ...hello, firstAlpn: null, supportedVersions: [] }), /^t12d151600_/, 'the legacy version counts');
  t.match(ja4({ ...hello, supportedVersions: [0x0303] }), /^t12/, 'extension 43 counts more than the legacy version');
  const many = { ...hello, ciphers: Array.from({ length: 120 }, (_, index) => index + 1) };
  t.match(ja4(many), /^t13d9916h2_/, 'counts end at 99');
});

interface Captured {
  readonly record_hex: string;
  readonly sni: string | null;
  readonly ja3: string;
  readonly ja3_hash: string;
  readonly ja4: string;
  readonly ja4_r: string;
}

t.test('TLS: every hello of the corpus has its published fingerprints', { skip }, async (t) => {
  const rows = JSON.parse(readFileSync(join(folder, 'clienthello-ja3-ja4.json'), 'utf8')) as Captured[];
  t.ok(rows.length >= 90);
  for (const row of rows) {
    const hello = helloOf([fromHex(row.record_hex)]);
    t.strictSame(
      { ja3: ja3String(hello), hash: ja3Hash(hello), ja4: ja4(hello), raw: ja4Raw(hello), sni: hello.serverName ?? '' },
      { ja3: row.ja3, hash: row.ja3_hash, ja4: row.ja4, raw: row.ja4_r, sni: row.sni ?? '' },
    );
  }
});

t.test('TLS: a hello is the same in 1,000 cuts into records and segments', async (t) => {
  for (const { record, hash, ja4: wanted } of ours) {
    const message = messageOf(fromHex(record));
    const found = new Set<string>();
    for (let seed = 1; seed <= 1000; seed += 1) {
      const records = inRecords(message, sizes(seed, 1 + (seed % 97)));
      const hello = helloOf(cut(records, sizes(seed * 7, 1 + (seed % 61))));
      found.add(`${ja3Hash(hello)} ${ja4(hello)}`);
    }
    t.strictSame([...found], [`${hash} ${wanted}`]);
  }
});

t.test('TLS: what is no hello is told from one that is not complete', async (t) => {
  const refused = (bytes: string | Buffer): unknown => read([typeof bytes === 'string' ? fromHex(bytes) : bytes]);
  const notTls = { kind: 'refused', reason: 'not_tls' };
  t.strictSame(refused(Buffer.from('GET / HTTP/1.1\r\n')), notTls);
  t.strictSame(refused('1502000002'), notTls, 'an alert');
  t.strictSame(refused('160401'), notTls, 'another major version');
  t.strictSame(refused('1603010000'), notTls, 'an empty record');
  t.strictSame(refused('160301ffff'), notTls, 'a record that is too long');
  t.strictSame(refused('160301000102'), notTls, 'another message');
  t.strictSame(refused('16'), { kind: 'more' });
  const whole = fromHex(ours[0].record);
  for (let end = 0; end < whole.length; end += 1)
    t.strictSame(read([whole.subarray(0, end)]), { kind: 'more' }, `${end} bytes`);
});

t.test('TLS: a hello that is too long ends where the bound is, whatever it is cut into', async (t) => {
  const tooLong = { kind: 'refused', reason: 'too_long' };
  t.strictSame(read([fromHex('1603014000'), fromHex('01ffffff')]), tooLong, 'announced');
  const message = Buffer.alloc(helloBytesMax);
  message[0] = 1;
  message.writeUIntBE(helloBytesMax - 4, 1, 3);
  t.equal(read([inRecords(message, sizes(1, 16_000))]).kind, 'hello', 'just as long as it may be');
  const ones = function* (): Generator<number> {
    for (;;) yield 1;
  };
  const bytewise = inRecords(message, ones());
  t.ok(bytewise.length <= helloWireBytesMax);
  t.equal(read(cut(bytewise, ones())).kind, 'hello', 'one byte a record, one byte a segment');
});

t.test('TLS: a hello that ends anywhere within is no ClientHello, and never an exception', async (t) => {
  for (const { record } of ours) {
    const body = messageOf(fromHex(record)).subarray(4);
    const endOfBase = body.length;
    for (let end = 0; end < endOfBase; end += 1) {
      const hello = parseClientHello(body.subarray(0, end));
      // Without its extensions it is one of TLS 1.0.
      if (hello !== null) t.equal(hello.extensions.length, 0);
    }
    for (let index = 0; index < body.length; index += 1)
      for (const value of [0, 1, 0x7f, 0xff]) {
        const changed = Buffer.from(body);
        changed[index] = value;
        const hello = parseClientHello(changed);
        if (hello !== null) {
          t.match(ja4(hello), /^t.{9}_[0-9a-f]{12}_[0-9a-f]{12}$/);
          t.match(ja3Hash(hello), /^[0-9a-f]{32}$/);
        }
      }
  }
});

t.test('TLS: the examples of JA3 hash as published', { skip }, async (t) => {
  const rows = JSON.parse(readFileSync(join(folder, 'ja3-strings.json'), 'utf8')) as {
    ja3: string;
    ja3_hash: string;
  }[];
  for (const { ja3, ja3_hash } of rows) {
    const [version = '', ...lists] = ja3.split(',');
    const [ciphers, extensions, groups, pointFormats] = lists.map((list) =>
      list === '' ? [] : list.split('-').map(Number),
    );
    const hello = {
      legacyVersion: Number(version),
      ciphers,
      extensions,
      groups,
      pointFormats,
    } as unknown as ClientHello;
    t.equal(ja3Hash(hello), ja3_hash);
  }
});
