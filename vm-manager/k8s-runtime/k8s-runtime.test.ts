// Events of clusters and of registered sensors through the API: taken once, counted where they are alike, masked, tied
// to applications and findings; what they prove raises hops of chains.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { exercise } from '../testing/api/examples.js';
import { Client, type Json } from '../testing/import-client.js';
import { signatureOf } from '../runtime/sensors.js';
import { imageName } from './place.js';
import { readEvents, workloadOf } from './read.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
const now = '2026-03-01T11:59:00Z';

const falco = (more: Json = {}, fields: Json = {}): Json => ({
  ...{
    rule: 'Terminal shell in container',
    priority: 'Notice',
    time: now,
    output: 'A shell was started',
    source: 'syscall',
  },
  output_fields: {
    ...{ 'k8s.ns.name': 'shop', 'k8s.pod.name': 'web-7d4b9c6f5d-x2x9k', 'container.name': 'web' },
    ...{ 'container.image.repository': 'registry.example/team/web', 'container.image.tag': '1.4' },
    ...fields,
  },
  ...more,
});
const audited = (id: string, more: Json = {}): Json => ({
  ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', auditID: id, stage: 'ResponseComplete', verb: 'list' },
  user: { username: 'system:serviceaccount:shop:default' },
  objectRef: { resource: 'secrets', namespace: 'shop' },
  ...{ sourceIPs: ['10.0.0.9'], responseStatus: { code: 200 }, stageTimestamp: now },
  ...more,
});

async function start(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const made = async (path: string, body: Json): Promise<Json> => {
    const reply = await client.call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.body;
  };
  const application = String(
    (await made('/applications', { name: 'Web', external_id: 'shop/web', environment: 'prod' }))['id'],
  );
  const send = (body: Json, query = '', who = client) => who.call('POST', `/k8s-runtime/events${query}`, body);
  const events = async (query = ''): Promise<Json[]> =>
    (await client.call('GET', `/k8s-runtime/events?limit=500${query}`)).body['items'] as Json[];
  return { at, client, application, made, send, events };
}
type Started = Awaited<ReturnType<typeof start>>;

async function taken(t: Test, { client, application, send, events }: Started): Promise<void> {
  const secret = ['ghp', '_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('');
  const first = falco({ output: `sh -c "curl -H 'Authorization: token ${secret}'"` });
  const reply = await send(
    { events: [first, first, falco({ time: '2026-03-01T11:58:30Z', output: 'again' }), { rule: 'x' }, 7] },
    '?cluster=prod',
  );
  t.match(reply, {
    status: 202,
    body: {
      accepted: 1,
      deduped: 1,
      counted: 1,
      hits: 1,
      linked: 1,
      unmapped: 0,
      refused: [{ index: 3, reason: '/time is no moment' }, { index: 4 }],
    },
  });
  const [event] = await events();
  t.match(event, {
    ...{
      application_id: application,
      source: 'falco',
      cluster: 'prod',
      priority: 'notice',
      namespace: 'shop',
      times: 2,
    },
    ...{
      workload: 'web',
      image: 'registry.example/team/web:1.4',
      hits: ['Shell in a container'],
      first_at: '2026-03-01T11:58:30.000Z',
    },
  });
  t.notOk(JSON.stringify(event).includes(secret), 'no secret is kept');
  const finding = (await client.call('GET', `/vulnerabilities/${String(event?.['vuln_id'])}`)).body;
  t.match(finding, {
    title: 'Shell in a container',
    source: 'k8s',
    cwe: ['CWE-78'],
    runtime_confirmed: false,
    location: 'shop/web registry.example/team/web:1.4',
  });
  t.match((await send(first, '?cluster=prod')).body, { accepted: 0, deduped: 1 }, 'one event as the body, sent again');
  t.match(
    (await send(falco({ time: '2026-03-01T11:40:00Z' }), '?cluster=prod')).body,
    { accepted: 1, linked: 1 },
    'longer ago is a row of its own',
  );
  t.equal((await events(`&vuln_id=${String(event?.['vuln_id'])}`)).length, 2, 'of the same finding');
  const list = {
    kind: 'EventList',
    apiVersion: 'audit.k8s.io/v1',
    items: [audited('a'), audited('a', { stage: 'RequestReceived' }), audited('b', { responseStatus: { code: 403 } })],
  };
  t.match((await send(list, '?cluster=prod')).body, { accepted: 2, skipped: 1, hits: 1, unmapped: 2 });
  t.match(await events('&source=audit&sort=last_at'), [
    {
      verb: 'list',
      resource: 'secrets',
      outcome: 'allowed',
      application_id: null,
      hits: ['Secrets listed by a service account'],
    },
    { outcome: 'forbidden', priority: 'warning', hits: [] },
  ]);
  for (const body of [{}, { events: [] }, { events: Array.from({ length: 501 }, () => first) }, { items: 'x' }])
    t.equal((await send(body)).status, 422, JSON.stringify(body).slice(0, 40));
  await exercise(t, client, '/k8s-runtime');
}

async function proofs(t: Test, { client, application, made, send, events }: Started): Promise<void> {
  const body = {
    application_id: application,
    title: 'Privileged container',
    severity: 'high',
    cwe: ['CWE-250'],
    location: 'Deployment/web of shop/web',
  };
  const finding = String((await made('/vulnerabilities', body))['id']);
  const proven = async () => {
    const { body: answer } = await client.call('GET', '/graph/attack-chains');
    return (answer['chains'] as Json[])
      .flatMap(({ hops }) => hops as Json[])
      .some(({ vuln_id: id, confirmed }) => id === finding && confirmed === true);
  };
  const before = await proven();
  t.match((await send(falco({ rule: 'Container escape by release_agent', priority: 'Critical' }))).body, {
    accepted: 1,
    linked: 1,
  });
  const { body: now } = await client.call('GET', `/vulnerabilities/${finding}`);
  t.match(
    now,
    { status: 'confirmed', runtime_confirmed: true, exploit_confirmed: true },
    'the finding of that weakness there',
  );
  t.notOk(before, 'no hop was confirmed before');
  const [event] = await events(`&vuln_id=${finding}`);
  t.match(event, { hits: ['Way out of a container'], priority: 'critical' });
  const more = {
    application_id: application,
    severity: 'critical',
    reachable: true,
    cwe: ['CWE-918'],
    title: 'Forged requests',
  };
  await made('/vulnerabilities', more);
  t.ok(await proven(), 'and a hop of a chain is confirmed at run time');
}

async function rules(t: Test, { client, made, send, events }: Started): Promise<void> {
  const predicate = {
    and: [
      { field: 'priority', op: 'gte', value: 'error' },
      { field: 'namespace', op: 'eq', value: 'pay' },
    ],
  };
  const rule = await made('/k8s-runtime/rules', { name: 'Alarm in pay', predicate, effect: 'note' });
  const of = (priority: string) => falco({ rule: `r-${priority}`, priority }, { 'k8s.ns.name': 'pay' });
  await send({ events: [of('Warning'), of('Error')] });
  t.match(await events('&namespace=pay&hit=true'), [{ rule: 'r-Error', hits: ['Alarm in pay'] }]);
  const path = `/k8s-runtime/rules/${String(rule['id'])}`;
  for (const [body, words] of [
    [{ predicate: { field: 'severity', op: 'eq', value: 'x' } }, /must be one of source, cluster/],
    [{ effect: 'proof' }, /\/cwe is missing/],
    [{ effect: 'else' }, /effect/],
    [{ cwe: 0 }, /cwe/],
  ] as const)
    t.match(await client.call('PATCH', path, body), { status: 422, body: { detail: words } });
  t.equal((await client.call('PATCH', path, { effect: 'proof', cwe: 78 })).status, 200);
  t.equal(
    (await client.call('POST', '/k8s-runtime/rules', { name: 'Alarm in pay', predicate, effect: 'note' })).status,
    409,
  );
  t.equal((await client.call('DELETE', path)).status, 204);
  t.match((await client.call('GET', '/k8s-runtime/rules')).body['items'].length, 7, 'those of the release stay');
}

async function ofAPart(t: Test, { at, client, application, send }: Started): Promise<void> {
  const token = async (ids: string[]) => {
    const made = await client.call('POST', '/tokens', {
      name: ids.join(),
      scopes: ['ingest', 'read'],
      application_ids: ids,
    });
    return new Client(at, String(made.body['token']));
  };
  const other = await token([await client.application()]);
  t.match(await send({ events: [falco()] }, '', other), { status: 422, body: { detail: /application_id is missing/ } });
  t.equal((await send({ events: [falco()] }, `?application_id=${application}`, other)).status, 404);
  t.same((await other.call('GET', '/k8s-runtime/events')).body['items'], [], 'nor what is of no application');
  const own = await token([application]);
  t.match(await send({ events: [falco({ rule: 'own' })] }, `?application_id=${application}`, own), { status: 202 });
  const seen = (await own.call('GET', '/k8s-runtime/events')).body['items'] as Json[];
  t.ok(seen.length > 0 && seen.every((one) => one['application_id'] === application));
}

async function sensors(t: Test, { at, client, application, made }: Started): Promise<void> {
  const sensor = await made('/runtime/sensors', { application_id: application, name: 'agent-1', language: 'node' });
  const key = String(sensor['key']);
  t.match(key, /^gs_.{40,}/);
  const listed = await client.call('GET', '/runtime/sensors?revoked=false');
  t.match(listed.body['items'], [{ name: 'agent-1', last_seen_at: null, key_prefix: key.slice(0, 8) }]);
  t.notOk(listed.text.includes(key), 'the key is shown once');
  t.notOk((await client.call('GET', '/audit?limit=5')).text.includes(key), 'and is in no audit entry');
  t.equal(
    (await client.call('POST', '/runtime/sensors', { application_id: application, name: 'agent-1' })).status,
    409,
  );
  const event = { application_id: application, sensor_id: 'agent-1', attack_type: 'ssrf', route: '/x', at: now };
  const seconds = String(Math.floor(at.clock.nowMs / 1000));
  const send = async (headers: Record<string, string>, body: unknown = { events: [event] }) => {
    const payload = JSON.stringify(body);
    const signed = {
      'x-sensor-timestamp': seconds,
      'x-sensor-signature': signatureOf(key, seconds, Buffer.from(payload)),
    };
    const all = Object.entries({ ...signed, ...headers }).filter(([, value]) => value !== '');
    const more = { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' };
    const reply = await at.app.inject({
      method: 'POST',
      url: '/api/v1/runtime/events',
      headers: { ...more, ...Object.fromEntries(all) },
      payload,
    });
    return { status: reply.statusCode, text: reply.body };
  };
  const elsewhere = await client.application();
  const project = String((await made('/projects', { name: 'Another' }))['id']);
  const there = String((await made('/applications', { name: 'There', project_id: project }))['id']);
  const same = await made('/runtime/sensors', { application_id: there, name: 'agent-1' });
  t.not(same['key'], key, 'a name is of its project');
  t.match(await client.call('POST', '/runtime/sensors', { application_id: elsewhere, name: 'agent-1' }), {
    status: 409,
    body: { detail: /in the project already/ },
  });
  for (const [what, headers, body, words] of [
    ['unsigned', { 'x-sensor-signature': '' }, undefined, /its events are signed/],
    [
      'signed with another key',
      { 'x-sensor-signature': signatureOf('k', seconds, Buffer.from('')) },
      undefined,
      /did not sign/,
    ],
    ['of another moment', { 'x-sensor-timestamp': String(Number(seconds) - 301) }, undefined, /another moment/],
    ['no moment', { 'x-sensor-timestamp': 'now' }, undefined, /another moment/],
    ['of another application', {}, { events: [{ ...event, application_id: elsewhere }] }, /speaks for application/],
    ['of nobody', {}, { events: [{ ...event, sensor_id: 'free' }] }, /not registered/],
  ] as const) {
    const reply = await send(headers, body);
    t.match(reply, { status: 403, text: words }, what);
  }
  t.equal((await send({})).status, 202, 'signed');
  const [seen] = (await client.call('GET', '/runtime/sensors')).body['items'] as Json[];
  t.ok(seen?.['last_seen_at']);
  const free = await send({ 'x-sensor-signature': '' }, { events: [{ ...event, sensor_id: 'free' }] });
  t.equal(free.status, 202, 'a name that nobody registered needs a token only');
  t.equal((await client.call('DELETE', `/runtime/sensors/${String(sensor['id'])}`)).status, 204);
  t.match(await send({}), { status: 403, text: /is revoked/ });
  t.match((await client.call('GET', '/runtime/sensors?revoked=true')).body['items'], [{ revoked_by: /@/ }]);
}

async function links(t: Test, { client, application, made }: Started): Promise<void> {
  const event = {
    application_id: application,
    sensor_id: 'linked',
    attack_type: 'xss',
    confirmed: true,
    route: '/linked',
    at: now,
  };
  await client.call('POST', '/runtime/events', { events: [event] });
  const [seen] = (await client.call('GET', '/runtime/events?attack_type=xss')).body['items'] as Json[];
  const path = `/runtime/events/${String(seen?.['id'])}/link`;
  const wrong = String(seen?.['vuln_id']);
  const finding = async (id: string) => (await client.call('GET', `/vulnerabilities/${id}`)).body;
  t.match(await finding(wrong), { runtime_confirmed: true });
  const right = String(
    (await made('/vulnerabilities', { application_id: application, title: 'Comments', severity: 'low' }))['id'],
  );
  const moved = await client.call('POST', path, { vuln_id: right });
  t.match(moved, { status: 200, body: { vuln_id: right } });
  t.match(
    await finding(right),
    { runtime_confirmed: true, exploit_confirmed: true, status: 'confirmed' },
    'the proof goes along',
  );
  t.match(
    await finding(wrong),
    { runtime_confirmed: false, exploit_confirmed: false },
    'and is taken from the other one',
  );
  t.match(await client.call('POST', path, { vuln_id: null }), { status: 200, body: { vuln_id: null } });
  t.match(await finding(right), { runtime_confirmed: false });
  const other = await client.application();
  const foreign = String(
    (await made('/vulnerabilities', { application_id: other, title: 'x', severity: 'low' }))['id'],
  );
  t.match(await client.call('POST', path, { vuln_id: foreign }), {
    status: 422,
    body: { detail: /no finding of the application/ },
  });
}

t.test('names of pods and images', async (t) => {
  for (const [pod, workload] of [
    ['web-7d4b9c6f5d-x2x9k', 'web'],
    ['db-0', 'db'],
    ['log-agent-b7k2q', 'log-agent'],
    ['plain', 'plain'],
  ])
    t.equal(workloadOf(pod ?? ''), workload);
  t.equal(imageName('registry.example:5000/team/web:1.4'), 'team/web');
  t.equal(imageName('web@sha256:abc'), 'web');
  for (const hostile of [null, [], 'x', { auditID: {} }, { rule: 1 }, { auditID: 'x', stageTimestamp: 5 }])
    t.match(readEvents([hostile], '', new Date(now)), { events: [], refused: [{ index: 0 }] });
});

t.test('30.k8s-runtime', (t) =>
  onOneDatabase(t, 'k8s_runtime', async (t, database: Database) => {
    const started = await start(t, database);
    for (const [name, test] of Object.entries({
      '30.k8s-runtime: events are taken once, counted where alike, masked and placed': taken,
      '30.k8s-runtime: a proof confirms a finding and a hop at run time': proofs,
      '30.k8s-runtime: rules are predicates over events': rules,
      '30.k8s-runtime: who reaches a part says which, and sees that': ofAPart,
      '30.runtime: what bears the name of a sensor is signed, and ends with it': sensors,
      '30.runtime: a link moves the proof': links,
    }))
      await t.test(name, (t) => test(t, started));
  }),
);
