// Compliance from what runs: nothing is ticked without evidence, what is saved and not applied does not count, and what
// auditors take along says the same in every form.
import t, { type Test } from 'tap';
import { Ajv } from 'ajv';
import type { Database } from '../db/client.js';
import { startTestApp, testEnv } from '../testing/app.js';
import { request } from '../testing/builders/records.js';
import { onBothDatabases } from '../testing/databases.js';
import { frameworkIds, frameworks } from './controls.js';

type Reply = { id: string; result: string; checks: Record<string, any>[] };

/** The parts of OSCAL's schema for assessment results that this export uses, in its words. */
const uuid = {
  type: 'string',
  pattern: '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[45][0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$',
};
const token = { type: 'string', pattern: '^(\\p{L}|_)(\\p{L}|\\p{N}|[.\\-_])*$' };
const text = { type: 'string', minLength: 1 };
const moment = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$',
};
const shape = (properties: object, required: string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});
const list = (items: object) => ({ type: 'array', minItems: 1, items });
const oscal = shape(
  {
    'assessment-results': shape(
      {
        uuid,
        metadata: shape({ title: text, 'last-modified': moment, version: text, 'oscal-version': { const: '1.1.2' } }, [
          'title',
          'last-modified',
          'version',
          'oscal-version',
        ]),
        'import-ap': shape({ href: text, remarks: text }, ['href']),
        results: list(
          shape(
            {
              uuid,
              title: text,
              description: text,
              start: moment,
              end: moment,
              'reviewed-controls': shape(
                {
                  'control-selections': list(
                    shape({ 'include-controls': list(shape({ 'control-id': token }, ['control-id'])) }, []),
                  ),
                },
                ['control-selections'],
              ),
              observations: list(
                shape(
                  {
                    uuid,
                    title: text,
                    description: text,
                    methods: list({ enum: ['EXAMINE', 'INTERVIEW', 'TEST', 'UNKNOWN'] }),
                    collected: moment,
                    'relevant-evidence': list(shape({ href: text, description: text }, ['description'])),
                    remarks: text,
                  },
                  ['uuid', 'description', 'methods', 'collected'],
                ),
              ),
              findings: list(
                shape(
                  {
                    uuid,
                    title: text,
                    description: text,
                    target: shape(
                      {
                        type: { enum: ['statement-id', 'objective-id'] },
                        'target-id': token,
                        status: shape(
                          {
                            state: { enum: ['satisfied', 'not-satisfied'] },
                            reason: { enum: ['pass', 'fail', 'other'] },
                            remarks: text,
                          },
                          ['state'],
                        ),
                      },
                      ['type', 'target-id', 'status'],
                    ),
                    'related-observations': list(shape({ 'observation-uuid': uuid }, ['observation-uuid'])),
                  },
                  ['uuid', 'title', 'description', 'target'],
                ),
              ),
            },
            ['uuid', 'title', 'description', 'start', 'reviewed-controls'],
          ),
        ),
      },
      ['uuid', 'metadata', 'import-ap', 'results'],
    ),
  },
  ['assessment-results'],
);

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token: admin } = await at.user('admin', 'boss<b>@example.org');
  const { sql } = database;
  const get = (query: string) => at.call('GET', `/api/compliance${query}`, { token: admin });
  const report = async (): Promise<Map<string, Reply>> => {
    const reply = await get('');
    if (reply.status !== 200) throw new Error(reply.text);
    const all = new Map<string, Reply>();
    for (const { id, controls } of reply.body['frameworks'] as { id: string; controls: Reply[] }[])
      for (const control of controls) {
        all.set(`${id} ${control.id}`, control);
        for (const check of control.checks)
          if (check['result'] === 'satisfied') t.ok(check['evidence'].length > 0, `${id} ${control.id} has evidence`);
        const isGood = control.checks.every(({ result }) => result === 'satisfied');
        t.equal(control.result === 'satisfied', isGood, `${id} ${control.id} is as good as its checks`);
      }
    return all;
  };
  const patch = async (body: object): Promise<void> => {
    const reply = await at.call('PATCH', '/api/settings', { token: admin, body });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  const apply = async (): Promise<void> => {
    const reply = await at.call('POST', '/api/apply', { token: admin });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  const seen = async (url: string, over: object = {}): Promise<void> => {
    const [state] = await sql<{ active_id: number }[]>`select active_id from settings_state`;
    const now = new Date(at.clock.nowMs);
    const row = { url, first_seen_at: now, last_seen_at: now, last_asked_at: now, reachable: true };
    const whole = { ...row, served_version: state?.active_id ?? null, ...over };
    await sql`insert into data_nodes ${sql(whole)} on conflict (url) do update set ${sql(whole)}`;
  };

  let all = await report();
  t.equal(
    all.size,
    frameworkIds.reduce((sum, id) => sum + frameworks[id].controls.length, 0),
  );
  t.match(all.get('pci-dss 6.4.2'), { result: 'not_satisfied', checks: [{ reason: /No version .* was applied/ }] });
  t.match(all.get('pci-dss 8.2.8'), { result: 'not_satisfied', checks: [{ reason: /is 60; at most 15/ }] });
  t.match(all.get('pci-dss 10.4.1.1'), { result: 'not_satisfied', checks: [{ reason: /no alert rule/ }] });
  t.match(
    all.get('owasp-api API1'),
    { result: 'not_satisfied', checks: [{ reason: /No version .* was applied/ }] },
    'a setting that was never applied protects nobody',
  );

  await patch({
    policy_session_idle_minutes: 15,
    auth_secret: 'tiger-secret-of-a-site-0123456789',
    privacy_mode: true,
  });
  await apply();
  all = await report();
  t.match(
    all.get('pci-dss 6.4.2'),
    { result: 'no_evidence', checks: [{ reason: /No node says/ }] },
    'nothing without evidence',
  );
  t.match(all.get('pci-dss 8.2.8'), {
    result: 'satisfied',
    checks: [
      {
        settings: [
          {
            name: 'policy_session_idle_minutes',
            value: 15,
            enforced_by: 'api/auth/guard.ts',
            last_change: { version: 2, author: 'boss<b>@example.org' },
          },
          {},
        ],
      },
    ],
  });
  const change = all.get('pci-dss 8.2.8')?.checks[0]?.['settings'][0].last_change;
  const audit = await at.call('GET', '/api/audit?limit=50', { token: admin });
  const entry = (audit.body['items'] as { id: number; action: string }[]).find(({ id }) => id === change.audit_entry);
  t.equal(entry?.action, 'settings.update', 'the entry that says who changed it');
  t.match(all.get('pci-dss 3.4.1'), { result: 'satisfied', checks: [{ evidence: [{ kind: 'self-test' }] }] });

  await seen('http://node-1');
  all = await report();
  t.match(all.get('pci-dss 6.4.2'), {
    result: 'satisfied',
    checks: [{ evidence: [{ text: /node-1 serves version 2/ }] }],
  });
  await patch({ mode: 'DetectionOnly' });
  t.match(
    (await report()).get('pci-dss 6.4.2'),
    { result: 'satisfied' },
    'what is saved and not applied changes nothing',
  );
  await apply();
  await seen('http://node-1');
  all = await report();
  t.match(all.get('pci-dss 6.4.2'), { result: 'not_satisfied', checks: [{ reason: /attacks are logged and pass/ }] });
  t.match(all.get('owasp-top-10 A03'), { result: 'not_satisfied' });
  await patch({ mode: 'On' });
  await apply();
  t.match(
    (await report()).get('pci-dss 6.4.2'),
    { result: 'not_satisfied' },
    'the node still serves the version before',
  );
  await seen('http://node-1');
  await seen('http://node-2', { reachable: false });
  t.match((await report()).get('pci-dss 6.4.2'), { checks: [{ reason: /node-2/ }] });
  await sql`delete from data_nodes where url = 'http://node-2'`;
  at.clock.nowMs += 600_000;
  t.match((await report()).get('pci-dss 6.4.2'), { result: 'not_satisfied' }, 'a node that nobody saw for ten minutes');
  await seen('http://node-1');

  const resultOf = async (control: string): Promise<unknown> => (await report()).get(control)?.result;
  const served = async (body: object): Promise<void> => {
    await patch(body);
    await apply();
    await seen('http://node-1');
  };
  await served({ inbound_threshold: 1000 });
  all = await report();
  for (const id of ['pci-dss 6.4.2', 'pci-dss 6.2.4', 'owasp-top-10 A03', 'owasp-top-10 A10'])
    t.match(all.get(id), { result: 'not_satisfied', checks: [{ reason: /inbound_threshold is 1000/ }] }, id);
  await served({ inbound_threshold: 10 });
  t.equal(await resultOf('pci-dss 6.4.2'), 'satisfied', 'two critical rules block');
  t.equal(await resultOf('owasp-top-10 A03'), 'satisfied');

  const ofAbuse = 'owasp-api API1';
  await patch({ api_protect_mode: 'block' });
  t.match((await report()).get(ofAbuse), { result: 'no_evidence', checks: [{ reason: /wave bola/ }] }, 'holds at once');
  const found = { kind: 'bola_enumeration', owasp: 'API1:2023', site: 'shop', method: 'GET', template: '/o/{integer}' };
  const moment = new Date(at.clock.nowMs);
  const whole = { ...found, principal: 'p', credential: 'session', client_ips: '[]', severity: 'high' };
  const row = { ...whole, confidence: 'high', reason: 'r', count: 30, evidence: '[]', first_at: moment };
  await sql`insert into api_threats ${sql({ ...row, last_at: moment, found_at: moment, blocked_until: moment })}`;
  t.match((await report()).get(ofAbuse), {
    result: 'satisfied',
    checks: [{ evidence: [{ text: /^1 findings/ }, {}] }],
  });
  await sql`update api_threats set status = 'dismissed'`;
  t.equal(await resultOf(ofAbuse), 'no_evidence', 'what people dismissed proves nothing');
  await patch({ api_protect_mode: 'monitor' });
  t.equal(await resultOf(ofAbuse), 'not_satisfied');

  const ofSchema = 'owasp-api API3';
  t.match((await report()).get(ofSchema), { checks: [{ reason: /api_specs is empty/ }] });
  const paths = { '/a': { get: { responses: { 200: { description: 'a' } } } } };
  const document = { openapi: '3.0.3', info: { title: 'shop', version: '1' }, paths };
  await patch({ sites: [{ name: 'shop', prefix: '/', upstream: 'http://shop.example' }] });
  const spec = await at.call('POST', '/api/spec?site=shop&name=main', { token: admin, body: document });
  t.match(spec.status, /^20/, spec.text);
  const named = { site: 'shop', name: 'main', version: 1 };
  await served({ api_specs: [{ ...named, action: 'alert' }], schema_action: 'block' });
  t.match((await report()).get(ofSchema), { checks: [{ reason: /refuse nothing: shop main/ }] });
  await served({ api_specs: [named] });
  t.match((await report()).get(ofSchema), {
    result: 'satisfied',
    checks: [{ evidence: [{ text: /serves version/ }] }],
  });

  const ofTests = 'gdpr 32.1.d';
  t.match((await report()).get(ofTests), { result: 'not_satisfied', checks: [{ reason: /self_test_site is empty/ }] });
  await patch({ self_test_site: 'shop' });
  t.equal(await resultOf(ofTests), 'no_evidence');
  const tested = async (stopped: readonly number[], lost: readonly object[]): Promise<void> => {
    const attacks = stopped.map((count) => ({ attack: 'a', sent: 1, stopped: count, stages: [], rule_ids: [] }));
    const ended = new Date(at.clock.nowMs);
    await sql`insert into self_tests (site, started_at, ended_at, seen, lost) values ('shop', ${ended}, ${ended},
      ${JSON.stringify(attacks)}::text::jsonb, ${JSON.stringify(lost)}::text::jsonb)`;
  };
  await tested([1, 1, 0], []);
  t.match((await report()).get(ofTests), { result: 'satisfied', checks: [{ evidence: [{ text: /2 of 3 attacks/ }] }] });
  await tested([1, 1, 0], [{ attack: 'a' }]);
  t.match((await report()).get(ofTests), { checks: [{ reason: /less protection .* at 1 attacks/ }] });
  await tested([1, 0, 0], []);
  t.match((await report()).get(ofTests), { checks: [{ reason: /More than half/ }] });
  await tested([1, 1, 1], []);
  await sql`update self_tests set ended_at = ${new Date(at.clock.nowMs - 3 * 86_400_000)}`;
  t.match((await report()).get(ofTests), { checks: [{ reason: /two days ago/ }] });

  t.match((await report()).get('pci-dss 8.3.6')?.checks[1], { reason: /letters alone are a password/ });
  await patch({ policy_password_min_classes: 3 });
  t.match((await report()).get('pci-dss 8.3.6')?.checks[1], { result: 'satisfied', evidence: [{ kind: 'self-test' }] });

  const events = [{ ...blockedEvent(at.clock.nowMs), request_id: 'r"<1>' }];
  const records = { node: 'n', batch_id: 'b', requests: [request(1, { at_ms: at.clock.nowMs })], events };
  await at.call('POST', '/api/dataplane/records', { token: testEnv.dataAdminToken, body: records });
  t.match((await report()).get('pci-dss 6.4.2')?.checks[0]?.['evidence'].at(-1), { kind: 'event', text: /r"<1>/ });

  const csv = await get('?format=csv&framework=pci-dss');
  t.equal(
    csv.text.trimEnd().split('\r\n').length - 1,
    frameworks['pci-dss'].controls.reduce((n, { checks }) => n + checks.length, 0),
  );
  const page = await get('?format=html');
  t.match(page.headers, { 'content-type': /text\/html/, 'content-disposition': /attachment/ });
  t.match(page.text, /r&#34;&#60;1&#62;/);
  t.notMatch(page.text, /<1>|boss<b>/, 'texts of others are text');
  const results = await get('?format=oscal');
  const validate = new Ajv({ strict: false, allErrors: true, unicodeRegExp: true }).compile(oscal);
  t.ok(validate(JSON.parse(results.text)), JSON.stringify(validate.errors));
  for (const { text: told } of [csv, page, results, await get('')]) t.notMatch(told, /tiger/);
  await sql`update audit_entries set summary = 'nothing' where id = 1`;
  t.match((await report()).get('pci-dss 10.3.4'), {
    result: 'not_satisfied',
    checks: [{ reason: /chain .* is broken/ }],
  });
  t.equal((await at.call('GET', '/api/compliance?framework=iso', { token: admin })).status, 400);
}

const blockedEvent = (atMs: number) => ({
  at_ms: atMs,
  request_id: 'r',
  site: 'shop',
  client_ip: '192.0.2.7',
  kind: 'waf',
  verdict: 'block',
  method: 'GET',
  uri: '/',
  status: 403,
  rule_id: 949_110,
  inbound_score: 5,
  details: {},
});

t.test('COMPLIANCE 3: from what runs', (t) => onBothDatabases(t, 'the report', suite));
