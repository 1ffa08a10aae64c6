// /vex/export on both databases: every status of a finding in the words of each format, the gravest of several.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const purl = 'pkg:npm/left@1.0.0';

async function vex(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const application = await client.application();
  const made = async (cve: string, more: object = {}): Promise<string> =>
    String(
      (
        await client.call('POST', '/vulnerabilities', {
          application_id: application,
          title: `About ${cve}`,
          severity: 'high',
          vuln_ids: [cve],
          ...more,
        })
      ).body['id'],
    );
  const move = async (id: string, to: string, more: object = {}) => {
    const reply = await client.call('POST', `/vulnerabilities/${id}/transition`, { to, reason: 'because', ...more });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  await made('CVE-2026-0001');
  await move(await made('CVE-2026-0002'), 'triaged');
  await move(await made('CVE-2026-0003'), 'resolved');
  await move(await made('CVE-2026-0004'), 'false_positive', { justification: 'component_not_present' });
  await move(await made('CVE-2026-0005'), 'out_of_scope');
  await made('CVE-2026-0003'); // the same vulnerability once more, and open
  const report = {
    SchemaVersion: 2,
    ArtifactName: 'x',
    Results: [
      {
        Target: 'package-lock.json',
        Class: 'lang-pkgs',
        Vulnerabilities: [
          {
            VulnerabilityID: 'CVE-2026-0006',
            PkgName: 'left',
            InstalledVersion: '1.0.0',
            FixedVersion: '1.0.1',
            Status: 'fixed',
            Severity: 'HIGH',
            PkgIdentifier: { PURL: purl },
          },
        ],
      },
    ],
  };
  t.equal((await client.send(application, report, { format: 'trivy' })).status, 202);
  const ask = async (format: string): Promise<Json> =>
    (await client.call('GET', `/vex/export?application_id=${application}&format=${format}`)).body;

  await t.test('14.V13: OpenVEX', async (t) => {
    const { statements, ...head } = await ask('openvex');
    t.match(head, { '@context': 'https://openvex.dev/ns/v0.2.0', author: 'Gatehouse', version: 1 });
    const of = (cve: string): Json => (statements as Json[]).find((one) => one['vulnerability'].name === cve) ?? {};
    t.match(of('CVE-2026-0001'), { status: 'under_investigation' });
    t.match(of('CVE-2026-0002'), { status: 'affected', action_statement: /No fix or workaround/ });
    t.match(of('CVE-2026-0003'), { status: 'under_investigation' }, 'an open one outweighs one that is fixed');
    t.match(of('CVE-2026-0004'), { status: 'not_affected', justification: 'component_not_present' });
    t.same(of('CVE-2026-0005'), {}, 'what is out of scope is not told');
    t.match(of('CVE-2026-0006'), { products: [{ subcomponents: [{ '@id': purl }] }] });
    for (const one of statements as Json[])
      t.equal(Object.hasOwn(one, 'action_statement'), one['status'] === 'affected', 'as the format wants it');
  });

  await t.test('14.V13: CSAF: every product is in the tree, every affected one has a remediation', async (t) => {
    const { document, product_tree: tree, vulnerabilities } = await ask('csaf');
    t.match(document, { category: 'csaf_vex', csaf_version: '2.0', tracking: { status: 'final', version: '1' } });
    t.match(document, { publisher: { namespace: 'https://gatehouse.invalid' } }, '14/7: nobody named one');
    const body = { vm_csaf_namespace: 'https://psirt.corp.example' };
    t.equal((await at.call('PATCH', '/api/settings', { token: client.token, body })).status, 200);
    at.clock.nowMs += 3000;
    t.match((await ask('csaf'))['document'], { publisher: { namespace: 'https://psirt.corp.example' } }, '14/7: named');
    const known = new Set((tree['full_product_names'] as Json[]).map((one) => one['product_id'] as string));
    t.ok((tree['full_product_names'] as Json[]).some((one) => one['product_identification_helper']?.purl === purl));
    for (const one of vulnerabilities as Json[]) {
      const status = one['product_status'] as Record<string, string[]>;
      const all = Object.values(status).flat();
      t.ok(all.length > 0 && all.every((id) => known.has(id)), one['cve']);
      t.equal(new Set(all).size, all.length, 'a product has one status');
      const fixed = ((one['remediations'] ?? []) as Json[]).flatMap((each) => each['product_ids'] as string[]);
      t.same(fixed.sort(), [...(status['known_affected'] ?? [])].sort());
      const refuted = [...((one['flags'] ?? []) as Json[]), ...((one['threats'] ?? []) as Json[])];
      t.equal(refuted.length > 0, status['known_not_affected'] !== undefined);
    }
  });

  await t.test('14.V13: CycloneDX, the same bytes again, and refusals', async (t) => {
    const document = await ask('cyclonedx');
    t.match(document, { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: /^urn:uuid:[0-9a-f-]{36}$/ });
    const refs = new Set([
      document['metadata'].component['bom-ref'],
      ...(document['components'] as Json[]).map((one) => one['bom-ref']),
    ]);
    for (const one of document['vulnerabilities'] as Json[]) t.ok(refs.has(one['affects'][0].ref));
    t.same(await ask('cyclonedx'), document);
    t.equal((await client.call('GET', '/vex/export')).status, 422);
    t.equal((await client.call('GET', '/vex/export?application_id=999999')).status, 404);
    t.equal((await client.call('GET', `/vex/export?application_id=${application}&format=xml`)).status, 422);
  });
}

void onBothDatabases(t, 'vex', vex);
