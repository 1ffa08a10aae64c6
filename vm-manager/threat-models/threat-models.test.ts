// Threat models through the API: what is read of documents, what is derived, what people decide of it, and who sees it.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { insertOperation } from '../apis/testing/insert-operation.js';
import { exercise } from '../testing/api/examples.js';
import { Client, type Json } from '../testing/import-client.js';
import { layOut } from './diagram/layout.js';
import { drawDfd } from './diagram/svg.js';
import { readDocument, writeDocument } from './formats/document.js';
import { answers, authentications, classifications, elementKinds, traits, type Dfd } from './model.js';
import { deriveThreats, threatRules } from './rules/index.js';
import { otm, own, threagile } from './testing/documents.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
const seed = Number(process.env['SEED'] ?? 30);

async function start(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const made = await client.call('POST', '/applications', { name: 'Shop', environment: 'prod', exposure: 'internet' });
  const application = String(made.body['id']);
  const post = async (path: string, body: Json): Promise<Json> => {
    const reply = await client.call('POST', path, body);
    if (reply.status >= 300) throw new Error(reply.text);
    return reply.body;
  };
  const model = async (more: Json): Promise<Json> => post('/threat-models', { application_id: application, ...more });
  const threats = async (id: string, query = ''): Promise<Json[]> =>
    (await client.call('GET', `/threat-models/${id}/threats?limit=500${query}`)).body['items'] as Json[];
  return { at, client, database, application, post, model, threats };
}
type Started = Awaited<ReturnType<typeof start>>;

async function documents(t: Test, { client, model }: Started): Promise<void> {
  const [shop, parcels, library] = [
    await model({ name: 'own', document: own }),
    await model({ name: 'parcels', document: threagile }),
    await model({ name: 'library', document: JSON.stringify(otm) }),
  ];
  t.match(shop, {
    format: 'gatehouse',
    notes: [],
    dfd: { elements: [{ id: 'buyer' }, { traits: ['serves_pages', 'parses_xml'] }, {}] },
  });
  t.match(parcels, {
    format: 'threagile',
    dfd: {
      boundaries: [
        { id: 'cloud', kind: 'network' },
        { id: 'inner', kind: 'zone', parent: 'cloud' },
      ],
      elements: [
        { id: 'app', kind: 'person', internet: true },
        {
          id: 'backend',
          kind: 'process',
          boundary: 'cloud',
          traits: ['multi_tenant', 'parses_xml', 'deserialises', 'container'],
        },
        { id: 'db', kind: 'store', boundary: 'inner', encrypted: 'no', data: ['addresses'] },
      ],
      flows: [
        { id: 'app:Parcel-traffic', to: 'backend', authentication: 'session', encrypted: 'yes' },
        { to: 'db', protocol: 'jdbc', encrypted: 'no', authentication: 'credentials' },
      ],
      data: [{ id: 'addresses', classification: 'confidential', personal: true }, { classification: 'internal' }],
    },
  });
  t.match(
    parcels['notes'].join('\n'),
    /ghost[^]*Lost link of Customer app leads to nowhere[^]*risk_tracking is not kept/,
  );
  t.match(library, {
    format: 'otm',
    dfd: {
      boundaries: [{ kind: 'internet' }, { kind: 'network' }],
      elements: [{ kind: 'person' }, { kind: 'process' }, { id: 'module', boundary: 'vpc' }, { kind: 'store' }],
      flows: [{ id: 'f1' }, { id: 'f1:back', from: 'site', to: 'reader' }, { id: 'f2', data: ['loans'] }],
      data: [{ classification: 'restricted', personal: true }, { classification: 'public' }],
    },
  });
  t.match(library['notes'].join('\n'), /Threats of Library site[^]*Broken has an end[^]*mitigations is not kept/);
  const written = await client.call('GET', `/threat-models/${String(parcels['id'])}/document`);
  t.match(written.headers['content-type'], /yaml/);
  t.same(readDocument(written.text).dfd, parcels['dfd'], 'what is written is read as it was');
}

async function refusals(t: Test, { client, application }: Started): Promise<void> {
  const doubled = [...'bcdefghi'].map((one, at) => `${one}: &${one} [*${'abcdefgh'[at]},*${'abcdefgh'[at]}]`);
  const bomb = `gatehouse_threat_model: 1\na: &a [x,x]\n${doubled.join('\n')}`;
  const element = { id: 'a', name: 'A', kind: 'process' };
  for (const [body, words] of [
    [{ document: 'a: [1\nb: }' }, /neither YAML nor JSON \(line 2, column/],
    [{ document: 'a: 1\na: 2' }, /neither YAML nor JSON/],
    [{ document: bomb }, /too many aliases|Unexpected property/],
    [{ document: 'hello' }, /begins with gatehouse_threat_model, threagile_version or otmVersion/],
    [{ document: 'gatehouse_threat_model: 2' }, /is not 1/],
    [{ document: 'gatehouse_threat_model: 1\nelements: [{ id: a }]' }, /\/document\/elements\/0/],
    [{ document: own, dfd: { elements: [] } }, /does not go with dfd/],
    [{ dfd: { elements: [element, element] } }, /\/dfd\/elements\/1\/id is a, as/],
    [{ dfd: { elements: [{ ...element, boundary: 'z' }] } }, /\/dfd\/elements\/0\/boundary is z, which is no boundary/],
    [{ dfd: { elements: [], flows: [{ id: 'f', name: 'f', from: 'x', to: 'y' }] } }, /\/dfd\/flows\/0\/from is x/],
    [
      {
        dfd: {
          elements: [],
          boundaries: [
            { id: 'p', name: 'p', parent: 'q' },
            { id: 'q', name: 'q', parent: 'p' },
          ],
        },
      },
      /leads back to the boundary/,
    ],
    [{ dfd: { elements: [{ ...element, kind: 'ghost' }] } }, /kind/],
  ] as const) {
    const reply = await client.call('POST', '/threat-models', { application_id: application, name: 'x', ...body });
    t.match(reply, { status: 422, body: { detail: words } }, JSON.stringify(body).slice(0, 60));
  }
  const taken = await client.call('POST', '/threat-models', { application_id: application, name: 'own' });
  t.equal(taken.status, 409, 'a name once in an application');
}

async function derivation(t: Test, { client, database, application, model, threats, post }: Started): Promise<void> {
  const fresh = await model({ name: 'derived' });
  const path = `/threat-models/${String(fresh['id'])}`;
  const site = 'shop.example';
  await database.sql`
    update vm_applications set site = ${site}, data_classes = ${database.sql.json(['PII'])} where id = ${application}`;
  await insertOperation(database, {
    ...{
      site,
      method: 'POST',
      template: '/orders/{id}',
      credentials: { bearer: [9, 0, 0], none: [3, 1, 0] },
      shadow: true,
    },
    pii: { body: { iban: 4 } },
  });
  await insertOperation(database, { site, template: '/health', credentials: { none: [5, 0, 0] }, shadow: false });
  await database.sql`
    insert into vm_components (application_id, scope_key, key, type, name, version, first_seen, last_seen)
    values (${application}, 's', 'k', 'npm', 'pg', '8.0.0', now(), now()),
      (${application}, 's', 'l', 'npm', 'multer', '1', now(), now())`;
  const first = await post(`${path}/generate`, {});
  t.match(first, { added: 5, gone: 0, returned: 0, reopened: 0 });
  t.equal(first['created'], first['threats']);
  const { dfd } = (await client.call('GET', path)).body as { dfd: Dfd };
  t.match(dfd.elements, [
    { id: 'auto:clients', kind: 'person', internet: true },
    { id: 'auto:application', name: 'Shop', traits: ['logs', 'takes_files'] },
    { id: 'auto:postgresql', kind: 'store' },
  ]);
  t.match(dfd.flows?.[0], {
    operations: ['GET /health', 'POST /orders/{id}'],
    open_operations: 1,
    shadow_operations: 1,
  });
  t.ok(
    dfd.data?.some(({ id }) => id === 'auto:data:pii'),
    'data classes of the application',
  );
  const found = await threats(String(fresh['id']));
  const rules = new Set(found.map(({ rule }) => String(rule)));
  for (const rule of [
    'sql-injection',
    'dangerous-files',
    'objects-of-others',
    'open-operations',
    'shadow-operations',
    'flooded',
  ])
    t.ok(rules.has(rule), `derived: ${rule}`);
  const again = await post(`${path}/generate`, {});
  t.match(again, { added: 0, created: 0, gone: 0, threats: first['threats'] }, 'the same again');
  t.same(
    (await threats(String(fresh['id']))).map(({ key, version }) => [key, version]),
    found.map(({ key, version }) => [key, version]),
  );
  const less = {
    ...dfd,
    elements: dfd.elements.filter(({ id }) => id !== 'auto:postgresql'),
    flows: dfd.flows?.filter(({ to }) => to !== 'auto:postgresql'),
    ignored: ['auto:postgresql'],
  };
  t.equal((await client.call('PATCH', path, { dfd: less })).status, 200);
  const without = await post(`${path}/generate`, {});
  t.ok(without['gone'] > 0 && without['added'] === 0, 'what is ignored stays away, with its threats');
  t.ok(
    (await threats(String(fresh['id']), '&current=false')).every(
      ({ subject }) => String(subject.id).includes('postgresql') || subject.id === 'auto:application',
    ),
  );
  await client.call('PATCH', path, { dfd });
  t.match(await post(`${path}/generate`, {}), { returned: without['gone'], created: 0 });
}

async function decisions(t: Test, { client, model, threats, post, application }: Started): Promise<void> {
  const made = await model({ name: 'decided', document: own });
  const path = `/threat-models/${String(made['id'])}`;
  await post(`${path}/generate`, { derive: false });
  const list = await threats(String(made['id']));
  const of = (rule: string): Json => list.find((one) => one['rule'] === rule) ?? {};
  const [store, xml, script] = [of('open-store'), of('xml-entities'), of('script-in-pages')];
  const patch = (threat: Json, body: Json) => client.call('PATCH', `${path}/threats/${String(threat['id'])}`, body);
  for (const [threat, body, status, words] of [
    [store, { status: 'accepted' }, 422, /\/reason is missing/],
    [store, { status: 'accepted', reason: 'For a month.' }, 200, null],
    [store, { status: 'mitigated', control: 'x' }, 409, /is accepted and cannot become mitigated; it can become open/],
    [store, { status: 'open' }, 200, null],
    [store, { status: 'mitigated' }, 422, /\/control is missing/],
    [store, { status: 'mitigated', control: 'A network policy.' }, 200, null],
    [xml, { vuln_ids: ['999999'] }, 422, /no finding of this application/],
    [xml, { status: 'gone' }, 422, /status/],
    [{ id: '999999' }, { reason: 'x' }, 404, /no threat/],
  ] as const) {
    const reply = await patch(threat, body);
    t.equal(reply.status, status, JSON.stringify(body));
    if (words !== null) t.match(reply.body['detail'], words);
  }
  const finding = await post('/vulnerabilities', {
    application_id: application,
    title: 'Entities',
    severity: 'high',
    cwe: ['CWE-611'],
  });
  const [shown] = (await threats(String(made['id']), '&sort=title')).filter(({ rule }) => rule === 'xml-entities');
  t.match(shown, { standing: 'exposed', open_findings: 1, findings: [{ id: finding['id'], linked_by_hand: false }] });
  const other = await post('/vulnerabilities', {
    application_id: application,
    title: 'Elsewhere',
    severity: 'low',
    cwe: ['CWE-1004'],
  });
  t.match(await patch(script, { vuln_ids: [String(other['id'])] }), {
    body: { open_findings: 1, findings: [{ linked_by_hand: true }] },
  });
  const mitigated = await patch(xml, { status: 'mitigated', control: 'A parser without entities.' });
  t.match(mitigated, { status: 200, body: { status: 'mitigated', decided_by: /.+/ } });
  const event = {
    application_id: application,
    sensor_id: 's',
    attack_type: 'xxe',
    confirmed: true,
    at: '2026-03-01T11:00:00Z',
  };
  t.equal((await client.call('POST', '/runtime/events', { events: [event] })).status, 202);
  t.match(
    await post(`${path}/generate`, { derive: false }),
    { reopened: 1, created: 0 },
    'a proof reopens what was mitigated',
  );
  t.match(await patch(xml, { status: 'mitigated', control: 'x' }), { status: 409, body: { detail: /proven/ } });
  const [again] = (await threats(String(made['id']))).filter(({ rule }) => rule === 'open-store');
  t.match(again, { status: 'mitigated', control: 'A network policy.' }, 'what was decided stays');
  await exercise(t, client, '/threat-models', (url) =>
    url.replace(':id', String(made['id'])).replace(':tid', String(of('no-record')['id'])),
  );
}

async function measures(t: Test, { client, model, post, threats, application }: Started): Promise<void> {
  const made = await model({ name: 'measured', document: own });
  const id = String(made['id']);
  await post(`/threat-models/${id}/generate`, { derive: false });
  const of = (list: readonly Json[]) => list.find(({ rule }) => rule === 'flooded')?.['measures'] as Json[];
  const before = of(await threats(id));
  t.match(before, [{ name: 'limits', holds: false, reason: /\w/ }], 'what the firewall says of the measure');
  const made2 = await client.call('POST', '/tokens', {
    name: 'part',
    scopes: ['write'],
    application_ids: [application],
  });
  const part = new Client(client.at, String(made2.body['token']));
  const seen = (await part.call('GET', `/threat-models/${id}/threats?limit=500`)).body['items'] as Json[];
  t.same(of(seen), [], 'not to a token of a part: it is of the whole organisation');
  const elsewhere = await client.application();
  const made3 = await client.call('POST', '/tokens', {
    name: 'other',
    scopes: ['write'],
    application_ids: [elsewhere],
  });
  const other = new Client(client.at, String(made3.body['token']));
  for (const path of ['', '/threats', '/diagram', '/document'])
    t.equal((await other.call('GET', `/threat-models/${id}${path}`)).status, 404, `another application: ${path}`);
  t.equal((await other.call('POST', `/threat-models/${id}/generate`, {})).status, 404);
}

async function pictures(t: Test, { client, model, post }: Started): Promise<void> {
  const name = '</text><script>alert(1)</script> "&\u0007';
  const dfd: Dfd = { elements: [{ id: 'a', name: name.replace('\u0007', ''), kind: 'process', internet: true }] };
  const made = await model({ name: 'hostile', dfd });
  await post(`/threat-models/${String(made['id'])}/generate`, { derive: false });
  const reply = await client.call('GET', `/threat-models/${String(made['id'])}/diagram`);
  t.match(reply.headers, { 'content-type': /image\/svg\+xml/, 'content-security-policy': /default-src 'none'/ });
  t.notMatch(reply.text, /<script/);
  t.match(reply.text, /open threats/);
  t.doesNotThrow(() => new SaxesParser().write(reply.text).close(), 'it is XML');
}

const key = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
const dfdArbitrary: fc.Arbitrary<Dfd> = fc
  .tuple(fc.uniqueArray(key, { minLength: 1, maxLength: 9 }), fc.uniqueArray(key, { maxLength: 4 }))
  .chain(([names, zones]) =>
    fc.record({
      boundaries: fc.constant(
        zones.map((id, at) => ({ id: `b-${id}`, name: id, ...(at % 2 === 1 ? { parent: `b-${zones[at - 1]}` } : {}) })),
      ),
      elements: fc.tuple(
        ...names.map((id) =>
          fc.record({
            id: fc.constant(`e-${id}`),
            name: fc.string({ minLength: 1, maxLength: 30 }).map((text) => `x${text}`),
            kind: fc.constantFrom(...elementKinds),
            traits: fc.uniqueArray(fc.constantFrom(...traits), { maxLength: 4 }),
            encrypted: fc.constantFrom(...answers),
            technology: fc.constantFrom('', 'PostgreSQL', 'Redis', 'Kafka', 'LDAP', 'MongoDB', 'S3'),
            boundary: fc.constantFrom(undefined, ...zones.map((one) => `b-${one}`)),
            data: fc.subarray(['d']),
          }),
        ),
      ),
      flows: fc.array(
        fc.record({
          from: fc.constantFrom(...names.map((id) => `e-${id}`)),
          to: fc.constantFrom(...names.map((id) => `e-${id}`)),
          authentication: fc.constantFrom(...authentications),
          encrypted: fc.constantFrom(...answers),
          protocol: fc.constantFrom('', 'https', 'jdbc'),
          data: fc.subarray(['d']),
          operations: fc.subarray(['GET /a/{b}', 'POST /admin']),
          open_operations: fc.nat(2),
          shadow_operations: fc.nat(2),
        }),
        { maxLength: 12 },
      ),
      data: fc
        .constantFrom(...classifications)
        .map((classification) => [{ id: 'd', name: 'd', classification, personal: true, credentials: true }]),
    }),
  )
  .map(
    ({ flows, ...dfd }) => ({ ...dfd, flows: flows.map((flow, at) => ({ ...flow, id: `f-${at}`, name: 'f' })) }) as Dfd,
  );

t.test('any model: rules agree with themselves, pictures hold together, documents come back', async (t) => {
  const fired = new Set<string>();
  fc.assert(
    fc.property(dfdArbitrary, (dfd) => {
      const threats = deriveThreats(dfd);
      for (const { rule } of threats) fired.add(rule.id);
      if (new Set(threats.map((one) => one.key)).size !== threats.length) return false;
      if (!threats.every(({ severity, rule }) => severity >= rule.severity && severity <= 4)) return false;
      const { elements, width, height } = layOut(dfd);
      const boxes = [...elements.values()];
      const apart = boxes.every((one, at) =>
        boxes.every((other, nth) => nth <= at || one.x !== other.x || Math.abs(one.y - other.y) >= one.height),
      );
      if (!apart || boxes.length !== dfd.elements.length) return false;
      if (!boxes.every((one) => one.x + one.width <= width && one.y + one.height <= height)) return false;
      new SaxesParser().write(drawDfd('n', dfd, new Map())).close();
      const plain = JSON.parse(JSON.stringify(dfd)) as Dfd;
      return JSON.stringify(readDocument(writeDocument('n', plain, 'yaml')).dfd) === JSON.stringify(plain);
    }),
    { numRuns: 300, seed },
  );
  t.same(
    threatRules.filter(({ id }) => !fired.has(id)).map(({ id }) => id),
    [],
    'each rule speaks of some model',
  );
  t.same(deriveThreats({ elements: [] }), []);
  t.equal(new Set(threatRules.map(({ id }) => id)).size, threatRules.length, 'no rule twice');
  t.ok(threatRules.length >= 40);
});

t.test('30.threat-models', (t) =>
  onOneDatabase(t, 'threat_models', async (t, database: Database) => {
    const started = await start(t, database);
    for (const [name, test] of Object.entries({
      '30.threat-models: documents of three forms are read': documents,
      '30.threat-models: what does not hold together is refused with its place': refusals,
      '30.threat-models: derived of what is known, and the same again': derivation,
      '30.threat-models: what people decide stays, until a proof speaks against it': decisions,
      '30.threat-models: measures of the firewall count': measures,
      '30.threat-models: the picture is XML, whatever names say': pictures,
    }))
      await t.test(name, (t) => test(t, started));
  }),
);
