// P3: card numbers in bodies that come in pieces: no leak and no other byte, wherever they are cut.
import t from 'tap';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { CardMasker, type TextKind } from './card-masker.js';
import { replyMaskFor, strongTags } from './reply-mask.js';

function masked(kind: TextKind, pieces: readonly Buffer[]): string {
  const masker = new CardMasker(kind);
  return Buffer.concat([...pieces.map((piece) => masker.push(piece)), masker.flush()]).toString('latin1');
}
const whole = (text: string, kind: TextKind = 'text'): string => masked(kind, [Buffer.from(text, 'latin1')]);

const rows: readonly (readonly [TextKind, string, string])[] = [
  ['text', 'card 4111111111111111.', 'card ************1111.'],
  ['text', '4111 1111 1111 1111', '**** **** **** 1111'],
  ['text', '5500-0000-0000-0004,378282246310005', '****-****-****-0004,***********0005'],
  ['text', '(6011 1111 1111 1117)', '(**** **** **** 1117)'],
  ['text', '4111111111111112', '4111111111111112'],
  ['text', 'tok_4111111111111111', 'tok_4111111111111111'],
  ['text', 'x4111111111111111', 'x4111111111111111'],
  ['text', '4111111111111111x', '4111111111111111x'],
  ['text', '0.4111111111111111', '0.4111111111111111'],
  ['text', '4111111111111111.25', '4111111111111111.25'],
  ['text', '41111111111111114111111111111111', '41111111111111114111111111111111'],
  ['text', '?q=%204111111111111111', '?q=%20************1111'],
  ['text', '2026 4111111111111111', '2026 ************1111'],
  ['text', '12 4111 1111 1111 1111', '12 **** **** **** 1111'],
  ['text', '4111111111111111 5500000000000004', '************1111 ************0004'],
  ['text', '4111  1111 1111 1111', '4111  1111 1111 1111'],
  ['json', '{"card":"4111111111111111"}', '{"card":"************1111"}'],
  ['text', 'No.4111-1111-1111-11-11, 4222 2222 2222 2', 'No.****-****-****-11-11, **** **** *222 2'],
  ['json', '{"card":4111111111111111}', '{"card":1000000000001111}'],
  ['json', '{"a\\"":"\\n4111111111111111"}', '{"a\\"":"\\n************1111"}'],
  [
    'json',
    '["\\u00a04111111111111111","\\\\",5500000000000004]',
    '["\\u00a0************1111","\\\\",1000000000000004]',
  ],
  [
    'html',
    '<p>4111111111111111<script>a=4111111111111111</script><b>4111111111111111',
    '<p>************1111<script>a=1000000000001111</script><b>************1111',
  ],
];

t.test('P3: what is masked, cut at every byte and at every two', async (t) => {
  for (const [kind, text, wanted] of rows) {
    t.equal(whole(text, kind), wanted, text);
    const bytes = Buffer.from(text, 'latin1');
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    t.equal(masked(kind, single), wanted, `${text} byte by byte`);
    for (let one = 0; one <= bytes.length; one += 1)
      for (let two = one; two <= bytes.length; two += 1) {
        const got = masked(kind, [bytes.subarray(0, one), bytes.subarray(one, two), bytes.subarray(two)]);
        if (got !== wanted) t.fail(`${text} cut at ${one} and ${two}: ${got}`);
      }
  }
});

/** The same numbers every time. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

t.test('P3: random bodies in random pieces', async (t) => {
  const random = randomOf(7);
  const cards = ['4111111111111111', '5500 0000 0000 0004', '3782-822463-10005', '6011111111111117'];
  const fillers = [
    '"',
    ' ',
    ',',
    'a',
    '12',
    '-',
    '.',
    '\\n',
    '{"x":',
    '}',
    '%41',
    '\u00e9',
    '<b>',
    '4111',
    '0.5',
    '\0',
    '99999999999999999999',
  ];
  for (let round = 0; round < 2000; round += 1) {
    let text = '';
    for (let part = 0; part < 12; part += 1)
      text += random(4) === 0 ? ` ;${cards[random(cards.length)]};` : (fillers[random(fillers.length)] ?? '');
    const kind = (['json', 'html', 'text'] as const)[random(3)] ?? 'text';
    const bytes = Buffer.from(text, 'latin1');
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + random(9);
      pieces.push(bytes.subarray(at, at + size));
      at += size;
    }
    const got = masked(kind, pieces);
    if (got !== whole(text, kind)) t.fail(`${JSON.stringify(text)}: ${got}`);
    if (got.length !== text.length) t.fail(`another length: ${JSON.stringify(text)}`);
    for (const card of cards) if (got.includes(`;${card};`)) t.fail(`a leak: ${JSON.stringify(text)}`);
    for (let at = 0; at < got.length; at += 1)
      if (got[at] !== text[at] && !/\d/.test(text[at] ?? '')) t.fail(`another byte: ${JSON.stringify(text)}`);
  }
  const before = process.cpuUsage();
  const flood = masked(
    'text',
    Array.from({ length: 256 }, () => Buffer.alloc(4096, '4111 ')),
  );
  t.equal(flood.length, 256 * 4096);
  t.ok(process.cpuUsage(before).user < 5_000_000, 'a megabyte of groups is linear');
  t.equal(masked('json', [Buffer.alloc(1_000_000, '1')]).length, 1_000_000, 'a number without an end');
});

t.test('P3: which answers', async (t) => {
  const target = { write: () => {}, resume: () => {}, pause: () => {}, broken: () => {} };
  const of = (status: number, ...headers: string[]) => replyMaskFor({ status, headers }, target);
  const json = ['Content-Type', 'application/json'];
  t.not(of(200, ...json), null);
  for (const [name, status, headers] of [
    ['partial', 206, json],
    ['events', 200, ['Content-Type', 'text/event-stream']],
    ['binary', 200, ['Content-Type', 'application/pdf']],
    ['no type', 200, []],
    ['a script', 200, ['Content-Type', 'text/javascript']],
    ['signed', 200, [...json, 'Signature', 'sig1=:AAAA=:']],
    ['digest', 200, [...json, 'Content-Digest', 'sha-256=:AAAA=:']],
    ['a token', 200, ['Content-Type', 'application/jose']],
    ['a coding that is not known', 200, [...json, 'Content-Encoding', 'zstd']],
    ['wide', 200, ['Content-Type', 'text/plain; charset=utf-16']],
  ] as const)
    t.equal(of(status, ...headers), null, name);
  t.same(of(200, ...json)?.fields(['ETag', '"1"', 'Content-Encoding', 'x']), [
    'ETag',
    'W/"1"',
    'Content-Encoding',
    'x',
  ]);
  t.same(of(200, ...json, 'Content-Encoding', 'gzip')?.fields(['ETag', 'W/"1"', 'Content-Encoding', 'gzip']), [
    'ETag',
    'W/"1"',
  ]);
  t.equal(strongTags('W/"1", "2"'), '"1", "2"');
});

t.test('P3: coded answers are decoded', async (t) => {
  const cards = Array.from({ length: 500 }, (_, at) => `{"n":${at},"c":"4111 1111 1111 1111"}`);
  const text = `{"cards":[${cards.join(',')}]}`;
  for (const [coding, code] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const) {
    const coded = code(Buffer.from(text));
    const out: Buffer[] = [];
    await new Promise<void>((resolve, reject) => {
      const mask = replyMaskFor(
        { status: 200, headers: ['Content-Type', 'application/json', 'Content-Encoding', coding] },
        {
          write: (chunk) => out.push(chunk),
          resume: () => {},
          pause: () => {},
          broken: () => reject(new Error('broken')),
        },
      );
      for (const byte of coded) mask?.write(Buffer.from([byte]));
      mask?.end(resolve);
    });
    t.equal(Buffer.concat(out).toString(), text.replaceAll('4111 1111 1111 1111', '**** **** **** 1111'), coding);
  }
});
