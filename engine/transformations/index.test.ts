// Vectors of the shared corpus decide semantics; properties hold the contract: pure, total, identity kept, triggers
// necessary.
import fc from 'fast-check';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { canonicalTransformationName, transformations } from './index.js';
import type { TransformationContext } from './transformation.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

interface Vector {
  id: string;
  name: string;
  file: string;
  source: string;
  input_b64: string;
  output_b64: string;
  crs_needed?: boolean;
  conflict?: unknown;
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const shared = process.env['GATEHOUSE_SHARED'] ?? join(root, '..', 'shared');
const folder = join(shared, 'corpora', 'transformations');
const plain: TransformationContext = { unicodeMap: null };
/** The entries of code page 20127 that the vectors with a loaded map rely on. */
const mapped: TransformationContext = {
  unicodeMap: new Map([
    [0x201c, 0x22],
    [0x201d, 0x22],
    [0x2018, 0x27],
    [0x2019, 0x27],
    [0x2014, 0x2d],
    [0xe8, 0x65],
    [0xe9, 0x65],
  ]),
};

/** Vectors that we do not follow, with the reason; the list may only shrink. */
const declined = new Map<string, string>([
  [
    'coraza:hexDecode.json:3',
    'Coraza refuses a value with a foreign digit; ModSecurity gives it a value (sts:hexDecode.json:3)',
  ],
]);

function apply(name: string, value: string, context = plain): string {
  const found = transformations.get(name);
  if (!found) throw new Error(`no transformation ${name}`);
  return found.apply(value, context);
}

t.test(
  'vectors of the corpus',
  { skip: existsSync(folder) ? false : `no corpus at ${folder} (set GATEHOUSE_SHARED)` },
  (t) => {
    const seen = new Set<string>();
    let needed = 0;
    let others = 0;
    let conflicts = 0;
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
      const name = canonicalTransformationName(file.slice(0, -'.json'.length));
      t.ok(name, `${file} names a transformation`);
      if (name === null) continue;
      seen.add(name);
      for (const vector of JSON.parse(readFileSync(join(folder, file), 'utf8')) as Vector[]) {
        const input = Buffer.from(vector.input_b64, 'base64').toString('latin1');
        const expected = Buffer.from(vector.output_b64, 'base64').toString('latin1');
        // Coraza tests urlDecodeUni with a map loaded, the ModSecurity vectors without one.
        const actual = apply(name, input, vector.source === 'coraza' ? mapped : plain);
        if (vector.conflict) {
          conflicts += 1;
          if (vector.source === 'sts') t.equal(actual, expected, `${vector.id} (ModSecurity's side of a conflict)`);
        } else if (declined.has(vector.id))
          t.not(actual, expected, `${vector.id} declined: ${declined.get(vector.id)}`);
        else {
          t.equal(actual, expected, vector.id);
          if (vector.crs_needed) needed += 1;
          else others += 1;
        }
      }
    }
    t.equal(needed, 166, 'vectors that the CRS needs');
    t.equal(others, 112, 'other vectors');
    t.equal(conflicts, 4, 'conflicts');
    t.same(
      [...transformations.keys()].filter((name) => !seen.has(name)),
      ['none'],
      'every registered name has vectors',
    );
    t.end();
  },
);

t.test('own vectors: [transformation, input, output, why]', (t) => {
  const table: [string, string, string, string][] = [
    ['none', 'A \0', 'A \0', 'identity'],
    ['base64Decode', 'QUJD!', 'QUJD!', 'a foreign byte leaves the value'],
    ['base64Decode', 'QUJDRA', 'ABC', 'an unpadded rest is dropped'],
    ['base64Decode', 'QU\nJD\r\n', 'ABC', 'line ends are skipped'],
    ['base64DecodeExt', '!QUJDRA', 'ABCD', 'foreign bytes and missing padding are forgiven'],
    ['base64DecodeExt', '-_8', '\xfb\xff', 'URL-safe alphabet'],
    ['cmdLine', 'C:\\Win^dows  , "x" /c', 'c:windows x/c', 'escapes, runs of separators, space before a slash'],
    ['cmdLine', '\xc9A', '\xc9a', 'only ASCII is lower-cased'],
    ['cssDecode', '\\ff21\\00ff21x', 'AAx', 'full-width letters of four and six digits'],
    ['cssDecode', 'a\\\nb', 'ab', 'escaped newline vanishes'],
    ['escapeSeqDecode', '\\777', '\xff', 'octal keeps the low byte'],
    [
      'htmlEntityDecode',
      '&#99999999999999999999;&#x1ffffffffffffffff&#256;',
      '\xff\xff\0',
      'numbers saturate as strtol does, then keep the low byte',
    ],
    ['htmlEntityDecode', '&LT;&Nbsp&quotx;&amp', '<\xa0&quotx;&', 'names in any case, unknown ones stay'],
    ['jsDecode', '\\uFF1cx\\x3e\\477', '<x>\x277', 'full-width, hexadecimal, octal above a byte uses two digits'],
    ['lowercase', 'ÀA', 'Àa', 'bytes from 0x80 on are no letters'],
    ['uppercase', '\xb5\xffß a', '\xb5\xffß A', 'no Unicode folding'],
    ['normalizePath', 'foo..', '', 'a segment that ends in two dots counts as a back-reference, as in ModSecurity'],
    ['normalizePath', '/a/../../etc/./passwd', '/etc/passwd', 'never above the root'],
    ['normalizePathWin', 'C:\\a\\\\\\..\\b', 'C:/b', 'three backslashes are one separator'],
    ['removeComments', '1--2', '1', 'SQL comment to the end'],
    ['removeComments', 'a#b', 'a', 'SQL comment to the end'],
    ['removeComments', 'a<!--b-->c', 'ac', 'HTML comment'],
    ['removeCommentsChar', '/<!--*a--b-->#', '/*ab', 'marks are judged once: what removal joins is not a mark'],
    ['removeWhitespace', 'a\xc2\xa0b\x0bc', 'abc', 'no-break space in UTF-8'],
    ['replaceComments', '/**/a/*b', ' a ', 'an unclosed comment too'],
    ['parityEven7bit', '\xf5a', 'u\xe1', 'all eight bits count'],
    ['parityOdd7bit', '\xf5a', '\xf5a', 'all eight bits count'],
    ['sqlHexDecode', 'x0X41420x4', 'xAB0x4', 'whole pairs only'],
    ['trim', '\t a \x0b', 'a', 'all C white space'],
    ['urlDecode', '%u0041%', '%u0041%', 'no %u here'],
    ['urlDecodeUni', '%uFF1Cscript%U003e%u00', '<script>%u00', 'full-width, upper-case U, too short'],
    ['urlEncode', '_-.~*', '%5f%2d%2e%7e*', 'only letters, digits and the asterisk are plain'],
    ['utf8toUnicode', '\xf0\x9f\x98\x80', '%u1f600', 'beyond four digits'],
    ['utf8toUnicode', '\xc0\xafx\xed\xa0\x80', '%u002f\xc0x%ud800\xed', 'overlong and surrogate keep their first byte'],
    ['utf8toUnicode', 'a\xc3\0\x80b', 'a\x80b', 'a broken first byte and NUL vanish, a lone continuation stays'],
    ['phpArgsNames', ' a.b[c]d', 'a_b[c]', 'what follows the index is dropped'],
  ];
  for (const [name, input, output, why] of table) t.equal(apply(name, input), output, `${name}: ${why}`);
  t.equal(
    apply('urlDecodeUni', '%u0141%u0041', { unicodeMap: new Map([[0x141, 0x4c]]) }),
    'LA',
    'the map first, else the low byte',
  );
  t.end();
});

const byteString = fc
  .array(fc.integer({ min: 0, max: 255 }), { maxLength: 60 })
  .map((bytes) => String.fromCharCode(...bytes));
/** Text dense in the bytes that mean something to some transformation. */
const pieces = [
  '%',
  '%u',
  '+',
  '&',
  '&#',
  '&#x',
  'amp;',
  '\\',
  '\\u',
  '\\x',
  '/*',
  '*/',
  '<!--',
  '-->',
  '--',
  '#',
  '/',
  '.',
  '..',
  '//',
  ' ',
  '\t',
  '\n',
  '\0',
  '\xc2\xa0',
  '\xe2\x80\x9c',
  '\xf0',
  '0x',
  '41',
  'ff',
  'FF1c',
  'a',
  'Z',
  '7',
  '=',
  ';',
  ',',
  '(',
  '"',
  '^',
  '[',
  ']',
  '_',
];
const dense = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(''));

t.test('properties of every transformation', (t) => {
  for (const [name, { apply, triggers }] of transformations) {
    const listed = new Set(triggers ?? []);
    fc.assert(
      fc.property(fc.oneof(byteString, dense), (value) => {
        const output = apply(value, plain);
        for (let index = 0; index < output.length; index += 1) if (output.charCodeAt(index) > 0xff) return false;
        return apply(value, plain) === output;
      }),
      { numRuns: 400 },
    );
    if (triggers !== null) {
      fc.assert(
        fc.property(fc.oneof(byteString, dense), (value) => {
          const without = [...value].filter((char) => !listed.has(char.charCodeAt(0))).join('');
          return apply(without, plain) === without && apply(without, mapped) === without;
        }),
        { numRuns: 400 },
      );
    }
    t.pass(`${name}: bytes in, bytes out, pure${triggers === null ? '' : ', unchanged without its triggers'}`);
  }
  t.end();
});

t.test('every trigger is needed: some value with only that trigger and plain bytes changes', (t) => {
  const fillers = ['', '#65', 'a', '/', '!', '41', '41z', '\x80', '\x80\x80', '\x80\x80\x80', ']', 'x', '0'];
  for (const [name, { apply, triggers }] of transformations) {
    const listed = new Set(triggers ?? []);
    for (const trigger of triggers ?? []) {
      const char = String.fromCharCode(trigger);
      // Other triggers may not occur beside the one on trial, except repeated.
      const usable = fillers.filter((filler) => [...filler].every((piece) => !listed.has(piece.charCodeAt(0))));
      const found = usable.some((before) =>
        usable.some((after) =>
          [1, 2].some((times) =>
            [char.repeat(times), `${char}/`, `/${char}b${char}/`].some(
              (middle) => apply(before + middle + after, plain) !== before + middle + after,
            ),
          ),
        ),
      );
      t.ok(found, `${name} 0x${trigger.toString(16)}`);
    }
  }
  t.end();
});
t.test('idempotence where it is claimed', (t) => {
  const claimed = [
    'lowercase',
    'uppercase',
    'removeNulls',
    'replaceNulls',
    'removeWhitespace',
    'compressWhitespace',
    'trim',
    'trimLeft',
    'trimRight',
    'parityZero7bit',
    'none',
  ];
  for (const name of claimed) {
    fc.assert(
      fc.property(fc.oneof(byteString, dense), (value) => apply(name, apply(name, value)) === apply(name, value)),
    );
    t.pass(name);
  }
  t.end();
});

t.test('decoding undoes encoding', (t) => {
  for (const [encode, decode] of [
    ['base64Encode', 'base64Decode'],
    ['base64Encode', 'base64DecodeExt'],
    ['hexEncode', 'hexDecode'],
    ['urlEncode', 'urlDecode'],
    ['urlEncode', 'urlDecodeUni'],
  ] as const) {
    fc.assert(fc.property(byteString, (value) => apply(decode, apply(encode, value)) === value));
    t.pass(`${decode} of ${encode}`);
  }
  t.end();
});

t.test('long values stay linear and whole', (t) => {
  for (const [name, { apply }] of transformations) {
    const long = '/%41&amp;\\x41 ../a'.repeat(150_000);
    t.type(apply(long, plain), 'string', `${name} of ${long.length} bytes`);
    t.equal(apply('', plain).length <= 40, true, `${name} of nothing`);
  }
  t.equal(apply('urlDecode', '%41'.repeat(500_000)), 'A'.repeat(500_000));
  t.end();
});

t.test('spellings', (t) => {
  t.equal(canonicalTransformationName('normalisePath'), 'normalizePath');
  t.equal(canonicalTransformationName('NormalizePathWin'), 'normalizePathWin');
  t.equal(canonicalTransformationName('base64decode'), 'base64Decode');
  t.equal(canonicalTransformationName('urlDecodeuni'), 'urlDecodeUni');
  t.equal(canonicalTransformationName('utf8ToUnicode'), 'utf8toUnicode');
  t.equal(canonicalTransformationName('__proto__'), null);
  t.equal(canonicalTransformationName('rot13'), null);
  t.equal(transformations.size, 37);
  for (const name of transformations.keys()) t.equal(canonicalTransformationName(name.toUpperCase()), name);
  t.end();
});
