import t from 'tap';
import fc from 'fast-check';
import { requestLine, splitRequestTarget } from './request-target.js';

// [target, QUERY_STRING, REQUEST_URI, REQUEST_FILENAME, REQUEST_BASENAME]
const table: readonly (readonly [string, string, string, string, string])[] = [
  ['/u/v/w.php?x=1', 'x=1', '/u/v/w.php?x=1', '/u/v/w.php', 'w.php'],
  ['http://site/u/v?x=1', 'x=1', '/u/v?x=1', 'http://site/u/v', 'v'],
  ['HTTP://site:80', '', 'HTTP://site:80', 'HTTP://site:80', 'site:80'],
  ['http://site?x', 'x', 'http://site?x', 'http://site', 'site'],
  ['http:///x', '', '/x', 'http:///x', 'x'],
  ['http:x//y', '', 'http:x//y', 'http:x//y', 'y'],
  ['http://site/#x', '', '/', 'http://site/', ''],
  ['/u?v?w', 'v?w', '/u?v?w', '/u', 'u'],
  ['/u#frag?x', '', '/u', '/u', 'u'],
  ['/u?x#frag', 'x', '/u?x', '/u', 'u'],
  ['/u%23v?x%23y', 'x%23y', '/u#v?x#y', '/u#v', 'u#v'],
  ['*', '', '*', '*', ''],
  ['', '', '', '', ''],
  ['/', '', '/', '/', ''],
  ['//h/u', '', '//h/u', '//h/u', 'u'],
  ['/u%20v/', '', '/u v/', '/u v/', ''],
  ['h:80', '', 'h:80', 'h:80', ''],
  ['/u%2fv', '', '/u/v', '/u/v', 'v'],
  ['/u\\v', '', '/u\\v', '/u\\v', 'v'],
  ['?x=1', 'x=1', '?x=1', '', ''],
  ['/u+v%zz%00', '', '/u+v%zz\0', '/u+v%zz\0', 'u+v%zz\0'],
  // Split first, decode afterwards (CVE-2024-1019).
  ['/u%3Fv/w?x', 'x', '/u?v/w?x', '/u?v/w', 'w'],
];

t.test('request targets', async (t) => {
  for (const [target, queryString, uri, filename, basename] of table) {
    const got = splitRequestTarget(target);
    t.same(
      [got.queryString, got.uri, got.filename, got.basename],
      [queryString, uri, filename, basename],
      JSON.stringify(target),
    );
    t.equal(got.raw, target);
  }
});

t.test('request lines', async (t) => {
  t.equal(requestLine('GET', '/x', 'HTTP/1.1'), 'GET /x HTTP/1.1');
  t.equal(requestLine('GET', '/x', ''), 'GET /x');
});

t.test('any target is split without loss', async (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  t.comment(`seed ${seed}`);
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('/', '?', '#', '%', '2', 'f', ':', 'h', '\xff'), maxLength: 40 }),
      (target) => {
        const got = splitRequestTarget(target);
        const hash = target.indexOf('#');
        const whole = hash < 0 ? target : target.slice(0, hash);
        return (
          whole === got.rawPath + (whole.includes('?') ? '?' : '') + got.queryString &&
          got.filename.endsWith(got.basename)
        );
      },
    ),
    { seed, numRuns: 500 },
  );
  t.pass('held');
});
