import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { insertSamples, maskSamples } from '../records/samples.js';
import { masker } from '../testing/builders/records.js';
import { startTestApp } from '../testing/app.js';
import { coreRules, withoutCoreRules } from '../testing/core-rules.js';
import { onBothDatabases } from '../testing/databases.js';

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
  const message = (ruleId: number, variable: string, value = 'x') => ({
    rule_id: ruleId,
    message: 'SQL Injection Attack',
    match: `Matched "Operator \`Rx'" against variable \`${variable}' (Value: \`${value}')`,
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
  // monitors that ask by address: a rule that everybody trips and that refuses nobody
  const monitors = Array.from({ length: 40 }, (_, n) =>
    event(n, `198.51.100.${n}`, {
      request_id: `m${n}`,
      uri: '/health',
      verdict: 'flag',
      status: 200,
      details: {
        headers: [['Host', '203.0.113.80:8080'], ['Cookie'], ['Accept', '*/*']],
        messages: [
          {
            rule_id: 920_350,
            message: 'Host header is a numeric IP address',
            match: "Matched \"Operator `Rx'\" against variable `REQUEST_HEADERS:Host' (Value: `203.0.113.80:8080')",
            tags: ['OWASP_CRS', 'OWASP_CRS/PROTOCOL-ENFORCEMENT'],
          },
        ],
      },
    }),
  );
  // from several addresses, as a scanner behind proxies sends them: values are what gives them away
  const attacks = ['../../etc/passwd', "1' UNION SELECT name, secret FROM accounts--"].flatMap((value, kind) =>
    Array.from({ length: 6 }, (_, n) =>
      event(n, `198.51.100.${150 + n}`, {
        request_id: `t${kind}${n}`,
        uri: `/files?name=${encodeURIComponent(value)}`,
        details: { messages: [message([930_100, 942_270][kind] ?? 0, 'ARGS:name', value)] },
      }),
    ),
  );
  // the attack that `up` sends at each start
  const starts = [1, 2, 3].map((n) =>
    event(n, '127.0.0.1', {
      request_id: `u${n}`,
      uri: "/search?q=1'%20OR%20'1'='1'%20--%20",
      details: { headers: [['User-Agent', 'gatehouse-start-check']], messages: [message(942_100, 'ARGS:q')] },
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
        ...monitors,
        ...attacks,
        ...starts,
        event(0, '203.0.113.1', { request_id: 'odd', details: { messages: 'no list' } }),
      ],
    },
  });
  t.equal(sent.status, 200, sent.text);
  const sample = {
    request_id: 'f3',
    at_ms: at.clock.nowMs,
    site: 'shop',
    method: 'GET',
    uri,
    protocol: 'HTTP/1.1',
    headers: ['Host', 'shop.example', 'User-Agent', 'Mozilla/5.0', 'Accept', '*/*'],
    body: null,
    client_ip: '203.0.113.3',
  };
  const rows = await maskSamples([sample], 'secrets', masker);
  await database.sql.begin((tx) => insertSamples(tx, rows));
  const quick = await at.call('GET', '/api/fp-suggestions?verify=0', { token });
  const items = quick.body['items'] as { rule_id: number; likelihood: { score: number } }[];
  t.same(
    items.map(({ rule_id }) => rule_id),
    [942_190, 932_160, 941_110, 930_100, 942_270, 920_350],
    'U14: most hits in refused requests first; rules that only decide and what `up` sends itself are left out',
  );
  t.match(items[0], {
    hits: 12,
    paths: [{ path: '/find/*', methods: ['GET'], hits: 12 }],
    variables: [{ variable: 'ARGS:q', hits: 12 }],
    likelihood: {
      verdict: 'likely_false',
      hits: { likely_false: 12, likely_attack: 0 },
      features: { distinct_clients: 12, journey_share: 1, multi_attack_share: 0, attack_value_share: 0 },
    },
    suggestion: { state: 'not_tried' },
  });
  t.ok((items[0]?.likelihood.score ?? 0) > 80, `people shopping: ${items[0]?.likelihood.score}`);
  t.ok((items[1]?.likelihood.score ?? 99) < 40, `a scanner: ${items[1]?.likelihood.score}`);
  for (const { rule_id, likelihood } of items.slice(3, 5))
    t.match(
      likelihood,
      { verdict: 'likely_attack', hits: { likely_attack: 6 }, features: { attack_value_share: 1 } },
      `27.7: attacks are no false positives: ${rule_id}`,
    );
  if (withoutCoreRules !== false) return await at.close();
  const bounded = await at.call('GET', '/api/fp-suggestions?verify=2&expires_in_days=30&budget_ms=0', { token });
  t.same(
    bounded.body['items'].map((one: { rule_id: number; suggestion: { state: string } }) => one.suggestion.state).sort(),
    ['none', 'none', 'none', 'none', 'not_tried', 'trying'],
    'without time for it nothing is waited for: one is being tried, what is behind it is not begun',
  );
  t.match(bounded.text, /time of this question was over before its turn came; ask again/, 'and says so');
  const full = await at.call('GET', '/api/fp-suggestions?verify=1&expires_in_days=30&budget_ms=120000', { token });
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
  t.match(
    (await at.call('GET', '/api/fp-suggestions?verify=0&expires_in_days=30', { token })).body['items'][0].suggestion,
    { state: 'verified' },
    'what was tried before is known to who asks for no trials',
  );
  const operator = await at.user('operator');
  t.match(
    await at.call('PATCH', '/api/settings', {
      token: operator.token,
      body: { rule_exclusions: full.body['items'][0].suggestion.rule_exclusions },
    }),
    { status: 200 },
    'the settings take it as it is',
  );
  const all = (await at.call('GET', '/api/fp-suggestions?budget_ms=120000', { token })).body['items'] as {
    rule_id: number;
    suggestion: object;
  }[];
  t.match(
    all.find(({ rule_id }) => rule_id === 920_350)?.suggestion,
    { state: 'verified', rule_exclusions: [{ rule_id: 920_350, target: 'REQUEST_HEADERS:Host', path: '/health' }] },
    'U14: what a header says is tried with that header',
  );
  t.match(
    all.find(({ rule_id }) => rule_id === 930_100)?.suggestion,
    { state: 'none', reason: /look like attacks/ },
    'and no exclusion is proposed for them',
  );
  const states = all.map(({ suggestion }) => (suggestion as { state: string }).state);
  t.same(
    states,
    [...states].sort((left, right) => Number(right === 'verified') - Number(left === 'verified')),
  );
  const again = await at.call('GET', '/api/fp-suggestions?verify=1&expires_in_days=30&budget_ms=120000', { token });
  t.match(
    again.body['items'].find((one: { rule_id: number }) => one.rule_id === 942_190).suggestion,
    { state: 'not_reproduced' },
    'once it is excluded nothing has to be',
  );
  await at.close();
}

t.test('suggestions and categories', (t) => onBothDatabases(t, 'suggestions', suggestions));
