import fc from 'fast-check';
import t from 'tap';
import { normalisePath } from './path-readings.js';

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
