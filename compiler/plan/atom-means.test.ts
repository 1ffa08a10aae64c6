// "Without one of these bytes the operator cannot hold": checked against the operators themselves. And which pipelines
// may do without lower case.
import fc from 'fast-check';
import t from 'tap';
import { createMatcher, transformations, type OperatorIR } from '#engine/compile';
import { value } from '../testing/planned-rules.js';
import { dropLowercase, neededBytesOf } from './atom-means.js';

const seed = Number(process.env['SEED'] ?? 20_261_121);
const operator = (name: string, argument = ''): OperatorIR => ({
  name,
  argument,
  negated: false,
  template: null,
  phrases: null,
});
const bytesOf = (text: string): Set<number> => new Set([...text].map((character) => character.charCodeAt(0)));

/** Bytes that the operator does not need, as text. */
function idleBytes(name: string, argument = ''): string {
  const needed = neededBytesOf(operator(name, argument), argument);
  if (needed === null) throw new Error(`${name} has no needed bytes: the test would try nothing`);
  const wanted = new Set(needed);
  return [...Array(256).keys()]
    .filter((byte) => !wanted.has(byte))
    .map((byte) => String.fromCharCode(byte))
    .join('');
}

t.test('no value of idle bytes only is a match', (t) => {
  for (const [name, argument] of [
    ['detectXSS', ''],
    ['detectSQLi', ''],
    ['validateByteRange', '32-126'],
    ['validateUrlEncoding', ''],
    ['validateUtf8Encoding', ''],
  ] as const) {
    const idle = idleBytes(name, argument);
    const matcher = createMatcher(operator(name, argument), argument);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...idle), maxLength: 40 }), (value) => !matcher.matches(value)),
      { seed, numRuns: 3000 },
    );
    t.ok(idle.length > 0, `${name}: ${idle.length} idle bytes`);
  }
  t.end();
});

t.test('detectXSS: names that are attacks inside a tag are words outside of one', (t) => {
  const matcher = createMatcher(operator('detectXSS'), '');
  const idle = bytesOf(idleBytes('detectXSS'));
  const names = [
    'onload',
    'onerror',
    'onclick',
    'onfocus',
    'style',
    'filter',
    'xmlns',
    'xlink',
    'href',
    'src',
    'action',
    'formaction',
    'data',
    'javascript',
    'vbscript',
    'script',
    'svg',
    'iframe',
    'object',
    'applet',
    'base',
    'meta',
    'embed',
    'import',
    'doctype',
    'entity',
    'xml',
    'xsl',
  ];
  t.ok(
    matcher.matches('<script>') && matcher.matches('x onerror=alert(1)') && matcher.matches('onload=x'),
    'the operator sees what it should',
  );
  for (const name of names) {
    for (const value of [
      name,
      name.toUpperCase(),
      `${name}.x`,
      `x-${name}`,
      `${name}-${name}`,
      `_${name}_`,
      `.${name}`,
      `-${name}`,
    ]) {
      if (![...bytesOf(value)].every((byte) => idle.has(byte))) t.fail(`${value} is no idle text`);
      if (matcher.matches(value)) t.fail(`${value} matches`);
    }
  }
  t.notOk(
    [...'<>=/ \t\n"\'`'].some((character) => idle.has(character.charCodeAt(0))),
    'what ends a token is needed',
  );
  t.end();
});

t.test('detectSQLi: every word of a to f, alone and behind every shape of number', (t) => {
  const matcher = createMatcher(operator('detectSQLi'), '');
  const idle = bytesOf(idleBytes('detectSQLi'));
  t.ok([...'0123456789abcdefABCDEF'].every((character) => idle.has(character.charCodeAt(0))));
  t.notOk(
    idle.has(0x2d) || idle.has(0x2e) || idle.has(0x67),
    'not the dash of a comment, not a dot, not other letters',
  );
  t.ok(matcher.matches('1--1') && matcher.matches("1' or 1=1"), 'the operator sees what it should');
  let words = [''];
  let tried = 0;
  for (let length = 0; length <= 6; length += 1) {
    for (const word of words) {
      for (const number of length < 6 ? ['', '1', '00', '1e', '1e5', '0b1', '0b', '9d', '1f', '123e'] : ['', '1']) {
        tried += 1;
        if (
          matcher.matches(number + word) ||
          matcher.matches((number + word).toUpperCase()) ||
          matcher.matches(word + number)
        )
          t.fail(`${number}${word} matches`);
      }
    }
    words = words.flatMap((word) => [...'abcdef'].map((letter) => word + letter));
  }
  t.ok(tried > 180_000, `${tried} values`);
  t.end();
});

t.test('lower case moves out of a pipeline only where that changes nothing', (t) => {
  const rows: readonly [readonly string[], readonly string[], boolean][] = [
    [[], [], false],
    [['lowercase'], [], true],
    [['urlDecodeUni', 'lowercase'], ['urlDecodeUni'], true],
    [['lowercase', 'urlDecodeUni'], ['lowercase', 'urlDecodeUni'], false],
    [['lowercase', 'trim', 'removeNulls'], ['trim', 'removeNulls'], true],
    [['lowercase', 'base64Decode', 'lowercase'], ['lowercase', 'base64Decode'], true],
    [['lowercase', 'lowercase'], [], true],
    [['lowercase', 'sha1'], ['lowercase', 'sha1'], false],
  ];
  for (const [steps, pipeline, dropped] of rows) t.same(dropLowercase(steps), { pipeline, dropped }, steps.join());
  const apply = (steps: readonly string[], text: string): string =>
    steps.reduce((one, name) => transformations.get(name)?.apply(one, { unicodeMap: null }) ?? one, text);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...transformations.keys()), { maxLength: 4 }), value, (steps, text) => {
      const { pipeline, dropped } = dropLowercase(steps);
      const lower = (one: string): string => transformations.get('lowercase')?.apply(one, { unicodeMap: null }) ?? one;
      return !dropped || lower(apply(pipeline, text)) === lower(apply(steps, text));
    }),
    { seed, numRuns: 3000 },
  );
  t.end();
});
