import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { rawRule, ruleTest, visualRule } from '../testing/builders/custom-rules.js';
import { onBothDatabases } from '../testing/databases.js';

async function customRules(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('operator');
  const call = (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) =>
    at.call(method, url, { token, body, headers });
  await t.test('create, read, change, disable, delete; every step is a version with its audit entry', async (t) => {
    const made = await call('POST', '/api/rules', {
      ...visualRule,
      tests: [
        { ...ruleTest('a spider', 'match', '/'), headers: [['User-Agent', 'spider/1']] },
        ruleTest('nobody', 'no_match', '/'),
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
    t.match(await call('POST', '/api/rules', { ...visualRule, id: 1_000_000 }), { status: 409 });
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
      [{ ...visualRule, operator: 'nonsense' }, { path: '/operator' }],
      [{ ...visualRule, variable: 'ARGS" "@rx' }, { path: '/variable' }],
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
      const tests = [ruleTest('attack', 'match', '/?q=evil'), ruleTest('benign', 'no_match', '/?q=devilish')];
      const refused = await call('POST', '/api/rules', {
        id: 1_000_020,
        ...rawRule(1_000_020, 'ARGS:q "@contains evil"'),
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
            ...rawRule(1_000_020, 'ARGS:q "@contains evil"'),
            tests,
          })
        ).status,
        201,
      );
      t.match(await call('PATCH', '/api/rules/1000020', { enabled: true }), { status: 422 });
      t.match(
        await call('PATCH', '/api/rules/1000020', { enabled: true, ...rawRule(1_000_020, 'ARGS:q "@rx ^evil$"') }),
        {
          status: 200,
          body: { rule: { enabled: true } },
        },
      );
      t.match(
        await call('PATCH', '/api/rules/1000020', { tests: [ruleTest('wrong', 'match', '/?q=good')] }),
        { status: 422 },
        'nor may an enabled one get a failing test',
      );
    },
  );
  await t.test('two writers', async (t) => {
    const etag = String((await call('GET', '/api/rules')).headers['etag']);
    const replies = await Promise.all(
      [50, 51].map((n) => call('POST', '/api/rules', { ...visualRule, id: 1_000_000 + n }, { 'if-match': etag })),
    );
    t.same(replies.map(({ status }) => status).sort(), [201, 412]);
    const both = await Promise.all(
      [60, 61].map((n) => call('POST', '/api/rules', { ...visualRule, id: 1_000_000 + n })),
    );
    t.ok(
      both.every(({ status }) => status === 201),
      'without If-Match both stay',
    );
  });
  await at.close();
}

t.test('custom rules', (t) => onBothDatabases(t, 'custom rules', customRules));
