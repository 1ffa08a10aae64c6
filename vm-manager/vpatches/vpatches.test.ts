// Virtual patches on the whole road: a finding, a rule, an apply, a data plane that refuses, and the proof of it.
import t, { type Test } from 'tap';
import { startRoad } from '#api/testing/change-road';
import { startNode, startUpstream } from '#api/testing/data-plane';
import { onBothDatabases } from '#api/testing/databases';
import type { Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const traversal = '/files?name=..%2F..%2F..%2Fetc%2Fpasswd';

async function start(t: Test, database: Database) {
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream });
  const road = await startRoad(t, database, upstream, [node.url]);
  // the rules let these attacks pass, and match scoring would not
  const off = await road.call('PATCH', '/api/settings', { token: road.admin, body: { second_opinion: 'off' } });
  if (off.status !== 200) throw new Error(off.text);
  const first = await road.apply();
  if (first.status !== 200) throw new Error(first.text);
  const call = async (method: string, path: string, body?: unknown, token = road.admin) => {
    const reply = await road.call(method, `/api/v1${path}`, { token, body });
    return { status: reply.status, body: reply.body as Json };
  };
  const made = async (path: string, body: object): Promise<string> => {
    const reply = await call('POST', path, body);
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body));
    return String(reply.body['id']);
  };
  const ask = async (path: string, init: RequestInit = {}): Promise<number> =>
    (
      await fetch(`http://127.0.0.1:${node.http}${path}`, {
        ...init,
        headers: { ...init.headers, connection: 'close' },
      })
    ).status;
  const job = async (laterMs = 0): Promise<string> => {
    const found = road.jobs.find(({ name }) => name === 'vm-vpatch-proofs');
    return String(await found?.run({ nowMs: road.clock.nowMs + laterMs } as never));
  };
  return { road, node, call, made, ask, job };
}
type At = Awaited<ReturnType<typeof start>>;

async function fromFindingToProof(t: Test, { call, ask, made, road }: At, shop: string): Promise<string> {
  const finding = await made('/vulnerabilities', {
    application_id: shop,
    cwe: ['CWE-22'],
    title: 'File name leaves its folder',
    severity: 'high',
    location: 'GET /files [name]',
    reachable: true,
  });
  t.equal(await ask(traversal), 200, 'without a patch the attack passes');
  const draft = await call('POST', '/vpatches', { vulnerability_id: finding });
  t.match(draft, {
    status: 201,
    body: { state: 'draft', rule_id: 1_007_500, strategy: 'signature', origin: 'own', attack_origin: 'sample' },
  });
  t.match(draft.body['seclang'], /id:1007500/);
  t.ok(draft.body['explanation'].length >= 3);
  const id = String(draft.body['id']);
  const preview = await call('POST', `/vpatches/${id}/activate?dry_run=true`);
  t.match(preview, { status: 200, body: { applied: false, proof: null, patch: { state: 'draft' } } });
  t.match(preview.body['preview'], {
    impact: { newly_blocked: 0 },
    before: [{ outcome: 'passed' }],
    after: [{ outcome: 'refused', rule_id: 1_007_500 }],
  });
  t.equal(await ask(traversal), 200, 'a dry run changes nothing');
  const active = await call('POST', `/vpatches/${id}/activate`);
  t.match(active, {
    status: 200,
    body: { applied: true, patch: { state: 'proven' }, proof: { holds: true, closes: true, kind: 'activation' } },
  });
  const { proof } = active.body;
  t.match(proof, { before: { outcome: 'passed' }, after: { outcome: 'refused', status: 403, rule_id: 1_007_500 } });
  t.ok(proof.benign.length > 1 && proof.benign.every((one: Json) => one['outcome'] === 'passed'));
  t.equal(proof.mutations.refused, proof.mutations.total, JSON.stringify(proof.mutations));
  t.equal(proof.mutations.total, 7);
  t.match(proof.sha256, /^[0-9a-f]{64}$/);
  t.same(
    [await ask(traversal), await ask('/files?name=report.pdf'), await ask('/other?name=..%2F..%2Fetc%2Fpasswd')],
    [403, 200, 200],
    'the data plane refuses it there, and nothing beside it',
  );
  const body = JSON.stringify({ name: '../../etc/passwd' });
  t.equal(await ask('/files', { method: 'POST', headers: { 'content-type': 'application/json' }, body }), 403);
  t.match((await call('GET', `/vulnerabilities/${finding}`)).body, { virtually_patched: true, status: 'new' });
  const settings = (await road.call('GET', '/api/settings', { token: road.admin })).body;
  t.match(settings['virtual_patches'], [{ id: 1_007_500, enabled: true }]);
  return id;
}

async function road(t: Test, database: Database): Promise<void> {
  const at = await start(t, database);
  const { call, made, ask, job } = at;
  const shop = await made('/applications', { name: 'Shop', environment: 'prod', business_criticality: 'critical' });
  let id = '';

  await t.test('14.V1: from a finding to a rule that is proven on what serves', async (t) => {
    id = await fromFindingToProof(t, at, shop);
  });

  await t.test('14.V2: residual risk falls, the risk that chains read does not, and the hop says so', async (t) => {
    await made('/vulnerabilities', { application_id: shop, cwe: ['CWE-798'], title: 'Key in code', severity: 'high' });
    const [finding] = (await call('GET', `/vpatches/${id}`)).body['vulnerability_ids'] as string[];
    const row = (await call('GET', `/vulnerabilities/${finding}`)).body;
    t.equal(row['residual_risk'], Math.round(row['effective_risk'] * 0.35));
    t.match(row['sla'], { class: 'severity-urgent', extended_days: 14 }, '14.S3: more time with the proof');
    const { chains } = (await call('GET', '/graph/attack-chains')).body as { chains: Json[] };
    const hops = chains.flatMap((chain) => chain['hops'] as Json[]);
    const hop = hops.find(({ vuln_id }) => vuln_id === finding);
    t.match(hop, { mitigated: true, score: row['effective_risk'] }, 'the chain stands, with its score');
    t.ok(
      hops.some((one) => !Object.hasOwn(one, 'mitigated')),
      'other hops have no such member',
    );
  });

  await t.test('14.V12: documents say that there is a workaround while the proof holds', async (t) => {
    const vex = async (format: string): Promise<Json> =>
      (await call('GET', `/vex/export?application_id=${shop}&format=${format}`)).body;
    const open = await vex('openvex');
    const proof = ((await call('GET', `/vpatches/${id}`)).body['proof'] as Json)['sha256'];
    const told = new RegExp(`^workaround_available: .*rule 1007500.*${proof}`);
    t.match(open['statements'][0], { status: 'affected', action_statement: told });
    const csaf = await vex('csaf');
    t.match(csaf['vulnerabilities'][0], {
      product_status: { known_affected: [`gatehouse-application-${shop}`] },
      remediations: [{ category: 'workaround', details: told, product_ids: [`gatehouse-application-${shop}`] }],
    });
    t.match((await vex('cyclonedx'))['vulnerabilities'][0]['analysis'], {
      state: 'exploitable',
      response: ['workaround_available'],
      justification: 'protected_at_perimeter',
    });
  });

  await t.test('14.V3: the nightly proof: it holds; a rule that somebody took away does not', async (t) => {
    t.match(await job(), /^0 virtual patches hold, 0 do not/, 'the proof of the activation is fresh');
    t.match(await job(25 * 3_600_000), /^1 virtual patches hold, 0 do not/);
    t.match((await call('GET', `/vpatches/${id}`)).body, { proof: { kind: 'nightly', holds: true, closes: null } });
    await at.road.patch({ virtual_patches: [] });
    await at.road.apply();
    t.match(await job(), /^0 virtual patches hold, 1 do not/, 'other rules serve, so it is tried at once');
    t.match((await call('GET', `/vpatches/${id}`)).body, {
      state: 'stale',
      proof: { holds: false, reason: /the attack passes/ },
    });
    const [finding] = (await call('GET', `/vpatches/${id}`)).body['vulnerability_ids'] as string[];
    t.match((await call('GET', `/vulnerabilities/${finding}`)).body, {
      virtually_patched: false,
      sla: { extended_days: 0 },
    });
    const events = await database.sql`select payload from vm_events where type = 'vpatch.stale'`;
    t.match([...events], [{ payload: { rule_id: 1_007_500, reason: /passes/ } }]);
    t.equal(await ask(traversal), 200);
    const vex = (await call('GET', `/vex/export?application_id=${shop}`)).body;
    t.notMatch(JSON.stringify(vex), /workaround/, 'no proof, no workaround');
  });

  await t.test('14.V4: activated again, proven when asked, hits, and taken out', async (t) => {
    t.match(await call('POST', `/vpatches/${id}/activate`), { status: 200, body: { patch: { state: 'proven' } } });
    t.equal(await ask(traversal), 403);
    t.match(await call('POST', `/vpatches/${id}/prove`), { status: 200, body: { holds: true, kind: 'asked' } });
    t.match(await call('GET', `/vpatches/${id}/hits`), { status: 200, body: { rule_id: 1_007_500, days: 30 } });
    t.match(await call('POST', `/vpatches/${id}/disable`), { status: 200, body: { state: 'disabled' } });
    t.equal(await ask(traversal), 200);
    t.equal((await call('POST', `/vpatches/${id}/disable`)).status, 409);
    t.equal((await call('POST', `/vpatches/${id}/activate`)).status, 409);
    t.match((await call('GET', '/vpatches?state=disabled')).body, { total: 1, items: [{ id }] });
  });

  await t.test('14.V5: what would not hold is not put in force', async (t) => {
    const finding = await made('/vulnerabilities', {
      application_id: shop,
      cwe: ['CWE-918'],
      title: 'Fetches what it is told',
      severity: 'high',
      location: 'GET /fetch?url',
    });
    const patch = (await call('POST', '/vpatches', { vulnerability_id: finding })).body;
    await at.road.patch({ mode: 'DetectionOnly' });
    t.match(await call('POST', `/vpatches/${patch['id']}/activate`), { status: 409, body: { detail: /not applied/ } });
    await at.road.apply();
    t.match(await call('POST', `/vpatches/${patch['id']}/activate`), { status: 409, body: { detail: /only detects/ } });
    const settings = (await at.road.call('GET', '/api/settings', { token: at.road.admin })).body;
    t.same(settings['virtual_patches'], [], 'nothing is left of it');
    await at.road.patch({ mode: 'On' });
    await at.road.apply();
    t.match(await call('POST', `/vpatches/${patch['id']}/activate`), { status: 200 });
    t.equal(await ask('/fetch?url=http%3A%2F%2F127.0.0.1%2Fadmin'), 403);
    t.equal(await ask('/fetch?url=https%3A%2F%2Fwww.example.com%2Fa.png'), 200);
  });

  await t.test('14.V14: recorded requests that it would refuse stop it, the attack among them does not', async (t) => {
    const finding = await made('/vulnerabilities', {
      application_id: shop,
      cwe: ['CWE-22'],
      title: 'Documents of others',
      severity: 'high',
      location: 'GET /docs [f]',
    });
    const patch = (await call('POST', '/vpatches', { vulnerability_id: finding })).body;
    const record = async (uri: string): Promise<void> => {
      const sample = {
        requestId: uri,
        atMs: at.road.clock.nowMs,
        site: 'customer',
        method: 'GET',
        uri,
        protocol: 'HTTP/1.1',
        headers: ['Host', 'www.example.org'],
        body: null,
        clientIp: '192.0.2.7',
      };
      const body = Buffer.from(JSON.stringify(sample)).toString('base64');
      await database.sql`insert into request_samples (at, kind, body) values (now(), 'ordinary', ${body})`;
    };
    await record('/docs/?f=%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd');
    await record('/docs?f=../manual/intro.html');
    await record('/docs?f=intro.html');
    const stopped = await call('POST', `/vpatches/${patch['id']}/activate`);
    t.match(stopped, { status: 409, body: { detail: /1 of \d recorded requests .*manual\/intro.html/ } });
    t.equal(await ask('/docs?f=..%2Fa'), 200);
    const accepted = await call('POST', `/vpatches/${patch['id']}/activate?accept_newly_blocked=true`);
    t.match(accepted, { status: 200, body: { preview: { impact: { newly_blocked: 2 } } } });
    t.equal(await ask('/docs?f=..%2Fa'), 403);
  });
}

void onBothDatabases(t, 'virtual patches', road);
