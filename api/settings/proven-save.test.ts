// What a save of settings asks of the rules in them, gives them, and says about them.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { ruleTest, visualRule } from '../testing/builders/custom-rules.js';
import { onBothDatabases } from '../testing/databases.js';
import { headId } from '../testing/settings.js';

const visual = (id: number, more: object = {}) => ({ id, ...visualRule, ...more });
const raw = (id: number, seclang: string, more: object = {}) => ({ id, name: 'raw', kind: 'raw', seclang, ...more });
const block = (id: number, value: string) => `SecRule ARGS "@contains ${value}" "id:${id},phase:2,deny,status:403"`;

async function provenSave(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('admin');
  const send = (method: string, body: object, headers: Record<string, string> = {}) =>
    at.call(method, '/api/settings', { token, body, headers });
  const patch = (body: object) => send('PATCH', body);
  const notes = (reply: { headers: Record<string, unknown> }) =>
    JSON.parse((reply.headers['x-settings-notes'] as string | undefined) ?? '[]') as { path: string; note: string }[];

  await t.test(
    'U9: rules that cannot be used are not saved, by PATCH and by PUT, and the answer says where',
    async (t) => {
      const fine = raw(1_000_001, block(1_000_001, 'a'));
      const bad: [object, string, RegExp][] = [
        [
          { custom_rules: [fine, raw(1_000_002, 'SecRule NOPE "@rx a" "id:1000002,phase:2,deny"')] },
          '/custom_rules/1/seclang',
          /line 1, column 9: .*NOPE/,
        ],
        [
          { custom_rules: [raw(1_000_002, 'SecRule ARGS "@rx (" "id:1000002,phase:2,deny"')] },
          '/custom_rules/0/seclang',
          /line 1/,
        ],
        [{ custom_rules: [raw(1_000_002, 'SecRuleEngine Off')] }, '/custom_rules/0/seclang', /cannot stand/],
        [{ custom_rules: [raw(1_000_002, block(942_100, 'a'))] }, '/custom_rules/0/seclang', /1000000 to 1005999/],
        [
          { custom_rules: [raw(1_000_002, block(1_000_003, 'a'))] },
          '/custom_rules/0/seclang',
          /no rule with the id 1000002/,
        ],
        [
          { custom_rules: [fine, raw(1_000_002, `${block(1_000_002, 'a')}\n${block(1_000_001, 'b')}`)] },
          '/custom_rules/0/seclang',
          /id 1000001 belongs/,
        ],
        [{ custom_rules: [visual(1_000_002, { operator: 'rx', value: 'a(' })] }, '/custom_rules/0/value', /group/],
        [{ custom_rules: [visual(1_000_002, { operator: 'nope' })] }, '/custom_rules/0/operator', /operator/],
        [{ custom_rules: [visual(1_000_002, { variable: 'NOPE' })] }, '/custom_rules/0/variable', /NOPE/],
        [
          { custom_rules: [visual(1_000_002, { transformations: ['nope'] })] },
          '/custom_rules/0/transformations/0',
          /nope/,
        ],
        [
          { custom_rules: [visual(1_000_002, { tests: [ruleTest('wrong', 'match', '/')] })] },
          '/custom_rules/0/tests/0',
          /expected match/,
        ],
        [{ virtual_patches: [{ id: 1_007_500, cve: 'CVE-1999-0001' }] }, '/virtual_patches/0/cve', /catalogue/],
        [
          { virtual_patches: [{ id: 1_007_500, seclang: 'SecRule NOPE "@rx a" "id:1007500,phase:2,deny"' }] },
          '/virtual_patches/0/seclang',
          /line 1, column 9/,
        ],
        [
          { virtual_patches: [{ id: 1_007_500, seclang: block(1_000_001, 'a') }] },
          '/virtual_patches/0/seclang',
          /1007000 to 1007999/,
        ],
        [
          { virtual_patches: [{ id: 1_007_500, seclang: block(1_007_501, 'a') }] },
          '/virtual_patches/0/seclang',
          /no rule with the id 1007500/,
        ],
        [
          { rule_exclusions: [{ id: 1_009_500, rule_id: 942_100, target: 'NOPE:a', reason: 'r', owner: 'o' }] },
          '/rule_exclusions/0/target',
          /NOPE/,
        ],
      ];
      const before = await headId(database);
      for (const [body, path, reason] of bad)
        for (const method of ['PATCH', 'PUT']) {
          const reply = await send(method, { paranoia_level: 2, ...body });
          t.match(
            reply,
            {
              status: 422,
              body: { code: 'settings_impossible', detail: /Nothing was saved/, errors: [{ path, reason, fix: /./ }] },
            },
            `${JSON.stringify(body)} ${reply.text.slice(0, 400)}`,
          );
        }
      t.equal(await headId(database), before, 'nothing was saved');
      const off = (body: object) =>
        JSON.parse(JSON.stringify(body).replaceAll('"id":', '"enabled":false,"id":')) as object;
      t.equal((await patch(off(bad[0]?.[0] ?? {}))).status, 200, 'a rule that is off may be unfinished');
      t.equal((await patch({ mode: 'On', custom_rules: [] })).status, 200);
      const stale = await send('PATCH', bad[0]?.[0] ?? {}, { 'if-match': '"1-0"' });
      t.equal(stale.status, 412, 'who is too late is told so first');
      t.equal((await patch({ nope: 1, ...bad[0]?.[0] })).status, 400, 'and what is no setting');
    },
  );

  await t.test('U9: what changed is checked, not what stands there since an older program', async (t) => {
    const update = 'SecRuleUpdateTargetById 942100 "!ARGS:comment"';
    const saved = await patch({ custom_rules: [raw(1_000_010, update), visual(1_000_011)] });
    t.equal(saved.status, 200, saved.text.slice(0, 300));
    t.same(
      notes(saved).filter(({ path }) => path.startsWith('/custom')),
      [],
    );
    const warned = await patch({ custom_rules: [raw(1_000_010, block(1_000_010, 'a').replace('403', '200'))] });
    t.match(notes(warned), [{ path: '/custom_rules/0/seclang', note: /status 200/ }]);
    const both = await Promise.all([1, 2].map((n) => patch({ custom_rules: [visual(1_000_020 + n)] })));
    t.ok(
      both.every(({ status }) => status === 200 || status === 409),
      JSON.stringify(both.map(({ status }) => status)),
    );
  });

  await t.test('U6: every setting is enforced, so that a save has nothing to say of it', async (t) => {
    const saved = await patch({ pii_mask: true, graphql_protect: true, mode: 'On' });
    t.equal(saved.headers['x-settings-not-enforced'], undefined);
    t.same(notes(saved), []);
    const schema = (await at.call('GET', '/api/settings/schema', { token })).body as {
      properties: Record<string, Record<string, unknown>>;
    };
    const open = Object.entries(schema.properties).filter(([, one]) => one['x-enforced-by'] === null);
    t.same(
      open.map(([name]) => name),
      [],
      'a row that nothing enforces needs the test of its note again',
    );
  });

  await t.test('U10: old names are read with a note, and nobody has to think of ids', async (t) => {
    const saved = await patch({
      categories: { sqli: { excluded_paths: ['/editor'] } },
      custom_rules: [
        { name: 'a', text: block(1_000_333, 'a') },
        { ...visualRule, action: 'deny' },
        { ...visualRule, action: 'pass' },
      ],
      virtual_patches: [{ cve: 'CVE-2021-44228' }, { seclang: block(1_007_600, 'a') }],
      rule_exclusions: [
        { id: 1_009_500, rule_id: 942_100, target: 'ARGS:a', reason: 'r', owner: 'o' },
        { rule_id: 942_100, target: 'ARGS:b', reason: 'r', owner: 'o' },
        { tag: 'attack-sqli', target: null, path: '/x', reason: 'r', owner: 'o' },
      ],
    });
    t.match(
      saved,
      {
        status: 200,
        body: {
          categories: { sqli: { enabled: true, path_exclusions: ['/editor'] } },
          custom_rules: [
            { id: 1_000_333, kind: 'raw', seclang: /1000333/ },
            { id: 1_000_000, action: 'block' },
            { id: 1_000_001, action: 'log' },
          ],
          virtual_patches: [
            { id: 1_007_001, cve: 'CVE-2021-44228' },
            { id: 1_007_600, cve: '' },
          ],
          rule_exclusions: [{ id: 1_009_500 }, { id: 1_009_501 }, { id: 1_009_502 }],
        },
      },
      saved.text.slice(0, 600),
    );
    const told = notes(saved).map(({ path }) => path);
    for (const path of [
      '/categories/sqli/excluded_paths',
      '/custom_rules/0/text',
      '/custom_rules/0/id',
      '/custom_rules/1/action',
      '/virtual_patches/0/id',
      '/rule_exclusions/2/id',
    ])
      t.ok(told.includes(path), `${path} in ${told.join()}`);
    const operator = await at.user('operator');
    const rule = await at.call('POST', '/api/rules', {
      token: operator.token,
      body: { ...visualRule, action: 'deny', variable: 'ARGS', phase: 2 },
    });
    t.match(rule, {
      status: 201,
      body: { rule: { action: 'block' }, problems: [{ severity: 'note', path: '/action' }] },
    });
    const old = await at.call('POST', '/api/rules', {
      token: operator.token,
      body: { name: 'old', kind: 'raw', text: block(1_000_444, 'b') },
    });
    t.match(old, { status: 201, body: { rule: { id: 1_000_444, seclang: /1000444/ } } }, old.text.slice(0, 300));
    t.match(
      await at.call('PATCH', '/api/rules/1000444', { token: operator.token, body: { text: block(1_000_444, 'c') } }),
      {
        status: 200,
        body: { rule: { seclang: /contains c/ } },
      },
    );
  });
  await at.close();
}

t.test('a save of settings with rules in them', (t) => onBothDatabases(t, 'proven save', provenSave));
