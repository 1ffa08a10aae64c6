import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { nativeAddon } from './addon.js';
import { detectSqli, detectXss, mayBeSqli, mayBeXss } from './libinjection.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

interface OracleRow {
  readonly id: string;
  readonly kind: string;
  readonly input: string;
  readonly input_b64?: string;
  readonly is_sqli: boolean;
  readonly fingerprint: string;
  readonly is_xss: boolean;
  readonly expected: string;
}

const shared =
  process.env['GATEHOUSE_SHARED'] ?? join(fileURLToPath(new URL('../../..', import.meta.url)), '../shared');
const corpus = join(shared, 'corpora/libinjection');
const absent = existsSync(corpus) ? false : `no corpus: ${corpus} does not exist`;

function rows(file: string): OracleRow[] {
  return readFileSync(join(corpus, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as OracleRow);
}
const bytesOf = (row: OracleRow): string =>
  Buffer.from(row.input_b64 ?? row.input, row.input_b64 === undefined ? 'utf8' : 'base64').toString('latin1');

t.test('answers on values written here', (t) => {
  t.equal(detectSqli("1' or '1'='1"), 's&sos');
  t.equal(detectSqli('plain words only'), '');
  t.equal(detectXss('<script>alert(1)</script>'), true);
  t.equal(detectXss('a < b and c = d'), false);
  t.equal(detectXss('x onclick=alert(1)'), true, 'a known event handler');
  t.equal(detectXss('x onfrobnicate=1'), false, 'no event of that name exists');
  t.equal(detectXss('x onfrobnicate=1 onerror=alert(1)'), true, 'an unknown name does not hide a known one');
  t.equal(detectXss('<x formaction=javascript:alert(1)>'), true, 'names that merely hold "on" stay');
  t.end();
});

t.test('every oracle answer is reproduced, and no positive is gated away', { skip: absent }, (t) => {
  const wrong: string[] = [];
  const counts = { inputs: 0, sqli: 0, xss: 0, sqliGatePassed: 0, xssGatePassed: 0 };
  for (const row of rows('oracle.jsonl')) {
    const value = bytesOf(row);
    counts.inputs++;
    counts.sqli += Number(row.is_sqli);
    counts.xss += Number(row.is_xss);
    counts.sqliGatePassed += Number(mayBeSqli(value));
    counts.xssGatePassed += Number(mayBeXss(value));
    if (detectSqli(value) !== row.fingerprint || (row.fingerprint !== '') !== row.is_sqli) wrong.push(`${row.id} sqli`);
    if (detectXss(value) !== row.is_xss) wrong.push(`${row.id} xss`);
    if ((row.is_sqli && !mayBeSqli(value)) || (row.is_xss && !mayBeXss(value))) wrong.push(`${row.id} gate`);
  }
  t.strictSame(wrong, []);
  t.ok(counts.inputs > 15_000 && counts.sqli > 12_000 && counts.xss > 1_400, JSON.stringify(counts));
  t.comment(JSON.stringify(counts));
  t.end();
});

t.test("upstream's fingerprint tests", { skip: absent }, (t) => {
  const cases = rows('tests.jsonl').filter((row) => row.kind === 'sqli-fingerprint');
  const wrong = cases.filter((row) => detectSqli(bytesOf(row)) !== row.expected).map((row) => row.id);
  t.strictSame(wrong, []);
  t.ok(cases.length > 0, `${cases.length} cases`);
  t.comment(`${cases.length} fingerprint cases`);
  t.end();
});

t.test('property: what a gate stops, the library calls harmless', (t) => {
  const native = nativeAddon();
  const words = [
    'union',
    'select',
    'or',
    'and',
    'having',
    'order',
    'by',
    'null',
    'like',
    'into',
    'if',
    'exec',
    'sleep',
    'user',
    'x',
    'b',
    'n',
    'e',
    'sp_password',
    'not',
    'div',
    'between',
    'case',
    'waitfor',
    'delay',
    'drop',
    'table',
  ];
  const numbers = ['', '1', '0x1', '0b1', '1e1', '1e', '1d', '1f', '00', '9', '0x', '1_'];
  let combinations = 0;
  for (const number of numbers) {
    for (const word of words) {
      for (const tail of ['', ...words, ...numbers]) {
        combinations++;
        if (native.sqli(number + word + tail) !== '') t.fail(number + word + tail);
      }
    }
  }
  t.ok(combinations > 10_000, `${combinations} combinations`);
  const name = fc.stringMatching(/^[A-Za-z0-9_]{0,24}$/);
  fc.assert(fc.property(name, (value) => native.sqli(value) === ''));
  const pieces = fc.array(
    fc.constantFrom(
      'on',
      'onclick',
      'src',
      'style',
      'script',
      '!--',
      '!doctype',
      '/',
      '>',
      ' ',
      '"',
      "'",
      '`',
      '[if',
      'xml',
      '\0',
      '?import',
      'javascript:',
      'x',
    ),
    { maxLength: 12 },
  );
  fc.assert(fc.property(pieces, (parts) => !native.xss(parts.join(''))));
  t.end();
});

t.test('values of every length and type reach the library whole', (t) => {
  const native = nativeAddon();
  for (const length of [0, 1, 2046, 2047, 2048, 2049, 5000]) {
    const value = `${'a'.repeat(length)}<script>`;
    t.equal(native.xss(value), true, `${length} bytes before the tag`);
    t.equal(native.xss(Buffer.from(value, 'latin1')), true);
  }
  t.throws(() => native.sqli(7 as unknown as string), TypeError);
  t.throws(() => native.xss({} as unknown as string), TypeError);
  t.end();
});
