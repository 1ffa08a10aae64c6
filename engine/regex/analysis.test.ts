// Each analysis against RE2 on texts made from the patterns: a "no" must never meet a match.
import t from 'tap';
import { compileRe2 } from '../native/re2-pattern.js';
import { foldLowercase, restrictTo } from './analysis.js';
import type { RegexFlags } from './node.js';
import { parseRegex } from './parser.js';
import { toRe2Source } from './re2-source.js';
import { requiredLiterals } from './required-literals.js';
import { drawFrom, mutatedText } from './sample-text.js';

const flags: RegexFlags = { caseless: false, dotAll: true, multiline: false };
const patterns = [
  'select.+from',
  '(?i)union\\s+(?:all\\s+)?select',
  '\\bon[a-z]{3,12}\\s*=',
  '<(?:script|iframe|object)[^>]*>',
  '(?i)(?:etc/(?:passwd|shadow)|boot\\.ini)',
  '\\.\\./',
  '^[\\w.-]+$',
  '[^\\x20-\\x7e]',
  'a|b|',
  '(?:ab){2,3}c',
  'a{3}b?c+',
  '^(?:get|post)$',
  '(?i)[a-c]x|[d-f]y',
  '"[^"]*"',
  '\\A\\d+\\z',
  '(?:x|yy|zzz)+!',
  '(?i)k[\\xe0-\\xff]?',
  '[A-Z]{2}',
  '(?:A|B)c',
  '(?m)^foo$',
  'x*y*',
  '\\$\\{(?:jndi|env):',
  '(?i:Ab)C',
  '[^a-z]Q',
  '\\x00',
  '(?:foo|)bar',
];
const alphabets = [
  'abcdefghijklmnopqrstuvwxyz',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-',
  'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.- ',
  '<>="\'/',
  '\0\n\xe9\xff',
  '',
];
const lowercase = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

t.test('no match escapes an analysis', (t) => {
  const draw = drawFrom(4711);
  let matches = 0;
  let pruned = 0;
  let held = 0;
  for (const source of patterns) {
    const node = parseRegex(source, flags);
    const pattern = compileRe2(source, flags);
    const literals = requiredLiterals(node);
    const folded = compileRe2(toRe2Source(foldLowercase(node)), flags);
    const sets = alphabets.map((letters) =>
      Uint8Array.from({ length: 256 }, (_, byte) => Number(letters.includes(String.fromCharCode(byte)))),
    );
    const restricted = sets
      .map((set) => restrictTo(node, set))
      .map((left) => (left === null ? null : compileRe2(toRe2Source(left), flags)));
    pruned += restricted.filter((left) => left === null).length;
    for (let round = 0; round < 300; round++) {
      const text = mutatedText(node, draw);
      if (pattern.test(lowercase(text)) !== folded.test(text)) t.fail(`${source} folded on ${JSON.stringify(text)}`);
      for (const [index, set] of sets.entries()) {
        const within = [...text].filter((character) => set[character.charCodeAt(0)] === 1).join('');
        const [whole, cut] = [pattern.test(within), restricted[index]?.test(within) ?? false];
        if (whole) held++;
        if (whole !== cut)
          t.fail(
            `${source} ${whole ? 'matches' : 'does not match'} ${JSON.stringify(within)}, what is left of it in ` +
              `alphabet ${index} does ${cut ? '' : 'not'}`,
          );
      }
      if (!pattern.test(text)) continue;
      matches++;
      if (literals !== null && !literals.some((literal) => lowercase(text).includes(literal)))
        t.fail(`${source} matches ${JSON.stringify(text)} without a literal`);
    }
  }
  t.ok(
    matches > 2000 && pruned > 40 && held > 2000,
    `${matches} matches, ${pruned} alphabets ruled out, ${held} matches within an alphabet`,
  );
  t.end();
});

t.test('answers worth having', (t) => {
  const node = (source: string): ReturnType<typeof parseRegex> => parseRegex(source, flags);
  t.strictSame(requiredLiterals(node('(?i)union\\s+select')), ['select']);
  t.strictSame(requiredLiterals(node('x(?:foo|bar)y')), ['xfooy', 'xbary']);
  t.equal(requiredLiterals(node('[^a]*')), null);
  t.equal(requiredLiterals(node('(?:foo|)')), null);
  const letters = Uint8Array.from({ length: 256 }, (_, byte) => Number(/[A-Za-z]/.test(String.fromCharCode(byte))));
  const rows: readonly [string, string | null][] = [
    ['a+<', null],
    ['a+<?b', 'a+(?:)b'],
    ['(?:x<|y|[;z])+$', '(?:y|z)+\\z'],
    ['(?m)^a$', '\\Aa\\z'],
    ['a(?=[;b])', 'a(?=b)'],
    ['a(?!;)', 'a'],
    ['a(?=;)', null],
  ];
  for (const [source, left] of rows) {
    const restricted = restrictTo(node(source), letters);
    t.equal(
      restricted === null ? null : toRe2Source(restricted),
      left === null ? null : toRe2Source(node(left)),
      source,
    );
  }
  t.end();
});
