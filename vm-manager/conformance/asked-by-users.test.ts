// Eight sentences that users of such systems ask for (issue 30), each over HTTP as a user would, on both databases.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { whenQuiet } from '../kit/runs/background.js';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const trivy = (found: readonly (readonly [name: string, id: string])[]): Json => ({
  SchemaVersion: 2,
  ArtifactName: 'x',
  Results: [
    {
      ...{ Target: 'package-lock.json', Class: 'lang-pkgs' },
      Vulnerabilities: found.map(([PkgName, VulnerabilityID]) => ({
        ...{ VulnerabilityID, PkgName, InstalledVersion: '1.0.0', Severity: 'HIGH' },
        PkgIdentifier: { PURL: `pkg:npm/${PkgName}@1.0.0` },
      })),
    },
  ],
});
const openVex = (id: string, product: string, status = 'not_affected'): Json => ({
  ...{ '@context': 'https://openvex.dev/ns/v0.2.0', '@id': `https://vendor.example/${id}`, author: 'Vendor' },
  ...{ timestamp: '2026-02-01T00:00:00Z', version: 1 },
  statements: [
    {
      ...{ vulnerability: { name: id }, products: [{ '@id': product }], status },
      ...(status === 'not_affected' ? { justification: 'vulnerable_code_not_in_execute_path' } : {}),
    },
  ],
});
const bill = (name: string): Json => ({
  ...{ bomFormat: 'CycloneDX', specVersion: '1.5' },
  components: [{ type: 'library', name, version: '1.0.0', purl: `pkg:npm/${name}@1.0.0`, 'bom-ref': name }],
});

async function start(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const session = new Client(at, (await at.user('admin')).token);
  const { body } = await session.call('POST', '/tokens', { name: 't', scopes: ['admin'] });
  const client = new Client(at, String(body['token']));
  const job = async (name: string): Promise<unknown> =>
    at.jobs.find((one) => one.name === name)?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
  const confined = async (permissions: string[], application: string, second: string): Promise<Client> => {
    await session.call('POST', '/rbac/roles', { name: 'looks', permissions: ['view_findings'] });
    await session.call('POST', '/rbac/roles', { name: 'asks', permissions });
    const person = await at.user('viewer');
    const items = [
      { scope: 'application', scope_id: application, role: 'asks' },
      { scope: 'application', scope_id: second, role: 'looks' },
    ];
    const granted = await session.call('PUT', `/rbac/grants/${person.id}`, { items, confined: true });
    t.equal(granted.status, 200, granted.text);
    return new Client(at, person.token);
  };
  const statuses = async (application: string): Promise<string[]> =>
    (await client.findings(application)).map(({ status }) => String(status));
  return { at, client, job, confined, statuses, sql: database.sql };
}
type Started = Awaited<ReturnType<typeof start>>;

const accept = { decision: 'accept', justification: 'no way in', expires_at: '2026-04-01T00:00:00Z' };

async function accepted(t: Test, { at, client, confined, statuses }: Started): Promise<void> {
  const [one, two, three] = [await client.application(), await client.application(), await client.application()];
  for (const application of [one, two]) await client.send(application, trivy([['a', 'CVE-2026-7001']]));
  await client.send(three, trivy([['a', 'CVE-2026-7002']]));
  const person = await confined(['view_findings', 'request_acceptance'], one, two);
  const part = await person.call('POST', '/acceptances', { title: 'p', cve: 'cve-2026-7001', ...accept });
  t.match(part, { status: 201, body: { left_out_total: 1, left_out: [{ reason: /ask for no acceptance/ }] } });
  t.equal((part.body['vuln_ids'] as string[]).length, 1, 'a permission for each row');
  const all = await client.call('POST', '/acceptances', { title: 'a', cve: 'CVE-2026-7001', ...accept });
  t.match(all, { status: 201, body: { left_out_total: 0, expires_at: '2026-04-01T00:00:00.000Z' } }, all.text);
  t.equal((all.body['vuln_ids'] as string[]).length, 2);
  const other = new Client(at, (await at.user('admin')).token);
  t.equal((await other.call('POST', `/acceptances/${String(all.body['id'])}/approve`, {})).status, 200);
  t.same(
    [...(await statuses(one)), ...(await statuses(two))],
    ['risk_accepted', 'risk_accepted'],
    'everywhere at once',
  );
  t.same(await statuses(three), ['new'], 'and nothing else');
  for (const [body, words] of [
    [{ cve: 'CVE-1999-0001' }, /no open finding/],
    [{}, /\/cve is needed/],
    [{ cve: 'CVE-2026-7001', vuln_ids: ['1'] }, /not both/],
  ] as const)
    t.match(await client.call('POST', '/acceptances', { title: 'x', ...accept, ...body }), {
      status: 422,
      body: { detail: words },
    });
}

async function expiring(t: Test, { at, client, job }: Started): Promise<void> {
  const told = async (): Promise<number> => {
    await job('vm-clocks');
    const { items } = (await client.call('GET', '/events?limit=500')).body;
    return (items as Json[]).filter(({ type }) => type === 'acceptance.expiring').length;
  };
  t.equal(await told(), 0);
  at.clock.nowMs = Date.parse('2026-03-29T00:00:00Z');
  t.equal(await told(), 1, 'once, before it ends');
  t.equal(await told(), 1);
}

async function deduplicated(t: Test, { client, statuses }: Started): Promise<void> {
  const application = await client.application();
  for (const [tool, line] of [
    ['One', 10],
    ['Two', 11],
  ] as const) {
    const region = { startLine: line, snippet: { text: 'query(sql)' } };
    const sarif = {
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: tool, rules: [{ id: tool, properties: { tags: ['external/cwe/cwe-89'] } }] } },
          results: [
            {
              ...{ ruleId: tool, level: 'error', message: { text: `Injection, says ${tool}` } },
              locations: [{ physicalLocation: { artifactLocation: { uri: 'src/a.js' }, region } }],
            },
          ],
        },
      ],
    };
    const sent = await client.send(application, sarif);
    t.equal(sent.status, 202, JSON.stringify(sent.body).slice(0, 300));
  }
  await client.call('POST', '/vulnerabilities', { application_id: application, title: 'By hand', severity: 'low' });
  const run = async (body: Json, path = '/findings/deduplications'): Promise<Json> => {
    const begun = await client.call('POST', path, body);
    t.equal(begun.status, 202, begun.text);
    await whenQuiet();
    return (await client.call('GET', `/runs/${String(begun.body['id'])}`)).body;
  };
  const before = await statuses(application);
  const tried = await run({ application_id: application, dry_run: true });
  t.match(tried, { status: 'succeeded', result: { dry_run: true } }, JSON.stringify(tried));
  t.same(await statuses(application), before, 'a trial changes nothing');
  const made = await run({ application_id: application });
  t.equal(made['result'].duplicates, tried['result'].duplicates, 'the trial told what follows');
  if (before.length === 3) {
    t.match(made['result'], { clusters: 1, duplicates: 1, shown: [{ confidence: 0.8 }] });
    t.same((await statuses(application)).sort(), ['duplicate', 'new', 'new']);
    const undone = await run({}, `/findings/deduplications/${String(made['id'])}/undo`);
    t.match(undone, { status: 'succeeded', result: { undone: 1, kept: 0 } });
    t.same(await statuses(application), before, 'every state is as before');
    const again = await client.call('POST', `/findings/deduplications/${String(made['id'])}/undo`, {});
    t.match(again, { status: 409, body: { detail: /Nothing of the deduplication/ } });
  } else t.fail(`two tools made ${before.length} findings`);
  const { items } = (await client.call('GET', `/findings/deduplications?application_id=${application}`)).body;
  t.equal((items as Json[]).length, 3);
}

async function nothing(t: Test, { client }: Started): Promise<void> {
  const application = await client.application();
  const why = async (report: unknown, fields: Record<string, string> = {}): Promise<unknown> => {
    const { status, body } = await client.send(application, report, fields);
    t.equal(status, 202, JSON.stringify(body).slice(0, 300));
    return (await client.call('GET', `/imports/${String(body['id'])}`)).body['result'].why_nothing;
  };
  t.match(await why(trivy([])), /has looked, and found nothing/);
  t.equal(await why(trivy([['x', 'CVE-2026-7200']])), undefined, 'something came of it');
  t.equal(await why(trivy([['x', 'CVE-2026-7200']])), undefined, 'or is as before');
  const results = [{ ruleId: 'r', message: { text: 'm' }, suppressions: [{ kind: 'inSource' }] }];
  const sarif = { version: '2.1.0', runs: [{ tool: { driver: { name: 'S' } }, results }] };
  t.match(await why(sarif), /all 1 records were left out \(1 is set aside in the report\)/);
}

async function shares(t: Test, { client, statuses }: Started): Promise<void> {
  const application = await client.application();
  const many = Array.from({ length: 30 }, (_, n) => [`p${n}`, `CVE-2026-${8000 + n}`] as const);
  const sync = { mode: 'sync' };
  await client.send(application, trivy(many), sync);
  const refused = await client.send(application, trivy(many.slice(0, 3)), sync);
  t.match(refused, { status: 409, body: { detail: /would close 27 of 30/ } });
  t.ok(
    (await statuses(application)).every((status) => status === 'new'),
    'nothing was closed',
  );
  const sure = await client.send(application, trivy(many.slice(0, 3)), { ...sync, confirm_close: 'true' });
  t.match(sure, { status: 202, body: { report: { closed: 27 } } });
}

async function vex(t: Test, { client, statuses, sql }: Started): Promise<void> {
  const application = await client.application();
  await sql`
    insert into vm_osv (id, aliases, modified, facts)
    values ('GHSA-AAAA-BBBB-CCCC', '["CVE-2026-7300"]', now(), '{}') on conflict do nothing`;
  const file = (document: Json) => client.send(application, document, {}, '/vex/import').then(({ body }) => body);
  const early = await file(openVex('GHSA-AAAA-BBBB-CCCC', 'pkg:npm/later'));
  t.match(early, { matched_total: 0, unmatched_total: 1 }, 'it says that it met nothing');
  await client.send(
    application,
    trivy([
      ['later', 'CVE-2026-7300'],
      ['else', 'CVE-2026-7301'],
    ]),
  );
  t.same(
    (await statuses(application)).sort(),
    ['false_positive', 'new'],
    'what comes later follows, under another name',
  );
  const [kept] = (await client.call('GET', `/vex/statements?application_id=${application}`)).body['items'] as Json[];
  t.match(kept, { matched: 1, changed: 1, conflicts: 0 });
  const met = await file(openVex('CVE-2026-7301', 'pkg:npm/else'));
  t.match(met, { matched_total: 1, unmatched_total: 0, changed: 1 });
  const [, reopened] = await client.findings(application);
  const path = `/vulnerabilities/${String(reopened?.['id'])}/transition`;
  t.equal((await client.call('POST', path, { to: 'reopened', reason: 'it is reachable' })).status, 200);
  await client.send(
    application,
    trivy([
      ['later', 'CVE-2026-7300'],
      ['else', 'CVE-2026-7301'],
    ]),
  );
  t.same((await statuses(application)).sort(), ['false_positive', 'reopened'], 'what a person says stays');
}

async function billAndVex(t: Test, { client, statuses }: Started): Promise<void> {
  const application = await client.application();
  await client.send(application, trivy([['both', 'CVE-2026-7400']]));
  const fields = { vex: JSON.stringify(openVex('CVE-2026-7400', 'pkg:npm/both')) };
  const sent = await client.send(application, bill('both'), fields, '/sca/sboms');
  t.match(
    sent,
    { status: 201, body: { components: 1, vex: { matched_total: 1, changed: 1 } } },
    JSON.stringify(sent.body),
  );
  t.same(await statuses(application), ['false_positive']);
  const bad = await client.send(application, bill('other'), { vex: '{' }, '/sca/sboms');
  t.equal(bad.status, 400, 'and neither is taken where one is none');
  const listed = (await client.call('GET', `/sca/sboms?application_id=${application}`)).body;
  t.equal(listed['total'], 1);
  t.match((await client.send(application, bill('alone'), {}, '/sca/sboms')).body, { vex: null });
}

async function bulk(t: Test, { client }: Started): Promise<void> {
  const application = await client.application();
  const made = await client.call('POST', '/vulnerabilities', {
    application_id: application,
    title: 'A',
    severity: 'low',
  });
  const id = String(made.body['id']);
  const reply = await client.call('POST', '/vulnerabilities/bulk', {
    ids: [id, '99999999'],
    action: 'transition',
    to: 'triaged',
  });
  t.match(reply.body, { changed: 1, failed: 1 });
  t.match(
    (reply.body['items'] as Json[]).find((one) => one['id'] === '99999999'),
    { ok: false, detail: /no finding/ },
  );
}

async function suite(t: Test, database: Database): Promise<void> {
  const started = await start(t, database);
  for (const [name, test] of Object.entries({
    '30.users: one vulnerability is accepted everywhere at once, until a day, where one may': accepted,
    '30.users: a notice comes before an acceptance ends': expiring,
    '30.users: deduplication runs again over what is stored, is tried first, and is undone': deduplicated,
    '30.users: an import says why nothing came of it': nothing,
    '30.users: an import that would close more than a share is refused': shares,
    '30.users: VEX meets findings by any name, also those that come later': vex,
    '30.users: a bill and its VEX come in one call': billAndVex,
    '30.users: triage of many says what was refused': bulk,
  }))
    await t.test(name, (t) => test(t, started));
}

void onBothDatabases(t, 'asked by users', suite);
