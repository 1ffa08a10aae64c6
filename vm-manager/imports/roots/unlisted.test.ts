// Checkouts in places that no list knows: what the absolute paths of a report have in common is the directory, so that
// another place makes no finding new, and no name of a person is stored. Over HTTP, on both databases.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';
import { reportPath } from '../normalize.js';
import { record, type FindingRecord } from '../record.js';
import type { Known } from './moves.js';
import { Roots, type EarlierPaths } from './resolve.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const sarif = (paths: readonly string[]): Json => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'CodeQL' } },
      results: paths.map((uri) => ({
        ruleId: 'r',
        message: { text: 'm' },
        locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } } }],
      })),
    },
  ],
});

/** Directories of other machines; tidy/ takes them, written out, for paths of this one. */
const dir = (...parts: string[]): string => ['', ...parts, ''].join('/');
const places = [
  dir('cache', 'build', 'host-1-1', 'acme', 'shop'),
  dir('cache', 'build', 'host-2-7', 'acme', 'shop'),
  dir('cache', 'build', 'agent-b', 'acme', 'shop'),
  dir('pwd'),
  dir('x', 'shop'),
  dir('run', 'media', 'joe', 'usb', 'shop'),
  dir('media', 'joe', 'usb', 'shop'),
  dir('c', 'Users', 'eva', 'shop'),
  dir('d', 'dev', 'shop'),
  dir('d', 'stuff', 'clients', 'shop'),
  dir('cygdrive', 'c', 'stuff', 'shop'),
  dir('cygdrive', 'c', 'Users', 'eva', 'shop'),
  dir('mnt', 'c', 'Users', 'eva', 'source', 'repos', 'shop'),
  dir('mnt', 'd', 'shop'),
  dir('nix', 'store', 'abc-source'),
  dir('nix', 'store', 'zzz-source'),
  dir('gitlab-runner', 'builds', 't1_abc', '0', 'acme', 'shop'),
  dir('gitlab-runner', 'builds', 't1_zzz', '0', 'acme', 'shop'),
  dir('runner-data', 'builds', 't1_q', '3', 'acme', 'shop'),
  dir('opt', 'app-root', 'src'),
  dir('opt', 'app-root', 'workspace', 'shop'),
  dir('var', 'home', 'joe', 'shop'),
  dir('export', 'home', 'joe', 'dev', 'shop'),
  dir('Volumes', 'disk', 'Users', 'ann', 'shop'),
  dir('System', 'Volumes', 'Data', 'Users', 'ann', 'shop'),
  dir('kaniko', 'buildcontext'),
  dir('concourse', 'containers', 'f00d', 'shop'),
  dir('shop'),
  dir('var', 'tmp', 'portage', 'shop'),
  dir('go', 'src', 'shop'),
  dir('var', 'lib', 'ci', 'builds', 'agent-1', 'acme', 'shop'),
  dir('usr', 'app'),
  `/${dir('wsl.localhost', 'Ubuntu', 'home', 'eva', 'shop')}`,
  `/${dir('wsl$', 'Debian', 'home', 'eva', 'shop')}`,
  `/${dir('server', 'users', 'eva', 'shop')}`,
  `/${dir('server', 'c$', 'Users', 'eva', 'shop')}`,
  'C:/Users/Eva Berg/shop/',
  'E:/x/',
  '',
] as const;
const repositories: readonly (readonly string[])[] = [
  ['main.go', 'cmd/tool/main.go', 'internal/auth/token.go', 'web/src/index.ts', 'web/src/pages/index.ts'],
  ['setup.py', 'billing/core/a.py', 'billing/core/b.py', 'orders/a.py', 'docs/conf.py'],
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const paths = async (app: string): Promise<string[]> =>
    (await client.findings(app)).map(({ location }) => String(location).replace(/:\d+$/, '')).sort();
  const sent = async (app: string, place: string, files: readonly string[], mode = 'sync') =>
    (await client.send(app, sarif(files.map((file) => `${place}${file}`)), { mode })).body;
  await t.test('22 F1: each place, then others', async (t) => {
    for (const [at, place] of places.entries()) {
      const files = repositories[at % 2] ?? [];
      const app = await client.application();
      t.match(await sent(app, place, files), { report: { created: files.length } }, place);
      t.same(await paths(app), [...files].sort(), place);
      for (const step of [1, 5, 11]) {
        const next = places[(at + step) % places.length] ?? '';
        t.match(await sent(app, next, files), { report: { created: 0, closed: 0 } }, `${place} to ${next}`);
      }
      const fewer = await sent(app, place, files.slice(1));
      t.match(fewer, { report: { created: 0, closed: 1 } }, `back to ${place}`);
    }
  });
}
t.test('22 F1: places that no list knows', (t) => onBothDatabases(t, 'unlisted', suite));

const found = (path: string): FindingRecord =>
  record({
    title: 't',
    severity: 'high',
    source: 'sast',
    ruleId: 'r',
    location: { kind: 'code', path: reportPath(path) },
  });
/** What is stored of the paths, by the paths. */
async function resolved(paths: readonly string[], known: readonly Known[] = [], last: string | null = null) {
  const roots = new Roots(undefined, []);
  const records = paths.map(found);
  const earlier: EarlierPaths = {
    readKnown: async () => known,
    isKnownBelow: async (directory) => known.some(({ path }) => path.startsWith(`${directory}/`)),
    readLast: async () => last,
    readFrames: async () => [{ root: last ?? '', count: known.length }],
  };
  await roots.learn(records, earlier, async function* () {}, true);
  const all = records.map((one) => (roots.record(one).location as { readonly path: string }).path);
  return { all, root: roots.found };
}

t.test('22 F8: whatever absolute paths a report has, no two of its files become one', async () => {
  const name = fc.constantFrom('src', 'app', 'lib', 'main.py', 'a.py', 'shop', 'home', 'x', 'usr', 'Users');
  const file = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const place = fc.constantFrom(
    ...places,
    '/',
    '/app/',
    '/src/',
    '/code/',
    '/usr/include/',
    '/home/',
    dir('home', 'al'),
  );
  const path = fc.tuple(place, file).map(([before, rest]) => reportPath(`${before || '/'}${rest}`));
  const report = fc.uniqueArray(path, { minLength: 2, maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(report, report, fc.integer(), async (first, second, seed) => {
      const before = await resolved(first);
      const known = before.all.map((one) => ({ rule_id: 'r', path: one }));
      const mixed = [...second, ...first].filter((_, index) => ((seed >> (index % 30)) & 1) === 0);
      for (const [paths, made] of [
        [first, before.all],
        [second, (await resolved(second, known, before.root)).all],
        [mixed, (await resolved([...new Set(mixed)], known, before.root)).all],
      ] as const)
        if (new Set(made).size !== new Set(paths).size || made.includes(''))
          throw new Error(`${paths.join(', ')}: ${made.join(', ')}`);
      const turned = await resolved(first.toReversed());
      if (turned.all.toReversed().join() !== before.all.join()) throw new Error(`order: ${first.join()}`);
    }),
    { seed: Number(process.env['SEED'] ?? 22), numRuns: 400 },
  );
});

t.test('22 F1: a report once more gives the same paths, also with files of a system in it', async () => {
  const name = fc.constantFrom('src', 'app', 'lib', 'main.py', 'a.py', 'shop', 'x', 'core');
  const file = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => `${parts.join('/')}.js`);
  const all = fc.uniqueArray(file, { minLength: 1, maxLength: 6 });
  const system = fc.uniqueArray(fc.constantFrom('/usr/include/src.js', '/etc/a.js', '/usr/lib/x/core.js'));
  await fc.assert(
    fc.asyncProperty(all, system, fc.constantFrom(...places), async (files, others, place) => {
      const paths = [...files.map((one) => `${place}${one}`), ...others];
      const before = await resolved(paths);
      const known = before.all.map((path) => ({ rule_id: 'r', path }));
      const again = await resolved(paths, known, before.root);
      if (again.all.join() !== before.all.join())
        throw new Error(`${paths.join(', ')}: ${before.all.join(', ')}; then ${again.all.join(', ')}`);
    }),
    { seed: Number(process.env['SEED'] ?? 22), numRuns: 300 },
  );
});

t.test('22 F8: one file below a directory, another of its name at the root', async (t) => {
  const home = dir('home', 'al', 'shop');
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [
      [`${home}a.py`, '/a.py'],
      ['a.py', '/a.py'],
    ],
    [
      [`${home}a.py`, '/a.py', `${home}lib/b.py`],
      ['a.py', '/a.py', 'lib/b.py'],
    ],
    [
      ['/x/shop/main.go', '/x/shop/cmd/y.go', 'z.go'],
      ['main.go', 'cmd/y.go', 'z.go'],
    ],
    [
      ['/docs/guide/a.md', '/lib/b.js'],
      ['docs/guide/a.md', 'lib/b.js'],
    ],
  ];
  for (const [given, wanted] of cases) {
    const { all, root } = await resolved(given);
    t.same(all, wanted, given.join(', '));
    const known = all.map((path) => ({ rule_id: 'r', path }));
    t.same((await resolved(given, known, root)).all, wanted, `${given.join(', ')}, once more`);
  }
});
