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
  ['x=%41+u', [['x', '%41+u']]],
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
