// The inventory of components and the advisories beside it: what is listed, what is affected, what is not known, and
// what becomes of it when either changes.
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases, onEmbeddedDatabase } from '#api/testing/databases';
import { zipOf } from '../testing/archives.js';
import { adds, Client, type Json } from '../testing/import-client.js';
import { otherClient } from '../testing/other-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const component = (name: string, version: string, purl: string, more: Json = {}) => ({
  type: 'library',
  'bom-ref': purl || name,
  name,
  version,
  ...(purl === '' ? {} : { purl }),
  ...more,
});
const bill = (components: Json[], dependencies: Json[] = []) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  metadata: { component: { 'bom-ref': 'root', name: 'shop' } },
  components,
  dependencies,
});
const npm = (name: string, version: string, more: Json = {}) =>
  component(name, version, `pkg:npm/${name}@${version}`, more);

const advisory = (id: string, ecosystem: string, name: string, events: Json[], more: Json = {}) => ({
  schema_version: '1.6.0',
  id,
  modified: '2026-02-01T00:00:00Z',
  aliases: [],
  summary: `Weakness ${id}`,
  affected: [
    { package: { ecosystem, name }, ranges: [{ type: ecosystem === 'npm' ? 'SEMVER' : 'ECOSYSTEM', events }] },
  ],
  ...more,
});
const until = (fixed: string): Json[] => [{ introduced: '0' }, { fixed }];

/** Sends a set of advisories; returns the report. */
async function sendSet(at: TestApp, token: string, body: string | Buffer): Promise<{ status: number; body: Json }> {
  const reply = await at.app.inject({
    method: 'POST',
    url: '/api/v1/threat-intel/bundles',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    payload: body,
  });
  return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
}
const lines = (...records: object[]): string => records.map((one) => JSON.stringify(one)).join('\n');

async function inventory(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const application = await client.application();
  const list = async (query = ''): Promise<Json> =>
    (await client.call('GET', `/sca/components?application_id=${application}&${query}`)).body;
  const names = async (query = ''): Promise<string[]> =>
    ((await list(query))['items'] as Json[]).map(({ name, version }) => `${String(name)}@${String(version)}`);
  const first = bill(
    [
      npm('left', '1.0.0', { licenses: [{ license: { id: 'MIT' } }] }),
      npm('right', '2.0.0', { licenses: [{ expression: 'MIT OR Apache-2.0' }], components: [npm('within', '0.1.0')] }),
      component('nameless-purl', '3', ''),
      { type: 'library', version: '1' },
      npm('left', '1.0.0'),
    ],
    [
      { ref: 'root', dependsOn: ['pkg:npm/left@1.0.0'] },
      { ref: 'pkg:npm/left@1.0.0', dependsOn: ['pkg:npm/right@2.0.0'] },
    ],
  );

  await t.test('VM1: a bill of CycloneDX fills the inventory, and again changes nothing', async (t) => {
    const made = await client.send(application, first, { format: 'cyclonedx', mode: 'sync' });
    const counts = { listed: 6, created: 4, updated: 0, unchanged: 0, duplicates_in_file: 1, dropped: 1, gone: 0 };
    t.match(made, { status: 202, body: { report: { components: counts } } });
    const again = await client.send(application, first, { format: 'cyclonedx', mode: 'sync' });
    t.match(again.body['report'].components, { ...counts, created: 0, unchanged: 4 });
    t.match(await list('sort=id'), {
      total: 4,
      items: [
        {
          purl: 'pkg:npm/left@1.0.0',
          type: 'npm',
          licences: ['MIT'],
          relation: 'direct',
          first_import: made.body['id'],
          last_import: again.body['id'],
          gone_at: null,
        },
        { name: 'right', relation: 'transitive', licences: ['MIT OR Apache-2.0'] },
        { name: 'within', relation: 'unknown' },
        { name: 'nameless-purl', purl: null, type: '' },
      ],
    });
  });
  await t.test('VM1: it is filtered, paged and searched', async (t) => {
    t.same(await names('type=npm&sort=id'), ['left@1.0.0', 'right@2.0.0', 'within@0.1.0']);
    t.same(await names('licence=MIT'), ['left@1.0.0']);
    t.same(await names('relation=transitive'), ['right@2.0.0']);
    t.same(await names('q=IGH'), ['right@2.0.0']);
    t.same(await names('name=LEFT&version=1.0.0'), ['left@1.0.0']);
    t.same(await names('project_id=999'), []);
    const page = await list('limit=3&sort=id');
    t.same(await names(`limit=3&sort=id&cursor=${encodeURIComponent(String(page['next_cursor']))}`), [
      'nameless-purl@3',
    ]);
    t.equal((await client.call('GET', '/sca/components/999999')).status, 404);
  });
  await t.test(
    'VM1: what a synced bill no longer lists is gone, is back with it, and an undone import never was',
    async (t) => {
      const less = bill([npm('left', '1.0.0', { licenses: [{ license: { id: 'MIT' } }] }), npm('new', '1.0.0')]);
      const made = await client.send(application, less, { format: 'cyclonedx', mode: 'sync' });
      t.match(made.body['report'].components, { listed: 2, created: 1, updated: 1, gone: 3 });
      t.same(await names('sort=id'), ['left@1.0.0', 'new@1.0.0']);
      t.same((await names('state=gone')).length, 3);
      const undone = await client.call('POST', `/imports/${String(made.body['id'])}/rollback`, {});
      t.match(undone, { status: 200, body: { components_removed: 1 } });
      t.same((await names('state=live')).length, 4);
      await client.send(application, less, { format: 'cyclonedx', mode: 'add' });
      t.same((await names('state=live')).length, 5, 'what is only added to closes nothing');
    },
  );
  await t.test('VM1: SPDX, as JSON and as tags, and CycloneDX as XML list the same', async (t) => {
    const spdx = {
      spdxVersion: 'SPDX-2.3',
      packages: [
        { SPDXID: 'SPDXRef-root', name: 'shop', versionInfo: '1' },
        {
          SPDXID: 'SPDXRef-a',
          name: 'left',
          versionInfo: '1.0.0',
          licenseConcluded: 'NOASSERTION',
          licenseDeclared: 'MIT',
          externalRefs: [
            { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: 'pkg:npm/left@1.0.0' },
          ],
        },
      ],
      relationships: [
        { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: 'SPDXRef-root' },
        { spdxElementId: 'SPDXRef-a', relationshipType: 'DEPENDENCY_OF', relatedSpdxElement: 'SPDXRef-root' },
      ],
    };
    const tags =
      'SPDXVersion: SPDX-2.3\nPackageName: shop\nSPDXID: SPDXRef-root\nPackageVersion: 1\nPackageName: left\n' +
      'SPDXID: SPDXRef-a\nPackageVersion: 1.0.0\nPackageLicenseConcluded: MIT\n' +
      'ExternalRef: PACKAGE-MANAGER purl pkg:npm/left@1.0.0\n' +
      'Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-root\nRelationship: SPDXRef-root DEPENDS_ON SPDXRef-a\n';
    const xml =
      '<?xml version="1.0"?><bom xmlns="http://cyclonedx.org/schema/bom/1.5" version="1"><metadata>' +
      '<component type="application" bom-ref="root"><name>shop</name></component></metadata><components>' +
      '<component type="library" bom-ref="l"><name>left</name><version>1.0.0</version><licenses><license><id>MIT</id>' +
      '</license></licenses><purl>pkg:npm/left@1.0.0</purl></component></components><dependencies>' +
      '<dependency ref="root"><dependency ref="l"/></dependency></dependencies></bom>';
    for (const [format, report] of [
      ['spdx', spdx],
      ['spdx-tag-value', tags],
      ['cyclonedx-xml', xml],
    ] as const) {
      const one = await client.application();
      const sent = await client.send(one, report, { format, mode: 'sync' });
      t.match(sent, { status: 202, body: { report: { components: { listed: 1, created: 1 } } } }, format);
      const found = (await client.call('GET', `/sca/components?application_id=${one}`)).body['items'];
      t.match(found, [{ purl: 'pkg:npm/left@1.0.0', licences: ['MIT'], relation: 'direct' }], format);
    }
  });
  await t.test('VM1: whoever reaches another application sees none of it', async (t) => {
    const other = await otherClient(at, database);
    t.match((await other.call('GET', '/sca/components?state=all')).body, { total: 0, items: [] });
    const id = String(((await list())['items'] as Json[])[0]?.['id']);
    t.equal((await other.call('GET', `/sca/components/${id}`)).status, 404);
    t.equal((await other.call('POST', '/sca/match', { application_id: application })).status, 404);
    await database.sql`delete from vm_applications where id = ${application}`;
    const [left] = await database.sql<{ n: number }[]>`
      select count(*)::int as n from vm_components where application_id = ${application}`;
    t.match(left, { n: 0 }, 'nothing is left of an application that is removed');
  });
}

async function advisories(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const application = await client.application();
  const round = () =>
    at.jobs.find(({ name }) => name === 'vm-osv')?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
  const found = async (): Promise<string[]> =>
    (await client.findings(application))
      .map(({ title, status, fix }) => `${String(title)} ${String(status)} ${String(fix.version ?? '-')}`)
      .sort();
  const list = (...components: Json[]) =>
    client.send(application, bill(components), { format: 'cyclonedx', mode: 'sync' });
  const older = component('old-lib', '1.4', 'pkg:pypi/Old_Lib@1.4');
  // what no column takes is in both: nothing of it may reach one
  const odd = component('nul\u0000', '1\u0000', 'pkg:npm/nul%00\ud800@1');
  const haskell = component('aeson', '5.1', 'pkg:hackage/aeson@5.1');
  await list(
    npm('left', '1.2.0'),
    npm('right', '2.0.0'),
    npm('odd', 'latest'),
    older,
    haskell,
    odd,
    npm('bad', '6.6.6'),
  );
  const left = advisory('GHSA-2222-3333-4444', 'npm', 'left', until('1.3.0'), {
    aliases: ['CVE-2026-1111'],
    severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
    database_specific: { severity: 'LOW', cwe_ids: ['CWE-79'] },
  });
  const set = [
    left,
    advisory('GHSA-3333-4444-5555', 'npm', 'right', until('2.0.0'), { summary: 'a\u0000b' }),
    advisory('GHSA-4444-5555-6666', 'npm', 'odd', until('2.0.0')),
    advisory('PYSEC-2026-7', 'PyPI', 'old.lib', [{ introduced: '1.0' }, { last_affected: '1.4' }], {
      aliases: ['CVE-2026-2222'],
    }),
    advisory('HSEC-2026-1', 'Hackage', 'aeson', until('5.2')),
    {
      ...advisory('MAL-2026-1', 'npm', 'bad', []),
      affected: [{ package: { ecosystem: 'npm', name: 'bad' }, versions: ['6.6.6'] }],
    },
  ];

  await t.test('VM1: a set is imported; again it is unchanged; what cannot be read is told', async (t) => {
    const sent = await sendSet(at, token, `${lines(...set)}\n{"id":"X-1"}\n[1]\n{broken\n${JSON.stringify(left)}`);
    t.match(sent, {
      status: 202,
      body: {
        report: { set: 'osv', parsed: 10, created: 6, dropped: 3, duplicates_in_file: 1, applications_pending: 1 },
      },
    });
    t.match(sent.body['report'].problems, [
      { at: 'line 7', dropped: /modified/ },
      { at: 'line 8' },
      { at: 'line 9', dropped: 'is no JSON' },
    ]);
    const again = await sendSet(
      at,
      token,
      zipOf(set.map((one) => ({ name: `${one.id}.json`, data: JSON.stringify(one) }))),
    );
    t.match(again, { status: 202, body: { report: { parsed: 6, created: 0, updated: 0, unchanged: 6 } } });
    const feeds = (await client.call('GET', '/threat-intel/feeds')).body['items'] as Json[];
    t.match(
      feeds.find(({ id }) => id === 'osv'),
      { state: 'known', rows: 6, fetch: { enabled: false } },
    );
    for (const bad of ['{"id":"X-1","affected":[]}', '[]', Buffer.from('PK\x03\x04nothing')])
      t.equal((await sendSet(at, token, bad)).status, 422, String(bad));
  });
  await t.test(
    'VM1: affected versions become findings with the fixed one; what cannot be compared is listed',
    async (t) => {
      t.equal(await round(), '1 applications were matched with the advisories');
      const all = ['CVE-2026-1111 in left new 1.3.0', 'CVE-2026-2222 in old-lib new -', 'MAL-2026-1 in bad new -'];
      t.same(await found(), all);
      const first = (await client.findings(application)).find(({ title }) => String(title).startsWith('CVE-2026-1111'));
      t.match(first, {
        severity: 'critical',
        source: 'sca',
        tool: 'OSV',
        cwe: ['CWE-79'],
        vuln_ids: ['CVE-2026-1111', 'GHSA-2222-3333-4444'],
      });
      const told = await client.call('POST', '/sca/match', { application_id: application });
      t.equal(told.status, 200, told.text);
      adds(t, told.body['report']);
      t.match(told.body['report'], {
        components: 7,
        matches: 3,
        unchanged: 3,
        not_comparable: { total: 2 },
        problems: [
          { at: 'pkg:npm/odd@latest', detail: 'GHSA-4444-5555-6666: a version is none of its ecosystem' },
          { at: 'pkg:hackage/aeson@5.1', detail: /^HSEC-2026-1: versions of Hackage cannot be compared here$/ },
        ],
      });
      t.equal(await round(), '0 applications were matched with the advisories', 'nothing has changed');
    },
  );
  await t.test('VM1: a component that is fixed, gone or back moves its finding', async (t) => {
    at.clock.nowMs += 60_000;
    await list(npm('left', '1.3.0'), older, npm('bad', '6.6.6'));
    t.equal(await round(), '1 applications were matched with the advisories');
    t.match(await found(), [/^CVE-2026-1111 in left resolved/, /old-lib new/, /bad new/]);
    await list(npm('left', '1.2.9'), older, npm('bad', 'unknown'));
    await round();
    t.match(await found(), [/^CVE-2026-1111 in left reopened/, /old-lib new/, /bad resolved/]);
  });
  await t.test('VM1: a withdrawn advisory closes, a changed one changes, an older one is not taken back', async (t) => {
    const later = { modified: '2026-02-20T00:00:00Z' };
    const changed = { ...left, ...later, affected: advisory('', 'npm', 'left', until('1.4.0')).affected };
    const withdrawn = { ...set[3], ...later, withdrawn: later.modified };
    t.match((await sendSet(at, token, JSON.stringify([changed, withdrawn]))).body['report'], {
      updated: 2,
      withdrawn: 1,
      applications_pending: 1,
    });
    await round();
    t.match(await found(), [/^CVE-2026-1111 in left reopened 1\.4\.0/, /old-lib resolved/, /bad/]);
    t.match((await sendSet(at, token, lines(...set))).body['report'], { updated: 0, unchanged: 6 });
    t.equal(await round(), '0 applications were matched with the advisories');
  });
}

async function aliases(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const match = async (application: string): Promise<Json> =>
    (await client.call('POST', '/sca/match', { application_id: application })).body['report'];

  await t.test('VM1: what another tool has found under another id of the same weakness gets a sighting', async (t) => {
    const application = await client.application();
    const trivy = (version: string) => ({
      SchemaVersion: 2,
      ArtifactName: '.',
      Results: [
        {
          Target: 'package-lock.json',
          Class: 'lang-pkgs',
          Vulnerabilities: [
            {
              VulnerabilityID: 'GHSA-2222-3333-4444',
              PkgName: 'left',
              InstalledVersion: version,
              Severity: 'LOW',
              Title: 'T',
              PkgIdentifier: { PURL: `pkg:npm/left@${version}` },
            },
          ],
        },
      ],
    });
    await client.send(application, trivy('1.0.0'), { format: 'trivy', mode: 'sync' });
    await client.send(application, bill([npm('left', '1.0.0'), npm('left', '1.1.0')]), {
      format: 'cyclonedx',
      mode: 'sync',
    });
    await sendSet(
      at,
      token,
      lines(
        // the first names the second, the second the number: one weakness of three names
        advisory('PYX-2026-1', 'npm', 'left', until('2.0.0'), { aliases: ['GHSA-2222-3333-4444'] }),
        advisory('GHSA-2222-3333-4444', 'npm', 'left', until('2.0.0'), { aliases: ['CVE-2026-1111'] }),
      ),
    );
    t.match(await match(application), { matches: 4, created: 0, unchanged: 1, parsed: 1 });
    t.match(await client.findings(application), [{ title: 'T', tool: /trivy/i, status: 'new' }]);
    t.match(await match(application), { created: 0, updated: 0, unchanged: 1 });
    const clean = { ...trivy('1.0.0'), Results: [{ Target: 'package-lock.json', Class: 'lang-pkgs' }] };
    await client.send(application, clean, { format: 'trivy', mode: 'sync' });
    t.match(await client.findings(application), [{ status: 'new' }], 'the other one still sees it');
    await client.send(application, bill([npm('left', '2.0.0')]), { format: 'cyclonedx', mode: 'sync' });
    t.match(await match(application), { closed: 1 });
    t.match(await client.findings(application), [{ status: 'resolved' }]);
  });
  await t.test('VM1: a distribution is asked by its release and by its source package', async (t) => {
    const deb = (name: string, version: string, query: string) =>
      component(name, version, `pkg:deb/debian/${name}@${version}?${query}`);
    const entry = (ecosystem: string, fixed: string) => advisory('', ecosystem, 'openssl', until(fixed)).affected;
    const both = {
      ...advisory('DSA-1', 'Debian:12', 'openssl', []),
      affected: [...entry('Debian:12', '3.0.11-1~deb12u2'), ...entry('Debian:11', '1.1.1w-0+deb11u1')],
    };
    await sendSet(at, token, lines(both));
    const judged = async (version: string, query: string): Promise<unknown[]> => {
      const application = await client.application();
      await client.send(application, bill([deb('libssl', version, query)]), { format: 'cyclonedx' });
      const { matches, not_comparable: not } = await match(application);
      return [matches, not.total];
    };
    t.same(await judged('3.0.11-1~deb12u1', 'upstream=openssl&distro=debian-12.4'), [1, 0]);
    t.same(await judged('3.0.11-1~deb12u2', 'upstream=openssl&distro=debian-12.4'), [0, 0]);
    t.same(await judged('1.1.1w-0+deb11u1', 'upstream=openssl&distro=debian-11'), [0, 0], 'fixed in its own release');
    t.same(await judged('1.1.1w-0+deb11u1', 'upstream=openssl'), [0, 1], 'which release is not said');
    t.same(await judged('1.0-1', 'upstream=openssl'), [1, 0], 'affected in every one');
  });
}

t.test('the inventory', (t) => onEmbeddedDatabase(t, 'inventory', inventory));
t.test('advisories', (t) => onBothDatabases(t, 'advisories', advisories));
t.test('aliases and releases', (t) => onEmbeddedDatabase(t, 'aliases', aliases));
