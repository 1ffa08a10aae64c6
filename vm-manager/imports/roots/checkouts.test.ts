// The directory of a checkout is above all files of a report: what it takes away makes no two files one, and leaves no
// file without a name, wherever the checkout lies.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';
import { reportPath } from '../normalize.js';
import { record, type FindingRecord } from '../record.js';
import { checkoutOf } from './paths.js';
import { Roots } from './resolve.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

/** Directories of other machines; tidy/ takes them, written out, for paths of this one. */
const [work, runner] = ['work', ['', 'home', 'runner', 'work'].join('/')];
const bob = ['', 'home', 'bob'].join('/');

/** Where checkouts lie, also one level above where they usually do. */
const places = [
  ...['C:/a/shop', 'C:/a/shop/shop', 'D:/a/1', 'D:/a/1/s', `${runner}/p`, `${runner}/p/p`, '/__w/p', '/__w/p/p'],
  ...['/builds/g', '/builds/g/p', '/builds/g/sub/p', '/var/lib/jenkins/workspace', '/var/lib/jenkins/workspace/p'],
  ...[
    `C:/BuildAgent/${work}`,
    `C:/BuildAgent/${work}/1f`,
    'C:/agent/_work/1',
    'C:/agent/_work/1/s',
    '/agent/_work/p/p',
  ],
  ...['/usr/src', '/usr/src/app', '/app', '/src', '/code', '/github/workspace', '/workspace', '/workspace/p'],
  ...['/workspaces/p', '/workspace/source', '/drone/src', '/harness', '/vercel/path0', '/opt/build/repo'],
  ...['/codebuild/output/src1/src/p', '/codebuild/output/src1/src/h.com/o/p', '/go/src/h.com/o/p', '/root/project'],
  ...['/bitbucket/pipelines/agent/build', '/opt/bamboo/xml-data/build-dir/P-1', '/x/buildkite-agent/builds/a/o/p'],
  ...[
    '/tekton/home/workspaces/p',
    '//server/share/p',
    '../p',
    `${bob}/p`,
    `${bob}/src/p`,
    `C:/Users/bob/source/repos/p`,
  ],
] as const;

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

/** Files of a checkout that show where it begins: one of its own directory, some of those below. */
const ofAll = ['main.py', 'app/views.py', 'app/models.py', 'lib/models.py', 'setup.py'];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const paths = async (app: string): Promise<string[]> =>
    (await client.findings(app)).map(({ location }) => String(location).replace(/:\d+$/, '')).sort();
  await t.test('22 M1: a root is above all files of the report, and is none of them', async (t) => {
    for (const place of places)
      for (const files of [ofAll, ofAll.toReversed()]) {
        const app = await client.application();
        const sent = await client.send(app, sarif(files.map((file) => `${place}/${file}`)), {
          mode: 'sync',
          confirm_close: 'true',
        });
        t.match(sent, { status: 202, body: { report: { created: files.length, duplicates_in_file: 0 } } }, place);
        t.same(await paths(app), [...files].sort(), `${place}, ${files[0]} first`);
      }
  });
  await t.test('22 M1: a root that the request or the report gives is no file either', async (t) => {
    const app = await client.application();
    await client.send(app, sarif(['/odd/x/main.py']), { root: '/odd/x/main.py' });
    const [location = ''] = await paths(app);
    t.match(location, /main\.py$/);
  });
  await t.test('22 M2: the only finding of an application stays the same one', async (t) => {
    const pairs: readonly (readonly [string, string])[] = [
      ['', `${bob}/src/p/`],
      ['', `${bob}/lib/p/`],
      ['', `${bob}/app/`],
      ['', `${bob}/code/src/p/`],
      ['', 'C:/Users/bob/source/repos/p/'],
      ['', `D:/${work}/src/p/`],
      ['', '/srv/projects/p/'],
      [`${bob}/src/p/`, ''],
      ['/home/alice/src/p/'.replace('alice', 'al'), `${bob}/lib/q/`],
      [`${bob}/src/p/`, '/Users/ann/source/p/'],
      [`${bob}/src/p/`, `${runner}/p/p/`],
      [`${runner}/p/p/`, `${bob}/src/p/`],
    ];
    for (const [before, after] of pairs) {
      const app = await client.application();
      await client.send(app, sarif([`${before}main.py`]), { mode: 'sync', confirm_close: 'true' });
      const again = await client.send(app, sarif([`${after}main.py`]), { mode: 'sync', confirm_close: 'true' });
      t.match(again.body, { report: { created: 0, closed: 0 } }, `${before} to ${after}`);
      t.same(await paths(app), ['main.py'], `${before} to ${after}`);
    }
  });
  await t.test('22 F1: two runs of an agent that no list knows are one repository, two parts are two', async (t) => {
    const pairs: readonly (readonly [before: string, after: string, isOne: boolean])[] = [
      ['/cache/x/host-1-1/acme/shop/', '/cache/x/host-2-7/acme/shop/', true],
      ['/cache/x/3f9c2b7a1/shop/', '/cache/x/88aa0d4ce/shop/', true],
      ['/billing/core-1/acme/', '/billing/web-2/acme/', false],
      ['/orders/v1/acme/', '/orders/v2/acme/', false],
      ['/services/node-1/acme/', '/services/node-2/acme/', false],
    ];
    for (const [before, after, isOne] of pairs) {
      const app = await client.application();
      const of = (place: string) => sarif(ofAll.map((file) => `${place}${file}`));
      await client.send(app, of(before), { mode: 'sync', confirm_close: 'true' });
      const again = await client.send(app, of(after), { mode: 'sync', confirm_close: 'true' });
      t.match(again.body, { report: { created: isOne ? 0 : ofAll.length } }, `${before} to ${after}`);
    }
  });
  await t.test('22 M2: a file of the same name in a part of the repository is another one', async (t) => {
    for (const part of ['services/b', 'packages/x', 'src', 'lib'])
      for (const checkout of [`${bob}/shop`, `${bob}/src/shop`, `${runner}/shop/shop`]) {
        const app = await client.application();
        await client.send(app, sarif(['index.ts']));
        const again = await client.send(app, sarif([`${checkout}/${part}/index.ts`]));
        t.match(again.body, { report: { created: 1 } }, `${checkout}/${part}`);
        t.same(await paths(app), ['index.ts', `${part}/index.ts`]);
      }
  });
}

t.test('22: a root is a directory above the files', (t) => onBothDatabases(t, 'checkouts', suite));

const found = (path: string): FindingRecord =>
  record({
    title: 't',
    severity: 'high',
    source: 'sast',
    ruleId: 'r',
    location: { kind: 'code', path: reportPath(path) },
  });
async function resolved(place: string, files: readonly string[]): Promise<string[]> {
  const roots = new Roots(undefined, []);
  const records = files.map((file) => found(`${place}/${file}`));
  const none = {
    readKnown: async () => [],
    isKnownBelow: async () => false,
    readLast: async () => null,
    readFrames: async () => [],
  };
  await roots.learn(records, none, async function* () {}, true);
  return records.map((one) => (roots.record(one).location as { readonly path: string }).path);
}

t.test('22 M1: whatever the files are, they stay apart and have a name, in every place', async () => {
  const name = fc.oneof(
    fc.constantFrom(
      'src',
      'app',
      'lib',
      'main.py',
      'index.ts',
      'shop',
      'p',
      's',
      '1',
      'Dockerfile',
      '_temp',
      'workspace',
    ),
    fc.stringMatching(/^[a-z]{1,4}$/),
  );
  const file = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(file, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(...places),
      fc.constantFrom(...places),
      async (files, place, other) => {
        const [here, there] = [await resolved(place, files), await resolved(other, files)];
        for (const all of [here, there])
          if (new Set(all).size !== files.length || all.includes('')) throw new Error(`${place}: ${all.join(', ')}`);
        // a file of the checkout's own directory shows where it begins: then every place gives the same paths
        const rooted = [...files, 'main.py', 'app/x.py', 'lib/x.py'];
        const [first, second] = [await resolved(place, rooted), await resolved(other, rooted)];
        if (first.join() !== second.join()) throw new Error(`${place}: ${first.join()}; ${other}: ${second.join()}`);
        if (first.join() !== rooted.join()) throw new Error(`${place}: ${first.join()}`);
      },
    ),
    { seed: Number(process.env['SEED'] ?? 22), numRuns: 500 },
  );
});

t.test('22 M1: one path does not decide for the others', async (t) => {
  const cases: readonly (readonly [readonly string[], string | null])[] = [
    [['C:/a/shop/app/models.py', 'C:/a/shop/lib/models.py', 'C:/a/shop/main.py'], 'C:/a/shop'],
    [['C:/a/p/main.py'], 'C:/a/p'],
    [['D:/a/p/p/x.py'], 'D:/a/p/p'],
    [['/usr/src/app/x.py', '/usr/src/main.py'], '/usr/src'],
    [['/usr/src/app/x.py', '/usr/src/app/y/z.py'], '/usr/src/app'],
    [[`${runner}/p/p/x.js`, `${runner}/p/p/y.js`, `${runner}/_temp/z.js`], `${runner}/p/p`],
    [['/opt/app-root/src/x.py', '/opt/app-root/src/lib/y.py'], '/opt/app-root/src'],
    [[`${bob}/go/src/h.com/o/p/x.go`, `${bob}/go/src/h.com/o/p/cmd/y.go`], `${bob}/go/src/h.com/o/p`],
    [
      ['/gitlab-runner/builds/t1_a/0/g/p/x.go', '/gitlab-runner/builds/t1_a/0/g/p/y/z.go'],
      '/gitlab-runner/builds/t1_a/0/g/p',
    ],
    [['/var/www/html/x.php', '/var/www/html/src/y.php'], '/var/www/html'],
    [['/pwd/x.go', '/pwd/cmd/y.go'], '/pwd'],
    [['/app'], null],
    [['/etc/passwd'], null],
  ];
  for (const [paths, root] of cases) t.equal(checkoutOf(paths)?.root ?? null, root, paths.join(', '));
});

t.test('22 M1: beside other directories of a repository, those that images have are directories of it', async (t) => {
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [
      ['/app/models/x.go', '/models/x.go', '/web/a.ts'],
      ['app/models/x.go', 'models/x.go', 'web/a.ts'],
    ],
    [
      ['/code/x/a.py', '/x/a.py'],
      ['code/x/a.py', 'x/a.py'],
    ],
    [
      ['/src/index.ts', '/web/index.ts'],
      ['src/index.ts', 'web/index.ts'],
    ],
    [
      ['/scan/a.py', '/lib/a.py'],
      ['scan/a.py', 'lib/a.py'],
    ],
    [
      ['/src/a.py', '/usr/include/x.h', '/etc/x.conf'],
      ['a.py', 'usr/include/x.h', 'etc/x.conf'],
    ],
    [
      ['/app/a.py', '/app/lib/b.py'],
      ['a.py', 'lib/b.py'],
    ],
  ];
  for (const [given, wanted] of cases) {
    const below = given.map((path) => path.slice(1));
    t.same(await resolved('', below), wanted, given.join(', '));
  }
});
