// Packed reports, and the other forms of bills of material: taken as if they came plain, and the hostile ones refused
// with nothing stored.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { tarOf, zipOf, type Packed } from '../testing/archives.js';
import { adds, Client, type Json } from '../testing/import-client.js';
import { entriesMax, unpack } from './reading/unpack.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const sarif = JSON.stringify({
  version: '2.1.0',
  runs: [{ tool: { driver: { name: 'scan' } }, results: [{ ruleId: 'r1', message: { text: 'A finding' } }] }],
});
const fvdl = { name: 'audit.fvdl', data: '<FVDL></FVDL>' };
const report: Packed = { name: 'out/report.sarif', data: sarif };

async function hostile(): Promise<[string, Buffer, number, RegExp][]> {
  const big = Buffer.alloc(80 * 1024 * 1024, 0x20);
  const many = (count: number): Packed[] =>
    Array.from({ length: count }, (_, n) => ({ name: `d${n}/`, type: 'directory' }));
  const bad = ['../../x.sarif', '/etc/x.sarif', 'a/../../x', 'C:/x', 'a\\..\\x', 'x'.repeat(300)];
  const named = await Promise.all(
    bad.flatMap((name): Promise<[string, Buffer, number, RegExp]>[] => [
      Promise.resolve([`zip ${name.slice(0, 20)}`, zipOf([{ name, data: sarif }]), 4, /name|path|file/]),
      tarOf([{ name, data: sarif }]).then((bytes) => [`tar ${name.slice(0, 20)}`, bytes, 422, /name leads elsewhere/]),
    ]),
  );
  return [
    ...named,
    ['gzip bomb', gzipSync(big), 413, /unpacked/],
    ['zip bomb', zipOf([{ name: 'r', data: big }]), 413, /unpacked/],
    ['tar bomb', gzipSync(await tarOf([{ name: 'r', data: big }])), 413, /unpacked/],
    ['zip that lies of its size', zipOf([{ ...report, claims: 10 }]), 400, /zip archive/],
    ['zip link', zipOf([{ ...report, type: 'symlink' }]), 422, /no file/],
    ['tar symlink', await tarOf([{ name: 'r', type: 'symlink' }]), 422, /no file/],
    ['tar hard link', await tarOf([report, { name: 'r', type: 'link' }]), 422, /no file/],
    ['tar pipe', await tarOf([{ name: 'r', type: 'fifo' }]), 422, /no file/],
    ['encrypted', zipOf([{ ...report, isEncrypted: true }]), 422, /encrypted/],
    ['empty zip', zipOf([]), 422, /no report/],
    ['empty gzip', gzipSync(''), 422, /empty/],
    ['zip in gzip', gzipSync(zipOf([report])), 422, /twice/],
    ['gzip in zip', zipOf([{ name: 'r.gz', data: gzipSync(sarif) }]), 422, /twice/],
    ['many entries, zip', zipOf(many(entriesMax + 1)), 413, /entries/],
    ['many entries, tar', gzipSync(await tarOf(many(entriesMax + 1))), 413, /entries/],
    ['cut gzip', gzipSync(sarif).subarray(0, 60), 400, /gzip/],
    ['cut zip', zipOf([report]).subarray(0, 90), 400, /zip/],
    ['cut tar', (await tarOf([report])).subarray(0, 600), 400, /tar/],
    ['two reports', zipOf([report, { name: 'b.sarif', data: sarif }]), 422, /2 files.*entry/],
    ['FPR bomb', zipOf([{ name: 'audit.fvdl', data: big }]), 413, /unpacked/],
    [
      'FPR with an encrypted report',
      zipOf([{ name: 'audit.fvdl', data: '<FVDL/>', isEncrypted: true }]),
      422,
      /encryp/,
    ],
    ['FPR with a link', zipOf([{ name: 'audit.fvdl', data: 'x', type: 'symlink' }]), 422, /no file/],
    ['FPR with two reports', zipOf([fvdl, fvdl]), 422, /2 files/],
    ['FPR that has an archive', zipOf([{ name: 'audit.fvdl', data: zipOf([report]) }]), 400, /XML|UTF|bytes|text/],
    [
      'FPR with entities',
      zipOf([{ name: 'audit.fvdl', data: `<!DOCTYPE a [<!ENTITY b "c">]>${fvdl.data}` }]),
      400,
      /./,
    ],
    ['gzip with words behind it', Buffer.concat([gzipSync(sarif), Buffer.from('more')]), 400, /gzip/],
  ];
}

async function archives(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  await t.test('14/5: packed in every way, it is the report that is within', async (t) => {
    const tar = await tarOf([{ name: './out', type: 'directory' }, report]);
    const litter = { name: '__MACOSX/._report', data: 'x' };
    for (const [name, bytes, fields] of [
      ['gzip', gzipSync(sarif), {}],
      ['tar', tar, {}],
      ['tar in gzip', gzipSync(tar), {}],
      ['zip', zipOf([{ name: 'out/' }, report, litter]), {}],
      ['named entry', zipOf([{ name: 'a.json', data: '{}' }, report]), { entry: 'out/report.sarif' }],
      ['plain', Buffer.from(sarif), {}],
    ] as const) {
      const reply = await client.send(await client.application(), bytes, fields);
      t.match(reply, { status: 202, body: { report: { created: 1, parsed: 1 }, input: { format: 'sarif' } } }, name);
    }
    const application = await client.application();
    await client.send(application, sarif);
    t.match((await client.send(application, gzipSync(sarif))).body['report'], { created: 0, unchanged: 1 }, 'again');
    const zip = zipOf([report]);
    const raw = await at.app.inject({
      method: 'POST',
      url: `/api/v1/imports?application_id=${application}`,
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/zip' },
      payload: zip,
    });
    t.equal(raw.statusCode, 202, 'the archive alone, as application/zip');
    const wrong = await client.send(application, zip, { entry: 'no' });
    t.match(wrong, { status: 422, body: { detail: /entry names no file.*report\.sarif/ } });
  });
  await t.test('14/5: what is hostile is refused with what is wrong, and nothing is stored', async (t) => {
    const application = await client.application();
    const [before] = await database.sql`select count(*) as n from vm_runs`;
    for (const [name, bytes, status, detail] of await hostile()) {
      const reply = await client.send(application, bytes);
      if (status === 4) t.ok([400, 422].includes(reply.status), `${name}: ${reply.status}`);
      else t.equal(reply.status, status, `${name}: ${JSON.stringify(reply.body)}`);
      t.match(reply.body['detail'], detail, name);
    }
    t.same((await database.sql`select count(*) as n from vm_runs`)[0], before);
    t.match((await client.call('GET', `/findings?application_id=${application}`)).body, { total: 0 });
  });
}

t.test('14/5: nothing is written but the report, whatever entries are called', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-unpack-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'file');
  await writeFile(path, zipOf([{ name: 'deep/er/report', data: sarif }]));
  const found = await unpack({ path, bytes: 1 }, { bytesMax: 1000, entry: null });
  t.equal(found.bytes, sarif.length);
  t.same((await readdir(directory)).sort(), ['file', 'file.report']);
});

const xmlBill = `<?xml version="1.0"?><b:bom xmlns:b="http://cyclonedx.org/schema/bom/1.5" version="1"><b:metadata>
<b:tools><b:tool><b:name>maker</b:name></b:tool></b:tools></b:metadata><b:components>
<b:component type="library" bom-ref="r1"><b:group>org.a</b:group><b:name>left</b:name><b:version>1.0</b:version>
<b:purl>pkg:maven/org.a/left@1.0</b:purl></b:component></b:components><b:vulnerabilities><b:vulnerability>
<b:id>CVE-2026-1000</b:id><b:ratings><b:rating><b:severity>critical</b:severity><b:method>CVSSv31</b:method>
<b:vector>CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H</b:vector></b:rating></b:ratings><b:cwes><b:cwe>79</b:cwe>
</b:cwes><b:recommendation>Use 1.1</b:recommendation><b:affects><b:target><b:ref>r1</b:ref></b:target></b:affects>
</b:vulnerability></b:vulnerabilities></b:bom>`;

async function bills(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  await t.test('14/5: CycloneDX as XML says what its JSON says', async (t) => {
    const forms = [xmlBill, xmlBill.replaceAll('b:', '').replace('xmlns:b', 'xmlns')];
    for (const form of forms) {
      const application = await client.application();
      const reply = await client.send(application, form);
      t.match(reply.body, { report: { created: 1, tool: 'maker' }, input: { format: 'cyclonedx-xml' } });
      adds(t, reply.body['report'] as Json);
      t.match((await client.findings(application))[0], {
        title: 'CVE-2026-1000 in org.a/left',
        severity: 'critical',
        cvss: { score: 9.8 },
        cwe: ['CWE-79'],
        fix: { state: 'fixed_available', text: 'Use 1.1' },
        location: 'org.a/left@1.0',
      });
    }
    const root = xmlBill.slice(xmlBill.indexOf('<b:bom'));
    const entities = `<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaa">]>${root}`;
    const application = await client.application();
    for (const [text, status] of [
      [entities, 400],
      [xmlBill.replace('</b:bom>', ''), 400],
      [`${xmlBill}<more/>`, 400],
      [xmlBill.replace('b:bom xmlns', 'b:bon xmlns').replace('</b:bom>', '</b:bon>'), 422],
      [xmlBill.replace('<b:group>', '<b:group>'.repeat(100)), 400],
    ] as const)
      t.equal((await client.send(application, text, { format: 'cyclonedx-xml' })).status, status);
    t.match((await client.call('GET', `/findings?application_id=${application}`)).body, { total: 0 });
  });
  await t.test('14/5: SPDX as tag-value is known, and names components only', async (t) => {
    const text = 'SPDXVersion: SPDX-2.3\nDataLicense: CC0-1.0\nPackageName: left\nPackageName: right\n';
    const reply = await client.send(await client.application(), text);
    t.match(reply.body, { input: { format: 'spdx-tag-value' }, report: { parsed: 2, dropped: 2, created: 0 } });
    const other = await client.send(await client.application(), 'Title: x\n', { format: 'spdx-tag-value' });
    t.equal(other.status, 422);
  });
}

t.test('14/5: archives', (t) => onBothDatabases(t, 'archives', archives));
t.test('14/5: bills of material', (t) => onBothDatabases(t, 'bills', bills));
