// Images over /api/v1: an archive becomes an image with its layers, packages beside the advisories, and findings that
// the next image of the same name closes.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax, until } from '#api/testing/waiting';
import { madeChecked } from '../scanners/testing/made-secrets.js';
import { dpkg, imageOf, type MadeImage } from '../scanners/containers/testing/made-image.js';
import { Client, type Json } from '../testing/import-client.js';
import { baseOfHistory } from './store.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const release = { name: 'etc/os-release', data: 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian 12"\n' };
const status = (packages: Readonly<Record<string, string>>) => ({ name: 'var/lib/dpkg/status', data: dpkg(packages) });
const baseLayer = [release, status({ libfoo: '1.0-1' })];
const config = { User: '1000', Healthcheck: { Test: ['CMD', 'x'] }, Env: ['HOME=/app'] };
const advisory = (id: string, name: string, fixed: string) => ({
  id,
  modified: '2026-01-01T00:00:00Z',
  summary: `A hole in ${name}`,
  affected: [
    {
      package: { ecosystem: 'Debian:12', name },
      ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed }] }],
      ecosystem_specific: { urgency: 'high' },
    },
  ],
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const app = await client.application();
  const send = async (made: MadeImage | Buffer, fields: Record<string, string> = {}) => {
    at.clock.nowMs += 60_000;
    return client.send(app, Buffer.isBuffer(made) ? made : await imageOf(made), fields, '/containers/images');
  };
  const scanned = async (made: MadeImage, fields: Record<string, string> = {}) => {
    const { status: code, body } = await send(made, fields);
    t.equal(code, 202, JSON.stringify(body).slice(0, 300));
    let run: Json = {};
    await until('the scan ends', async () => {
      run = (await client.call('GET', `/runs/${body['run_id']}`)).body;
      return run['status'] !== 'queued' && run['status'] !== 'running';
    });
    return { run, image: (await client.call('GET', `/containers/images/${body['id']}`)).body };
  };
  const open = async (): Promise<string[]> =>
    (await client.findings(app))
      .filter(({ status: state }) => state === 'new')
      .map(({ title, location }) => `${title} @ ${location}`)
      .sort();
  const bundle = [advisory('DSA-1', 'libfoo', '1.0-2'), advisory('DSA-2', 'nano', '9')];
  const imported = await at.app.inject({
    method: 'POST',
    url: '/api/v1/threat-intel/bundles',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/octet-stream' },
    payload: bundle.map((one) => JSON.stringify(one)).join('\n'),
  });
  t.equal(imported.statusCode < 300, true, imported.body);

  await t.test('an image is what its archive says; the next one of its name closes what is gone', async (t) => {
    const base = await scanned({ layers: [baseLayer], config, tag: 'registry.example/base:12' });
    t.match(base, {
      run: { kind: 'container', status: 'succeeded', result: { complete: true, packages: 1 } },
      image: { name: 'registry.example/base', distribution: 'debian-12', packages: 1, user: '1000', complete: true },
    });
    const token = { name: 'app/.env', data: `t = '${madeChecked('ghp_', 1)}'\n` };
    const first = await scanned({
      layers: [baseLayer, [status({ libfoo: '1.0-1', nano: '7.2-1' }), token], [{ name: 'app/.wh..env' }]],
      config: { Env: ['HOME=/app', 'PASSWORD=k3kd92hs8'] },
      tag: 'shop/api:1.0',
      form: 'oci',
    });
    t.match(first.image, {
      base: { layers: 1, known_by: 'image', image_id: base.image['id'] },
      environment: ['HOME', 'PASSWORD'],
      layers: [
        { number: 1, of: 'base', packages: 1 },
        { number: 2, of: 'own', packages: 1 },
        { number: 3, of: 'own', packages: 0 },
      ],
      tags: ['shop/api:1.0'],
    });
    t.notMatch(JSON.stringify(first), /k3kd92hs8/);
    const [stored] = await database.sql`select config::text from vm_images where id = ${first.image['id']}`;
    t.notMatch(stored?.['config'], /k3kd92hs8/, 'the value of a variable is not stored');
    const found = await open();
    t.match(found.join('\n'), /DSA-1 in libfoo/);
    t.match(found.join('\n'), /DSA-2 in nano/);
    t.match(found.join('\n'), /shop\/api\/app\/\.env/, 'what was removed again');
    t.match(found.join('\n'), /runs as root.*shop\/api\/image/);
    const by = (await client.call('GET', `/containers/images/${first.image['id']}/vulnerabilities`)).body;
    t.match(by, {
      total: 2,
      by_owner: { base: { high: Number }, own: { high: Number } },
      without_advisories: [],
    });
    t.match(
      (by['items'] as Json[]).map(({ id, name, of, layer, fixed, status: state }) => ({
        id,
        name,
        of,
        layer,
        fixed,
        state,
      })),
      [
        { id: 'DSA-1', name: 'libfoo', of: 'base', layer: 1, fixed: '1.0-2', state: 'new' },
        { id: 'DSA-2', name: 'nano', of: 'own', layer: 2, fixed: '9', state: 'new' },
      ],
    );
    t.match((by['items'] as Json[])[0]?.['vuln_id'], /^\d+$/, 'with its finding');
    const next = { layers: [baseLayer, [{ name: 'x', data: '' }]], config, tag: 'shop/api:1.1' };
    const asked = await scanned(next);
    t.match(asked.run, { status: 'failed', error: /4 of 4 .*confirm_close/ }, 'all four at once: it asks');
    const second = await scanned(next, { confirm_close: 'true' });
    t.match(second.run['result'], { report: { closed: 4 }, matched: { closed: 1 } });
    t.same(
      (await open()).filter((one) => /shop\/api|nano/.test(one)),
      [],
      'of this image; what the base has stays',
    );
    t.match((await open()).join('\n'), /DSA-1 in libfoo/);
    const listed = await client.call('GET', `/containers/images?application_id=${app}&name=shop/api`);
    t.match(listed.body, { total: 2, items: [{ tags: ['shop/api:1.1'] }, { tags: ['shop/api:1.0'] }] });
    t.equal((await client.call('GET', '/containers/images?q=registry')).body['total'], 1);
  });

  await t.test('the same image again is the same row; a wrong one is refused and leaves nothing', async (t) => {
    const made = { layers: [[{ name: 'y', data: '1' }]], tag: 'again:1' };
    const [one, two] = [await scanned(made), await scanned(made, { name: 'again' })];
    t.equal(two.image['id'], one.image['id']);
    t.match(await send(Buffer.from('no image')), { status: 422, body: { detail: /is no image/ } });
    t.match(await send(made, { name: '../x' }), { status: 422, body: { detail: /no name of an image/ } });
    t.equal((await client.send('999999', await imageOf(made), {}, '/containers/images')).status, 404);
    t.equal((await client.call('GET', '/containers/images/999999')).status, 404);
    const wrong = await scanned({ ...made, diffIds: ['sha256:00'], tag: 'wrong:1' });
    t.match(wrong.run, { status: 'failed', error: /SHA-256 differs/ });
    t.match(wrong.image, { run_status: 'failed', complete: null });
    const old = await scanned({
      layers: [
        [
          { name: 'etc/os-release', data: 'ID=centos\nVERSION_ID=7\n' },
          { name: 'var/lib/rpm/Packages', data: 'x' },
        ],
      ],
      tag: 'old:1',
    });
    t.match(old, { run: { status: 'succeeded', result: { complete: false } }, image: { complete: false } });
    t.match(JSON.stringify(old.run['result'].fault_reasons), /no database of RPM/, 'what is not read is never clean');
  });

  await t.test('names that are none cost themselves alone, and no list of packages is no clean image', async (t) => {
    const names = { libfoo: '1.0-1', 'nul\0': '1', ['x'.repeat(100_000)]: '1', fine: '9'.repeat(5000) };
    const made = {
      layers: [[{ ...release, data: release.data.replace('Debian 12', 'Deb\0ian') }, status(names)]],
      config: { User: 'us\0er', Env: ['A\0=1'] },
      history: [{ created_by: 'RUN \0' }],
      tag: 'odd:1\0',
    };
    const odd = await scanned(made, { name: 'odd' });
    t.match(odd.run, { status: 'succeeded', result: { complete: false, packages: 1 } }, JSON.stringify(odd.run));
    t.match(odd.image, { user: 'user', environment: ['A'], tags: ['odd:1'], layers: [{ created_by: 'RUN ' }] });
    t.match(JSON.stringify(odd.run['result'].not_scanned), /"packages whose name or version is none[^"]*":3/);
    const { image, run } = await scanned({ layers: [[{ name: 'app', data: 'x' }]], tag: 'scratch:1' });
    t.match(run['result'], { complete: false, fault_reasons: [/no list of packages/] });
    const of = (await client.call('GET', `/containers/images/${image['id']}/vulnerabilities`)).body;
    t.match(
      of,
      { total: 0, packages: 0, run_status: 'succeeded', complete: false },
      'none were found, none were sought',
    );
  });

  await t.test('a Dockerfile beside the rules, at once', async (t) => {
    const text = `FROM debian:latest\nARG X\nRUN echo ${madeChecked('ghp_', 3)}\nUSER root\n`;
    const { status: code, body } = await client.call('POST', '/containers/dockerfile', { dockerfile: text });
    t.equal(code, 200, JSON.stringify(body));
    t.equal(body['complete'], true);
    const rules = (body['items'] as Json[]).map(({ rule, line }) => `${line} ${rule}`);
    t.match(rules.join('\n'), /^1 .*\n/, 'the tag latest');
    t.match(rules.join('\n'), /3 github/);
    t.notMatch(JSON.stringify(body), madeChecked('ghp_', 3).slice(6, -3));
    t.match((await client.call('POST', '/containers/dockerfile', { dockerfile: '# nothing\n' })).body, {
      complete: false,
      problems: [/FROM/],
    });
    const fine = 'FROM debian:12@sha256:aa\nUSER 1000\nHEALTHCHECK CMD true\n';
    t.match((await client.call('POST', '/containers/dockerfile', { dockerfile: fine })).body, { complete: true });
  });
}

void onBothDatabases(t, 'images', suite);

t.test('the base by the steps of an image', async (t) => {
  const step = (created_by: string, empty_layer = true) => ({ created_by, ...(empty_layer ? { empty_layer } : {}) });
  const cases: readonly (readonly [history: readonly object[], layers: number])[] = [
    [[step('ADD a', false), step('CMD ["bash"]'), step('COPY b', false), step('CMD ["b"]')], 1],
    [[step('/bin/sh -c #(nop) ADD a', false), step('/bin/sh -c #(nop)  CMD ["bash"]'), step('RUN x', false)], 1],
    [[step('ADD a', false), step('RUN b', false), step('CMD ["b"]')], 0],
    [[], 0],
  ];
  for (const [history, layers] of cases)
    t.equal(baseOfHistory({ config: { history } } as never), layers, JSON.stringify(history));
});
