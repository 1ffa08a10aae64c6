// Statements of others and of people, through HTTP: what they meet, what follows, what stays.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const trivy = (found: readonly (readonly [name: string, version: string, id: string])[]): Json => ({
  SchemaVersion: 2,
  ArtifactName: 'x',
  Results: [
    {
      Target: 'package-lock.json',
      Class: 'lang-pkgs',
      Vulnerabilities: found.map(([PkgName, InstalledVersion, VulnerabilityID]) => ({
        ...{ VulnerabilityID, PkgName, InstalledVersion, Severity: 'HIGH' },
        PkgIdentifier: { PURL: `pkg:npm/${PkgName}@${InstalledVersion}` },
      })),
    },
  ],
});

const openVex = (statements: readonly Json[]): Json => ({
  '@context': 'https://openvex.dev/ns/v0.2.0',
  '@id': 'https://vendor.example/vex/1',
  author: 'Vendor',
  timestamp: '2026-02-01T00:00:00Z',
  version: 1,
  statements: statements.map(({ id, product, ...rest }) => ({
    vulnerability: { name: id },
    products: [{ '@id': product }],
    ...rest,
  })),
});

const csaf: Json = {
  document: {
    ...{ category: 'csaf_vex', csaf_version: '2.0', title: 't', publisher: { name: 'Vendor' } },
    tracking: { id: 'V-2', current_release_date: '2026-02-01T00:00:00Z' },
  },
  product_tree: {
    full_product_names: [
      { product_id: 'p1', name: 'two', product_identification_helper: { purl: 'pkg:npm/two@1.0.0' } },
    ],
  },
  vulnerabilities: [
    {
      cve: 'CVE-2026-0002',
      product_status: { known_not_affected: ['p1'] },
      flags: [{ label: 'vulnerable_code_not_in_execute_path', product_ids: ['p1'] }],
    },
  ],
};

const cyclonedx = (analysis: Json, id = 'CVE-2026-0003'): Json => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  metadata: { component: { 'bom-ref': 'root', name: 'x' } },
  components: [{ 'bom-ref': 'three', name: 'three', purl: 'pkg:npm/three@1.0.0' }],
  vulnerabilities: [
    { id, analysis, affects: [{ ref: 'three' }] },
    { id, affects: [{ ref: 'three' }] },
  ],
});

async function startStage(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const application = await client.application();
  await client.send(
    application,
    trivy([
      ['one', '1.0.0', 'GHSA-AAAA-BBBB-CCCC'],
      ['one', '2.0.0', 'CVE-2026-0009'],
      ['two', '1.0.0', 'CVE-2026-0002'],
      ['three', '1.0.0', 'CVE-2026-0003'],
      ['four', '1.0.0', 'CVE-2026-0004'],
    ]),
  );
  await database.sql`
    insert into vm_osv (id, modified, aliases, facts)
    values ('GHSA-AAAA-BBBB-CCCC', now(), '["CVE-2026-0001"]', '{}')`;
  const send = async (document: Json, fields: Record<string, string> = {}, as = token): Promise<Json> => {
    const reply = await client.at.app.inject({
      method: 'POST',
      url: `/api/v1/vex/import?${new URLSearchParams(fields).toString()}`,
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/octet-stream' },
      payload: JSON.stringify(document),
    });
    return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
  };
  const stateOf = async (id: string): Promise<Json> => {
    const list = await client.call('GET', `/findings?application_id=${application}&cve=${id}`);
    return (list.body['items'] as Json[])[0] ?? {};
  };
  return { at, client, application, send, stateOf };
}
type Stage = Awaited<ReturnType<typeof startStage>>;

async function imports(t: Test, { send, stateOf, client, application }: Stage): Promise<void> {
  const vendor = openVex([
    {
      ...{ id: 'CVE-2026-0001', product: 'pkg:npm/one', status: 'not_affected' },
      justification: 'component_not_present',
    },
    { id: 'CVE-2026-0009', product: 'pkg:npm/one@1.0.0', status: 'fixed' },
    { id: 'CVE-1999-0001', product: 'pkg:npm/one', status: 'affected' },
    { id: 'CVE-2026-0004', product: 'pkg:npm/four', status: 'of its own' },
  ]);
  const told = {
    ...{ statements: 3, matched_total: 1, unmatched_total: 2, changed: 1, conflicts_total: 0 },
    unread: [{ at: '/statements/3/status', reason: 'is no status of VEX' }],
    matched: [{ vulnerability: 'CVE-2026-0001', application_id: application, changed: 1 }],
    unmatched: [{ vulnerability: 'CVE-2026-0009' }, { vulnerability: 'CVE-1999-0001' }],
  };
  t.match(await send(vendor, { dry_run: 'true' }), { status: 200, body: { ...told, dry_run: true } });
  t.match(await stateOf('GHSA-AAAA-BBBB-CCCC'), { status: 'new' }, 'a dry run changes nothing');
  t.match((await client.call('GET', '/vex/statements')).body, { total: 0 });
  t.match(await send(vendor), { status: 200, body: told }, 'by an alias that an advisory knows');
  t.match(await stateOf('GHSA-AAAA-BBBB-CCCC'), { status: 'false_positive' });
  t.match(await stateOf('CVE-2026-0009'), { status: 'new' }, 'another version');
  t.match(await send(vendor), { body: { matched_total: 1, changed: 0 } }, 'again: nothing follows');
  t.match(await send(csaf, { application_id: application }), { body: { format: 'csaf', changed: 1 } });
  t.match(await stateOf('CVE-2026-0002'), { status: 'false_positive' });
  const analysis = { state: 'resolved', detail: 'updated' };
  t.match(await send(cyclonedx(analysis)), { body: { format: 'cyclonedx', changed: 1, unread: [{}] } });
  t.match(await stateOf('CVE-2026-0003'), { status: 'resolved' });
  t.match(await send({ bomFormat: 'CycloneDX' }), { status: 422, body: { detail: /OpenVEX nor CSAF/ } });
  t.equal((await send(csaf, { application_id: '999999' })).status, 404);
  const kept = (await client.call('GET', '/vex/statements?matched=false')).body['items'] as Json[];
  t.ok(kept.length > 0 && kept.every(({ application_id: id }) => id === null), 'what met nothing is kept, too');
  const own = await client.call('GET', '/vex/statements?vulnerability=cve-2026-0002');
  t.match(own.body, { items: [{ source: 'csaf', document: 'V-2', author: 'Vendor' }] });
}

/** Of a document that says several things of one finding the latest counts, and none where nobody knows which. */
async function contradictions(t: Test, { client, send }: Stage): Promise<void> {
  const ids = ['CVE-2027-0001', 'CVE-2027-0002', 'CVE-2027-0003', 'CVE-2027-0004'];
  const application = await client.application();
  await client.send(application, trivy(ids.map((id, at) => [`c${at}`, '1.0.0', id] as const)));
  const stateIn = async (id: string): Promise<unknown> =>
    ((await client.call('GET', `/findings?application_id=${application}&cve=${id}`)).body['items'] as Json[])[0]?.[
      'status'
    ];
  const no = { status: 'not_affected', justification: 'component_not_present' };
  const document = openVex([
    { id: ids[0], product: 'pkg:npm/c0', ...no, timestamp: '2026-01-02T00:00:00Z' },
    { id: ids[0], product: 'pkg:npm/c0', status: 'affected', timestamp: '2026-01-03T00:00:00Z' },
    { id: ids[1], product: 'pkg:npm/c1', ...no },
    { id: ids[1], product: 'pkg:npm/c1', status: 'affected' },
    { id: ids[2], product: 'pkg:npm/c2', status: 'affected' },
    { id: ids[2], product: 'pkg:npm/c2@1.0.0', ...no },
    { id: ids[3], product: 'pkg:npm/c3', ...no, timestamp: '9999-99-99' },
    { id: ids[3], product: 'pkg:npm/c3', ...no, timestamp: '2026-02-30T00:00:00Z' },
    { id: ids[3], product: 'pkg:npm/c3', ...no, timestamp: '9998-01-01T00:00:00Z' },
  ]);
  const told = await send(document, { application_id: application });
  t.match(told, { status: 200, body: { changed: 2, conflicts_total: 4 } }, JSON.stringify(told.body));
  t.equal(await stateIn(ids[0] ?? ''), 'triaged', 'the later one counts, wherever it stands');
  t.equal(await stateIn(ids[1] ?? ''), 'new', 'of two at the same time neither does');
  t.equal(await stateIn(ids[2] ?? ''), 'false_positive', 'one that names the version stands above one that does not');
  t.equal(await stateIn(ids[3] ?? ''), 'new', 'and what has no moment, or one to come, is not taken');
  t.match(told.body['unread'], [
    { at: '/statements/6/timestamp', reason: /no moment/ },
    { at: '/statements/7/timestamp', reason: /no moment/ },
    { at: '/statements/8/timestamp', reason: /future/ },
  ]);
  t.match(JSON.stringify(told.body['conflicts']), /not affected and affected of it at the same time/);
  t.match(JSON.stringify(told.body['conflicts']), /says affected of it as well, at a later time/);
  const [p1] = (csaf['product_tree'] as { full_product_names: Json[] }).full_product_names;
  const both: Json = {
    ...csaf,
    product_tree: {
      full_product_names: [{ ...p1, product_identification_helper: { purl: 'pkg:npm/c1@1.0.0' } }],
    },
    vulnerabilities: [{ cve: ids[1], product_status: { fixed: ['p1'], known_affected: ['p1'] } }],
  };
  const refused = await send(both, { application_id: application });
  t.match(refused.body, { changed: 0, conflicts_total: 2 }, JSON.stringify(refused.body));
  t.equal(await stateIn(ids[1] ?? ''), 'new', 'nor of two groups of a CSAF document');
  const wrong = structuredClone(csaf) as { document: { tracking: Json } };
  wrong.document.tracking['current_release_date'] = '9999-99-99';
  t.match(await send(wrong), { status: 422, body: { detail: /current_release_date/ } });
}

async function statements(t: Test, { client, application, send, stateOf }: Stage): Promise<void> {
  const write = (body: Json) => client.call('POST', '/vex/statements', { application_id: application, ...body });
  const vulnerability = 'CVE-2026-0004';
  t.match(await write({ vulnerability, status: 'not_affected' }), { status: 422, body: { detail: /justification/ } });
  const affected = await write({ vulnerability, status: 'affected', statement: 'patch in March' });
  t.match(affected, { status: 201, body: { matched_total: 1, changed: 1 } }, affected.text);
  t.match(await stateOf(vulnerability), { status: 'triaged' });
  const { id } = await stateOf(vulnerability);
  const proof = { kind: 'poc', title: 'p', text: 'x', proof: 'exploit' };
  await client.call('POST', `/vulnerabilities/${String(id)}/evidence`, proof);
  const denied = await write({ vulnerability, status: 'not_affected', justification: 'component_not_present' });
  t.match(denied.body, { changed: 0, conflicts: [{ finding_id: id, reason: /proven/ }] }, 'a proof beats a statement');
  const late = openVex([{ id: 'CVE-2026-0002', product: 'pkg:npm/two', status: 'affected' }]);
  t.match((await send(late)).body, { changed: 0, conflicts: [{ status: 'false_positive' }] }, 'a person stays right');
  const exported = await client.call('GET', `/vex/export?application_id=${application}`);
  const again = await send(exported.body as Json);
  t.match(
    again.body,
    { changed: 0, conflicts_total: 0, unmatched_total: 0 },
    'what we say of ourselves changes nothing',
  );
  t.equal((await write({ vulnerability, status: 'affected', application_id: '999999' })).status, 404);
  const elsewhere = await client.application();
  const body = { name: 'confined', scopes: ['admin'], application_ids: [elsewhere] };
  const confined = String((await client.call('POST', '/tokens', body)).body['token']);
  const theirs = await send(exported.body as Json, {}, confined);
  t.match(theirs.body, { matched_total: 0, changed: 0, matched: [] }, 'a confined token meets nothing of others');
  const seen = await new Client(client.at, confined).call('GET', '/vex/statements');
  t.match(seen.body, { total: 0 });
}

/** 20,000 statements beside 2,000 findings took minutes, in a transaction for which everybody else waited. */
async function large(t: Test, { send, client, application }: Stage): Promise<void> {
  const idOf = (index: number): string => `CVE-2027-${10_000 + index}`;
  const found = Array.from({ length: 2000 }, (_, index) => ['many', `1.0.${index}`, idOf(index)] as const);
  await client.send(application, trivy(found));
  const product = 'pkg:npm/many';
  const all = Array.from({ length: 20_000 }, (_, index) => ({ id: idOf(index), product, status: 'affected' }));
  const begun = performance.now();
  const tried = await send(openVex(all), { dry_run: 'true' });
  const seconds = (performance.now() - begun) / 1000;
  t.match(tried, { status: 200, body: { statements: 20_000, matched_total: 2000, changed: 2000 } });
  t.ok(seconds < 60, `it takes seconds, and not the minutes that it took: ${seconds}`);
  const odd = { id: 'CVE-\u00002027-10000', product: 'pkg:npm/\u0000many', status: 'affected', status_notes: '\u0000' };
  t.match(await send(openVex([odd])), { status: 200, body: { matched_total: 1, changed: 1 } }, 'NUL is left out');
}

/** What is kept meets what comes later: once, the newest of what contradicts, among however many of other products. */
async function later(t: Test, { send, client, at: { clock } }: Stage, { sql }: Database): Promise<void> {
  const application = await client.application();
  const why = { justification: 'component_not_present' };
  const document = (time: string, ...statements: Json[]): Json => ({ ...openVex(statements), timestamp: time });
  const on = (id: string, product: string, status: string): Json => ({ id, product, status, ...why });
  const [old, newer] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
  // the newer document came first
  await send(document(newer, on('CVE-2028-0001', 'pkg:npm/l1', 'not_affected')));
  await send(document(old, on('CVE-2028-0001', 'pkg:npm/l1', 'affected')));
  await send(document(newer, on('CVE-2028-0002', 'pkg:npm/l2@1.0.0', 'under_investigation')));
  await sql`
    insert into vm_vex_statements (vulnerability, aliases, product, status, justification, source, document, matched,
      changed, conflicts, created_by, created_at)
    select 'CVE-2028-0003', '["GHSA-Z"]', 'pkg:npm/' || case i when 1 then '%40s/l_3' else 'x' || i end,
      'not_affected', 'component_not_present', 'csaf', 'many', 0, 0, 0, 'x', now()
    from generate_series(1, 20000) i`;
  const stateOf = async (id: string): Promise<unknown> =>
    (await client.call('GET', `/findings?application_id=${application}&cve=${id}`)).body['items'][0]?.status;
  for (const round of [1, 2, 3]) {
    clock.nowMs += 60_000;
    await client.send(
      application,
      trivy([
        ['l1', '1.0.0', 'CVE-2028-0001'],
        ['l2', '1.0.0', 'CVE-2028-0002'],
        ['@s/l_3', '1.0.0', 'GHSA-Z'],
        [`l4-${round}`, '1.0.0', 'CVE-2028-0004'],
      ]),
    );
    t.equal(await stateOf('CVE-2028-0001'), 'false_positive', 'the newest of what contradicts');
    t.equal(await stateOf('CVE-2028-0002'), 'new');
    t.equal(await stateOf('GHSA-Z'), 'false_positive', 'by an alias, the oldest of 20,000 of other packages');
    const kept = await client.call('GET', `/vex/statements?application_id=${application}&limit=100`);
    t.same(
      (kept.body['items'] as Json[]).map((one) => [one['vulnerability'], one['matched'], one['changed']]).sort(),
      [
        ['CVE-2028-0001', 1, 1],
        ['CVE-2028-0002', 1, 0],
        ['CVE-2028-0003', 1, 1],
      ],
      `each is counted once, in round ${round}`,
    );
  }
}

t.test('VEX statements', (t) =>
  onBothDatabases(t, 'vm_statements', async (t, database) => {
    const stage = await startStage(t, database);
    await t.test('30.vex: documents of three formats meet findings by any name, or say that they do not', (t) =>
      imports(t, stage),
    );
    await t.test('30.vex: what a document contradicts itself in is told, and not applied', (t) =>
      contradictions(t, stage),
    );
    await t.test('30.vex: people state, findings follow, proofs and decisions stay', (t) => statements(t, stage));
    await t.test('30.vex: the largest document holds nobody up, and NUL is no failure', (t) => large(t, stage));
    await t.test('30.vex: statements meet findings that come later', (t) => later(t, stage, database));
  }),
);
