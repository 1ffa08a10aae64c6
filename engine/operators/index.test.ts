// Vectors of the shared corpus decide semantics; each indexed search is held against a naive one.
import fc from 'fast-check';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { OperatorIR } from '../program/ir.js';
import { createMatcher, operators } from './index.js';
import { literalsAreCaseless, literalsOf } from './literals.js';
import { pmPhrases } from './text/pm.js';
import { OperatorArgumentError } from './operator.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

interface Vector {
  id: string;
  source: string;
  name: string;
  param_b64?: string | null;
  input_b64: string;
  ret: number;
  re_groups?: string[];
  crs_needed?: boolean;
  conflict?: unknown;
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const shared = process.env['GATEHOUSE_SHARED'] ?? join(root, '..', 'shared');
const folder = join(shared, 'corpora', 'operators');

/** Operators that the compiler refuses, and Coraza's own. */
const unsupported = new Set(['geoLookup.json', 'validateSchema.json', 'nids.json']);

function ir(name: string, argument: string, phrases: readonly string[] | null = null): OperatorIR {
  return { name, negated: false, argument, template: null, phrases };
}
/** Whether the argument is refused with the error that callers look for. */
function refused(operator: OperatorIR): boolean {
  try {
    createMatcher(operator, operator.argument);
    return false;
  } catch (error) {
    return error instanceof OperatorArgumentError;
  }
}
const bytes = (text: string | null | undefined): string => Buffer.from(text ?? '', 'base64').toString('latin1');
const matches = (name: string, argument: string, value: string): boolean =>
  createMatcher(ir(name, argument), argument).matches(value);

t.test(
  'vectors of the corpus',
  { skip: existsSync(folder) ? false : `no corpus at ${folder} (set GATEHOUSE_SHARED)` },
  (t) => {
    const byFile = new Map([...operators.keys()].map((name) => [`${name.toLowerCase()}.json`, name]));
    const seen = new Set<string>();
    let needed = 0;
    let others = 0;
    let conflicts = 0;
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json') && !unsupported.has(name))) {
      const name = byFile.get(file.toLowerCase());
      t.ok(name, `${file} names an operator`);
      if (name === undefined) continue;
      seen.add(name);
      for (const vector of JSON.parse(readFileSync(join(folder, file), 'utf8')) as Vector[]) {
        const argument = bytes(vector.param_b64);
        const phrases =
          name === 'pmFromFile' ? readFileSync(join(folder, 'op', basename(argument)), 'latin1').split('\n') : null;
        const value = bytes(vector.input_b64);
        const expected = vector.ret === 1;
        const matcher = createMatcher(ir(name, argument, phrases), argument);
        const actual = matcher.matches(value);
        if (vector.conflict) {
          conflicts += 1;
          if (vector.source === 'sts') t.equal(actual, expected, `${vector.id} (ModSecurity's side of a conflict)`);
          continue;
        }
        if (actual !== expected)
          t.fail(`${vector.id}: @${name} ${argument} on ${JSON.stringify(value)} should be ${expected}`);
        if (matcher.capture)
          t.equal(matcher.capture(value) !== null, expected, `${vector.id}: captures exactly when it matches`);
        if (vector.re_groups)
          t.same(matcher.capture?.(value)?.slice(0, vector.re_groups.length), vector.re_groups, `${vector.id}: groups`);
        if (vector.crs_needed) needed += 1;
        else others += 1;
      }
    }
    t.equal(needed, 1155, 'vectors that the CRS needs');
    t.equal(others, 84, 'other vectors');
    t.equal(conflicts, 2, 'conflicts');
    t.same(
      [...operators.keys()].filter((name) => !seen.has(name)),
      ['ipMatchFromFile', 'pathBelow'],
      'every registered name has vectors, but for those in the own table',
    );
    t.end();
  },
);

t.test('own vectors: [operator, argument, value, matches, why]', (t) => {
  const table: [string, string, string, boolean, string][] = [
    ['pathBelow', '/a', '/a/%2e%2e;/b', false, 'some server reads it elsewhere'],
    ['pathBelow', '/a%20b/*', '/a b/c?d', true, 'an escape is a byte, a star a segment'],
    ['contains', 'é', 'cafÃ©', false, 'bytes, not characters'],
    ['containsWord', 'ab', 'xab ab', true, 'a later occurrence'],
    ['containsWord', 'ab', 'ab1', true, 'a digit is a boundary'],
    ['containsWord', 'ab', 'ab\xe9', true, 'so is a byte from 0x80 on'],
    ['containsWord', 'ab', 'abx', false, 'a letter is not'],
    ['within', 'GET POST', 'get', false, 'case counts'],
    ['eq', '5', ' +5x', true, 'leading blanks, sign and rest'],
    ['eq', '0', '99999999999999999999', false, 'a huge number does not wrap round to 0'],
    ['gt', '100', '99999999999999999999', true, 'nor to something negative'],
    ['lt', '0', '-99999999999999999999', true, 'in either direction'],
    ['validateByteRange', '9,10, 32-126', 'a\tb\n', false, 'all within'],
    ['validateByteRange', '32-126', 'a\xe9', true, 'one outside'],
    ['validateByteRange', '1-255', '\0', true, 'no NUL'],
    ['validateUrlEncoding', '', '100%', true, 'cut off'],
    ['validateUrlEncoding', '', '%41%%41', true, 'a percent sign is no digit'],
    ['validateUtf8Encoding', '', '\xc0\xaf', true, 'overlong, two bytes'],
    ['validateUtf8Encoding', '', '\xe0\x80\xaf', true, 'overlong, three bytes'],
    ['validateUtf8Encoding', '', '\xed\xa0\x80', true, 'surrogate'],
    ['validateUtf8Encoding', '', '\xf0\x8f\xbf\xbf', true, 'overlong, four bytes'],
    ['validateUtf8Encoding', '', '\xf5\x80\x80\x80', true, 'first byte above F4'],
    ['validateUtf8Encoding', '', 'a\xf0\x9f\x98\x80', false, 'four bytes'],
    ['validateUtf8Encoding', '', 'a\xe2\x82', true, 'cut off'],
    ['pm', 'select union', 'SELECT 1', true, 'case aside'],
    ['pm', 'a|20 42|c', 'xbc', true, 'a decoded blank parts the phrases'],
    ['pm', '|41 42|c', '-abC-', true, 'hexadecimal block'],
    ['pm', 'c:\\\\dir', 'C:\\DIR', true, 'Snort escape of a backslash'],
    ['pm', 'c:\\dir', 'C:\\DIR', true, 'an escape that Snort lacks leaves the argument as written'],
    ['pm', 'ab|cd', 'xAB|CD', true, 'a lone bar is a bar'],
    ['pm', '|4|', 'x|4|', true, 'half a byte is text'],
    ['pm', '"ab cd"', 'cd', true, 'quotes around all are dropped'],
    ['pm', '', 'x', false, 'no phrases'],
    ['ipMatch', '10.0.0.0/8, 2001:db8::/32', '10.255.0.1', true, 'IPv4 network'],
    ['ipMatch', '10.0.0.0/8, 2001:db8::/32', '2001:DB8:1::1', true, 'IPv6 network, either case'],
    ['ipMatch', '10.0.0.0/8', '::ffff:10.0.0.1', false, 'a mapped address is IPv6'],
    ['ipMatch', '0.0.0.0/0', '010.0.0.1', false, 'leading zeros are no address'],
    ['ipMatch', '0.0.0.0/0', '1.2.3.4.5', false, 'five octets are no address'],
    ['ipMatch', '::/0', '1::2::3', false, 'two gaps are no address'],
    ['ipMatch', '::/0', '1:2:3:4:5:6:7:8:9', false, 'nine groups are no address'],
    ['ipMatch', '192.168.1.17/16', '192.168.255.255', true, 'host bits of the argument are ignored'],
    ['ipMatch', '10.0.0.1/33', '10.0.0.1', false, 'a prefix longer than the address matches nothing'],
    ['ipMatch', '::1/129,192.0.2.1', '192.0.2.1', true, 'and leaves the other entries alone'],
    ['rx', 'a.b$', 'a\nb\n', true, 'dot takes newlines, $ stands before a last one'],
    ['rx', '^b', 'a\nb', false, '^ is the start of the value only'],
    ['rx', '(?i)caf\\xe9', 'CAF\xe9', true, 'bytes'],
    ['verifySSN', '\\d{9}', '666010001', false, 'area 666'],
    ['verifyCPF', '\\d{11}', '11111111111', false, 'all equal'],
    ['verifySVNR', '\\d{10}', '1238010180', false, 'wrong check digit'],
    ['verifyCC', '\\d{13,16}', '994111111111111111', true, 'every offset is tried'],
    [
      'verifyCC',
      '(?:^|[^\\d])(\\d+)(?:[^\\d]|$)',
      '115484605089158216',
      false,
      'a later search still sees what stands before it',
    ],
    ['unconditionalMatch', '', '', true, 'always'],
    ['noMatch', '', 'x', false, 'never'],
  ];
  for (const [name, argument, value, expected, why] of table)
    t.equal(matches(name, argument, value), expected, `@${name} ${argument}: ${why}`);
  const file = createMatcher(
    ir('ipMatchFromFile', 'list', ['# mine', '', '192.0.2.7 # one', '198.51.100.0/24']),
    'list',
  );
  t.ok(file.matches('192.0.2.7'));
  t.ok(file.matches('198.51.100.200'));
  t.notOk(file.matches('198.51.101.0'));
  t.match(
    createMatcher(ir('ipMatch', '10.0.0.0/33,::1'), '10.0.0.0/33,::1').warning,
    /^10\.0\.0\.0\/33: no address matches/,
  );
  t.equal(file.warning, undefined);
  const phrases = createMatcher(ir('pmFromFile', 'list', ['two words', 'sleep(']), 'list');
  t.same(phrases.capture?.('x; SLEEP(5)'), ['SLEEP('], 'TX:0 as it stands in the value');
  t.same(phrases.capture?.('x; Two Words'), ['Two Words'], 'a line is one phrase');
  t.equal(phrases.capture?.('two'), null);
  t.same(
    createMatcher(ir('pm', 'he she hers'), 'he she hers').capture?.('uSHErs'),
    ['SHE'],
    'earliest end, then longest',
  );
  t.same(
    createMatcher(ir('rx', '(a)(x)?(b)'), '(a)(x)?(b)').capture?.('cab'),
    ['ab', 'a', '', 'b'],
    'an absent group is empty',
  );
  t.same(
    createMatcher(ir('rxGlobal', '\\b(\\w)'), '\\b(\\w)').capture?.('ab cd'),
    ['a', 'a', 'c', 'c'],
    'boundaries hold in later matches',
  );
  t.equal(
    createMatcher(ir('rx', '(.)'.repeat(12)), '(.)'.repeat(12)).capture?.('0123456789abc')?.length,
    10,
    'at most TX:0–9',
  );
  t.end();
});

t.test('bad arguments say what is wrong', (t) => {
  const table: [string, string, RegExp][] = [
    ['validateByteRange', '1-300', /300 is not a byte/],
    ['validateByteRange', '9-1', /backwards/],
    ['ipMatch', '10.0.0.0/8a', /prefix length.*0 to 32/],
    ['ipMatch', 'example.com', /example\.com is no IP address/],
    ['ipMatch', '::1/x', /prefix length.*0 to 128/],
    ['rx', '(', /@rx/],
    ['geoLookup', '', /there is no operator @geoLookup/],
  ];
  for (const [name, argument, message] of table) {
    t.throws(() => createMatcher(ir(name, argument), argument), { message });
    t.equal(refused(ir(name, argument)), true);
  }
  t.end();
});

const letters = fc
  .array(fc.constantFrom('a', 'b', 'A', 'B', 'c', '.', '\xe9', '\0'), { maxLength: 12 })
  .map((chars) => chars.join(''));
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

t.test('pm equals a naive search', (t) => {
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 6 }), letters, letters, (list, before, after) => {
      const value = before + (list[0] ?? '') + after;
      const matcher = createMatcher(ir('pmFromFile', '', list), '');
      let expected: string | null = null;
      for (let end = 1; end <= value.length && expected === null; end += 1) {
        for (let start = 0; start < end && expected === null; start += 1) {
          if (list.some((phrase) => phrase !== '' && lower(phrase) === lower(value.slice(start, end))))
            expected = value.slice(start, end);
        }
      }
      return matcher.matches(value) === (expected !== null) && (matcher.capture?.(value)?.[0] ?? null) === expected;
    }),
    { numRuns: 1500 },
  );
  t.end();
});

t.test('ipMatch equals a naive comparison', (t) => {
  const octet = fc.constantFrom(0, 1, 10, 127, 128, 255);
  const address = fc.array(octet, { minLength: 4, maxLength: 4 });
  const bits = (octets: readonly number[]): string =>
    octets.map((value) => value.toString(2).padStart(8, '0')).join('');
  const network = fc.tuple(address, fc.integer({ min: 0, max: 32 }));
  fc.assert(
    fc.property(fc.array(network, { minLength: 1, maxLength: 5 }), address, (networks, value) => {
      const argument = networks.map(([octets, prefix]) => `${octets.join('.')}/${prefix}`).join(',');
      const expected = networks.some(
        ([octets, prefix]) => bits(octets).slice(0, prefix) === bits(value).slice(0, prefix),
      );
      return matches('ipMatch', argument, value.join('.')) === expected;
    }),
    { numRuns: 1000 },
  );
  const groups = fc.array(fc.constantFrom(0, 1, 0x8000, 0xffff), { minLength: 8, maxLength: 8 });
  const wide = (parts: readonly number[]): string => parts.map((part) => part.toString(2).padStart(16, '0')).join('');
  const text = (parts: readonly number[]): string => parts.map((part) => part.toString(16)).join(':');
  fc.assert(
    fc.property(
      fc.array(fc.tuple(groups, fc.integer({ min: 0, max: 128 })), { minLength: 1, maxLength: 5 }),
      groups,
      (networks, value) => {
        const argument = networks.map(([parts, prefix]) => `${text(parts)}/${prefix}`).join(',');
        const expected = networks.some(
          ([parts, prefix]) => wide(parts).slice(0, prefix) === wide(value).slice(0, prefix),
        );
        return matches('ipMatch', argument, text(value)) === expected;
      },
    ),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('literals are a necessary condition', (t) => {
  const names = ['pm', 'contains', 'containsWord', 'strmatch', 'streq', 'beginsWith', 'endsWith'];
  fc.assert(
    fc.property(fc.constantFrom(...names), letters, letters, letters, (name, argument, before, after) => {
      const operator = ir(name, argument);
      const literals = literalsOf(operator);
      if (literals === null) return true;
      const folded = literalsAreCaseless(operator) ? lower : (value: string): string => value;
      return [before, before + argument, argument + after, argument].every(
        (value) =>
          !createMatcher(operator, argument).matches(value) ||
          literals.some((literal) => folded(value).includes(folded(literal))),
      );
    }),
    { numRuns: 1500 },
  );
  t.equal(literalsOf(ir('within', 'GET POST')), null);
  t.equal(literalsOf(ir('contains', '')), null, 'the empty argument matches everything');
  t.equal(literalsOf({ ...ir('streq', '%{tx.x}'), template: [{ variable: 'TX', key: 'x' }] }), null, 'macros');
  t.same(literalsOf(ir('pm', 'a |42|')), ['a', 'B']);
  t.same(pmPhrases('x\ty'), ['x', 'y']);
  t.end();
});

t.test('no operator throws on any value; long values are no trouble', (t) => {
  const argumentOf: Record<string, string> = {
    rx: '(a+)+$',
    rxGlobal: 'a|',
    verifyCC: '\\d{13,16}',
    verifyCPF: '\\d{11}',
    verifySSN: '\\d{9}',
    verifySVNR: '\\d{10}',
    ipMatch: '10.0.0.0/8',
    validateByteRange: '1-255',
    pathBelow: '/a',
  };
  const byteString = fc
    .array(fc.integer({ min: 0, max: 255 }), { maxLength: 40 })
    .map((codes) => String.fromCharCode(...codes));
  for (const name of operators.keys()) {
    const argument = argumentOf[name] ?? 'abc';
    const matcher = createMatcher(ir(name, argument, name.endsWith('FromFile') ? [] : null), argument);
    fc.assert(
      fc.property(byteString, (value) => {
        const held = matcher.matches(value);
        return matcher.capture === undefined || (matcher.capture(value) !== null) === held;
      }),
      { numRuns: 100 },
    );
    t.type(matcher.matches('1'.repeat(200_000)), 'boolean', name);
  }
  t.end();
});
