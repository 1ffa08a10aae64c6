// Scans over /api/v1: an upload becomes findings by the road of every import, and an incomplete one closes nothing.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax, until } from '#api/testing/waiting';
import { zipOf, type Packed } from '../../testing/archives.js';
import { Client, type Json } from '../../testing/import-client.js';
import { madeChecked, madeText } from '../testing/made-secrets.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const token = (seed: number): string => `t = '${madeChecked('ghp_', seed)}'\n`;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const ended = async (path: string, id: string): Promise<Json> => {
    let run: Json = {};
    await until(`the scan ${id} ends`, async () => {
      run = (await client.call('GET', `${path}/${id}`)).body;
      return run['status'] !== 'queued' && run['status'] !== 'running';
    });
    return run;
  };
  const scan = async (app: string, path: string, files: readonly Packed[] | Buffer, fields = {}): Promise<Json> => {
    at.clock.nowMs += 60_000;
    const bytes = Buffer.isBuffer(files) ? files : zipOf(files);
    const { status, body } = await client.send(app, bytes, fields, path);
    t.equal(status, 202, JSON.stringify(body).slice(0, 300));
    return ended(path, body['id']);
  };
  const states = async (app: string): Promise<Json> =>
    Object.fromEntries(
      (await client.findings(app)).map(({ location, status, source, tool }) => [
        `${tool} ${source} ${location}`,
        status,
      ]),
    );
  const at1 = (path: string) => `gatehouse-secrets secret ${path}:1`;

  await t.test('secrets: found, closed when they are gone, and opened again', async (t) => {
    const app = await client.application();
    const both = [
      { name: 'a.ts', data: token(1) },
      { name: 'b.ts', data: token(2) },
      { name: 'c.ts', data: 'clean\n' },
    ];
    const first = await scan(app, '/secrets/scans', both);
    t.match(first, { status: 'succeeded', result: { complete: true, files: 3, files_scanned: 3, findings: 2 } });
    t.match(first['result'], { report: { created: 2 }, findings_by_severity: { critical: 2 } });
    t.same(await states(app), { [at1('a.ts')]: 'new', [at1('b.ts')]: 'new' });
    const [stored] = await client.findings(app);
    t.notMatch(JSON.stringify(stored), madeChecked('ghp_', 1).slice(6, -3), 'the secret is stored nowhere');
    const second = await scan(app, '/secrets/scans', [both[0] as Packed, { name: 'b.ts', data: 'clean' }]);
    t.match(second['result'], { report: { closed: 1, unchanged: 1 } });
    t.same(await states(app), { [at1('a.ts')]: 'new', [at1('b.ts')]: 'resolved' });
    const third = await scan(app, '/secrets/scans', both);
    t.match(third['result'], { report: { reopened: 1 } });
    const listed = await client.call('GET', `/secrets/scans?application_id=${app}`);
    t.equal((listed.body['items'] as Json[]).length, 3);
  });

  await t.test('an incomplete scan says so and closes nothing', async (t) => {
    const app = await client.application();
    await scan(app, '/secrets/scans', [{ name: 'a.ts', data: token(3) }]);
    const large = { name: 'a.ts', data: `${'x'.repeat(100)}\n`.repeat(60_000) };
    const run = await scan(app, '/secrets/scans', [large]);
    t.match(run, { status: 'succeeded', result: { complete: false, findings: 0, report: { closed: 0 } } });
    t.match(run['problems'], [{ at: 'a.ts', detail: 'files larger than 5242880 bytes' }]);
    t.same(await states(app), { [at1('a.ts')]: 'new' });
  });

  await t.test('an upload without a file for the scanner says so and closes nothing', async (t) => {
    const app = await client.application();
    const root = { name: 'Dockerfile', data: 'FROM debian:12\nUSER root\n' };
    t.match((await scan(app, '/iac/scans', [root]))['result'], { complete: true });
    const before = await states(app);
    t.ok(Object.keys(before).length > 0);
    const other = await scan(app, '/iac/scans', [{ name: 'a.ts', data: 'x' }]);
    t.match(other['result'], { complete: false, files: 1, files_scanned: 0, report: { closed: 0 } });
    t.match(other['result'].fault_reasons, [/does not read/]);
    t.same(await states(app), before);
  });

  await t.test('a template of CloudFormation is found by what is in it, and said to be whole or not', async (t) => {
    const app = await client.application();
    const stack =
      'Parameters:\n  Key: { Type: String }\nResources:\n  Disk:\n    Type: AWS::EC2::Volume\n    Properties:\n' +
      '      Encrypted: false\n      Size: 8\n';
    const files = [
      { name: 'infra/stack.yaml', data: stack },
      { name: 'infra/other.yaml', data: 'name: none\n' },
      { name: 'infra/data.json', data: '{"Resources": []}' },
    ];
    const run = await scan(app, '/iac/scans', files);
    t.match(run, { status: 'succeeded', result: { complete: true, files: 3, files_scanned: 1 } });
    const found = (await client.findings(app)).find(({ rule_id: rule }) => rule === 'aws-ebs-encrypted');
    t.match(found, { location: 'infra/stack.yaml:7', source: 'iac', tool: 'gatehouse-iac', status: 'new' });
    const { text } = await client.call('GET', `/vulnerabilities/${String(found?.['id'])}`);
    t.match(text, /AWS::EC2::Volume\.Disk/, 'the resource is named');
    const torn = await scan(app, '/iac/scans', [{ name: 'infra/stack.yaml', data: `${stack}   bad: [\n` }]);
    t.match(torn['result'], { complete: false, report: { closed: 0 } });
    t.match(torn['problems'], [{ at: 'infra/stack.yaml', detail: /cannot be read/ }]);
    for (const [value, status] of [
      ['!Ref Key', 'new'],
      ['true', 'resolved'],
    ] as const) {
      const data = stack.replace('false', value);
      t.match((await scan(app, '/iac/scans', [{ name: 'infra/stack.yaml', data }]))['result'], { complete: true });
      const now = (await client.findings(app)).find(({ id }) => id === found?.['id']);
      t.equal(now?.['status'], status, `${value}: what is not known proves nothing`);
    }
  });

  await t.test('what is no archive is one file, under the name that was sent', async (t) => {
    const app = await client.application();
    const run = await scan(app, '/secrets/scans', Buffer.from(token(4)), { path: 'config/.env' });
    t.match(run['result'], { files: 1, findings: 1 });
    t.same(await states(app), { [at1('config/.env')]: 'new' });
  });

  await t.test('damaged and empty uploads fail, and change nothing', async (t) => {
    const app = await client.application();
    await scan(app, '/secrets/scans', [{ name: 'a.ts', data: token(5) }]);
    const cut = zipOf([{ name: 'a.ts', data: 'x' }]).subarray(0, -10);
    t.match(await scan(app, '/secrets/scans', cut), { status: 'failed', error: /cannot be read to its end/ });
    t.match(await scan(app, '/secrets/scans', []), { status: 'failed', error: /no file to look at/ });
    t.same(await states(app), { [at1('a.ts')]: 'new' });
    t.equal((await client.send('999999', Buffer.from('x'), {}, '/secrets/scans')).status, 404);
    t.equal((await client.send(app, Buffer.from('x'), { nonsense: '1' }, '/secrets/scans')).status, 422);
  });

  await t.test('one that runs can be stopped; one of another kind is not to be seen', async (t) => {
    const app = await client.application();
    const many = zipOf(
      Array.from({ length: 3000 }, (_, index) => ({ name: `f${index}`, data: madeText(2000, index) })),
    );
    const { body } = await client.send(app, many, {}, '/secrets/scans');
    t.equal((await client.call('POST', `/runs/${body['id']}/cancel`)).status, 200);
    const run = await ended('/secrets/scans', body['id']);
    t.equal(run['status'], 'canceled');
    t.same(await states(app), {});
  });

  await t.test('packages: the inventory, the advisories, and what there are none for', async (t) => {
    const app = await client.application();
    const osv = {
      id: 'GHSA-aaaa-bbbb-cccc',
      modified: '2026-01-01T00:00:00Z',
      summary: 'A hole',
      database_specific: { severity: 'HIGH' },
      affected: [
        {
          package: { ecosystem: 'npm', name: 'left' },
          ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '2.0.0' }] }],
        },
      ],
    };
    const imported = await at.app.inject({
      method: 'POST',
      url: '/api/v1/threat-intel/bundles',
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/octet-stream' },
      payload: JSON.stringify(osv),
    });
    t.equal(imported.statusCode < 300, true, imported.body);
    const lock = (version: string) => ({
      name: 'package-lock.json',
      data: JSON.stringify({ lockfileVersion: 3, packages: { '': {}, 'node_modules/left': { version } } }),
    });
    const first = await scan(app, '/sca/scans', [
      lock('1.0.0'),
      { name: 'go.mod', data: 'module m\ngo 1.21\nrequire x.test/a v1.0.0\n' },
    ]);
    t.match(first, { status: 'succeeded', result: { packages: 2, complete: false, without_advisories: ['go'] } });
    const [found] = await client.findings(app);
    t.match(found, { title: /GHSA-AAAA-BBBB-CCCC in left/i, status: 'new', source: 'sca' });
    const part = await scan(app, '/sca/scans', [lock('2.0.0')]);
    t.match(part['result'], { report: { closed: 0 } });
    t.match(await client.findings(app), [{ status: 'new' }], 'another lock file may list the old one');
    const second = await scan(app, '/sca/scans', [lock('2.0.0')], { covers: 'whole' });
    t.match(second, { status: 'succeeded', result: { complete: true, without_advisories: [] } });
    t.match(await client.findings(app), [{ status: 'resolved' }]);
    const broken = await scan(app, '/sca/scans', [{ name: 'package-lock.json', data: '{' }]);
    t.match(broken, { result: { complete: false }, problems: [{ at: 'package-lock.json' }] });
    const { body } = await client.call('GET', `/sca/components?application_id=${app}`);
    t.match(body['items'], [{ name: 'left', version: '2.0.0' }], 'what could not be read takes nothing away');
  });

  await t.test('rules are listed with what to do', async (t) => {
    const { body } = await client.call('GET', '/secrets/detectors');
    t.ok((body['items'] as Json[]).length > 50);
    t.match((body['items'] as Json[])[0], { id: /./, title: /./, remediation: /./, severity: /./, cwes: [Number] });
  });
}

void onBothDatabases(t, 'scans in the hub', suite);
