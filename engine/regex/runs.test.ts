// Patterns of runs against RE2, which everything else asks.
import { strictEqual, deepStrictEqual, ok } from 'node:assert';
import { test } from 'node:test';
import RE2 from 're2';
import { parseRegex } from './parser.js';
import { re2Forms } from './re2-source.js';
import { runPatternOf } from './runs.js';

const flags = { caseless: false, dotAll: true, multiline: false } as const;

const taken = [
  '^[^;\\s]+',
  '\\.([^.]+)$',
  '^[^#]+',
  '.',
  '^[a-z]*$',
  '^(a)([b-d]*)(e[f]*)',
  '/([^/]+)/x',
  '[\\d]+',
  '^(?:[a-c]+)=([^=]*)',
  'x((y))',
  '\\A([^?]+)\\?',
  '^.+$',
];

const left = [
  '[^.]+\\.([^.]+)', // begins anywhere, with a run
  '\\.([^/]+)$', // the run takes further dots: attempts would overlap
  '^[ab]+b',
  '^a*b*c',
  'a|b',
  '(a)?b',
  '^a{2,5}',
  '^[a]+?b',
  '(?m)^a$',
  'a*',
  '',
  '\\d+$', // a run of any length that ends too early would be tried from each of its bytes
  '[^x]+$',
  '((((((((((a))))))))))', // more groups than rules can read
];

function runs(source: string): ReturnType<typeof runPatternOf> {
  return runPatternOf(parseRegex(source, flags));
}

function choices(): () => string {
  let state = 7;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % below;
  };
  const alphabet = 'abcdefxyz.;/=#?1 \t\xe9\x00';
  return () => Array.from({ length: next(12) }, () => alphabet[next(alphabet.length)]).join('');
}

void test('what needs no backtracking is taken, everything else is not', () => {
  for (const source of taken) ok(runs(source) !== null, source);
  for (const source of left) strictEqual(runs(source), null, source);
});

void test('a pattern of runs answers as RE2 does, groups too', () => {
  for (const source of taken) {
    const own = runs(source);
    const re2 = new RE2(re2Forms(parseRegex(source, flags)).plain.source);
    const make = choices();
    let matched = 0;
    for (let round = 0; round < 4000; round += 1) {
      const value = make();
      const expected = re2.exec(value);
      if (expected !== null) matched += 1;
      strictEqual(own?.test(value), expected !== null, `${source} on ${JSON.stringify(value)}`);
      deepStrictEqual(
        own?.exec(value),
        expected === null ? null : [...expected].map((text) => text ?? ''),
        `${source} on ${JSON.stringify(value)}`,
      );
    }
    ok(matched > 0, `${source}: ${matched} matches say nothing`);
  }
});

void test('the time is linear in the text', () => {
  const pattern = runs('\\.([^.]+)$');
  const startedMs = performance.now();
  strictEqual(pattern?.exec(`${'.a'.repeat(200_000)}.`), null);
  for (const source of ['\\d+$', '[^x]+$', '[0-9]+', '/([^/]+)/x', '\\.([^.]+)$'])
    for (const part of ['1', '/', '.', '/1', 'x1']) runs(source)?.exec(`${part.repeat(100_000)}x`);
  ok(performance.now() - startedMs < 2000);
});
