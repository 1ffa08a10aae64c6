// Rules as people write them: changes of rules, ids of the text's own, ranges, and warnings where a rule does not do
// what its words say.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { rawRule, ruleTest, visualRule } from '../testing/builders/custom-rules.js';
import { onBothDatabases } from '../testing/databases.js';

interface Problem {
  readonly code: string;
  readonly path: string;
  readonly line: number;
  readonly message: string;
  readonly severity: string;
}

async function ownText(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('operator');
  const call = (method: string, url: string, body?: unknown) => at.call(method, url, { token, body });
  const raw = (seclang: string, more: object = {}) => ({ name: 'mine', kind: 'raw', seclang, ...more });

  await t.test('U4: a text that only changes rules is a rule of the settings, without notes', async (t) => {
    const changes = [
      'SecRuleUpdateTargetById 942100 "!ARGS:comment"',
      'SecRuleUpdateTargetByTag attack-sqli "!ARGS:comment"',
      'SecRuleUpdateTargetByMsg "SQL Injection Attack" "!ARGS:comment"',
      'SecRuleUpdateActionById 942100 "pass"',
      '# the shop\nSecRuleRemoveById 942100-942200 920350',
      'SecRuleRemoveByTag "attack-sqli"',
      'SecRuleRemoveByMsg "SQL Injection Attack"',
      'SecMarker MINE',
    ];
    for (const seclang of changes) {
      const made = await call('POST', '/api/rules', raw(seclang));
      t.match(made, { status: 201, body: { problems: [] } }, `${seclang} ${made.text.slice(0, 300)}`);
      t.same(made.body['problems'], []);
      const id = (made.body['rule'] as { id: number }).id;
      t.match((await call('GET', `/api/rules/${id}`)).body, { problems: [], seclang: /^(?:#|Sec)/ });
      t.match((await call('POST', '/api/rules/test', { rule: raw(seclang) })).body, { compiles: true, passed: true });
      t.equal((await call('DELETE', `/api/rules/${id}`)).status, 204);
    }
    for (const seclang of [
      '# nothing but words',
      ' \n',
      'SecRuleUpdateTargetById',
      'SecRuleUpdateTargetById x "!ARGS:a"',
    ])
      t.equal((await call('POST', '/api/rules', raw(seclang))).status, 422, JSON.stringify(seclang));
    t.match(
      await call('POST', '/api/rules', raw(changes[0] ?? '', { tests: [ruleTest('x', 'no_match', '/')] })),
      { status: 422, body: { errors: [{ path: '/tests' }] } },
      'a test that nothing could match proves nothing',
    );
  });

  await t.test('U5: the id of a rule is the one in its text', async (t) => {
    const made = await call('POST', '/api/rules', rawRule(1_000_777, 'ARGS:q "@contains a"'));
    t.match(made, { status: 201, body: { rule: { id: 1_000_777 } } }, made.text.slice(0, 300));
    t.match(await call('POST', '/api/rules', rawRule(1_000_777, 'ARGS:q "@contains b"')), { status: 409 });
    const two = `# id:1000005 is only spoken of\n${['800', '801']
      .map((end) => `SecRule ARGS "@rx id:1000006" "id:'1000${end}',phase:2,pass"`)
      .join('\n')}`;
    t.match(await call('POST', '/api/rules', raw(two)), { status: 201, body: { rule: { id: 1_000_800 } } });
    t.match((await call('POST', '/api/rules/test', { rule: rawRule(1_000_900, 'ARGS:q "@contains a"') })).body, {
      compiles: true,
    });
    const given = { id: 1_000_901, ...rawRule(1_000_902, 'ARGS:q "@contains a"') };
    t.match(await call('POST', '/api/rules', given), { status: 422, body: { diagnostics: [{ code: 'GH-R0001' }] } });
    const full = await call(
      'POST',
      '/api/rules',
      raw('SecAction "id:1000000,phase:1,pass"\nSecAction "id:1000001,phase:1,pass"'),
    );
    t.equal(full.status, 201);
    t.match(
      await call('POST', '/api/rules', visualRule),
      { status: 201, body: { rule: { id: 1_000_002 } } },
      'the next free id is free in texts, too',
    );
  });

  await t.test('U13b: an id out of the range is refused with the owner of that id', async (t) => {
    for (const [id, owner] of [
      [942_100, /core rule set/],
      [1_006_001, /deny list/],
      [1_007_001, /virtual patches/],
      [1_009_501, /exclusions of single rules/],
      [1_010_001, /authorisation/],
      [1_020_000, /paths that cannot be told/],
      [1_030_000, /nobody/],
    ] as const) {
      const refused = await call('POST', '/api/rules', rawRule(id, 'ARGS:q "@contains a"'));
      t.match(refused, { status: 422, body: { detail: owner, errors: [{ path: '/seclang', reason: owner }] } });
      const outside = await call('POST', '/api/rules', { ...visualRule, id });
      t.match(
        outside,
        { status: 400, body: { errors: [{ path: '/id', fix: /1000000 to 1005999.*1007000/ }] } },
        outside.text,
      );
    }
  });

  await t.test('U14: problems of a visual rule name the field', async (t) => {
    const cases: [object, string][] = [
      [{ operator: 'rx', value: 'a(' }, '/value'],
      [{ operator: 'ipMatch', value: '300.0.0.1' }, '/value'],
      [{ operator: 'validateByteRange', value: '1-999' }, '/value'],
      [{ operator: 'pm', value: '' }, '/value'],
      [{ variable: 'ARGS|NOPE' }, '/variable'],
      [{ variable: 'TX:/(/' }, '/variable'],
      [{ operator: 'nope' }, '/operator'],
      [{ transformations: ['lowercase', 'nope'] }, '/transformations/1'],
      [{ action: 'redirect', redirect_url: 'http://a/ b' }, '/redirect_url'],
    ];
    for (const [change, path] of cases) {
      const reply = await call('POST', '/api/rules', { ...visualRule, phase: 2, ...change });
      t.match(
        reply,
        { status: 422, body: { errors: [{ path }] } },
        `${JSON.stringify(change)} ${reply.text.slice(0, 400)}`,
      );
      const [first] = reply.body['diagnostics'] as Problem[];
      t.match(first, { path, line: 1 }, JSON.stringify(first));
      t.notMatch(reply.body['detail'], /line 0/);
      t.match(reply.body['detail'], path.slice(1).split('/')[0] ?? '');
    }
    const tried = (await call('POST', '/api/rules/test', { rule: { ...visualRule, operator: 'lt', value: 'abc' } }))
      .body;
    t.match(tried['problems'], [{ code: 'GH-L0010', path: '/value', line: 1, severity: 'warning' }]);
  });

  await t.test('U14: a rule that does not do what its words say is warned of', async (t) => {
    const of = (condition: string, actions: string) => `SecRule ${condition} "id:1000500,${actions}"`;
    const cases: [string, string[]][] = [
      ...['lt', 'le', 'gt', 'ge', 'eq'].flatMap((name): [string, string[]][] => [
        [of(`&ARGS "@${name} abc"`, 'phase:2,deny'), ['GH-L0010']],
        [of(`&ARGS "!@${name} 5a"`, 'phase:2,deny'), ['GH-L0010']],
        [of(`&ARGS "@${name} 1.5"`, 'phase:2,deny'), ['GH-L0010']],
        [of(`&ARGS "@${name} -5"`, 'phase:2,deny'), []],
        [of(`&ARGS "@${name} %{tx.most}"`, 'phase:2,deny'), []],
      ]),
      [of('ARGS "@streq a"', "phase:2,pass,setvar:'tx.score=+lots'"), ['GH-L0010']],
      [of('ARGS "@streq a"', "phase:2,pass,setvar:'tx.score=+%{tx.critical_anomaly_score}'"), []],
      [of('ARGS "@streq a"', "phase:2,pass,setvar:'tx.word=lots'"), []],
      [of('ARGS "@streq a"', 'phase:2,deny,status:200'), ['GH-L0011']],
      [of('ARGS "@streq a"', 'phase:2,deny,status:302'), ['GH-L0011']],
      [of('ARGS "@streq a"', 'phase:2,deny,status:404'), []],
      [of('ARGS "@streq a"', 'phase:2,pass,status:403'), ['GH-L0011']],
      [of('REMOTE_ADDR "@ipMatch 192.0.2.1"', 'phase:1,allow,status:301'), ['GH-L0011']],
      [of('ARGS "@streq a"', "phase:2,redirect:'https://example.org/',status:403"), ['GH-L0011']],
      [of('ARGS "@streq a"', "phase:2,redirect:'https://example.org/',status:307"), []],
      [of('ARGS "@streq a"', "phase:2,redirect:'https://example.org/'"), []],
      [of('ARGS "@streq a"', 'phase:5,deny'), ['GH-L0012']],
      [of('ARGS "@streq a"', 'phase:5,block'), ['GH-L0012']],
      [of('ARGS "@streq a"', 'phase:5,pass'), []],
      [of('ARGS "@streq a"', 'phase:2,block'), ['GH-L0013']],
      [of('RESPONSE_BODY "@contains a"', 'phase:2,deny'), ['GH-C2007']],
      [of('RESPONSE_HEADERS:X "@contains a"', 'phase:1,deny'), ['GH-C2007']],
      [of('RESPONSE_BODY "@contains a"', 'phase:4,deny'), []],
      [of('REQUEST_URI "@beginsWith /a"', 'phase:2,pass,ctl:ruleRemoveById=942100'), ['GH-L0014']],
      [of('REQUEST_URI "@beginsWith /a"', 'phase:1,pass,ctl:ruleRemoveTargetById=942100;ARGS:a'), []],
    ];
    for (const [seclang, codes] of cases) {
      const problems = (await call('POST', '/api/rules/test', { rule: raw(seclang) })).body['problems'] as Problem[];
      t.same(
        problems.map(({ code }) => code),
        codes,
        `${seclang} ${JSON.stringify(problems)}`,
      );
      for (const one of problems) t.match(one, { path: '/seclang', line: 1, severity: 'warning' });
    }
    for (const [actions, field] of [
      ['redirect', 'needs a value'],
      ['deny,status:99', '100 to 599'],
      ['deny,status:600', '100 to 599'],
      ['deny,status:abc', '100 to 599'],
    ] as const)
      t.match(
        await call('POST', '/api/rules', raw(of('ARGS "@streq a"', `phase:2,${actions}`))),
        { status: 422, body: { detail: new RegExp(field) } },
        actions,
      );
  });
  await at.close();
}

t.test('rules of one’s own text', (t) => onBothDatabases(t, 'own text', ownText));
