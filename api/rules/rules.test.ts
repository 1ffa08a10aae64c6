import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { insertSamples } from '../records/samples.js';
import { startTestApp } from '../testing/app.js';
import { coreRules, withoutCoreRules } from '../testing/core-rules.js';
import { onBothDatabases } from '../testing/databases.js';
import { findPatchIn, patchCatalog } from '../vpatch/catalog/index.js';

const test = (name: string, expect: 'match' | 'no_match', uri: string) => ({
  name,
  expect,
  method: 'GET',
  uri,
  headers: [],
  body: '',
});
const visual = {
  name: 'No spiders',
  kind: 'visual',
  variable: 'REQUEST_HEADERS:User-Agent',
  operator: 'contains',
  value: 'spider',
  action: 'block',
  phase: 1,
};
const raw = (id: number, condition: string, more = ''): object => ({
  name: 'raw',
  kind: 'raw',
  seclang: `SecRule ${condition} \\\n    "id:${id},phase:2,deny,status:403${more}"`,
});

async function customRules(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('operator');
  const call = (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) =>
    at.call(method, url, { token, body, headers });
  await t.test('create, read, change, disable, delete; every step is a version with its audit entry', async (t) => {
    const made = await call('POST', '/api/rules', {
      ...visual,
      tests: [
        { ...test('a spider', 'match', '/'), headers: [['User-Agent', 'spider/1']] },
        test('nobody', 'no_match', '/'),
      ],
    });
    t.match(
      made,
      {
        status: 201,
        body: {
          rule: { id: 1_000_000, enabled: true },
          tests: [
            { passed: true, variable: 'REQUEST_HEADERS:User-Agent', verdict: 'block', status: 403 },
            { passed: true },
          ],
        },
      },
      made.text,
    );
    t.match((await call('GET', '/api/rules')).body, { items: [{ id: 1_000_000 }], next_id: 1_000_001 });
    t.match((await call('GET', '/api/rules/1000000')).body, { rule: { name: 'No spiders' }, seclang: /id:1000000/ });
    t.match(await call('POST', '/api/rules', { ...visual, id: 1_000_000 }), { status: 409 });
    const stale = String((await call('GET', '/api/rules')).headers['etag']);
    t.match(await call('PATCH', '/api/rules/1000000', { enabled: false }, { 'if-match': stale }), {
      status: 200,
      body: { rule: { enabled: false, name: 'No spiders' } },
    });
    t.match(await call('PATCH', '/api/rules/1000000', { name: 'x' }, { 'if-match': stale }), { status: 412 });
    t.match(
      (await call('GET', '/api/settings')).body['custom_rules'],
      [{ id: 1_000_000, enabled: false, value: 'spider' }],
      'it lives in the settings',
    );
    t.equal((await call('DELETE', '/api/rules/1000000')).status, 204);
    t.equal((await call('DELETE', '/api/rules/1000000')).status, 404);
    t.equal((await call('GET', '/api/rules/1000000')).status, 404);
    const audit = (await call('GET', '/api/audit?action=rule.')).body['items'] as { action: string }[];
    t.same(
      audit.map(({ action }) => action),
      ['rule.delete', 'rule.disable', 'rule.create'],
    );
  });
  await t.test('what does not compile is refused with its place, and nothing is saved', async (t) => {
    const before = (await call('GET', '/api/settings')).headers['etag'];
    const cases: [object, object][] = [
      [
        {
          name: 'x',
          kind: 'raw',
          seclang: 'SecRule ARGS "@rx ok" "id:1000009,phase:2,deny"\nSecRule NOPE "@rx a" "id:1000010,phase:2,deny"',
        },
        { path: '/seclang', line: 2, column: 9, excerpt: /NOPE/ },
      ],
      [
        { name: 'x', kind: 'raw', seclang: 'SecRuleEngine Off' },
        { path: '/seclang', line: 1, column: 1 },
      ],
      [{ name: 'x', kind: 'raw', seclang: 'Include /etc/passwd' }, { line: 1 }],
      [{ name: 'x', kind: 'raw', seclang: 'SecRule ARGS "@rx (a" "id:1000009,phase:2,deny"' }, { line: 1 }],
      [
        { name: 'x', kind: 'raw', seclang: 'SecRule ARGS "@rx a" "id:900001,phase:2,deny"' },
        { line: 1, message: /1000000 to 1005999/ },
      ],
      [{ name: 'x', kind: 'raw', seclang: 'SecRule ARGS "@rx a" "id:1000011,phase:2,deny"' }, { code: 'GH-R0001' }],
      [{ ...visual, operator: 'nonsense' }, { path: '/operator' }],
      [{ ...visual, variable: 'ARGS" "@rx' }, { path: '/variable' }],
    ];
    for (const [rule, problem] of cases) {
      const reply = await call('POST', '/api/rules', { id: 1_000_009, ...rule });
      t.match(reply, { status: 422, body: { code: 'settings_impossible' } }, reply.text.slice(0, 300));
      const found = (reply.body['diagnostics'] as { severity: string }[]).find(({ severity }) => severity === 'error');
      t.match(found, problem, JSON.stringify(rule));
      t.match(
        (await call('POST', '/api/rules', { id: 1_000_009, ...rule, enabled: false })).status,
        201,
        'but it may be kept as a draft',
      );
      t.equal((await call('PATCH', '/api/rules/1000009', { enabled: true })).status, 422, 'that cannot be enabled');
      t.equal((await call('DELETE', '/api/rules/1000009')).status, 204);
    }
    t.not((await call('GET', '/api/settings')).headers['etag'], before);
  });
  await t.test(
    'a rule cannot be enabled while a test fails; the answer says which, what was expected and what came',
    async (t) => {
      const tests = [test('attack', 'match', '/?q=evil'), test('benign', 'no_match', '/?q=devilish')];
      const refused = await call('POST', '/api/rules', {
        id: 1_000_020,
        ...raw(1_000_020, 'ARGS:q "@contains evil"'),
        tests,
      });
      t.match(refused, {
        status: 422,
        body: {
          errors: [{ path: '/tests/1', reason: '"benign": expected no_match, got match' }],
          tests: [{ passed: true }, { passed: false }],
        },
      });
      t.equal(
        (
          await call('POST', '/api/rules', {
            id: 1_000_020,
            enabled: false,
            ...raw(1_000_020, 'ARGS:q "@contains evil"'),
            tests,
          })
        ).status,
        201,
      );
      t.match(await call('PATCH', '/api/rules/1000020', { enabled: true }), { status: 422 });
      t.match(await call('PATCH', '/api/rules/1000020', { enabled: true, ...raw(1_000_020, 'ARGS:q "@rx ^evil$"') }), {
        status: 200,
        body: { rule: { enabled: true } },
      });
      t.match(
        await call('PATCH', '/api/rules/1000020', { tests: [test('wrong', 'match', '/?q=good')] }),
        { status: 422 },
        'nor may an enabled one get a failing test',
      );
    },
  );
  await t.test('trying without saving', async (t) => {
    const tried = await call('POST', '/api/rules/test', {
      rule: {
        id: 1_000_030,
        ...raw(1_000_030, 'ARGS:a "@streq 1"', ',chain"\n    SecRule ARGS:b "@streq 2'),
        tests: [
          { ...test('form', 'match', '/'), method: 'POST', body: 'a=1&b=2' },
          {
            ...test('JSON', 'no_match', '/'),
            method: 'POST',
            headers: [['Content-Type', 'application/json']],
            body: '{"a":"1"}',
          },
        ],
      },
    });
    t.match(
      tried,
      {
        status: 200,
        body: { compiles: true, passed: true, tests: [{ got: 'match', variable: 'ARGS:b' }, { got: 'no_match' }] },
      },
      tried.text,
    );
    t.match(
      (await call('POST', '/api/rules/test', { id: 1_000_020, tests: [test('stored', 'match', '/?q=evil')] })).body,
      { passed: true },
    );
    t.match((await call('POST', '/api/rules/test', { rule: { name: 'x', kind: 'raw', seclang: 'SecRule' } })).body, {
      compiles: false,
      passed: false,
      problems: [{ severity: 'error' }],
    });
    t.equal((await call('POST', '/api/rules/test', {})).status, 400);
    const lint: [object, string][] = [
      [{ ...visual, variable: 'ARGS_POST', phase: 1 }, 'GH-L0001'],
      [{ ...visual, variable: 'ARGS', phase: 1 }, 'GH-L0002'],
      [{ ...visual, operator: 'rx', value: '.*evil' }, 'GH-L0003'],
      [{ ...visual, operator: 'rx', value: 'ab' }, 'GH-L0004'],
      [{ ...visual, operator: 'rx', value: 'x(a+)+y' }, 'GH-L0005'],
      [
        {
          id: 1_000_040,
          name: 'x',
          kind: 'raw',
          seclang: 'SecRule ARGS_GET:x "@streq 1" "id:1000040,phase:1,pass,ctl:requestBodyAccess=Off"',
        },
        'GH-L0006',
      ],
      [
        {
          id: 1_000_040,
          name: 'x',
          kind: 'raw',
          seclang: 'SecRule ARGS_GET:x "@streq 1" "id:1000040,phase:1,pass,ctl:ruleEngine=Off"',
        },
        'GH-L0007',
      ],
      [{ ...visual, action: 'allow' }, 'GH-L0008'],
      [{ ...visual, operator: 'contains', value: '' }, 'GH-L0009'],
      [
        {
          id: 1_000_020,
          name: 'x',
          kind: 'raw',
          seclang: 'SecAction "id:1000020,phase:1,pass"\nSecAction "id:1000021,phase:1,pass"',
        },
        '',
      ],
      [
        {
          id: 1_000_022,
          name: 'x',
          kind: 'raw',
          seclang: 'SecAction "id:1000022,phase:1,pass"\nSecAction "id:1000020,phase:1,pass"',
        },
        'GH-R0002',
      ],
    ];
    for (const [rule, code] of lint) {
      const problems = (await call('POST', '/api/rules/test', { rule })).body['problems'] as { code: string }[];
      const ours = problems.map((one) => one.code).filter((one) => /^GH-[LR]/.test(one));
      t.same(ours, code === '' ? [] : [code], JSON.stringify(rule));
    }
  });
  await t.test('two writers', async (t) => {
    const etag = String((await call('GET', '/api/rules')).headers['etag']);
    const replies = await Promise.all(
      [50, 51].map((n) => call('POST', '/api/rules', { ...visual, id: 1_000_000 + n }, { 'if-match': etag })),
    );
    t.same(replies.map(({ status }) => status).sort(), [201, 412]);
    const both = await Promise.all([60, 61].map((n) => call('POST', '/api/rules', { ...visual, id: 1_000_000 + n })));
    t.ok(
      both.every(({ status }) => status === 201),
      'without If-Match both stay',
    );
  });
  await at.close();
}

async function patches(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('operator');
  const catalog = await at.call('GET', '/api/vpatch/catalog', { token });
  t.match(catalog, { status: 200, body: { total: patchCatalog.length } });
  t.equal((catalog.body['items'] as unknown[]).length, patchCatalog.length);
  t.ok((catalog.body['items'] as { state: string }[]).every(({ state }) => state === 'available'));
  t.match((await at.call('GET', '/api/vpatch/catalog?q=log4', { token })).body['items'], [
    { cve: 'CVE-2021-44228', seclang: /id:1007001/, tests: [{ expect: 'match' }] },
  ]);
  t.match(await at.call('POST', '/api/vpatch', { token, body: { cve: 'CVE-2021-44228' } }), {
    status: 200,
    body: { changed: true, patch: { id: 1_007_001, state: 'enabled' } },
  });
  t.match(await at.call('POST', '/api/vpatch', { token, body: { id: 1_007_001 } }), {
    status: 200,
    body: { changed: false },
  });
  t.match((await at.call('GET', '/api/settings', { token })).body['virtual_patches'], [
    { id: 1_007_001, cve: 'CVE-2021-44228', enabled: true },
  ]);
  t.match(await at.call('POST', '/api/vpatch', { token, body: { id: 1_007_001, action: 'disable' } }), {
    body: { patch: { state: 'disabled' } },
  });
  t.match(await at.call('POST', '/api/vpatch', { token, body: { id: 1_007_001, action: 'remove' } }), {
    body: { patch: { state: 'available' } },
  });
  for (const body of [{}, { cve: 'CVE-1999-0001' }, { id: 1_007_001, cve: 'CVE-2022-22965' }])
    t.match(await at.call('POST', '/api/vpatch', { token, body }), { status: 404 }, JSON.stringify(body));
  t.same(
    ((await at.call('GET', '/api/audit?action=vpatch.', { token })).body['items'] as { action: string }[]).map(
      ({ action }) => action,
    ),
    ['vpatch.remove', 'vpatch.disable', 'vpatch.apply'],
  );
  t.equal(findPatchIn([])('CVE-2021-44228', 1_007_002), null, 'an id and another CVE are no patch');
  t.match(findPatchIn([])('CVE-2021-44228', 1_007_001), { text: /jndi/ });
  await at.close();
}

async function suggestions(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { crsDirectory: coreRules });
  const { token } = await at.user('viewer');
  const categories = (await at.call('GET', '/api/rules/categories', { token })).body['items'] as {
    key: string;
    rules: number | null;
    tags: { tag: string; rules: number | null }[];
  }[];
  t.equal(categories.length, 13);
  if (withoutCoreRules === false) {
    t.ok(
      categories.every(({ rules }) => (rules ?? 0) > 0),
      JSON.stringify(categories.map(({ key, rules }) => [key, rules])),
    );
    t.match(
      categories.find(({ key }) => key === 'method'),
      { rules: 1, tags: [{ tag: 'OWASP_CRS/METHOD-ENFORCEMENT', rules: 1 }] },
    );
  }
  t.match((await at.call('GET', '/api/fp-suggestions', { token })).body, { items: [] });
  const node = 'c'.repeat(40);
  const message = (ruleId: number, variable: string) => ({
    rule_id: ruleId,
    message: 'SQL Injection Attack',
    match: `Matched "Operator \`Rx'" against variable \`${variable}' (Value: \`x')`,
    tags: ['attack-sqli', 'OWASP_CRS', 'OWASP_CRS/ATTACK-SQLI'],
  });
  const uri = '/find/42?q=union+select+committee+from+members&lang=en';
  const event = (n: number, ip: string, over: object = {}) => ({
    at_ms: at.clock.nowMs - n * 3_600_000,
    request_id: `f${n}`,
    site: 'shop',
    client_ip: ip,
    kind: 'waf',
    verdict: 'block',
    method: 'GET',
    uri,
    status: 403,
    rule_id: 949_110,
    inbound_score: 5,
    details: { messages: [message(942_190, 'ARGS:q'), message(949_110, 'TX:x')] },
    ...over,
  });
  const request = (n: number, ip: string) => ({
    at_ms: at.clock.nowMs - n * 1000,
    request_id: `g${n}`,
    site: 'shop',
    generation: 1,
    client_ip: ip,
    method: 'GET',
    uri: '/',
    status: 200,
    verdict: 'pass',
    inbound_score: 0,
    outbound_score: 0,
    rule_ids: [],
    user_agent: '',
    request_bytes: 1,
    response_bytes: 1,
    latency_us: 1,
    inspection_us: 1,
  });
  const shoppers = Array.from({ length: 12 }, (_, n) => `203.0.113.${n}`);
  const scanner = Array.from({ length: 9 }, (_, n) =>
    event(0, '198.51.100.66', {
      request_id: `s${n}`,
      uri: `/p${n}?a${n}=<script>`,
      details: { messages: [message(941_110, `ARGS:a${n}`), message(932_160, `ARGS:a${n}`)] },
    }),
  );
  const sent = await at.call('POST', '/api/dataplane/records', {
    token: node,
    body: {
      node: 'n',
      batch_id: 'fp',
      requests: shoppers.map((ip, n) => request(n, ip)),
      events: [
        ...shoppers.map((ip, n) => event(n, ip)),
        ...scanner,
        event(0, '203.0.113.1', { request_id: 'odd', details: { messages: 'no list' } }),
      ],
    },
  });
  t.equal(sent.status, 200, sent.text);
  await database.sql.begin((tx) =>
    insertSamples(
      tx,
      [
        {
          request_id: 'f3',
          at_ms: at.clock.nowMs,
          site: 'shop',
          method: 'GET',
          uri,
          protocol: 'HTTP/1.1',
          headers: ['Host', 'shop.example', 'User-Agent', 'Mozilla/5.0', 'Accept', '*/*'],
          body: null,
          client_ip: '203.0.113.3',
        },
      ],
      'secrets',
    ),
  );
  const quick = await at.call('GET', '/api/fp-suggestions?verify=0', { token });
  const items = quick.body['items'] as { rule_id: number; likelihood: { score: number } }[];
  t.same(
    items.map(({ rule_id }) => rule_id),
    [942_190, 932_160, 941_110],
    'most hits first; rules that only decide are left out',
  );
  t.match(items[0], {
    hits: 12,
    paths: [{ path: '/find/*', methods: ['GET'], hits: 12 }],
    variables: [{ variable: 'ARGS:q', hits: 12 }],
    likelihood: { features: { distinct_clients: 12, journey_share: 1, multi_attack_share: 0 } },
    suggestion: { state: 'not_tried' },
  });
  t.ok((items[0]?.likelihood.score ?? 0) > 80, `people shopping: ${items[0]?.likelihood.score}`);
  t.ok((items[1]?.likelihood.score ?? 99) < 40, `a scanner: ${items[1]?.likelihood.score}`);
  if (withoutCoreRules !== false) return await at.close();
  const full = await at.call('GET', '/api/fp-suggestions?verify=1&expires_in_days=30', { token });
  t.match(
    full.body['items'][0].suggestion,
    {
      state: 'verified',
      scope: 'rule, variable, method, path',
      rule_exclusions: [
        {
          id: 1_009_500,
          rule_id: 942_190,
          target: 'ARGS:q',
          path: '/find/*',
          method: 'GET',
          expires_at: '2026-04-01T00:00:00.000Z',
        },
      ],
      verification: { other_parameters: ['lang', 'another'] },
    },
    full.text.slice(0, 2000),
  );
  t.ok(full.body['items'][0].suggestion.verification.attacks_still_blocked > 60);
  const operator = await at.user('operator');
  t.match(
    await at.call('PATCH', '/api/settings', {
      token: operator.token,
      body: { rule_exclusions: full.body['items'][0].suggestion.rule_exclusions },
    }),
    { status: 200 },
    'the settings take it as it is',
  );
  const again = await at.call('GET', '/api/fp-suggestions?verify=1&expires_in_days=30', { token });
  t.match(again.body['items'][0].suggestion, { state: 'not_reproduced' }, 'once it is excluded nothing has to be');
  await at.close();
}

t.test('custom rules', (t) => onBothDatabases(t, 'custom rules', customRules));
t.test('virtual patches', (t) => onBothDatabases(t, 'virtual patches', patches));
t.test('suggestions and categories', (t) => onBothDatabases(t, 'suggestions', suggestions));
