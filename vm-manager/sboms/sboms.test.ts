// Bills of material over /api/v1: each format becomes the same graph, exports are read back as they were, and the ways
// to a component, the differences and the plan say what the advisories say.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax } from '#api/testing/waiting';
import { Client, type Json } from '../testing/import-client.js';
import { readCyclonedx, readSpdx, type Node } from './bill.js';
import { diffOf, pathsTo } from './graph.js';
import { stepOf } from './upgrade.js';
import { toCyclonedx, toSpdx } from './write.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const purl = (name: string, version: string): string => `pkg:npm/${name}@${version}`;
const component = (name: string, version: string) => ({
  ...{ type: 'library', 'bom-ref': name, name, version, purl: purl(name, version) },
  licenses: [{ license: { id: 'MIT' } }],
});
/** shop → web → deep, shop → cli → deep */
const bill = (versions: Readonly<Record<string, string>>, serial = 'urn:uuid:1') => ({
  ...{ bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber: serial, version: 1 },
  metadata: { component: { type: 'application', 'bom-ref': 'root', name: 'shop', version: '1' } },
  components: Object.entries(versions).map(([name, version]) => component(name, version)),
  dependencies: [
    { ref: 'root', dependsOn: ['web', 'cli'] },
    { ref: 'web', dependsOn: ['deep'] },
    { ref: 'cli', dependsOn: ['deep'] },
  ],
});
const spdx = {
  ...{ spdxVersion: 'SPDX-2.3', SPDXID: 'SPDXRef-DOCUMENT', name: 'shop', documentNamespace: 'urn:x' },
  packages: ['shop', 'web', 'deep'].map((name) => ({
    ...{
      SPDXID: `SPDXRef-${name}`,
      name,
      versionInfo: '1.0.0',
      licenseDeclared: 'MIT',
      licenseConcluded: 'NOASSERTION',
    },
    externalRefs: [{ referenceType: 'purl', referenceLocator: purl(name, '1.0.0') }],
  })),
  relationships: [
    ['SPDXRef-DOCUMENT', 'DESCRIBES', 'SPDXRef-shop'],
    ['SPDXRef-shop', 'DEPENDS_ON', 'SPDXRef-web'],
    ['SPDXRef-deep', 'DEPENDENCY_OF', 'SPDXRef-web'],
  ].map(([spdxElementId, relationshipType, relatedSpdxElement]) => ({
    ...{ spdxElementId, relationshipType, relatedSpdxElement },
  })),
};
const tagValue = [
  'SPDXVersion: SPDX-2.3\nDocumentName: shop\nDocumentNamespace: urn:y',
  ...['shop', 'web', 'deep'].map((name) => `PackageName: ${name}\nSPDXID: SPDXRef-${name}\nPackageVersion: 1.0.0`),
  'Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-shop',
  'Relationship: SPDXRef-shop DEPENDS_ON SPDXRef-web\nRelationship: SPDXRef-web DEPENDS_ON SPDXRef-deep',
].join('\n');
const xml =
  '<?xml version="1.0"?><bom xmlns="http://cyclonedx.org/schema/bom/1.4" version="1"><metadata>' +
  '<component type="application" bom-ref="r"><name>shop</name></component></metadata><components>' +
  ['web', 'deep']
    .map(
      (name) => `<component type="library" bom-ref="${name}"><name>${name}</name><version>1.0.0</version></component>`,
    )
    .join('') +
  '</components><dependencies><dependency ref="r"><dependency ref="web"/></dependency>' +
  '<dependency ref="web"><dependency ref="deep"/></dependency></dependencies></bom>';

const advisory = (id: string, name: string, severity: string, fixed: string | null, introduced = '0') => ({
  ...{ id, modified: '2026-01-01T00:00:00Z', summary: `A hole in ${name}`, database_specific: { severity } },
  affected: [
    {
      package: { ecosystem: 'npm', name },
      ranges: [{ type: 'SEMVER', events: [{ introduced }, ...(fixed === null ? [] : [{ fixed }])] }],
    },
  ],
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const send = async (app: string, document: unknown, fields: Record<string, string> = {}) => {
    at.clock.nowMs += 60_000;
    return client.send(app, document, fields, '/sca/sboms');
  };
  const kept = async (app: string, document: unknown, fields: Record<string, string> = {}): Promise<Json> => {
    const { status, body } = await send(app, document, fields);
    t.equal(status, 201, JSON.stringify(body).slice(0, 300));
    return body;
  };
  const read = async (path: string): Promise<Json> => {
    const reply = await client.call('GET', path);
    t.equal(reply.status, 200, `${path}: ${reply.text.slice(0, 200)}`);
    return reply.body;
  };
  const names = (row: Json): string[] =>
    (row['nodes'] as Json[]).map(({ name, needs }) => `${name} → ${(needs as number[]).join()}`);

  await t.test('each format is a graph and an inventory', async (t) => {
    const cases: readonly (readonly [format: string, document: unknown, nodes: readonly string[]])[] = [
      [
        'cyclonedx',
        bill({ web: '1.0.0', cli: '1.0.0', deep: '1.0.0' }),
        ['shop → 1,2', 'web → 3', 'cli → 3', 'deep → '],
      ],
      ['cyclonedx-xml', xml, ['shop → 1', 'web → 2', 'deep → ']],
      ['spdx', spdx, ['shop → 1', 'web → 2', 'deep → ']],
      ['spdx-tag-value', tagValue, ['shop → 1', 'web → 2', 'deep → ']],
    ];
    for (const [format, document, nodes] of cases) {
      const app = await client.application();
      const made = await kept(app, document);
      t.match(made, { format, name: 'shop', has_root: true, import_id: /\d/ }, format);
      t.same(names(await read(`/sca/sboms/${made['id']}`)), nodes, format);
      const inventory = await read(`/sca/components?application_id=${app}&q=deep`);
      t.match(inventory['items'], [{ name: 'deep', relation: 'transitive' }], format);
      const again = await kept(app, document);
      t.equal(again['id'], made['id'], `${format}: the same document is the same bill`);
      const others = await read(`/sca/sboms?application_id=${app}`);
      t.equal(others['total'], 1);
      for (const as of ['cyclonedx', 'spdx']) {
        const exported = await read(`/sca/sboms/${made['id']}/export?format=${as}`);
        const back = await kept(await client.application(), exported);
        const diff = await read(`/sca/sboms/diff?a=${made['id']}&b=${back['id']}`);
        t.match(diff, { added: [], removed: [], changed: [], vulnerabilities: { added: [], removed: [] } }, as);
        t.equal(back['edges'], made['edges'], `${format} as ${as}`);
      }
    }
  });

  await t.test('what is no bill is refused with a pointer', async (t) => {
    const app = await client.application();
    const cases: readonly (readonly [document: unknown, detail: RegExp])[] = [
      [{ ...bill({}), specVersion: '9.9' }, /\/specVersion is none/],
      [{ ...bill({}), components: [{ type: 'library' }] }, /\/components\/0 has no name/],
      [{ ...bill({}), dependencies: [{}] }, /\/dependencies\/0\/ref is missing/],
      [{ ...spdx, packages: [{}] }, /\/packages\/0\/name is missing/],
      [{ version: '2.1.0', runs: [], $schema: 'sarif' }, /no bill of materials|no known format|format/],
    ];
    for (const [document, detail] of cases)
      t.match(await send(app, document), { status: 422, body: { detail } }, String(detail));
    t.equal((await read(`/sca/sboms?application_id=${app}`))['total'], 0);
    t.equal((await send('999999', bill({}))).status, 404);
    t.equal((await client.call('GET', '/sca/sboms/diff?a=1')).status, 422);
  });

  await t.test('why it is there, what differs, and what to do', async (t) => {
    const sets = [
      advisory('GHSA-1111-aaaa-bbbb', 'deep', 'CRITICAL', '1.2.0'),
      advisory('GHSA-2222-aaaa-bbbb', 'deep', 'LOW', '2.0.1'),
      advisory('GHSA-3333-aaaa-bbbb', 'web', 'HIGH', '1.0.5'),
      advisory('GHSA-4444-aaaa-bbbb', 'cli', 'MEDIUM', null),
    ];
    const imported = await at.app.inject({
      ...{ method: 'POST', url: '/api/v1/threat-intel/bundles' },
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/octet-stream' },
      payload: sets.map((one) => JSON.stringify(one)).join('\n'),
    });
    t.ok(imported.statusCode < 300, imported.body);
    const app = await client.application();
    const first = await kept(app, bill({ web: '1.0.0', cli: '1.0.0', deep: '1.1.0' }), { mode: 'sync' });
    const deep = ((await read(`/sca/components?application_id=${app}&q=deep`))['items'] as Json[])[0];
    const why = await read(`/sca/components/${deep?.['id']}/paths`);
    t.same(
      (why['items'] as Json[]).flatMap(({ paths }) =>
        (paths as Json[][]).map((way) => way.map(({ name }) => name).join(' ')),
      ),
      ['shop web deep', 'shop cli deep'],
    );
    t.equal((await client.call('POST', '/sca/match', { application_id: app })).status, 200);
    const plan = await read(`/sca/upgrade-plan?application_id=${app}`);
    t.match(plan, {
      steps: [
        { name: 'deep', from: '1.1.0', to: '2.0.1', is_major: true, through: ['cli@1.0.0', 'web@1.0.0'], leaves: [] },
        { name: 'web', from: '1.0.0', to: '1.0.5', is_major: false, relation: 'direct' },
      ],
      without_fix: [{ name: 'cli', version: '1.0.0', advisories: ['GHSA-4444-aaaa-bbbb'] }],
    });
    t.match((plan['steps'] as Json[])[0]?.['closes'], [{ id: /1111/, vuln_id: /\d/ }, { id: /2222/ }]);
    t.ok((plan['steps'] as Json[])[1]?.['share'] < 1, 'what has no fix is left over');
    t.equal(((await read(`/sca/upgrade-plan?application_id=${app}&most=1`))['steps'] as Json[]).length, 1);
    const second = await kept(app, bill({ web: '1.0.5', deep: '1.2.0', more: '1.0.0' }), { mode: 'sync' });
    t.match(await read(`/sca/sboms/diff?a=${first['id']}&b=${second['id']}`), {
      added: [{ name: 'more', from: [], to: ['1.0.0'] }],
      removed: [{ name: 'cli' }],
      changed: [
        { name: 'deep', from: ['1.1.0'], to: ['1.2.0'] },
        { name: 'web', from: ['1.0.0'], to: ['1.0.5'] },
      ],
      vulnerabilities: { added: [], removed: [{ id: /1111/ }, { id: /3333/ }, { id: /4444/ }], same: 1 },
    });
    const gone = await read(`/sca/components?application_id=${app}&state=gone&q=cli`);
    t.match(gone['items'], [{ name: 'cli' }]);
    t.equal((await client.call('GET', '/sca/upgrade-plan?application_id=999999')).status, 404);
  });
}

void onBothDatabases(t, 'bills of material', suite);

const nodesOf = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', '@x/y'),
    version: fc.constantFrom('', '1.0.0', '2.0.0'),
    licences: fc.subarray(['MIT', 'Apache-2.0']),
    needs: fc.uniqueArray(fc.nat(5), { maxLength: 3 }),
  }),
  { minLength: 2, maxLength: 6 },
);

t.test('a bill that is written and read again is the same', async (t) => {
  fc.assert(
    fc.property(nodesOf, (drafts) => {
      const nodes: Node[] = drafts.map((one, n) => ({
        ...one,
        name: `${one.name}${n}`,
        purl: one.version === '' ? '' : purl(`p${n}`, one.version),
        needs: one.needs.filter((to) => to < drafts.length && to !== n).sort((left, right) => left - right),
      }));
      const written = { name: 'n', root: 0, nodes, at: new Date(0) };
      t.same(readCyclonedx(toCyclonedx(written) as Json).nodes, nodes);
      const plain = (all: readonly Node[]) => all.map(({ licences: _, ...rest }) => rest);
      const back = readSpdx(toSpdx(written) as Json);
      t.same([back.root, plain(back.nodes)], [0, plain(nodes)]);
      t.same(diffOf(nodes, back.nodes).changed, []);
      for (const way of pathsTo(nodes, 0, nodes.length - 1).paths) {
        t.equal(way[0], 0);
        t.ok(way.every((n, at) => at === 0 || nodes[way[at - 1] ?? 0]?.needs.includes(n) === true));
      }
    }),
    { numRuns: 100, seed: Number(process.env['SEED'] ?? 28) },
  );
});

t.test('a graph of many ways is cut, not walked for ever', async (t) => {
  const layers = 30;
  const nodes = Array.from({ length: layers * 2 }, (_, n) => {
    const next = (Math.floor(n / 2) + 1) * 2;
    return { needs: next < layers * 2 ? [next, next + 1] : [] };
  });
  const found = pathsTo(nodes, 0, layers * 2 - 1);
  t.equal(found.isCut, true);
});

t.test('the step to take: the smallest version that is free, else the one with fewest left', async (t) => {
  const component = { id: 1, name: 'p', version: '1.0.0', purl: purl('p', '1.0.0'), package: 'npm|p' };
  const pair = (osv_id: string, events: readonly (readonly ['introduced' | 'fixed', string])[]) => ({
    ...{ osv_id, ecosystem: 'npm', release: '', package: 'npm|p', versions: [] },
    ranges: [{ type: 'SEMVER' as const, events }],
  });
  const hit = (osvId: string) => ({ component, osvId, package: 'npm|p', fixed: null, canBeFixed: null });
  const one = pair('A', [
    ['introduced', '0'],
    ['fixed', '1.1.0'],
  ]);
  const later = pair('B', [
    ['introduced', '1.1.0'],
    ['fixed', '1.2.0'],
  ]);
  const never = pair('C', [['introduced', '0']]);
  t.same(stepOf(component, [one], [hit('A')]), { to: '1.1.0', leaves: [] });
  t.same(stepOf(component, [one, later], [hit('A')]), { to: '1.2.0', leaves: [] }, 'not to where another one begins');
  t.same(stepOf(component, [one, never], [hit('A'), hit('C')]), { to: '1.1.0', leaves: ['C'] });
  t.same(stepOf(component, [never], [hit('C')]), { to: null, leaves: ['C'] });
});
