import fc from 'fast-check';
import t from 'tap';
import { compileRe2 } from '../native/re2-pattern.js';
import { toHyperscanSource } from './hyperscan-source.js';
import { type RegexFlags, RegexSyntaxError, RegexUnsupportedError } from './node.js';
import { parseRegex } from './parser.js';
import { toRe2Source } from './re2-source.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const flags: RegexFlags = { caseless: false, dotAll: true, multiline: false };

t.test('what a pattern matches', (t) => {
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['^[]a]+$', [']a', 'a'], ['[', '']],
    ['^[a-\\d]$', ['a', '-', '7'], ['b']],
    ['^[\\Q]^\\E]$', [']', '^'], ['Q', 'E']],
    ['^\\Qa.b*\\E+$', ['a.b*', 'a.b**'], ['axb']],
    ['^a(?#comment)b$', ['ab'], ['a']],
    ['^a(?i)b|c$', ['aB', 'C'], ['AB']],
    ['^(?i:a)b$', ['Ab'], ['AB']],
    ['^(?x) a b # c\n c$', ['abc'], ['a b']],
    ['^a{,2}$', ['a{,2}'], ['aa']],
    ['^\\h$', [' ', '\t', '\xa0'], ['\n', '\v']],
    ['^\\v\\z', ['\n', '\v', '\x85'], [' ']],
    ['^\\R\\z', ['\r\n', '\n', '\x85'], ['\n\n']],
    ['^\\103\\x{41}\\cA\\e$', ['CA\x01\x1b'], ['CA']],
    ['(?i)^[^k]$', ['a', '\xe9'], ['k', 'K']],
    ['(?i)^[[:upper:]]$', ['a', 'A'], ['1']],
    ['(?i)^\\xe9$', ['\xe9'], ['\xc9']],
    ['^[^"]*+"$', ['abc"'], ['abc']],
    ['^a{2001}$', ['a'.repeat(2001)], ['a'.repeat(2000)]],
    ['^a{0,1500}b$', [`${'a'.repeat(1500)}b`, 'b'], [`${'a'.repeat(1501)}b`]],
  ];
  for (const [source, yes, no] of cases) {
    for (const text of yes)
      t.ok(compileRe2(source, flags).test(text), `${source} matches ${JSON.stringify(text.slice(0, 20))}`);
    for (const text of no)
      t.notOk(compileRe2(source, flags).test(text), `${source} does not match ${JSON.stringify(text.slice(0, 20))}`);
  }
  t.end();
});

t.test('groups, and the newline that $ looks past', (t) => {
  const cases: readonly (readonly [string, string, readonly string[] | null])[] = [
    ['a(b)?(c)', 'xac', ['ac', '', 'c']],
    ['(?<one>a)(?P<two>b)', 'ab', ['ab', 'a', 'b']],
    ['(a)$', 'a\n', ['a', 'a']],
    ['(a$)', 'a\n', ['a', 'a']],
    ['((a|\n)$)', 'a\n\n', ['\n', '\n', '\n']],
    ['(.*)$', 'a\n', ['a\n', 'a\n']],
    ['^(.*?)$', 'a\n', ['a', 'a']],
    ['(?m)^$', 'a\n', null],
    ['(?m)^$', 'a\n\nb', ['']],
    ['(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)', 'abcdefghijk', ['abcdefghijk', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']],
    ['(\\xe9+)', 'x\xe9\xe9', ['\xe9\xe9', '\xe9\xe9']],
  ];
  for (const [source, text, expected] of cases) {
    t.strictSame(compileRe2(source, flags).exec(text), expected, `${source} on ${JSON.stringify(text)}`);
    t.equal(compileRe2(source, flags).test(text), expected !== null);
  }
  t.equal(compileRe2('x\\z', flags).test(`${'\xe9'.repeat(70_000)}x`), true, 'longer than the scratch');
  t.end();
});

t.test('syntax errors say where', (t) => {
  const cases: readonly (readonly [string, number])[] = [
    ['a(b', 1],
    ['a)b', 1],
    ['[abc', 0],
    ['*a', 0],
    ['a**', 2],
    ['a{3}{2}', 4],
    ['a{3,2}', 1],
    ['[z-a]', 1],
    ['[[:nope:]]', 1],
    ['\\', 0],
    ['a\\x{100}', 1],
    ['a\\x{zz}', 1],
    ['\\y', 0],
    ['(?<1>a)', 5],
    ['(?z)', 0],
    ['\\x{41', 3],
    ['a{99999}', 1],
    ['\\400', 0],
    ['(?<a', 3],
  ];
  for (const [source, offset] of cases) {
    let thrown: unknown;
    try {
      parseRegex(source, flags);
    } catch (error) {
      thrown = error;
    }
    t.ok(thrown instanceof RegexSyntaxError, source);
    t.equal((thrown as RegexSyntaxError).offset, offset, `${source}: ${(thrown as Error).message}`);
  }
  t.end();
});

t.test('what linear-time engines cannot do is refused by name', (t) => {
  for (const source of [
    '(?:a(?=b))*',
    'a(?!b*c)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '(?P<n>a)(?P=n)',
    '\\g{1}',
    '(?R)',
    '(?1)',
    '(?(1)a|b)',
    '(*FAIL)',
    'a\\Kb',
    '\\X',
    '\\pL',
    '(?|a|b)',
    'a++a',
    '(?>a|ab)c',
    'a$\\n',
    'x*\\B',
  ]) {
    const node = parseRegex(source, flags);
    let thrown: unknown;
    try {
      toRe2Source(node);
    } catch (error) {
      thrown = error;
    }
    t.ok(
      thrown instanceof RegexUnsupportedError,
      `${source}: ${thrown instanceof Error ? thrown.message : 'accepted'}`,
    );
  }
  t.end();
});

t.test('property: any text parses or fails with a typed error, and what parses can be written', (t) => {
  const piece = fc.constantFrom(
    '(',
    ')',
    '(?:',
    '(?i)',
    '[',
    ']',
    '^',
    '-',
    '\\',
    'a',
    'Z',
    '0',
    '9',
    '{',
    '}',
    ',',
    '*',
    '+',
    '?',
    '|',
    '.',
    '$',
    '\\Q',
    '\\E',
    '\\x{',
    '[:alpha:]',
    '(?<n>',
    '(?>',
    '\n',
    '\xe9',
    '\0',
    '#',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), fc.boolean(), (pieces, on) => {
      const source = pieces.join('');
      try {
        const node = parseRegex(source, { caseless: on, dotAll: !on, multiline: on });
        toHyperscanSource(node);
        compileRe2(source, { caseless: on, dotAll: !on, multiline: on }).test('a');
      } catch (error) {
        if (!(error instanceof RegexSyntaxError || error instanceof RegexUnsupportedError)) throw error;
      }
    }),
    { numRuns: 3000 },
  );
  t.throws(() => parseRegex('('.repeat(5000), flags), { message: /deeper than 250/ });
  t.throws(() => parseRegex('\u0100', flags), { message: /bytes/ });
  t.end();
});
