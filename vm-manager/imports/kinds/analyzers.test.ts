// Over HTTP: each rule is judged by the analyzer that has it, whatever tool reports it; rules that no list knows are
// shown where the tool has rules about security; ids of rules are kept, whatever they look like.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { analyzerRules } from '../../testing/analyzer-rules.js';
import { Client, type Json } from '../../testing/import-client.js';
import { linters } from './linters.js';
import { androidStyle, androidWeaknesses } from './rules/android.js';
import { spotbugsSecurity, spotbugsStyle, spotbugsWeaknesses } from './rules/bytecode.js';
import { sonarSecurity, sonarStyle, sonarWeaknesses } from './rules/sonar.js';
import { roslynSecurity, roslynWeaknesses } from './rules/roslyn.js';
import type { WeaknessTable } from './weakness-tables.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const result = (ruleId: string, line: number, text = 'Something is odd here') => ({
  ruleId,
  level: 'error',
  message: { text },
  locations: [{ physicalLocation: { artifactLocation: { uri: `src/${line}.x` }, region: { startLine: line } } }],
});
const sarif = (tool: string, results: readonly Json[]) => ({
  version: '2.1.0',
  runs: [{ tool: { driver: { name: tool } }, results }],
});

/** Ids with a code of their tool, and what is masked in an id all the same. */
const kept = [
  'java:S2068',
  'secrets:S6290',
  'csharpsquid:S2068',
  'secret:S9999',
  'hardcoded-password-S1234567',
  'credential/PWD001',
  'SEC101/037:AwsCredentials',
  'api_key:AK001',
  'key/K8S01-secret',
  'generic-api-key',
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const listed = async (app: string): Promise<Json[]> => {
    const all = ['', '&source=quality'].map((query) =>
      client.call('GET', `/findings?application_id=${app}&limit=500${query}`),
    );
    return (await Promise.all(all)).flatMap(({ body }) => body['items'] as Json[]);
  };
  await t.test('22 Q4, Q8, Q9: the analyzer of a rule judges it', async (t) => {
    for (const [tool, rules] of Object.entries(analyzerRules)) {
      const wanted = rules
        .trim()
        .split(/\s+/)
        .map((one) => /^(.*)=(\w+)(?:-(\d+))?$/.exec(one) ?? []);
      const app = await client.application();
      const results = wanted.map(([, rule = ''], index) => result(rule, index + 1));
      const sent = await client.send(app, sarif(tool, results));
      t.match(
        sent,
        { status: 202, body: { report: { created: wanted.length } } },
        `${tool}: ${JSON.stringify(sent.body)}`,
      );
      const found = await listed(app);
      for (const [, rule = '', kind, cwe] of wanted) {
        const one = found.find((row) => row['rule_id'] === rule);
        t.match(one, { source: kind, ...(cwe === undefined ? {} : { cwe: [`CWE-${cwe}`] }) }, `${tool} ${rule}`);
      }
    }
  });
  await t.test('22 Q5: the id of a rule is kept, and a token in it is not', async (t) => {
    const app = await client.application();
    await client.send(
      app,
      sarif(
        'MyScanner',
        kept.map((rule, index) => result(rule, index + 1, `${rule} found`)),
      ),
    );
    t.same((await listed(app)).map((row) => row['rule_id']).toSorted(), kept.toSorted());
    const leaky = await client.application();
    const token = ['ghp', 'q7Zk2Wm9Xp4Rt6Yb8Nc1Vd3Fg5Hj0Ls2Ab4C'].join('_');
    await client.send(leaky, sarif('MyScanner', [result(`${token}:S2068`, 1), result('password:P4ssw0rd99', 2)]));
    const rows = JSON.stringify(await listed(leaky));
    t.notMatch(rows, token);
    t.notMatch(rows, 'P4ssw0rd99');
  });
  await t.test('22 Q4: a file that Biome cannot parse is no finding in Checkstyle XML either', async (t) => {
    const error = (source: string) =>
      `<error line="1" column="9" severity="error" message="expected a name" source="${source}"/>`;
    for (const source of ['parse', 'internalError/fs', 'syntax']) {
      const app = await client.application();
      const file = `<file name="a.js">${error(source)}${error('lint/style/useConst')}</file>`;
      const sent = await client.send(app, `<?xml version="1.0"?>\n<checkstyle version="4.3">${file}</checkstyle>`);
      t.match(sent.body, { report: { complete: false, created: 1 } }, source);
      t.match(await listed(app), [{ rule_id: 'lint/style/useConst', source: 'quality', tool: 'Biome' }], source);
    }
  });
}

t.test('22: analyzers', (t) => onBothDatabases(t, 'analyzers', suite));

const rulesOf = (table: WeaknessTable): string[] =>
  Object.values(table)
    .flatMap((all) => all.split(/\s+/))
    .filter((rule) => !rule.endsWith('*'));

t.test('22 Q8: no rule with a weakness is in a list of style', async (t) => {
  t.same(
    rulesOf(sonarWeaknesses).filter((rule) => !sonarSecurity.test(rule) || sonarStyle.test(rule)),
    [],
  );
  t.same(
    rulesOf(androidWeaknesses).filter((rule) => androidStyle.has(rule)),
    [],
  );
  const patterns = rulesOf(spotbugsWeaknesses);
  t.same(
    patterns.filter((rule) => spotbugsStyle.test(rule) && !spotbugsSecurity.test(rule)),
    [],
  );
  t.same(
    rulesOf(roslynWeaknesses).filter((rule) => !roslynSecurity.test(rule)),
    [],
  );
  const names = linters.map(({ name }) => name.toLowerCase());
  t.same(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
    'each tool has one profile',
  );
});
