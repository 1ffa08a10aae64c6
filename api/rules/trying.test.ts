import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { rawRule, ruleTest, visualRule } from '../testing/builders/custom-rules.js';
import { onBothDatabases } from '../testing/databases.js';

async function trying(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('operator');
  const call = (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) =>
    at.call(method, url, { token, body, headers });
  const stored = { id: 1_000_020, ...rawRule(1_000_020, 'ARGS:q "@rx ^evil$"') };
  t.equal((await call('POST', '/api/rules', stored)).status, 201);
  await t.test('trying without saving', async (t) => {
    const tried = await call('POST', '/api/rules/test', {
      rule: {
        id: 1_000_030,
        ...rawRule(1_000_030, 'ARGS:a "@streq 1"', ',chain"\n    SecRule ARGS:b "@streq 2'),
        tests: [
          { ...ruleTest('form', 'match', '/'), method: 'POST', body: 'a=1&b=2' },
          {
            ...ruleTest('JSON', 'no_match', '/'),
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
      (await call('POST', '/api/rules/test', { id: 1_000_020, tests: [ruleTest('stored', 'match', '/?q=evil')] })).body,
      { passed: true },
    );
    t.match((await call('POST', '/api/rules/test', { rule: { name: 'x', kind: 'raw', seclang: 'SecRule' } })).body, {
      compiles: false,
      passed: false,
      problems: [{ severity: 'error' }],
    });
    t.equal((await call('POST', '/api/rules/test', {})).status, 400);
    const lint: [object, string][] = [
      [{ ...visualRule, variable: 'ARGS_POST', phase: 1 }, 'GH-L0001'],
      [{ ...visualRule, variable: 'ARGS', phase: 1 }, 'GH-L0002'],
      [{ ...visualRule, operator: 'rx', value: '.*evil' }, 'GH-L0003'],
      [{ ...visualRule, operator: 'rx', value: 'ab' }, 'GH-L0004'],
      [{ ...visualRule, operator: 'rx', value: 'x(a+)+y' }, 'GH-L0005'],
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
      [{ ...visualRule, action: 'allow' }, 'GH-L0008'],
      [{ ...visualRule, operator: 'contains', value: '' }, 'GH-L0009'],
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
  await at.close();
}

t.test('trying rules', (t) => onBothDatabases(t, 'trying rules', trying));
