// Controls through the API: what makes a gap of them, what shows that they hold, and what people answer.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const dayMs = 86_400_000;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const [shop, other] = [await client.application(), await client.application()];
  const ask = async (query: string, who = client): Promise<Json> => {
    const { status, body, text } = await who.call('GET', `/compliance/assessment?${query}`);
    if (status !== 200) throw new Error(text);
    return body;
  };
  const control = async (key: string, more = '', who = client): Promise<Json> => {
    const { items } = await ask(`framework=${key.split(':')[0]}${more}`, who);
    return (items as Json[]).find((one) => one['control'] === key) ?? {};
  };
  const finding = async (title: string, cwe: string, more: Json = {}, application = shop): Promise<string> => {
    const body = { application_id: application, title, severity: 'high', cwe: [cwe], ...more };
    return String((await client.call('POST', '/vulnerabilities', body)).body['id']);
  };
  const inDays = (days: number): string => new Date(at.clock.nowMs + days * dayMs).toISOString();

  await t.test(
    '30.compliance: frameworks are data, and the firewall answers for its controls in the same ones',
    async (t) => {
      const { body } = await client.call('GET', '/compliance/frameworks');
      const ids = (body['items'] as Json[]).map(({ id }) => String(id));
      const wanted = [
        'asvs',
        'cis-controls',
        'iso-27001',
        'nis2',
        'owasp-top-10',
        'owasp-top-10-2025',
        'pci-dss',
        'soc-2',
      ];
      t.strictSame(
        wanted.filter((id) => !ids.includes(id)),
        [],
      );
      t.ok(ids.includes('gdpr') && ids.includes('owasp-api'), 'what the firewall alone answers for stands beside them');
      const seen = new Set<string>();
      for (const id of ids) {
        const one = (await client.call('GET', `/compliance/frameworks/${id}`)).body;
        for (const { control: key, title, cwe, checks, sources } of one['controls'] as Json[]) {
          t.notOk(seen.has(String(key)), `${key} stands once`);
          seen.add(String(key));
          t.match({ title, cwe, checks, sources }, { title: /\S/, cwe: Array, checks: Array, sources: Array });
        }
      }
      t.ok(seen.size > 220, `${seen.size} controls`);
      const pci = (await client.call('GET', '/compliance/frameworks/pci-dss')).body['controls'] as Json[];
      const [injection] = pci.filter(({ number }) => number === '6.2.4');
      t.ok(injection?.['cwe'].includes('CWE-89') && injection['checks'].includes('injection'), 'weaknesses and checks');
      t.ok(
        pci.some(({ number }) => number === '10.5.1'),
        'a control of the firewall alone is in it',
      );
      t.equal((await client.call('GET', '/compliance/frameworks/none')).status, 404);
    },
  );

  await t.test(
    '30.compliance: an open finding is a gap of the controls of its weakness, until it is closed',
    async (t) => {
      t.match(await control('owasp-top-10-2025:A10'), { open_findings: 0, worst: null });
      const id = await finding('Unchecked error', 'CWE-755');
      t.match(await control('owasp-top-10-2025:A10'), { result: 'gap', open_findings: 1, worst: 'high' });
      t.match(await control('asvs:V16.5', `&application_id=${shop}`), { result: 'gap', open_findings: 1 });
      t.not((await control('asvs:V16.5', `&application_id=${other}`))['open_findings'], 1, 'of its application only');
      const { body } = await client.call('GET', '/compliance/controls/asvs:V16.5/findings');
      t.match(body, { total: 1, items: [{ id, title: 'Unchecked error' }] });
      const counts = (await ask('framework=asvs'))['counts'];
      t.ok(counts.gap >= 1 && counts.manual >= 1, JSON.stringify(counts));
      t.ok(((await ask('framework=asvs&result=gap'))['items'] as Json[]).every(({ result }) => result === 'gap'));
      await client.call('POST', `/vulnerabilities/${id}/transition`, { to: 'resolved', reason: 'r' });
      t.match(await control('asvs:V16.5'), { open_findings: 0 });
    },
  );

  await t.test(
    '30.compliance: what is past its term, open components and secrets are gaps whatever the weakness',
    async (t) => {
      const key = await finding('Key in the code', 'CWE-1', {}, other);
      await database.sql`update vm_findings set source = 'secret' where id = ${key}`;
      t.match(await control('pci-dss:8.6'), { result: 'gap', open_findings: 1 });
      const before = (await control('pci-dss:6.3.1'))['open_findings'] as number;
      at.clock.nowMs += 60 * dayMs;
      const fresh = new Client(at, (await at.user('admin')).token);
      t.ok(((await control('pci-dss:6.3.1', '', fresh))['open_findings'] as number) > before, 'past its term');
      at.clock.nowMs -= 60 * dayMs;
    },
  );

  await t.test('30.compliance: a scan that left nothing open shows that a control holds, for 90 days', async (t) => {
    t.match(await control('asvs:V12.1', `&application_id=${shop}`), { result: 'no_evidence', scans: [] });
    const scanned = (application: string, files: number) => database.sql`
      insert into vm_runs (kind, application_id, status, result, created_by, created_at, finished_at)
      values ('iac', ${application}, 'succeeded', ${database.sql.json({ files_scanned: files })}, 'test',
        ${new Date(at.clock.nowMs)}, ${new Date(at.clock.nowMs)})`;
    await scanned(shop, 0);
    const idle = await control('asvs:V12.1', `&application_id=${shop}`);
    t.match(idle, { result: 'no_evidence', scans: [] }, 'a scan that read no file has looked at nothing');
    await scanned(shop, 7);
    t.match(await control('asvs:V12.1', `&application_id=${shop}`), { result: 'met', scans: [{ source: 'iac' }] });
    const partly = { result: 'no_evidence', reason: /cover 1 of 2 applications/, scans: [{ source: 'iac' }] };
    t.match(await control('asvs:V12.1'), partly, 'one application says nothing of the others');
    await scanned(other, 7);
    t.match(await control('asvs:V12.1'), { result: 'met' });
    await database.sql`update vm_runs set finished_at = ${new Date(at.clock.nowMs - 91 * dayMs)} where kind = 'iac'`;
    t.match(await control('asvs:V12.1', `&application_id=${shop}`), { result: 'no_evidence', scans: [] });
  });

  await t.test('30.compliance: checks of the firewall answer with their reasons and settings', async (t) => {
    const one = await control('pci-dss:6.4.2');
    t.match(one['answered'], [{ name: 'waf_blocks', result: 'not_satisfied', reason: /\S/, settings: [/\S/] }]);
    t.equal(one['result'], 'gap', 'nothing is applied, so nothing is protected');
  });

  await t.test(
    '30.compliance: people attest and except, for a year at most, and what is open counts all the same',
    async (t) => {
      const url = '/compliance/controls/asvs:V2.1/attestation';
      const body = { answer: 'met', reason: 'In the handbook', owner: 'Dana', expires_at: inDays(30) };
      t.match(await control('asvs:V2.1'), { result: 'manual' });
      t.match(await client.call('PUT', url, { ...body, expires_at: inDays(400) }), {
        status: 422,
        body: { detail: /366 days/ },
      });
      t.equal((await client.call('PUT', url, { ...body, expires_at: inDays(-1) })).status, 422);
      t.equal((await client.call('PUT', '/compliance/controls/asvs:V99/attestation', body)).status, 404);
      t.match(await client.call('PUT', url, body), { status: 200, body: { control: 'asvs:V2.1', answer: 'met' } });
      t.match(await control('asvs:V2.1'), { result: 'met', attestation: { owner: 'Dana' } });
      await client.call('PUT', url, { ...body, answer: 'not_met' });
      t.match(
        await control('asvs:V2.1'),
        { result: 'gap', attestation: { answer: 'not_met' } },
        'the newer one counts',
      );
      await client.call('PUT', url, { ...body, answer: 'not_applicable' });
      t.match(await control('asvs:V2.1'), { result: 'not_applicable' });
      t.equal((await client.call('DELETE', url)).status, 204);
      t.equal((await client.call('DELETE', url)).status, 404);
      t.match(await control('asvs:V2.1'), { result: 'manual', attestation: null });

      const id = await finding('Statement of others', 'CWE-89');
      const excepted = await client.call('POST', '/compliance/exceptions', {
        control: 'asvs:V1.2',
        reason: 'Behind the firewall until the release',
        owner: 'Dana',
        expires_at: inDays(10),
      });
      t.equal(excepted.status, 201, excepted.text);
      t.match(await control('asvs:V1.2'), { result: 'excepted', open_findings: 1, exception: { owner: 'Dana' } });
      t.match((await client.call('GET', '/compliance/exceptions?in_force=true')).body, { total: 1 });
      const ended = await client.call('DELETE', `/compliance/exceptions/${excepted.body['id']}`);
      t.equal(ended.status, 204, ended.text);
      t.equal((await client.call('DELETE', `/compliance/exceptions/${excepted.body['id']}`)).status, 409);
      t.match(await control('asvs:V1.2'), { result: 'gap' });
      t.match((await client.call('GET', '/compliance/exceptions?in_force=false')).body, { total: 1 });
      await client.call('POST', `/vulnerabilities/${id}/transition`, { to: 'resolved', reason: 'r' });
    },
  );

  await t.test('30.compliance: files say the same, and formulas in texts stay texts', async (t) => {
    await client.call('PUT', '/compliance/controls/asvs:V3.1/attestation', {
      answer: 'met',
      reason: '=HYPERLINK("https://evil.example")',
      owner: '=cmd',
      expires_at: inDays(5),
    });
    const csv = await client.call('GET', '/compliance/export?framework=asvs');
    t.match(csv.headers['content-type'], /text\/csv/);
    const lines = csv.text.trimEnd().split(/\r?\n/);
    t.match(lines[0], /^framework,version,number/);
    t.ok(lines.some((line) => line.includes('V3.1')));
    t.notMatch(csv.text, /(^|,)"?=/m, 'no cell begins as a formula');
    const json = JSON.parse((await client.call('GET', '/compliance/export?framework=asvs&format=json')).text) as Json;
    t.equal(json['controls'].length, lines.length - 1, 'a line for each control');
    t.match(await client.call('GET', '/compliance/export?framework=none'), { status: 422, body: { detail: /asvs/ } });
  });

  await t.test(
    '30.compliance: a caller who is confined sees findings of its part, and writes no answers for all',
    async (t) => {
      await finding('Script of others', 'CWE-79', {}, other);
      const made = await client.call('POST', '/tokens', { name: 'c', scopes: ['admin'], application_ids: [shop] });
      const confined = new Client(at, String(made.body['token']));
      t.match(await control('owasp-top-10:A03', '', confined), { open_findings: 0, answered: [] });
      t.match(await control('owasp-top-10:A03'), { open_findings: 1 });
      const body = { control: 'asvs:V1.2', reason: 'r', owner: 'o', expires_at: inDays(1) };
      t.equal((await confined.call('POST', '/compliance/exceptions', body)).status, 403);
      t.equal((await confined.call('POST', '/compliance/exceptions', { ...body, application_id: other })).status, 404);
      const own = await confined.call('POST', '/compliance/exceptions', { ...body, application_id: shop });
      t.equal(own.status, 201, own.text);
      t.match((await confined.call('GET', `/compliance/assessment?application_id=${other}`)).status, 404);
    },
  );
}

t.test('compliance', (t) => onBothDatabases(t, 'vm_compliance', suite));
