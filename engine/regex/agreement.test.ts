// RE2 and Hyperscan must give the same answer for the same pattern and bytes, on patterns written here and on every @rx
// of the CRS. Texts are made from the patterns themselves, so that matches and near misses are common.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { hyperscanLibrary } from '../native/hyperscan.js';
import { PatternRefused, type Scanner } from '../native/matcher.js';
import { idsIn, spec } from '../native/matcher.contract.js';
import { compileRe2 } from '../native/re2-pattern.js';
import { toHyperscanSource } from './hyperscan-source.js';
import { type RegexFlags, type RegexNode, RegexUnsupportedError } from './node.js';
import { parseRegex } from './parser.js';
import { type Draw, drawFrom, mutatedText } from './sample-text.js';

const library = hyperscanLibrary();

function scannerFor(node: RegexNode): Scanner | null {
  try {
    return library.createScanner([library.load(library.compile([spec(0, toHyperscanSource(node))]), 'agreement')]);
  } catch (error) {
    if (error instanceof PatternRefused) return null;
    throw error;
  }
}

interface Outcome {
  compared: number;
  matches: number;
  refused: string[];
  unsupported: string[];
  disagreements: string[];
}

function compare(source: string, flags: RegexFlags, texts: number, draw: Draw, outcome: Outcome): void {
  const node = parseRegex(source, flags);
  let scanner: Scanner | null;
  let test: (text: string) => boolean;
  try {
    const pattern = compileRe2(source, flags);
    test = (text) => pattern.test(text);
    scanner = scannerFor(node);
  } catch (error) {
    if (!(error instanceof RegexUnsupportedError)) throw error;
    outcome.unsupported.push(source);
    return;
  }
  if (scanner === null) {
    outcome.refused.push(source);
    return;
  }
  for (let round = 0; round < texts; round++) {
    const text = mutatedText(node, draw);
    const matches = test(text);
    outcome.compared++;
    outcome.matches += Number(matches);
    if (idsIn(scanner, text).length !== Number(matches))
      outcome.disagreements.push(
        `${JSON.stringify(flags)} ${source.slice(0, 200)} on ${JSON.stringify(text)}: RE2 ${matches}`,
      );
  }
  scanner.release();
}

const patterns = [
  'a$',
  '^a',
  '^$',
  '^a$',
  'a\\z',
  'a\\Z',
  '\\Aa',
  '(?m)^a$',
  '(?m)^$',
  '(?m)^\\s*$',
  '(?:a|^)b',
  'b(?:$|a)',
  '(?m)(?:a|^)b',
  'br|x|^$|y',
  '(?m)^(?:a|)$',
  '.',
  '(?s).',
  '(?-s)a.b',
  '\\N',
  '\\R',
  'a\\Rb',
  '\\s',
  '\\S',
  '\\h',
  '\\H',
  '\\v',
  '\\V',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '[\\s\\x0b]',
  '[^\\s]',
  '[\\h]',
  '[\\V]',
  '(?i)k',
  '(?i)[a-f]x',
  '(?i)\\xe9',
  '(?i)[\\xe0-\\xef]',
  '(?i)[^k]',
  '(?i)s(?-i)s',
  'a(?i:b)c',
  'a(?i)b|c',
  '\\x41\\x{42}\\103\\o{104}',
  '\\e\\a\\f\\t\\cA',
  '\\0',
  '\\x00',
  '[[:alpha:]]',
  '[[:^alpha:][:digit:]]',
  '(?i)[[:upper:]]',
  '(?i)[[:^lower:]]',
  '[]a]',
  '[^]a]',
  '[a\\]b]',
  '[a-\\d]',
  '[\\d-z]',
  '[-a]',
  '[a-]',
  '[\\Q]^\\E]',
  '[\\b]',
  '\\Qa.b*\\E+',
  '\\Qab',
  'a(?#comment)b',
  '(?x) a b # c',
  '(?x)[ a]',
  '(?<n>a)(?P<m>b)',
  "(?'n'a)b",
  'a{2}',
  'a{,2}',
  'a{2,}',
  'a{2,3}?',
  'x{',
  '{',
  'a{b}',
  '(?U)a+b',
  'a++b',
  '[a-c]*+d',
  '[^"]*+"',
  '(?>a+)b',
  '(?>ab)c',
  '\\w++\\W',
  'a++',
  '(?>a|ab)',
  'a?+b',
  '\\ba',
  'a\\b',
  '\\Ba',
  'a\\B',
  '\\b',
  '\\B',
  'foo\\b.bar',
  '()',
  '(|a)b',
  'a||b',
  '(a*)*b',
  '(?:a?){3}b',
  '(?i)script\\b[^>]*>',
  '[\\x80-\\xff]{2,4}',
  '(?:\\xc2\\xb4|\\xe2\\x80[\\x98\\x99])',
  '',
  'a*',
  '$',
  '^',
  '(?m)$',
  '\\.',
  '\\/',
  '\\-',
  '\\"',
];

t.test('patterns written here, all flags', (t) => {
  const outcome: Outcome = { compared: 0, matches: 0, refused: [], unsupported: [], disagreements: [] };
  const draw = drawFrom(20261121);
  for (const source of patterns) {
    for (const caseless of [false, true]) {
      for (const multiline of [false, true])
        for (const dotAll of [false, true]) compare(source, { caseless, multiline, dotAll }, 60, draw, outcome);
    }
  }
  t.strictSame(outcome.disagreements.slice(0, 20), []);
  t.ok(
    outcome.compared > 40_000 && outcome.matches > 10_000,
    `${outcome.compared} compared, ${outcome.matches} matches`,
  );
  t.ok(
    outcome.refused.length + outcome.unsupported.length < patterns.length,
    `Hyperscan refuses ${outcome.refused.length} of ${patterns.length * 8}, unsupported ${outcome.unsupported.length}`,
  );
  t.comment(
    `refused ${[...new Set(outcome.refused)].join('  ')}; unsupported ${[...new Set(outcome.unsupported)].join('  ')}`,
  );
  t.end();
});

/** All rule files as one text: from CRS_DIR, or out of the shared archive. */
function ruleText(): string | null {
  const directory = process.env['CRS_DIR'] ?? '';
  if (directory !== '') {
    const rules = join(directory, 'rules');
    return readdirSync(rules)
      .filter((name) => name.endsWith('.conf'))
      .sort()
      .map((name) => readFileSync(join(rules, name), 'latin1'))
      .join('\n');
  }
  const shared =
    process.env['GATEHOUSE_SHARED'] ?? join(fileURLToPath(new URL('../../..', import.meta.url)), '../shared');
  const archive = join(shared, 'crs/coreruleset-4.25.1.tar.gz');
  if (!existsSync(archive)) return null;
  return execFileSync('tar', ['-xzOf', archive, '--wildcards', '*/rules/*.conf'], { maxBuffer: 1 << 26 }).toString(
    'latin1',
  );
}

function rxArguments(text: string): string[] {
  const joined = text.replace(/^\s*#.*$/gm, '').replace(/\\\n\s*/g, '');
  return [
    ...new Set(
      [...joined.matchAll(/SecRule\s+\S+\s+"!?@rx ((?:[^"\\]|\\.)*)"/g)].map((found) =>
        found[1]!.replaceAll('\\"', '"'),
      ),
    ),
  ];
}

const rules = ruleText();
t.test(
  'every @rx of the CRS',
  { skip: rules === null ? 'neither CRS_DIR nor the shared archive exists' : false },
  (t) => {
    const sources = rxArguments(rules!);
    const outcome: Outcome = { compared: 0, matches: 0, refused: [], unsupported: [], disagreements: [] };
    const draw = drawFrom(20261122);
    for (const [index, source] of sources.entries()) {
      const multiline = index % 2 === 0; // each pattern once: compiling all twice takes half a minute
      compare(source, { caseless: false, multiline, dotAll: true }, 60, draw, outcome);
    }
    t.strictSame(outcome.disagreements.slice(0, 20), []);
    t.strictSame(outcome.unsupported, [], 'RE2 takes them all');
    t.ok(
      sources.length > 280 && outcome.compared > 60 * 270,
      `${sources.length} patterns, ${outcome.compared} texts, ${outcome.matches} matches`,
    );
    t.comment(
      `${sources.length} patterns, ${outcome.compared} texts, ${outcome.matches} matches, Hyperscan refuses ` +
        `${outcome.refused.length}: ${outcome.refused.map((source) => source.slice(0, 40)).join('  ')}`,
    );
    t.end();
  },
);
