import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { testMsMax } from '../e2e/waiting.js';
import { decodedBytesMax, decodeRequest, requestCodingsOf } from './decode-request.js';

t.setTimeout(testMsMax);

const text = Buffer.from('id=1&name=a+quite+ordinary+form&note=nothing+to+see. '.repeat(40));
const limits = { bytesMax: 1_000_000, ratioMax: 100 };

t.test('U3: which codings a request has, and which are refused', async (t) => {
  const rows: readonly [string | null, number, unknown][] = [
    [null, 2, []],
    ['', 2, []],
    ['identity', 0, []],
    ['gzip', 2, ['gzip']],
    ['GZip , identity', 1, ['gzip']],
    ['deflate, br', 2, ['deflate', 'br']],
    ['gzip, gzip, gzip', 2, { refusedWith: 413 }],
    ['zstd', 2, { refusedWith: 415 }],
    ['gzip;q=1', 2, { refusedWith: 415 }],
    ['gzip', 0, { refusedWith: 415 }],
  ];
  for (const [field, most, expected] of rows) t.same(requestCodingsOf(field, most), expected, `${field}, ${most}`);
});

t.test('U3: whole and clear bodies are decoded, others are not', async (t) => {
  const forms = [
    ['gzip', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['gzip', Buffer.concat([gzipSync(text.subarray(0, 100)), gzipSync(text.subarray(100))])],
  ] as const;
  for (const [coding, bytes] of forms) {
    const decoded = await decodeRequest(bytes, [coding], limits);
    t.ok(decoded.kind === 'decoded' && decoded.bytes.equals(text), coding);
    for (const [name, wrong] of [
      ['cut off', bytes.subarray(0, bytes.length - 5)],
      ['followed by something', Buffer.concat([bytes, Buffer.from('id=1')])],
      ['of another kind', text],
      ['empty', Buffer.alloc(0)],
    ] as const)
      t.equal((await decodeRequest(wrong, [coding], limits)).kind, 'wrong', `${coding}, ${name}`);
  }
  const damaged = Buffer.from(gzipSync(text));
  damaged[damaged.length - 6] = (damaged.at(-6) as number) ^ 1;
  t.equal((await decodeRequest(damaged, ['gzip'], limits)).kind, 'wrong', 'a wrong checksum');
  const twice = await decodeRequest(brotliCompressSync(gzipSync(text)), ['gzip', 'br'], limits);
  t.ok(twice.kind === 'decoded' && twice.bytes.equals(text), 'one coding on top of the other');
});

t.test('U3: a body that zlib and raw deflate read differently is nothing clear', async (t) => {
  // For raw deflate 0x78 begins a stored block whose length is in the next two bytes, its complement behind.
  const readings: Buffer[] = [];
  for (let second = 0; second < 256; second += 1) {
    if ((0x78 * 256 + second) % 31 !== 0 || (second & 0x20) !== 0) continue;
    // zlib: a stored block as well, of the rest; its own length fields are what raw deflate takes for content.
    const length = (0x00 << 8) | second;
    const rest = Buffer.alloc(length - 0, 0x41);
    readings.push(Buffer.concat([Buffer.from([0x78, second, 0x00, ~second & 0xff, 0xff]), rest]));
  }
  for (const bytes of readings)
    t.not((await decodeRequest(bytes, ['deflate'], limits)).kind, 'decoded', bytes.subarray(0, 5).toString('hex'));
});

t.test('U3: size and ratio are bounded', async (t) => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  t.equal((await decodeRequest(bomb, ['gzip'], limits)).kind, 'too-large', 'size');
  t.equal((await decodeRequest(bomb, ['gzip'], { bytesMax: 1e9, ratioMax: 100 })).kind, 'too-large', 'ratio');
  t.equal((await decodeRequest(gzipSync(bomb), ['gzip', 'gzip'], { bytesMax: 1e9, ratioMax: 2000 })).kind, 'too-large');
  const blanks = gzipSync(Buffer.alloc(12_000, 0x20));
  t.equal(
    (await decodeRequest(blanks, ['gzip'], { bytesMax: 1e6, ratioMax: 2 })).kind,
    'decoded',
    'a small one is none',
  );
  t.equal((await decodeRequest(blanks, ['gzip'], { bytesMax: 12_000, ratioMax: 2 })).kind, 'decoded', 'at the edge');
  t.equal((await decodeRequest(blanks, ['gzip'], { bytesMax: 11_999, ratioMax: 2 })).kind, 'too-large', 'beyond it');
});

t.test('B4: what a body may become', (t) => {
  const rows: readonly [wireBytes: number, any: number, priced: number, numbers: number][] = [
    [0, 1536, 6656, 12_288],
    [1, 1536, 6656, 12_288],
    [1024, 1536, 6656, 12_288],
    [1025, 1636, 6756, 12_388],
    [2048, 103_936, 109_056, 114_688],
    [1_000_000, 1_000_000, 1_000_000, 1_000_000],
  ];
  for (const [wireBytes, any, priced, numbers] of rows)
    t.same(decodedBytesMax(wireBytes, limits), { any, priced, numbers }, `${wireBytes} bytes`);
  const small = { any: 1000, priced: 1000, numbers: 1000 };
  t.same(decodedBytesMax(10, { bytesMax: 1000, ratioMax: 100 }), small, 'a smaller limit counts');
  t.end();
});

t.test('B4: which bodies may be longer', async (t) => {
  const rows: readonly [unit: string, isTaken: boolean][] = [
    ['0,0\n', true],
    ['{"id":1,"state":"ok","at":"2026-11-27T10:00:00.000Z"},', true],
    ['GET b_c-d 200\r\n', true],
    ['[{"a":1},', false],
    ['/etc/', false],
    ['\\u0041', false],
    ['%41', false],
    ['<b>', false],
    ["' or '", false],
    ['\0', false],
    ['\xe9', false],
  ];
  for (const [unit, isTaken] of rows)
    for (const [name, code] of [['gzip', gzipSync] as const, ['br', brotliCompressSync] as const]) {
      const outcome = await decodeRequest(code(Buffer.alloc(4800, unit, 'latin1')), [name], limits);
      t.equal(outcome.kind, isTaken ? 'decoded' : 'too-large', `${JSON.stringify(unit)}, ${name}`);
    }
  const numbers = Buffer.alloc(12_000, '0,0\n');
  t.equal((await decodeRequest(gzipSync(numbers), ['gzip'], limits)).kind, 'decoded', 'numbers may be longer');
  numbers.fill('union select ', 0, 500);
  t.equal((await decodeRequest(gzipSync(numbers), ['gzip'], limits)).kind, 'too-large', 'words may not');
  const more = Buffer.alloc(12_300, '0,0\n');
  t.equal((await decodeRequest(gzipSync(more), ['gzip'], limits)).kind, 'too-large', 'not for ever');
  const words = Buffer.alloc(6656, 'union select ');
  t.equal((await decodeRequest(gzipSync(words), ['gzip'], limits)).kind, 'decoded', 'as many words as may be');
  t.equal((await decodeRequest(gzipSync(Buffer.alloc(6657, words)), ['gzip'], limits)).kind, 'too-large', 'one more');
  for (const [character, weight] of [
    ['%', 4],
    ["'", 4],
    ['(', 4],
    ['&', 4],
    ['\\', 3],
    ['{', 2],
    ['<', 1],
    ['\xe9', 1],
  ] as const) {
    const mixed = Buffer.alloc(4096, 'a');
    const count = Math.floor(2560 / 5 / weight);
    mixed.fill(character, 0, count, 'latin1');
    t.equal((await decodeRequest(gzipSync(mixed), ['gzip'], limits)).kind, 'decoded', `as many ${character} as may be`);
    mixed.fill(character, 0, count + 1, 'latin1');
    t.equal((await decodeRequest(gzipSync(mixed), ['gzip'], limits)).kind, 'too-large', `one ${character} more`);
    const short = Buffer.alloc(1536, character, 'latin1');
    t.equal((await decodeRequest(gzipSync(short), ['gzip'], limits)).kind, 'decoded', `${character}, 1.5 KiB`);
  }
});

t.test('B4: what honest clients compress to less than 1 KiB is taken', async (t) => {
  const form = (fields: number, value: string): string =>
    Array.from({ length: fields }, (_, n) => `field_${n}=${value}`).join('&');
  const items = (count: number, make: (n: number) => string): string =>
    Array.from({ length: count }, (_, n) => make(n)).join('');
  const rows: readonly [what: string, body: string][] = [
    ['a form of 110 fields', form(110, 'ready')],
    ['a form of 60 fields with words', form(60, 'a few words of a person')],
    ['a list of 150 objects', JSON.stringify(Array(60).fill({ id: 17, name: 'Widget', price: 9.5, tags: ['a', 'b'] }))],
    ['places', JSON.stringify(Array(110).fill([12.4964, 41.9028]))],
    [
      'an order in XML',
      `<order>${items(45, () => '<item><name>A green widget of steel</name><count>12</count></item>')}</order>`,
    ],
    ['a table of numbers', '2026-11-27,12.5,0.0,7\n'.repeat(530)],
    ['a log', 'GET b_c-d 200 12 ms ok\r\n'.repeat(250)],
    ['GraphQL', JSON.stringify({ query: `query { ${items(70, (n) => `f${n}: item(id: ${n}) { name } `)}}` })],
  ];
  for (const [what, body] of rows) {
    const sent = brotliCompressSync(body);
    t.ok(sent.length < 1024 && body.length > 1400, `${what}: ${sent.length} → ${body.length} bytes`);
    t.equal((await decodeRequest(sent, ['br'], limits)).kind, 'decoded', what);
  }
});

t.test('B4: JSON within strings of JSON may be shorter', async (t) => {
  const nested = (value: unknown, depth: number): string =>
    depth === 0 ? JSON.stringify(value) : JSON.stringify(nested(value, depth - 1));
  const rows: readonly [what: string, body: string, isTaken: boolean][] = [
    [
      '900 objects',
      `[${Array(900)
        .fill(nested({ a: 1 }, 1))
        .join()}]`,
      false,
    ],
    ['860 different ones', `[${Array.from({ length: 860 }, (_, n) => nested({ a: n }, 1)).join()}]`, false],
    [
      'objects in objects',
      `[${Array(300)
        .fill(nested({ a: nested({ b: 1 }, 1) }, 1))
        .join()}]`,
      false,
    ],
    ['a list in a text', JSON.stringify({ a: `[${Array(1900).fill('"c"').join()}]` }), false],
    [
      '100 objects',
      `[${Array(100)
        .fill(nested({ a: 1 }, 1))
        .join()}]`,
      true,
    ],
    ['text with some quotes', JSON.stringify({ a: 'she said "no" and went on. '.repeat(100) }), true],
    ['lines', JSON.stringify({ a: 'some words of a line of a letter\n'.repeat(100) }), true],
  ];
  for (const [what, body, isTaken] of rows) {
    const sent = brotliCompressSync(body);
    t.ok(sent.length < 1024, `${what}: ${sent.length} bytes`);
    t.equal((await decodeRequest(sent, ['br'], limits)).kind, isTaken ? 'decoded' : 'too-large', what);
  }
  const wide = `[${Array.from({ length: 3000 }, (_, n) => nested({ a: n * 7919 }, 1)).join()}]`;
  t.equal((await decodeRequest(gzipSync(wide), ['gzip'], limits)).kind, 'decoded', 'more came over the wire');
});

/** The best compression of hundreds of bodies takes half a minute, and shows nothing more. */
const quickBrotli = (bytes: Buffer): Buffer =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } });

t.test('B4: what comes over the wire bounds what is inspected', async () => {
  const unit = fc.constantFrom('\\u0041', '&#65;', '%u0041', '""', '[', '{"a":1},', ' ', 'a=1&', '\\x41', "1' or '");
  const coders = { gzip: gzipSync, deflate: deflateSync, br: quickBrotli } as const;
  const coding = fc.constantFrom('gzip', 'deflate', 'br');
  await fc.assert(
    fc.asyncProperty(
      fc.array(unit, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 400_000 }),
      fc.array(coding, { minLength: 1, maxLength: 2 }),
      fc.constantFrom(10, 100),
      async (units, size, codings, ratioMax) => {
        const plain = Buffer.alloc(size, units.join(''), 'latin1');
        const sent = codings.reduce<Buffer>((bytes, name) => coders[name](bytes), plain);
        const outcome = await decodeRequest(sent, codings, { bytesMax: 1e7, ratioMax });
        const most = decodedBytesMax(sent.length, { bytesMax: 1e7, ratioMax });
        const text = plain.toString('latin1');
        const count = (characters: RegExp): number => text.length - text.replaceAll(characters, '').length;
        const weight =
          4 * count(/[^\w ,.:@"<>/{}[\]+\\-]/g) + 3 * count(/\\/g) + 2 * count(/[{}[\]]/g) + count(/[<>/]/g);
        const letters = count(/[^\d ,.:-]/g);
        const may =
          size <= most.any || 5 * weight <= most.priced - size || (size <= most.numbers && letters <= most.priced / 16);
        if (outcome.kind === 'decoded') return may && outcome.bytes.equals(plain);
        // an inner coding may be larger than its content
        const fits = may && codings.length === 1;
        return !fits || (outcome.kind === 'wrong' && codings[0] === 'deflate');
      },
    ),
    { numRuns: 200, seed: Number(process.env['SEED'] ?? 1) },
  );
});
