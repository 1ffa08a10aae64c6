// Checkov says the place of a file in three ways: whatever directory it runs in and scans, a file has one path, and no
// directory of the machine is stored. Over HTTP, on both databases.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';
import { basesOf, placeOf } from './scanned.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

/** From the working directory, as Checkov writes it: always with a slash before it. */
function relative(from: string, to: string): string {
  const [left, right] = [from, to].map((path) => path.split('/').filter(Boolean)) as [string[], string[]];
  let same = 0;
  while (same < Math.min(left.length, right.length) && left[same] === right[same]) same++;
  return `/${[...left.slice(same).map(() => '..'), ...right.slice(same)].join('/')}`;
}

const checkov = (directory: string, ran: string, files: readonly string[], kind = 'terraform'): Json => ({
  check_type: kind,
  results: {
    passed_checks: [],
    skipped_checks: [],
    parsing_errors: [],
    failed_checks: files.map((file) => ({
      check_id: kind === 'secrets' ? 'CKV_SECRET_2' : 'CKV_AWS_20',
      check_name: 'Ensure something',
      file_path: `/${file}`,
      file_abs_path: `${directory}/${file}`,
      repo_file_path: relative(ran, `${directory}/${file}`),
      file_line_range: [1, 9],
      resource: kind === 'secrets' ? Buffer.from(file.padEnd(20, '.')).toString('hex') : 'aws_s3_bucket.x',
      code_block: [[1, 'resource "aws_s3_bucket" "x" {\n']],
    })),
  },
  summary: { passed: 0, failed: files.length, skipped: 0, parsing_errors: 0, checkov_version: '3.2.0' },
});
const windows = (report: Json): Json =>
  JSON.parse(
    JSON.stringify(report, (name, value: unknown) =>
      typeof value === 'string' && /^(?:file|file_abs|repo_file)_path$/.test(name)
        ? value.replace(/(?<=.)\//g, '\\').replace(/^\/(?=srv)/, 'C:\\')
        : value,
    ),
  ) as Json;

const files = ['main.tf', 'modules/a/main.tf', 'modules/b/main.tf', 'env/prod/x.tf'];
const home = ['', 'home', 'eva'].join('/');

/** What is scanned, and where Checkov runs. */
const runs: readonly (readonly [string, string])[] = [
  ['/tf', '/'],
  ['/srv/ci/9/infra', `${home}/tools`],
  ['/infra-code', '/'],
  ['/data/x7/checkout', '/data/x8'],
  [`${home}/dev/infra`, home],
  ['/builds/g/shop', '/builds/g/shop'],
  ['/pwd', '/pwd'],
  ['/github/workspace', '/github/workspace'],
  ['/odd/place/of/it', '/opt'],
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const paths = async (app: string): Promise<string[]> =>
    (await client.findings(app)).map(({ location }) => /\(?([^( ]+?)(?::\d+)?\)?$/.exec(String(location))?.[1] ?? '');
  for (const kind of ['terraform', 'secrets'])
    for (const first of kind === 'terraform' ? [0, 1, 4, 8] : [2])
      await t.test(`22 F2: ${kind}, ${runs[first]?.join(' in ')}, then all others`, async (t) => {
        const app = await client.application();
        for (const [index, [directory, ran]] of [...runs.slice(first), ...runs.slice(0, first)].entries()) {
          const sent = await client.send(app, checkov(directory, ran, files, kind), { mode: 'sync' });
          const created = index === 0 ? files.length : 0;
          t.match(sent, { status: 202, body: { report: { created, closed: 0 } } }, `${directory} in ${ran}`);
        }
        t.same((await paths(app)).sort(), [...files].sort());
      });
  await t.test('22 F2: one module of a repository, and the image of another place', async (t) => {
    const app = await client.application();
    const below = files.map((file) => `infra/${file}`);
    await client.send(app, checkov('/builds/g/shop/infra', '/builds/g/shop', files), { mode: 'sync' });
    t.same((await paths(app)).sort(), [...below].sort(), 'where Checkov runs is the repository');
    for (const [directory, ran] of runs) {
      const sent = await client.send(app, checkov(directory, ran, files), { mode: 'sync' });
      t.match(sent.body, { report: { created: 0, closed: 0 } }, `${directory} in ${ran}`);
    }
    const all = await client.send(app, checkov(`${home}/x/shop`, '/', [...below, 'web/k8s.tf']), { mode: 'sync' });
    t.match(all.body, { report: { created: 1, closed: 0 } }, 'all of it');
  });
  await t.test('22 F2: Windows, and several reports in one file', async (t) => {
    const app = await client.application();
    const both = (directory: string, ran: string) => [
      checkov(directory, ran, files),
      checkov(directory, ran, ['env/prod/x.tf'], 'secrets'),
    ];
    await client.send(app, both('/tf', '/'), { mode: 'sync' });
    const sent = await client.send(app, both('/srv/ci/infra', '/srv/other').map(windows), { mode: 'sync' });
    t.match(sent.body, { report: { created: 0, closed: 0 } }, JSON.stringify(sent.body));
    t.same((await paths(app)).sort(), [...files, 'env/prod/x.tf'].sort());
  });
}
t.test('22 F2: where a scanner runs and what it scans', (t) => onBothDatabases(t, 'scanned', suite));

t.test('22 F2: places', async (t) => {
  const of = (absolute: string, scanned: string, ran: string | null) => placeOf({ absolute, scanned, ran });
  t.same(of('/tf/m/a.tf', '/m/a.tf', '/tf/m/a.tf'), { path: '/tf/m/a.tf', base: '/tf' });
  t.same(of('/r/x/infra/a.tf', '/a.tf', '/infra/a.tf'), { path: 'infra/a.tf', base: null });
  t.same(of('/m/a.tf', '/m/a.tf', '/m/a.tf'), { path: 'm/a.tf', base: null }, 'the root of the file system is scanned');
  t.same(of('/usr/x/a.tf', '/a.tf', '/x/a.tf'), { path: '/usr/x/a.tf', base: '/usr/x' });
  t.equal(of('/t/other.tf', '/m/a.tf', null), null, 'they do not belong together');
  t.equal(of('m/a.tf', '/m/a.tf', null), null, 'no absolute path');
  const flat = of('/tf/modules/a/main.tf', '/main.tf', '/tf/modules/a/main.tf');
  t.same(flat === null ? [] : basesOf([flat]), ['/tf'], 'a file that is scanned by itself');
});
