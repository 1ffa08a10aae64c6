import t from 'tap';
import fc from 'fast-check';
import { Collection } from '../transaction/collection.js';
import { parseCookies } from './cookies.js';

const parse = (header: string): string[][] => {
  const into = new Collection();
  parseCookies(header, into);
  return into.names.map((name, index) => [name, into.values[index] as string]);
};

// Each as libmodsecurity 3.0.9 answers.
const table: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ['', []],
  [' ', []],
  [
    'x=1; y=2',
    [
      ['x', '1'],
      ['y', '2'],
    ],
  ],
  [
    'x=1;y=2',
    [
      ['x', '1'],
      ['y', '2'],
    ],
  ],
  [
    ' x = 1 ; y',
    [
      ['x ', ' 1 '],
      ['y', ''],
    ],
  ],
  ['x', [['x', '']]],
  ['=u', [['', 'u']]], // but here
  [
    'x=1; =u=v;=',
    [
      ['x', '1'],
      ['', 'u=v'],
      ['', ''],
    ],
  ], // and here
  ['x==u;', [['x', '=u']]],
  [
    'x="u;v"; y=z',
    [
      ['x', '"u'],
      ['x', 'u;v'],
      ['v"', ''],
      ['y', 'z'],
    ],
  ], // and here
  [
    'x="u"; y=" v"w',
    [
      ['x', '"u"'],
      ['y', '" v"w'],
    ],
  ],
  [
    'x= "\\073\\u\\"\\\\\\400"; y=z',
    [
      ['x', ' "\\073\\u\\"\\\\\\400"'],
      ['x', ';u"\\400'],
      ['y', 'z'],
    ],
  ], // and here
  ['x="u\\', [['x', '"u\\']]],
  [
    'x="u\\"; y="z"',
    [
      ['x', '"u\\"'],
      ['x', 'u"; y='],
      ['x', 'u\\'],
      ['y', '"z"'],
    ],
  ], // and here
  [
    'x=""\\047u"',
    [
      ['x', '""\\047u"'],
      ['x', '"\'u'],
    ],
  ], // Django and Starlette, here and below
  [
    'x="u", y="\\047"; z',
    [
      ['x', '"u", y="\\047"'],
      ['x', 'u", y="\''],
      ['z', ''],
    ],
  ],
  [
    'x=\xa0"\\047"\xc2\xa0; "\\047"',
    [
      ['x', '\xa0"\\047"\xc2\xa0'],
      ['x', "'"],
      ['"\\047"', ''],
      ['"\\047"', "'"],
    ],
  ],
  [';; x=1', [['x', '1']]],
  [
    'x=%41+u',
    [
      ['x', '%41+u'],
      ['x', 'A+u'],
    ],
  ], // and here, as in all of cookie-readings.ts
  [
    'x=1;\ty=2;  ; z= u ',
    [
      ['x', '1'],
      ['y', '2'],
      ['z', ' u'],
    ],
  ],
  [
    '$Version=1; x=u',
    [
      ['$Version', '1'],
      ['x', 'u'],
    ],
  ],
  ['x=1, y=2', [['x', '1, y=2']]],
  [
    'X=1; x=2',
    [
      ['X', '1'],
      ['x', '2'],
    ],
  ],
];

t.test('cookies are split as ModSecurity v3 does', async (t) => {
  for (const [header, pairs] of table) t.same(parse(header), pairs, JSON.stringify(header));
});

t.test('any header gives cookies with names, unless it has none, and no more than three times its bytes', async (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  t.comment(`seed ${seed}`);
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(';', '=', ' ', 'a', '\t', '\xff', '"', '\\', '0'), maxLength: 60 }),
      (header) => {
        const cookies = parse(header);
        return (
          cookies.every(([name]) => name !== '' || /(?:^|;)\s*=/.test(header)) &&
          cookies.flat().join('').length <= header.length * 3
        );
      },
    ),
    { seed, numRuns: 500 },
  );
  t.pass('held');
});

t.test('A5: what applications make of a value is shown besides', async (t) => {
  const base64 = (text: string, encoding: 'base64' | 'base64url' = 'base64'): string =>
    Buffer.from(text).toString(encoding);
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['%3C%3Fphp+x', ['<?php+x']],
    ['%253Cscript%253E', ['%3Cscript%3E', '<script>']],
    ['%25253C', ['%253C', '%3C', '<']],
    ['%zz%3c', ['%zz<']],
    ['"%3C"', ['"<"']],
    ['"%3C\\073"', ['%3C;', '<;']],
    ['a%3Db%3Bc%3D%2Fd', ['b', '/d']],
    ['a%3Db%3Bc%3Dd%20e', ['a=b;c=d e']],
    ['j:{"a":"\\u003cb","c":[1,{"d":"e"}]}', ['<b', 'a', '1', 'c', '0', 'e', 'd']],
    ['j%3A%7B%22a%22%3A%22%27%20OR%201%22%7D', ['j:{"a":"\' OR 1"}', "' OR 1"]],
    ['s%3Aid%20x.c2ln', ['s:id x.c2ln', 'id x']],
    ['s%3Aj%3A%5B%22%24(id)%22%5D.c2ln', ['s:j:["$(id)"].c2ln', 'j:["$(id)"]', '$(id)']],
    [`${base64('{"a":"; id"}')}--00ff`, ['; id']],
    [`${base64('{"alg":"none"}', 'base64url')}.${base64('{"sub":"\'--"}', 'base64url')}.c2ln`, ['none', "'--"]],
    [encodeURIComponent(base64('["<x>?~"]')), []],
    ['plain', []],
    ['eyes-of-the-world', []],
    ['100%', []],
  ];
  for (const [value, readings] of rows) {
    const shown = parse(`a=b; n=${value}; y=z`)
      .filter(([name]) => name === 'n')
      .map(([, text]) => text);
    t.equal(shown[0], value, 'as sent, first');
    for (const reading of readings) t.ok(shown.includes(reading), `${value} → ${reading}; found ${shown.join(' | ')}`);
    if (readings.length === 0 && !value.includes('%')) t.equal(shown.length, 1, value);
  }
  t.ok(parse(`n=${encodeURIComponent(base64('["<x>?~"]'))}`).some(([, text]) => text === '<x>?~'));
  t.same(parse('%3Cb%3E=1').at(-1), ['<b>', ''], 'an encoded name once more');
  t.ok(parse(`n=[${'1,'.repeat(20_000)}2]`).length <= 210, 'a bound on what one value adds');
});

t.test(
  'A5: JSON in base64 is found whatever white space it begins with, and wherever in the header it stands',
  async (t) => {
    for (const blank of ['', ' ', '\t', '\n', '\r', '\n  '])
      for (const text of [`{${blank}"a":"; id"}`, `[${blank}"; id"]`, `[${blank}{"a":"; id"}]`, `[${blank}1,"; id"]`]) {
        const value = Buffer.from(text).toString('base64url');
        for (const header of [
          `n=${value}`,
          `n= ${value}`,
          `n="${value}"`,
          `e=e3b0; n=c2ln--${value}; y=z`,
          `n=x.${value}.c2ln`,
          `n="x:${value}"`,
        ])
          t.ok(
            parse(header).some(([name, shown]) => name === 'n' && shown === '; id'),
            `${JSON.stringify(text)} in ${header}`,
          );
      }
    for (const word of ['e3b0c44298fc1c14', 'W', 'ey', 'eyes', 'ewe', 'n--ey.ew'])
      t.same(parse(`n=${word}`), [['n', word]], `${word} is a word`);
  },
);

t.test('A5: whatever is encoded, and however often, one reading is the text itself', async () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      (text, times, isJson) => {
        let value = isJson ? `j:${JSON.stringify({ a: text })}` : text;
        for (let round = 0; round < times; round += 1)
          value = [...value].map((one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
        return parse(`x=${value}`).some(([, reading]) => reading === text);
      },
    ),
  );
});

const inBase64 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('base64url');

t.test('base64 of a cookie is read where an application would read it', async (t) => {
  const rows: readonly (readonly [what: string, bytes: string, readings: readonly string[]])[] = [
    ['a document', '{"a":"<b>"}', ['<b>']],
    ['text that ends early', '{"a":"<b>","c', ['<b>']],
    ['a document with a byte that is no UTF-8', '{"a":"<b>","c":"\xff"}', ['<b>', '\xef\xbf\xbd']],
    ['a document with control characters', '{"a":"<b>\x01\x02"}', ['<b>']],
    ['a document and bytes of a signature behind it', '{"a":"<b>"}\x8e\x01\xf3', ['<b>']],
    ['bytes that begin like a document', '{"a":"<b>"\x8e\x01\xf3\x90', []],
    ['bytes that begin like an array', '[1,"$(x)",\xb4\x1f', []],
  ];
  for (const [what, bytes, readings] of rows)
    t.same(
      parse(`x=${inBase64(bytes)}`).slice(1),
      readings.map((reading) => ['x', reading]),
      what,
    );
});

t.test('next to no random word that begins like base64 of JSON adds a value', async (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_127);
  t.comment(`seed ${seed}`);
  let added = 0;
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 24, maxLength: 96 }), (random) => {
      for (const start of ['{"', '["', '[1,'])
        added += parse(`x=${inBase64(start + Buffer.from(random).toString('latin1'))}`).length - 1;
    }),
    { numRuns: 2_000, seed },
  );
  // Two hyphens divide a signed value, and in a short part random bytes may be text.
  t.ok(added <= 12, `${added} of 6,000`);
});
