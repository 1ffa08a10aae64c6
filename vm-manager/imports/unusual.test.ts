// Reports that are unusual and legal, read without a database: each row is what a tool may write and what has to come
// of it. All are written here.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { bytesMax, read } from '../testing/read-report.js';
import { KeysOfReport } from './fingerprint.js';
import { isDropped, record } from './record.js';

const at = (uri: string, more: object = {}) => ({ physicalLocation: { artifactLocation: { uri, ...more } } });
const found = (more: object = {}) => ({ ruleId: 'r', message: { text: 'm' }, locations: [at('a.c')], ...more });
const run = (results: unknown, more: object = {}) => ({ tool: { driver: { name: 'one' } }, results, ...more });
const sarif = (...runs: object[]) => ({ version: '2.1.0', runs });
const rules = (rule: object, more: object = {}) => ({ tool: { driver: { name: 'one', rules: [rule] } }, ...more });
const first = async (t: Test, given: unknown): Promise<unknown> => (await read(t, given)).items[0];

/** What it shows → a report of one result, and what its record has. */
const sarifRecords: readonly (readonly [string, object, object])[] = [
  ['a rank of -1 stands for none (3.27.25)', run([found({ rank: -1 })]), { quality: 0.7 }],
  [
    'a path of percent signs (3.4.3)',
    run([found({ locations: [at('my%20dir/%C3%A9.c')] })]),
    { location: { path: 'my dir/é.c' } },
  ],
  [
    'a percent sign that stands for itself',
    run([found({ locations: [at('100%.c')] })]),
    { location: { path: '100%.c' } },
  ],
  [
    'a base within a base (3.14.14)',
    run([found({ locations: [at('a.c', { uriBaseId: 'MODULE' })] })], {
      originalUriBaseIds: { ROOT: { uri: 'file:///ci/17/' }, MODULE: { uri: 'left', uriBaseId: 'ROOT' } },
    }),
    { location: { path: 'left/a.c' } },
  ],
  [
    'bases that go round',
    run([found({ locations: [at('a.c', { uriBaseId: 'A' })] })], {
      originalUriBaseIds: { A: { uri: 'x/', uriBaseId: 'A' } },
    }),
    { location: { kind: 'code' } },
  ],
  [
    'an address by the index of an artifact (3.4.5)',
    run([found({ locations: [{ physicalLocation: { artifactLocation: { index: 1 } } }] })], {
      artifacts: [{ location: { uri: 'x' } }, { location: { uri: 'y.c', uriBaseId: 'M' } }],
      originalUriBaseIds: { M: { uri: 'm/' } },
    }),
    { location: { path: 'm/y.c' } },
  ],
  [
    'a page of an application, with the method of its request (3.27.28)',
    run([found({ locations: [at('https://a.example/x?q=1')], webRequest: { method: 'post' } })]),
    { source: 'dast', location: { kind: 'web', url: 'https://a.example/x?q=1', method: 'POST' } },
  ],
  [
    'a logical location by index (3.33.3)',
    run([found({ locations: [{ logicalLocations: [{ index: 0 }] }] })], {
      logicalLocations: [{ fullyQualifiedName: 'app.Login.check' }],
    }),
    { location: { path: 'app.Login.check', symbol: 'app.Login.check' } },
  ],
  [
    'arguments within a text (3.11.5)',
    run([found({ message: { text: '{0} flows to {1}, {{0}}', arguments: ['a', 'b'] } })]),
    { description: 'a flows to b, {0}' },
  ],
  [
    'a message of the driver (3.19.22)',
    run([found({ message: { id: 'g', arguments: ['x'] } })], {
      tool: { driver: { name: 'one', globalMessageStrings: { g: { text: 'Met {0}' } } } },
    }),
    { title: 'Met x' },
  ],
  [
    'a rule of an extension that is named by guid (3.54)',
    run([found({ rule: { index: 0, toolComponent: { guid: 'AB-1' } } })], {
      tool: {
        driver: { name: 'one', rules: [{ id: 'q', shortDescription: { text: 'wrong' } }] },
        extensions: [{ name: 'x' }, { name: 'y', guid: 'ab-1', rules: [{ id: 'r', name: 'right' }] }],
      },
    }),
    { title: 'right' },
  ],
  [
    'taxa of other lists are no weaknesses (3.52)',
    run([
      found({
        taxa: [
          { id: '63', toolComponent: { name: 'CAPEC' } },
          { id: '79', toolComponent: { name: 'CWE' } },
        ],
      }),
    ]),
    { cwes: [79] },
  ],
  [
    'a taxon by its index in a taxonomy',
    run([found({ taxa: [{ index: 1, toolComponent: { index: 0 } }] })], {
      taxonomies: [{ name: 'CWE', taxa: [{ id: '1' }, { id: '89' }] }],
    }),
    { cwes: [89] },
  ],
  [
    'a relationship of a rule with a weakness and with a list of ten',
    run(
      [found()],
      rules({
        id: 'r',
        relationships: [
          { target: { id: '1', toolComponent: { name: 'OWASP' } } },
          { target: { id: '22', toolComponent: { name: 'CWE' } } },
        ],
      }),
    ),
    { cwes: [22] },
  ],
  ['no location at all', run([{ message: { text: 'm' } }]), { title: 'm', location: { path: 'unknown' } }],
  [
    'lines of the same text in two files have the same partial fingerprint',
    run([found({ partialFingerprints: { primaryLocationLineHash: 'h:1' } })]),
    { nativeId: 'h:1 a.c' },
  ],
];

/** SARIF → whether the lack of a result proves that it is gone. */
const sarifProof: readonly (readonly [string, object, boolean])[] = [
  ['an empty list: the tool looked and found nothing', sarif(run([])), true],
  ['no run', sarif(), false],
  ['results that are null: it did not come to look (3.14.23)', sarif(run(null)), false],
  ['results in another file', sarif({ tool: { driver: { name: 'one' } } }), false],
  ['one run of two', sarif(run([]), run(null)), false],
  ['a run that failed', sarif(run([], { invocations: [{ executionSuccessful: false }] })), false],
];

const cyclonedx = (vulnerability: unknown, more: object = {}) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  vulnerabilities: [vulnerability],
  ...more,
});
const cvss31 = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
const part = { 'bom-ref': 'a/b#c', name: 'left', version: '1', purl: 'pkg:npm/left@1' };
const vex = (statement: object) => ({ '@context': 'https://openvex.dev/ns/v0.2.0', statements: [statement] });
const csaf = (vulnerability: object, tree: object = {}) => ({
  document: { csaf_version: '2.0' },
  product_tree: tree,
  vulnerabilities: [{ cve: 'CVE-2026-3', ...vulnerability }],
});
const semgrepClean = { version: '1.90.0', results: [], errors: [], paths: { scanned: ['a.py'] } };
const checkovEmpty = { passed: 0, failed: 0, skipped: 0, parsing_errors: 0, resource_count: 0, checkov_version: '3.2' };
const npm = (entry: object) => ({
  auditReportVersion: 2,
  vulnerabilities: {
    left: { name: 'left', via: [{ source: 1, name: 'left', title: 'T', severity: 'high' }], ...entry },
  },
});

/** What it shows → a report, and the records that have to come of it. */
const others: readonly (readonly [string, unknown, readonly object[]])[] = [
  [
    'cyclonedx: a rating without a method comes last, and an unknown severity is no word',
    cyclonedx({
      id: 'CVE-2026-1',
      ratings: [{ severity: 'low' }, { method: 'CVSSv31', vector: cvss31, severity: 'unknown' }, { method: 'CVSSv2' }],
    }),
    [{ severity: 'low', cvss: { version: '3.1', score: 9.8 } }],
  ],
  [
    'cyclonedx: a score where no severity is known',
    cyclonedx({ id: 'CVE-2026-1', ratings: [{ method: 'CVSSv31', vector: cvss31, severity: 'unknown' }] }),
    [{ severity: 'critical' }],
  ],
  [
    'cyclonedx: a BOM-Link, a component within another, a service',
    cyclonedx(
      {
        id: 'CVE-2026-1',
        affects: [{ ref: 'urn:cdx:f08a6ccd-4dce-4759-bd84-c626675d60a7/1#a%2Fb%23c' }, { ref: 's' }],
      },
      { components: [{ name: 'top', components: [part] }], services: [{ 'bom-ref': 's', name: 'mail' }] },
    ),
    [{ location: { name: 'left', purl: 'pkg:npm/left@1' } }, { location: { name: 'mail' } }],
  ],
  ['cyclonedx: what is no vulnerability', cyclonedx(null), [{ dropped: 'has no id', at: '/vulnerabilities/0' }]],
  [
    'openvex: no product',
    vex({ vulnerability: { name: 'CVE-2026-1' }, status: 'affected' }),
    [{ dropped: 'names no product' }],
  ],
  ['openvex: no vulnerability', vex({ products: [{ '@id': 'x' }] }), [{ dropped: 'names no vulnerability' }]],
  [
    'openvex: what is affected is the part',
    vex({
      vulnerability: { '@id': 'https://x.example/1', name: 'X-1', aliases: ['CVE-2026-9'] },
      products: [{ '@id': 'pkg:oci/app@1', subcomponents: [{ '@id': 'pkg:npm/a@1' }, { '@id': 'pkg:npm/b@1' }] }],
      status: 'affected',
    }),
    [
      { vulnIds: ['CVE-2026-9', 'X-1'], location: { purl: 'pkg:npm/a@1', path: 'pkg:oci/app@1' } },
      { location: { purl: 'pkg:npm/b@1' } },
    ],
  ],
  [
    'csaf: first and last affected; a relationship is its component; scores by product; CVSS 2',
    csaf(
      {
        product_status: { first_affected: ['R'], last_affected: ['Q'], known_not_affected: ['N'], fixed: ['F'] },
        scores: [
          { products: ['Q'], cvss_v2: { vectorString: 'AV:N/AC:L/Au:N/C:C/I:C/A:C', baseScore: 10 } },
          { products: ['R'], cvss_v3: { vectorString: cvss31, baseScore: 9.8, baseSeverity: 'CRITICAL' } },
        ],
      },
      {
        branches: [
          {
            branches: [
              { product: { product_id: 'K', name: 'k', product_identification_helper: { purl: 'pkg:rpm/k@1' } } },
            ],
          },
        ],
        full_product_names: [{ product_id: 'Q', name: 'Queue' }],
        relationships: [{ product_reference: 'K', full_product_name: { product_id: 'R', name: 'k of os' } }],
      },
    ),
    [
      { location: { purl: 'pkg:rpm/k@1' }, severity: 'critical', cvss: { score: 9.8 }, suppressed: false },
      { location: { name: 'Queue' }, severity: 'critical', cvss: { version: '2.0', score: 10 } },
      { suppressed: true },
    ],
  ],
  [
    'grype: what is no match',
    { matches: [null], descriptor: { name: 'grype' } },
    [{ dropped: 'has no id of a vulnerability' }],
  ],
  [
    'trivy: what is no vulnerability',
    { SchemaVersion: 2, ArtifactName: 'x', Results: [null, { Target: 't', Vulnerabilities: [{}] }] },
    [{ dropped: 'has no VulnerabilityID', at: '/Results/1/Vulnerabilities/0' }],
  ],
  ['semgrep that found nothing is known', semgrepClean, []],
  ['checkov that found no file of its kinds is known', checkovEmpty, []],
  [
    'zap that found no site is known',
    { '@programName': 'ZAP', '@version': '2.16.1', site: [] },
    [{ dropped: 'the tool could not read or check this', at: /not reached/ }],
  ],
  ['npm audit that says nothing of a fix', npm({}), [{ fix: { state: 'unknown' } }]],
  ['npm audit that knows of no fix', npm({ fixAvailable: false }), [{ fix: { state: 'no_fix' } }]],
  [
    'csv: what somebody has closed is set aside',
    'title;severity;url;status\r\nA;high;https://a.example/;Closed\r\nB;low;https://b.example/;Open\r\n',
    [{ suppressed: true }, { suppressed: false, title: 'B' }],
  ],
];

t.test('14.4: unusual SARIF', async (t) => {
  for (const [what, one, wanted] of sarifRecords)
    await t.test(what, async (t) => t.match(await first(t, sarif(one)), wanted));
  for (const [what, report, proves] of sarifProof)
    await t.test(`proof: ${what}`, async (t) => t.equal((await read(t, report)).facts.complete, proves));
  await t.test('records of two runs are of two tools', async (t) => {
    const two = run([found()], { tool: { driver: { name: 'two' } } });
    t.match((await read(t, sarif(run([found()]), two))).items, [{ tool: 'one' }, { tool: 'two' }]);
  });
  await t.test('known although the version stands behind what is read for it', async (t) => {
    const many = Array.from({ length: 2000 }, (_, line) => found({ guid: `g${line}` }));
    t.match(await read(t, { runs: [run(many)], version: '2.1.0' }), { format: 'sarif', items: { length: 2000 } });
    await t.rejects(read(t, { runs: [run(many)], version: '2.0.0' }), { code: 'unfit' });
  });
});

t.test('14.4: other reports that are unusual', async (t) => {
  for (const [what, report, wanted] of others)
    await t.test(what, async (t) => {
      const { items } = await read(t, report);
      t.equal(items.length, wanted.length);
      for (const [index, one] of wanted.entries()) t.match(items[index], one);
    });
  await t.test('a bill of components alone proves nothing about vulnerabilities', async (t) => {
    const xml = '<bom xmlns="http://cyclonedx.org/schema/bom/1.5">';
    t.equal((await read(t, { bomFormat: 'CycloneDX', components: [part] })).facts.complete, false);
    t.equal((await read(t, { bomFormat: 'CycloneDX', components: [part], vulnerabilities: [] })).facts.complete, true);
    t.equal((await read(t, `${xml}<components/></bom>`)).facts.complete, false);
    const listed = '<components><component type="library"><name>a</name></component></components>';
    t.equal((await read(t, `${xml}${listed}<vulnerabilities/></bom>`)).facts.complete, true);
    t.equal((await read(t, checkovEmpty)).facts.complete, false, 'and nothing was checked where there was nothing');
  });
});

t.test('14.4: encodings', async (t) => {
  const report = JSON.stringify(sarif(run([found({ message: { text: 'Café 漢 😀' } })])));
  const big = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
  const xml = (encoding: string): string =>
    `<?xml version="1.0" encoding="${encoding}"?><OWASPZAPReport><site><alerts><alertitem><pluginid>1</pluginid>` +
    '<alert>Café</alert><instances><instance><uri>http://a/</uri></instance></instances></alertitem></alerts></site>' +
    '</OWASPZAPReport>';
  const rows: readonly (readonly [string, Buffer, RegExp])[] = [
    ['UTF-8 with a mark', Buffer.from(`\ufeff${report}`), /^Café 漢 😀$/],
    ['UTF-16, small end first', Buffer.from(`\ufeff${report}`, 'utf16le'), /^Café 漢 😀$/],
    ['UTF-16, big end first', big(`\ufeff${report}`), /^Café 漢 😀$/],
    ['CSV in UTF-16', Buffer.from('\ufefftitle\tseverity\r\nCafé\thigh\r\n', 'utf16le'), /^Café$/],
    ['XML in Latin-1', Buffer.from(xml('ISO-8859-1'), 'latin1'), /^Café$/],
    ['XML in UTF-16', Buffer.from(`\ufeff${xml('UTF-16')}`, 'utf16le'), /^Café$/],
    ['XML in UTF-8', Buffer.from(xml('UTF-8')), /^Café$/],
  ];
  for (const [what, bytes, title] of rows) await t.test(what, async (t) => t.match(await first(t, bytes), { title }));
  await t.rejects(read(t, Buffer.from('\ufeff{}', 'utf16le').subarray(0, 5)), { code: 'malformed_request' });
  await t.rejects(read(t, xml('klingon')), { code: 'unfit' }, 'an encoding that is not known');
  await t.rejects(read(t, Buffer.from(`\ufeff${'漢'.repeat(bytesMax / 2.5)}`, 'utf16le')), { code: 'body_too_large' });
});

t.test('14.4: no two records of a report have a key in common, and what says something else stays', async (t) => {
  const few = (...values: string[]) => fc.constantFrom(...values);
  const place = fc.oneof(
    fc.record({ kind: fc.constant('code' as const), path: few('a', 'b') }),
    fc.record({ kind: fc.constant('web' as const), url: few('http://a/', 'http://b/') }),
    fc.record({ kind: fc.constant('resource' as const), address: few('x', 'y') }),
    fc.record({ kind: fc.constant('package' as const), name: few('p', 'q') }),
  );
  const one = fc.record({
    title: few('t', 'u'),
    ruleId: few('', 'r', 's'),
    nativeId: fc.option(few('n', 'm')),
    location: place,
    tool: fc.option(few('one', 'two'), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 40 }), (all) => {
      const keys = new KeysOfReport('one');
      const taken = all.flatMap(({ tool, ...given }) => {
        const made = { severity: 'low', source: 'manual', cwes: [79], ...given } as const;
        return keys.take(record(tool === undefined ? made : { ...made, tool }))?.keys ?? [];
      });
      const distinct = (name: 'fingerprint' | 'toolKey'): number => new Set(taken.map((row) => row[name])).size;
      return distinct('fingerprint') === taken.length && distinct('toolKey') === taken.length;
    }),
    { seed: Number(process.env['SEED'] ?? 14) },
  );
  const row = (title: string, nativeId: string | null) =>
    record({
      title,
      nativeId,
      severity: 'low',
      source: 'dast',
      ruleId: '',
      cwes: [79],
      location: { kind: 'web', url: 'http://a/' },
    });
  const keys = new KeysOfReport('CSV');
  t.ok(keys.take(row('one', null)));
  t.ok(keys.take(row('two', null)), 'another weakness of the same class behind the same address');
  t.equal(keys.take(row('one', null)), null);
  t.ok(keys.take(row('one', '17')), 'the tool tells them apart');
  t.equal(keys.take(row('one', '17')), null);
});

t.test('14.4: what is dropped says where', async (t) => {
  const { items } = await read(t, sarif(run([found({ kind: 'pass' }), null, found({ baselineState: 'absent' })])));
  t.ok(items.every(isDropped));
  t.match(items, [{ at: '/runs/0/results/0' }, { at: '/runs/0/results/1' }, { at: '/runs/0/results/2' }]);
});
