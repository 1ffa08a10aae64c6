// Another checkout directory makes no finding new and closes none; an import that would close most of a scope asks.
// Over HTTP, on both databases. Reports are written here.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';
import { cleanPath, reportPath } from '../normalize.js';
import { below, withoutCheckout } from './paths.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
type Write = (directory: string, files: readonly string[]) => unknown;

const files = ['src/a.js', 'src/deep/b.js', 'lib/c.js', 'main.js'];

const sarif =
  (more: Json = {}, toUri = (path: string) => path): Write =>
  (directory, names) => ({
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'checker' } },
        results: names.map((name) => ({
          ruleId: 'r',
          message: { text: `found in ${directory}` },
          partialFingerprints: { primaryLocationLineHash: 'abc:1' },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: toUri(`${directory}/${name}`) },
                region: { startLine: 3, snippet: { text: `call(${name})` } },
              },
            },
          ],
        })),
        ...more,
      },
    ],
  });
const toFileUri = (path: string): string => `file://${path.startsWith('/') ? '' : '/'}${encodeURI(path)}`;
const semgrep: Write = (directory, names) => ({
  results: names.map((name) => ({
    check_id: 'js.eval',
    path: `${directory}/${name}`,
    start: { line: 3 },
    extra: { severity: 'ERROR', message: 'm', lines: `call(${name})`, metadata: { cwe: ['CWE-95'] } },
  })),
  errors: [],
  paths: { scanned: [...new Set([...files, ...names])].map((name) => `${directory}/${name}`) },
});
const gitleaks: Write = (directory, names) =>
  names.map((name) => ({
    RuleID: 'key',
    Description: 'Key',
    File: `${directory}/${name}`,
    StartLine: 1,
    Secret: `SECRETVALUE0123456789${name}`,
    Match: `k=SECRETVALUE0123456789${name}`,
  }));
const csv: Write = (directory, names) =>
  ['title,severity,file,line,rule', ...names.map((name) => `Bad,high,${directory}/${name},3,r`)].join('\n');
/** Trivy masks what it found: the path is part of the identity of the secret. */
const trivy: Write = (directory, names) => ({
  SchemaVersion: 2,
  ArtifactName: '.',
  Results: names.map((name) => ({
    Target: `${directory}/${name}`,
    Secrets: [{ RuleID: 'aws', Title: 'AWS', Severity: 'HIGH', StartLine: 1, Match: 'key=****' }],
  })),
});
const windows = (path: string): string => path.replace(/\//g, '\\');

/** Directories of other machines; tidy/ takes them, written out, for paths of this one. */
const [work, temporary] = ['work', 'tmp'];

/** What it shows → how the report is written, and pairs of directories. */
const cases: readonly (readonly [string, Write, string, string, Record<string, string>?])[] = [
  ['homes', sarif(), '/home/alice/shop', `/home/bob/${work}/shop-2`],
  ['homes, file URIs', sarif({}, toFileUri), '/home/alice/my shop', '/Users/bob/shop'],
  ['GitHub Actions', sarif(), `/home/runner/${work}/shop/shop`, '/home/alice/shop'],
  ['GitHub Actions of Windows', sarif(), 'D:/a/shop/shop', `/home/runner/${work}/shop/shop`],
  ['a self-hosted runner', sarif(), '/opt/actions-runner/_work/shop/shop', '/__w/shop/shop'],
  ['GitLab', sarif(), '/builds/group/shop', '/builds/other/shop-7'],
  ['Azure', sarif(), `/home/vsts/${work}/1/s`, 'D:/a/1/s'],
  ['Jenkins', sarif(), '/var/jenkins_home/workspace/shop', '/var/jenkins_home/workspace/shop@2'],
  ['a container', sarif(), '/usr/src/app', '/workspace'],
  ['a place that nobody lists', sarif(), '/ci/build-1/x', '/ci/build-2/x'],
  ['temporary directories', sarif(), `/${temporary}/tmp.aB1`, `/${temporary}/tmp.cD2`],
  ['Windows', sarif({}, windows), 'C:/Users/alice/shop', `D:/${work}/shop`],
  ['Windows, file URIs', sarif({}, toFileUri), 'C:/Users/alice/shop', 'c:/agents/7/shop'],
  ['relative, from above', sarif(), 'shop', '.'],
  ['relative, then absolute', sarif(), '.', '/home/alice/shop'],
  ['the parameter', sarif(), '/odd/one', '/odd/two/three', { root: '/odd/two/three' }],
  ['the other parameter', sarif(), '.', 'checkout/7', { strip_prefix: 'checkout/7/' }],
  ['Semgrep', semgrep, '/home/alice/shop', `/home/runner/${work}/shop/shop`],
  ['Gitleaks', gitleaks, '/home/alice/shop', `/${temporary}/x`],
  ['CSV', csv, '/home/alice/shop', 'C:/shop'],
  ['Trivy, secrets that are masked', trivy, '/home/alice/shop', `/home/runner/${work}/shop/shop`],
];

/** Where a first report comes from → what its files are; stored is the path in the repository. */
const firsts: readonly (readonly [string, readonly string[]])[] = [
  ['/builds/grp/sub/shop', ['src/a.js', 'lib/c.js', 'main.js']],
  ['/builds/grp/sub/deep/shop', ['services/pay/src/a.js', 'Dockerfile']],
  ['/builds/grp/shop', ['src/a.js', 'main.js']],
  ['/workspace/shop', ['src/a.js', 'Dockerfile']],
  ['/workspaces/shop', ['app/index.js']],
  ['/workspace', ['src/a.js']],
  ['/tekton/home/workspace/source', ['src/a.js', 'main.js']],
  ['/var/lib/jenkins/workspace/folder/shop', ['src/a.js', 'package.json']],
  ['\\\\server\\share\\shop', ['src/a.js', 'lib/c.js']],
  ['../shop', ['src/a.js', 'main.js']],
  ['../shop', ['main.js']],
  ['../../deep/shop', ['src/a.js']],
  ['/go/src/github.com/o/shop', ['pkg/a.go']],
];

const report = (from: number, to: number, directory = '.'): unknown =>
  sarif()(
    directory,
    Array.from({ length: to - from }, (_, index) => `src/f${from + index}.js`),
  );

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const paths = async (app: string): Promise<string[]> =>
    (await client.findings(app)).map(({ location }) => String(location).replace(/:\d+$/, '')).sort();

  for (const [directory, names] of firsts)
    await t.test(`22 Q7: the first report of ${directory}`, async (t) => {
      const isWindows = directory.startsWith('\\\\');
      const app = await client.application();
      const write = sarif({}, isWindows ? windows : undefined);
      await client.send(app, write(directory, names), { mode: 'sync' });
      t.same(await paths(app), [...names].sort());
      const again = await client.send(app, write('/home/alice/shop', names), { mode: 'sync' });
      t.match(again.body, { report: { created: 0, closed: 0 } }, JSON.stringify(again.body));
    });
  await t.test('22 Q7: a report about one part of a repository does not make that part the repository', async (t) => {
    const app = await client.application();
    const write = sarif();
    await client.send(app, write('/builds/grp/shop', ['pay/src/a.js', 'cart/src/b.js']), { mode: 'sync' });
    await client.send(app, write('/builds/grp/shop', ['pay/src/a.js', 'pay/src/new.js']));
    t.same(await paths(app), ['cart/src/b.js', 'pay/src/a.js', 'pay/src/new.js']);
  });

  for (const [directory, names] of [
    ['/src', ['src/a.js', 'src/b.js']],
    ['/app', ['app/a.js', 'main.js']],
    ['/workspace', ['workspace/a.js', 'b.js']],
  ] as const)
    await t.test(`22 K5: ${directory} is of the repository where it was before`, async (t) => {
      const app = await client.application();
      const write = sarif();
      const first = await client.send(app, write('.', names), { mode: 'sync' });
      t.match(first.body, { report: { created: names.length } }, JSON.stringify(first.body));
      const again = await client.send(app, write('', names), { mode: 'sync' });
      t.match(again.body, { report: { created: 0, closed: 0 } }, JSON.stringify(again.body));
      t.same(await paths(app), [...names].sort());
      // an image that holds the repository there
      const image = await client.send(app, write(directory, names), { mode: 'sync' });
      t.match(image.body, { report: { created: 0, closed: 0 } }, JSON.stringify(image.body));
      t.same(await paths(app), [...names].sort());
    });

  for (const [what, write, before, after, fields = {}] of cases)
    await t.test(`22 Q7: ${what}`, async (t) => {
      const app = await client.application();
      const given = Object.keys(fields).length > 0 ? {} : fields;
      t.match(await client.send(app, write(before, files), { mode: 'sync', ...given }), {
        status: 202,
        body: { report: { created: files.length } },
      });
      const stored = await paths(app);
      const [found] = await client.findings(app);
      const reason = 'no attacker reaches it';
      const moved = await client.call('POST', `/vulnerabilities/${found?.['id']}/transition`, {
        to: 'triaged',
        reason,
      });
      t.equal(moved.status, 200, JSON.stringify(moved.body));
      const preview = await client.send(app, write(after, files), { mode: 'sync', ...fields }, '/imports/preview');
      t.match(preview.body, { report: { created: 0, closed: 0, needs_confirm_close: false } }, 'preview');
      const again = await client.send(app, write(after, files), { mode: 'sync', ...fields });
      t.match(again, { status: 202, body: { report: { created: 0, closed: 0 } } }, JSON.stringify(again.body));
      t.same(await paths(app), stored);
      const [kept] = await client.findings(app);
      t.match(kept, { id: found?.['id'], status: 'triaged' }, 'what people decided stays');
      // one more file, and one that is gone
      const third = await client.send(app, write(after, ['src/new.js', ...files.slice(1)]), {
        mode: 'sync',
        ...fields,
      });
      t.match(third.body, { report: { created: 1, closed: 1 } }, 'what changed is seen');
    });

  await t.test('22 Q7: bases of SARIF: the outer one is the repository', async (t) => {
    const app = await client.application();
    const bases = (root: string) => ({
      originalUriBaseIds: { SRCROOT: { uri: `file://${root}/` }, PKG: { uri: 'pkg/', uriBaseId: 'SRCROOT' } },
    });
    const one = (root: string, location: Json) => {
      const made = sarif(bases(root))('.', ['x']) as Json;
      made['runs'][0].results[0].locations[0].physicalLocation.artifactLocation = location;
      return made;
    };
    await client.send(app, one('/odd/one', { uri: 'x.js', uriBaseId: 'PKG' }));
    t.same(await paths(app), ['pkg/x.js']);
    for (const location of [
      { uri: 'pkg/x.js', uriBaseId: 'SRCROOT' },
      { uri: 'file:///odd/two/pkg/x.js' },
      { uri: 'pkg/x.js' },
    ])
      t.match((await client.send(app, one('/odd/two', location))).body, { report: { created: 0 } });
  });

  await t.test('22 Q7: two services of one repository stay two', async (t) => {
    const app = await client.application();
    await client.send(app, sarif()('svc-a', ['index.js', 'x/y.js']));
    t.match((await client.send(app, sarif()('svc-b', ['index.js', 'x/y.js']))).body, { report: { created: 2 } });
    t.same(await paths(app), ['svc-a/index.js', 'svc-a/x/y.js', 'svc-b/index.js', 'svc-b/x/y.js']);
  });

  await t.test('22 Q7: services with files of the same names stay apart in another checkout', async (t) => {
    const names = ['index.ts', 'src/main.ts'];
    const of = (...services: string[]): string[] => services.flatMap((one) => names.map((name) => `${one}/${name}`));
    /** Known before, then reported from another directory: what is new of it. */
    const monorepos: readonly (readonly [readonly string[], readonly string[], number])[] = [
      [of('services/a', 'services/b'), of('services/a', 'services/b'), 0],
      [of('services/a'), of('services/b'), 2],
      [of('services/a'), of('services/a', 'services/b'), 2],
      [of('services/a', 'services/b'), of('services/c'), 2],
      [['index.ts', ...of('services/a')], of('services/b'), 2],
      [['index.ts'], ['services/b/index.ts'], 1],
      [of('api'), of('web'), 2],
      [of('packages/x/v1', 'lib/z'), of('packages/y/v2', 'lib/z'), 2],
      [['a.ts', ...of('svc-a')], ['a.ts', ...of('svc-b')], 2],
    ];
    for (const [before, after, created] of monorepos)
      for (const [from, to] of [
        ['/home/alice/shop', '/home/bob/shop'],
        ['.', '/home/bob/shop'],
        [`/home/runner/${work}/shop/shop`, `C:/${work}/shop`],
      ] as const) {
        const what = `${before.join()} in ${from}, ${after.join()} in ${to}`;
        const app = await client.application();
        await client.send(app, sarif()(from, before));
        t.same(await paths(app), [...before].sort(), what);
        t.match((await client.send(app, sarif()(to, after))).body, { report: { created } }, what);
        t.same(await paths(app), [...new Set([...before, ...after])].sort(), what);
      }
  });

  await t.test('22 Q7: a report that closes most of its scope is refused, and nothing is lost', async (t) => {
    const app = await client.application();
    await client.send(app, report(0, 40), { mode: 'sync' });
    const preview = await client.send(app, report(0, 15), { mode: 'sync' }, '/imports/preview');
    t.match(preview.body, { report: { closed: 25, needs_confirm_close: true } });
    t.match((preview.body['report'] as Json)['problems'][0].detail, /close 25 of 40 .* confirm_close=true/);
    const before = await client.findings(app);
    const refused = await client.send(app, report(0, 15), { mode: 'sync' });
    t.match(refused, { status: 409, body: { needs_confirm_close: true, errors: [{ path: 'confirm_close' }] } });
    t.match(refused.body['detail'], /25 of 40 .*50 %.*vm_import_close_percent.*root.*scope_key.*confirm_close=true/);
    t.same(await client.findings(app), before, 'nothing was changed');
    t.match(await client.send(app, report(0, 20), { mode: 'sync' }), {
      status: 202,
      body: { report: { closed: 20 } },
    });
    const said = { mode: 'sync', confirm_close: 'true' };
    t.match(await client.send(app, report(0, 2), said), { status: 202, body: { report: { closed: 18 } } });
    t.match(await client.send(app, report(0, 0), { mode: 'sync' }), { status: 202, body: { report: { closed: 2 } } });
  });

  await t.test('22 Q7: a pipeline is asked, too', async (t) => {
    const app = await client.application();
    await client.send(app, report(0, 20), { mode: 'sync', branch: 'main' });
    const run = await client.call('POST', '/ci/runs', { application_id: app, commit: 'c', branch: 'main' });
    const url = `/ci/runs/${run.body['id']}/artifacts`;
    const { authorization } = { authorization: `Bearer ${client.token}` };
    const send = (query: string) =>
      at.app.inject({
        method: 'POST',
        url: `/api/v1${url}${query}`,
        headers: { authorization, 'content-type': 'application/sarif+json' },
        payload: JSON.stringify(report(0, 1)),
      });
    t.equal((await send('')).statusCode, 409);
    t.equal((await send('?confirm_close=true')).statusCode, 202);
  });
}

t.test('22 Q7: directories of checkouts', (t) => onBothDatabases(t, 'roots', suite));

t.test('22 Q7: paths in every spelling', async (t) => {
  const spellings: readonly (readonly [string, string])[] = [
    ['file:///home/a/x%20y.js', '/home/a/x y.js'],
    ['file://localhost/home/a/x.js', '/home/a/x.js'],
    ['file:/home/a/x.js', '/home/a/x.js'],
    ['file:///C:/a/x.js', 'C:/a/x.js'],
    ['file:///c%3A/a/x.js', 'C:/a/x.js'],
    ['file://C:/a/x.js', 'C:/a/x.js'],
    ['file://./a/x.js', 'a/x.js'],
    ['file://server/share/x.js', '/?unc/server/share/x.js'],
    ['c:\\a\\..\\b\\x.js', 'C:/b/x.js'],
    ['\\\\?\\C:\\a\\x.js', 'C:/a/x.js'],
    ['.\\a\\x.js', 'a/x.js'],
    ['./a//b/./x.js', 'a/b/x.js'],
    ['file:///%zz/x.js', '/%zz/x.js'],
    ['/../../x.js', '/x.js'],
  ];
  for (const [given, wanted] of spellings) t.equal(reportPath(given), wanted, given);
  t.equal(cleanPath('/m.tf'), 'm.tf');
  t.equal(withoutCheckout(`/home/runner/${work}/x/x/a.js`), 'a.js');
  t.equal(withoutCheckout('/home/alice/a.js'), null);
  t.equal(below('C:/A/b', 'c:/a'.replace('c', 'C')), 'b');
  t.equal(below('/ab/c', '/a'), null, 'whole parts');
  const part = fc.stringMatching(/^[a-z0-9_-]{1,8}$/);
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 6 }),
      fc.constantFrom('', '/', 'C:/', './'),
      (parts, root) => {
        const path = reportPath(root + parts.join('/'));
        t.equal(reportPath(path), path, 'once is enough');
        t.equal(reportPath(path.replace(/\//g, '\\')), path, 'either slash');
      },
    ),
    { seed: Number(process.env['SEED'] ?? 22) },
  );
});
