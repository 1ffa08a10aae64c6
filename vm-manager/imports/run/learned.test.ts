// Two tools that name one weakness of a package differently: what is known of it does not depend on which came first.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';
import { allIds } from './learned.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const [cve, ghsa] = ['CVE-2021-44906', 'GHSA-XVCH-5GV4-984H'];
const link = `https://github.com/advisories/${ghsa}`;
/** Of an advisory alone, with its weakness. */
const npm = (title = 'Prototype Pollution in minimist'): Json => ({
  auditReportVersion: 2,
  vulnerabilities: {
    minimist: {
      ...{ name: 'minimist', severity: 'critical', isDirect: true, effects: [], range: '<0.2.4', fixAvailable: true },
      nodes: ['node_modules/minimist'],
      via: [
        {
          ...{ source: 1097678, name: 'minimist', dependency: 'minimist', title, url: link },
          ...{ severity: 'critical', cwe: ['CWE-1321'], cvss: { score: 9.8 }, range: '<0.2.4' },
        },
      ],
    },
  },
  metadata: {
    vulnerabilities: { info: 0, low: 0, moderate: 0, high: 0, critical: 1, total: 1 },
    dependencies: { prod: 2, dev: 0, optional: 0, peer: 0, peerOptional: 0, total: 1 },
  },
});
/** Of the same with its CVE, and without a weakness. */
const grype: Json = {
  matches: [
    {
      vulnerability: {
        ...{ id: ghsa, dataSource: link, namespace: 'github:language:javascript', severity: 'Critical' },
        ...{ urls: [], description: 'Prototype pollution', cvss: [], advisories: [] },
        fix: { versions: ['0.2.4'], state: 'fixed' },
      },
      relatedVulnerabilities: [{ id: cve, severity: 'Critical' }],
      matchDetails: [],
      artifact: {
        ...{ name: 'minimist', version: '0.0.8', type: 'npm', language: 'javascript' },
        locations: [{ path: '/package-lock.json' }],
        purl: 'pkg:npm/minimist@0.0.8',
      },
    },
  ],
  source: { type: 'directory', target: '.' },
  distro: { name: '', version: '' },
  descriptor: { name: 'grype', version: '0.74.0' },
};

const only = async (client: Client, application: string): Promise<Json> => {
  const found = await client.findings(application);
  return found.length === 1 ? (found[0] ?? {}) : { found };
};

async function orders(t: Test, client: Client): Promise<void> {
  for (const [name, reports] of Object.entries({ 'npm first': [npm(), grype], 'Grype first': [grype, npm()] })) {
    const application = await client.application();
    for (const report of reports) t.equal((await client.send(application, report)).status, 202, name);
    const { vuln_ids: ids, cwe, version } = await only(client, application);
    t.same([...ids].sort(), [cve, ghsa], `${name}: both names`);
    t.same(cwe, ['CWE-1321'], `${name}: the weakness`);
    for (const report of reports) {
      const again = await client.send(application, report);
      t.match(again.body['result'], { unchanged: 1, updated: 0, created: 0 }, `${name}: the same again`);
    }
    t.equal((await only(client, application))['version'], version, `${name}: nothing was written for it`);
  }
}

async function known(t: Test, client: Client, { sql }: Database): Promise<void> {
  await sql`insert into vm_cves (cve, kev, epss) values (${cve}, true, 0.9)`;
  const application = await client.application();
  await client.send(application, npm());
  const before = await only(client, application);
  t.match(before, { kev: false, epss: null }, 'of the advisory alone nothing is known');
  await client.send(application, grype);
  const after = await only(client, application);
  t.match(after, { kev: true, epss: 0.9 });
  t.ok(after['effective_risk'] > before['effective_risk'], 'it is ranked anew');
  // what npm says otherwise later takes no name away
  await client.send(application, npm('Prototype Pollution in minimist, again'));
  t.match(await only(client, application), { title: /again/, kev: true, epss: 0.9, vuln_ids: [ghsa, cve] });
  const accepted = await client.call('POST', '/acceptances', {
    ...{ title: 'a', decision: 'accept', cve, justification: 'j', expires_at: '2026-04-01T00:00:00Z' },
  });
  t.ok((accepted.body['vuln_ids'] as string[]).includes(String(after['id'])), `accepted by its CVE: ${accepted.text}`);
}

t.test('what another tool knows', (t) =>
  onBothDatabases(t, 'learned', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const client = new Client(at, (await at.user('admin')).token);
    await t.test('22.Q9/30: names and weakness, whichever tool is first', (t) => orders(t, client));
    await t.test('30.threat-intel: KEV, EPSS and acceptances meet it', (t) => known(t, client, database));
  }),
);

t.test('ids of several weaknesses in one record are not names of each other', async (t) => {
  t.same(allIds(['GHSA-a'], ['CVE-2026-1'], 'package'), ['GHSA-a', 'CVE-2026-1'], 'one weakness');
  t.same(allIds(['CVE-2026-1'], ['GHSA-a', 'CVE-2026-1'], 'package'), ['CVE-2026-1', 'GHSA-a'], 'one weakness');
  t.same(allIds(['GHSA-a'], ['CVE-2026-1', 'CVE-2026-2'], 'package'), ['GHSA-a'], 'a list beside an id');
  t.same(allIds(['CVE-2026-1', 'CVE-2026-2'], ['GHSA-a'], 'package'), ['CVE-2026-1', 'CVE-2026-2'], 'an id beside one');
});
