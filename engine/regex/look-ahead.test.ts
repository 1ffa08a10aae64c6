// Look-ahead against JavaScript's RegExp, which backtracks: matches, group texts, and Hyperscan's yes or no.
import fc from 'fast-check';
import t from 'tap';
import { hyperscanLibrary } from '../native/hyperscan.js';
import { idsIn, spec } from '../native/matcher.contract.js';
import { PatternRefused, type Scanner } from '../native/matcher.js';
import { compileRe2 } from '../native/re2-pattern.js';
import { createMatcher } from '../operators/index.js';
import { toHyperscanSource } from './hyperscan-source.js';
import { withoutLookAhead } from './look-ahead.js';
import { type RegexFlags, RegexUnsupportedError } from './node.js';
import { parseRegex } from './parser.js';
import { foldLowercase } from './analysis.js';
import { toRe2Source } from './re2-source.js';
import { drawFrom } from './sample-text.js';

const flags: RegexFlags = { caseless: false, dotAll: true, multiline: false };
const library = hyperscanLibrary();

function scannerFor(source: string): Scanner | null {
  try {
    return library.createScanner([
      library.load(library.compile([spec(0, toHyperscanSource(parseRegex(source, flags)))]), 'look-ahead'),
    ]);
  } catch (error) {
    if (error instanceof PatternRefused) return null;
    throw error;
  }
}

/** PCRE's `$` and `\z`, as JavaScript (no flag m) writes them. */
function forJavaScript(source: string): RegExp {
  let caseless = '';
  let text = source;
  if (text.startsWith('(?i)')) [caseless, text] = ['i', text.slice(4)];
  return new RegExp(text.replaceAll('$', '(?=\\n?(?![^]))').replaceAll('\\z', '(?![^])'), `s${caseless}`);
}

const groupsMax = 10;
function expectedGroups(expression: RegExp, text: string): string[] | null {
  const found = expression.exec(text);
  return found === null ? null : Array.from(found, (group: string | undefined) => group ?? '').slice(0, groupsMax);
}

interface Tally {
  compared: number;
  matches: number;
  scanned: number;
  patterns: number;
  unsupported: number;
  refusedByHyperscan: number;
  disagreements: string[];
}
const emptyTally = (): Tally => ({
  compared: 0,
  matches: 0,
  scanned: 0,
  patterns: 0,
  unsupported: 0,
  refusedByHyperscan: 0,
  disagreements: [],
});

function compare(source: string, texts: readonly string[], tally: Tally): void {
  let pattern: ReturnType<typeof compileRe2>;
  try {
    pattern = compileRe2(source, flags);
  } catch (error) {
    if (!(error instanceof RegexUnsupportedError)) throw error;
    tally.unsupported++;
    return;
  }
  const scanner = scannerFor(source);
  tally.patterns++;
  tally.refusedByHyperscan += Number(scanner === null);
  const expression = forJavaScript(source);
  for (const text of texts) {
    const expected = expectedGroups(expression, text);
    const groups = pattern.exec(text);
    // Groups behind the last that can take part are left out; they are empty.
    const actual =
      groups === null
        ? null
        : [...groups, ...new Array<string>(Math.max(0, (expected?.length ?? 0) - groups.length)).fill('')];
    tally.compared++;
    tally.matches += Number(expected !== null);
    const held = pattern.test(text) === (expected !== null) && JSON.stringify(actual) === JSON.stringify(expected);
    if (!held)
      tally.disagreements.push(
        `RE2 ${source} on ${JSON.stringify(text)}: ${JSON.stringify(groups)}, expected ${JSON.stringify(expected)}`,
      );
    if (scanner === null) continue;
    tally.scanned++;
    if (idsIn(scanner, text).length > 0 !== (expected !== null))
      tally.disagreements.push(`Hyperscan ${source} on ${JSON.stringify(text)}`);
  }
  scanner?.release();
}

/** Texts joined from pieces of the pattern and a little noise. */
function textsFrom(pieces: readonly string[], count: number, draw: (below: number) => number): string[] {
  return Array.from({ length: count }, () =>
    Array.from({ length: draw(7) }, () => pieces[draw(pieces.length)]!).join(''),
  );
}

const noise = ['', '\n', ' ', 'a', 'x', '\xe9', '\xff', '0', '_', 'A', '\0'];
const written: readonly (readonly [string, readonly string[]])[] = [
  ['<\\?(?!xml)', ['<?', 'x', 'm', 'l', 'xm', 'xml', 'php']],
  ['^(?:5|4(?!04))', ['5', '4', '0', '04', '404']],
  ['foo(?=bar)', ['foo', 'bar', 'ba', 'r']],
  ['(foo)(?=ba[rz])', ['foo', 'bar', 'baz', 'ba']],
  ['((fo+)(?!o|bar))', ['fo', 'o', 'bar', 'b']],
  ['(fo+?)(?!o|bar)', ['fo', 'o', 'bar', 'b']],
  ['fo+(?!bar)o', ['fo', 'o', 'bar', 'b']],
  ['4(?!04)\\d\\d', ['4', '0', '04', '404', '1']],
  ['(?!a)(\\w)', ['a', 'b', '_', ' ']],
  ['(?!ab)(\\w+)=(.)', ['a', 'b', 'c', '=', 'ab=']],
  ['(?!ab)(\\w+?)(b?)c', ['a', 'b', 'c', 'ab']],
  ['(?=ab)(\\w)+(c)?', ['a', 'b', 'c', 'ab']],
  ['(?i)<(?!/?(?:b|em)\\b)(\\w+)', ['<', '/', 'b', 'EM', 'e', 'm', 'bx']],
  ['(?i)on(?!ce\\b)[a-z]+=', ['on', 'ON', 'ce', 'CE', '=', 'x']],
  ['a(?!$)', ['a', '\n', 'b']],
  ['a(?=$)', ['a', '\n', 'b']],
  ['a(?!b\\z)', ['a', 'b', '\n']],
  ['a(?!b$)c?', ['a', 'b', 'c', '\n']],
  ['(a|ab)(?!b)$', ['a', 'b', '\n']],
  ['a(?!\\n)$', ['a', '\n', 'b']],
  ['a(?!b)\\b', ['a', 'b', ' ', '-']],
  ['a(?=.)\\B', ['a', 'b', ' ', '-']],
  ['^(?!https?://)', ['http', 's', '://', ':']],
  ['^(?!-)[a-z-]{1,3}(?!-)x', ['-', 'a', 'x', 'b']],
  ['(?!a)(?!b)[a-d]', ['a', 'b', 'c', 'd']],
  ['x(?!a)(?!bc)', ['x', 'a', 'b', 'c']],
  ['x(?=a)(?=ab)(a)', ['x', 'a', 'b']],
  ['x(?!(a)b)', ['x', 'a', 'b']],
  ['x(?!a(?!b))', ['x', 'a', 'b']],
  ['x(?=a(?!b).)', ['x', 'a', 'b', '\n']],
  ['(?:(?!a)\\w)+', ['a', 'b', 'c']],
  ['(?:x(?!a)|(y))(z|a)', ['x', 'y', 'z', 'a']],
  ['(x(?!ab))?(\\w)(\\w)', ['x', 'a', 'b']],
  ['(?:x(?!a|xx)){2}', ['x', 'xx', 'a', 'b']],
  ['x(?!a{2,3}b*)a', ['x', 'a', 'aa', 'b']],
  ['x(?!)|y(?=)', ['x', 'y']],
  ['x(?![^a])', ['x', 'a', 'b', '\xe9']],
  ['x(?=[\\xe9\\xff]{2})', ['x', '\xe9', '\xff', '\xe9\xff']],
  ['(x*)(?!x)(x*)', ['x', 'y']],
  ['[ab]*?(?=c)', ['a', 'b', 'c']],
  ['(?!ab)a*b', ['a', 'b', 'ab']],
  ['foo(?!\\w+$)bar', ['foo', 'bar']],
];

t.test('patterns written here', (t) => {
  const tally = emptyTally();
  const draw = drawFrom(20261201);
  for (const [source, pieces] of written)
    compare(source, [...pieces, ...textsFrom([...pieces, ...pieces, ...noise], 400, draw)], tally);
  t.strictSame(tally.disagreements.slice(0, 20), []);
  t.equal(tally.unsupported, 1, 'one is not a list of texts');
  t.ok(
    tally.matches > 4000,
    `${tally.patterns} patterns, ${tally.compared} texts, ${tally.matches} matches; Hyperscan ${tally.scanned}, ` +
      `refuses ${tally.refusedByHyperscan} patterns`,
  );
  t.end();
});

/**
 * Patterns over a small alphabet: no captures in loops, no empty rounds (JavaScript resets and skips them in its own
 * way).
 */
const atom = fc.constantFrom('a', 'b', 'c', '[ab]', '[^a]', '.', '\\w', 'ab', '\\n');
const counted = fc
  .tuple(
    fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', '\\w', '(?:ab)', '(?:a|bc)', '(?:(?!a)[ab])'),
    fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}'),
  )
  .map((parts) => parts.join(''));
const bodyText = fc
  .array(fc.oneof(atom, fc.constantFrom('a?', '(?:a|b)', 'b{1,2}', '(?:|c)')), { maxLength: 3 })
  .map((parts) => parts.join(''));
const body = fc
  .tuple(fc.array(bodyText, { minLength: 1, maxLength: 2 }), fc.constantFrom('', '', '', '$', '\\z'))
  .map(([texts, end]) => (texts.length === 1 ? texts[0]! : `(?:${texts.join('|')})`) + end);
const ahead = fc.tuple(fc.constantFrom('(?!', '(?='), body).map(([open, text]) => `${open}${text})`);
const { sequence } = fc.letrec<{ item: string; sequence: string }>((tie) => ({
  item: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.oneof(atom, atom, counted, counted, ahead, ahead, fc.constantFrom('\\b', '\\B')),
    tie('sequence').map((inner) => `(${inner})`),
    fc.tuple(tie('sequence'), tie('sequence')).map(([one, other]) => `(?:${one}|${other})`),
    tie('sequence').map((inner) => `(?:c${inner})?`),
  ),
  sequence: fc.array(tie('item'), { minLength: 1, maxLength: 3 }).map((items) => items.join('')),
}));
const pattern = fc
  .tuple(fc.constantFrom('', '', '^'), sequence, fc.option(ahead, { nil: '' }), fc.constantFrom('', '', '$', '\\z'))
  .map((parts) => parts.join(''));

t.test('property: random patterns', (t) => {
  const tally = emptyTally();
  const pieces = ['a', 'b', 'c', 'ab', 'abc', 'ba', '\n', '\xe9', ' '];
  const draw = drawFrom(20261202);
  for (const source of fc.sample(pattern, { numRuns: 900, seed: 20261203 })) {
    if (/\(\?[!=]/.test(source)) compare(source, textsFrom(pieces, 40, draw), tally);
  }
  t.strictSame(tally.disagreements.slice(0, 20), []);
  t.ok(
    tally.patterns > 600 && tally.matches > 5000,
    `${tally.patterns} patterns, ${tally.unsupported} unsupported, ${tally.compared} texts, ${tally.matches} ` +
      `matches; Hyperscan ${tally.scanned}, refuses ${tally.refusedByHyperscan} patterns`,
  );
  t.end();
});

t.test('every match in turn, from where the last one ended', (t) => {
  const draw = drawFrom(20261204);
  let several = 0;
  for (const source of ['a(?!b)', 'a(?=b)', '[ab]+?(?=c)', '(a|b)(?!c)', '(\\w)(?!ab|b)', '\\b(?!a)(\\w)']) {
    const matcher = createMatcher(
      { name: 'rxGlobal', negated: false, argument: source, template: null, phrases: null },
      source,
    );
    for (const text of textsFrom(['a', 'b', 'c', 'ab', ' '], 200, draw)) {
      const found = [...text.matchAll(new RegExp(source, 'gs'))]
        .filter(([whole]) => whole !== '')
        .flatMap((match) => Array.from(match, (group: string | undefined) => group ?? ''));
      several += Number(found.length > 2);
      t.same(matcher.capture?.(text) ?? [], found.slice(0, groupsMax), `${source} on ${text}`);
    }
  }
  t.ok(several > 200, `${several} values with several matches`);
  t.end();
});

t.test('what is still refused says why and where', (t) => {
  const table: readonly (readonly [string, RegExp])[] = [
    ['x(?:a(?!b))*', /end of a loop.*offset 5/],
    ['(?:(?!-->).)*', /end of a loop/],
    ['^(?=.*[0-9])x', /repeats without a bound/],
    ['a(?=(b))', /captures; write \(\?:/],
    ['a(?!\\bb)', /begins with \\b/],
    ['a(?!^b)', /\^ inside/],
    ['a(?!(b)\\1)', /back-reference inside/],
    ['a(?!(?<=b)c)', /look-behind inside/],
    ['a(?!b++c)', /possessive quantifier inside/],
    ['a(?!(?>b|bc)d)', /atomic group inside/],
    ['(?!ab)a++b', /meets a possessive/],
    ['(?!ab)(?>a|b)b', /meets an atomic/],
    ['(?!ab)(?:a*)*b', /can be empty/],
    ['a(?=\\n)$', /\\n\\z/],
    ['((?:a|ab)(?:c(?!d))?)e?', /begins with another choice/],
    ['(?:(?!ab)(?:a|(b))(\\w))+', /capturing group stands behind it in a loop/],
    [`a(?!${'[ab]?'.repeat(40)}c${'[ab]'.repeat(40)}[^a]{1,60}z)`, /list fewer/],
    ['(?<=a)b', /Look-behind/],
  ];
  for (const [source, message] of table) {
    let thrown: unknown;
    try {
      compileRe2(source, flags);
    } catch (error) {
      thrown = error;
    }
    t.ok(thrown instanceof RegexUnsupportedError, source);
    t.match(String(thrown), message);
  }
  t.end();
});

t.test('other patterns are left alone, long lists stay small, folding commutes', (t) => {
  const plain = parseRegex('a(b|c)*$', flags);
  t.equal(withoutLookAhead(plain), plain);
  const names = Array.from({ length: 60 }, (_, index) => `name${(index * 7919) % 1000}`).join('|');
  const source = toRe2Source(parseRegex(`(?i)<(?!(?:${names})\\b)`, flags));
  t.ok(source.length < 20_000, `${source.length} bytes`);
  const folded = compileRe2(toRe2Source(foldLowercase(parseRegex('<(?!xml)', flags))), flags);
  t.notOk(folded.test('<XmL'));
  t.ok(folded.test('<XmA'));
  t.end();
});
