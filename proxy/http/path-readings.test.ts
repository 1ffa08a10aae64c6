import fc from 'fast-check';
import t from 'tap';
import { normalisePath, pathKeys } from './path-readings.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

t.test('paths as servers read them', async (t) => {
  const cases: readonly [string, string][] = [
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['//a', '/a'],
    ['/a//b', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/../../b', '/b'],
    ['/a/..;x=1/b', '/b'],
    ['/a/..;/b', '/b'],
    ['/%61dmin', '/admin'],
    ['/%2561dmin', '/admin'],
    ['/a%2f..%2fb', '/b'],
    ['/a\\..\\b', '/b'],
    ['/a%5c..%5cb', '/b'],
    ['/a/%2e%2e/b', '/b'],
    ['/a/..', '/'],
    ['/a/b/..', '/a/'],
    ['/a;v=1/b', '/a/b'],
    ['/a/', '/a/'],
    ['/.hidden', '/.hidden'],
    ['/a%zz', '/a%zz'],
  ];
  for (const [path, want] of cases) t.equal(normalisePath(path), want, path);
});

t.test('normalising twice changes nothing more, unless something was encoded', async () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\/[a-z./;\\]{0,20}$/), (path) => {
      const once = normalisePath(path);
      return normalisePath(once) === once;
    }),
  );
});

/** Pieces that readers read in several ways, found by a search for paths that cost much. */
const pieces = [
  ...[
    '/',
    '//',
    '..',
    ';',
    '%2f',
    '%25',
    '%252e',
    '%u002f',
    '%c0%af',
    '%ef%bc%8f',
    '%a0',
    '%09',
    '+',
    '%%32%66',
    '.css',
  ],
  ...['/index.php/', '/(S(x))/', '::$DATA', '\\', '%2e%2e', '%cc%81', '\xe9', 'a', ':', ','],
];
const keysMax = 700;
const keyBytesMax = 200_000;

t.test('issue 22 B4: no path has more to compare than a bound, ordinary ones are always told', async (t) => {
  const isBounded = (path: string): boolean => {
    const keys = pathKeys(path);
    return keys === null || (keys.length <= keysMax && keys.join('').length <= keyBytesMax);
  };
  const long = (unit: string): string => `/${unit.repeat(Math.ceil(900 / unit.length)).slice(0, 900)}`;
  for (const unit of [
    '.css.css%2e%2e/%2e/.%%32%66/index.php/%ef%bc%8f\xe9:+%u%.css%cc%81%25252e%25252eA',
    '%ef%bc%8f%u002f%a0%09%a0%252e%ff,p1/index.php/%252e',
    '.css%2e%2e/%2e/.%%32%66/index.php/\xe9.json+%cc%81lim%25252e%25252e',
  ])
    for (const path of [long(unit), `/${unit}${unit}`]) t.ok(isBounded(path), path.slice(0, 80));
  const unit = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(unit, (text) => isBounded(long(text)) && isBounded(`/${text}${text}`)),
    { numRuns: 60 },
  );
  for (const path of [
    '/files/My%20Document+v2%20(1).pdf',
    '/redirect/https%3A%2F%2Fexample.org%2Fa%3Fb%3Dc%26d%3D%252F',
    `/${'%E6%97%A5%E6%9C%AC%E8%AA%9E+'.repeat(60)}`,
    '/x;jsessionid=ABC/def;v=1/..%2fb+c',
    `/${'a%20b/'.repeat(300)}`,
  ])
    t.not(pathKeys(path), null, path.slice(0, 60));
});
