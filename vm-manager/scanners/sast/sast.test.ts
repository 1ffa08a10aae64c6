// Rules of the scanner of source code: each with what breaks it and with a twin that does not.
import t from 'tap';
import { sastEngine } from './engine.js';
import type { Finding } from '../contract.js';
import { toSarif } from '../report/sarif.js';
import { scan } from '../run/scan.js';
import { openSource } from '../sources/open.js';
import { wantsSource } from './files.js';
import { sastRules } from './rules/index.js';
import { sastScanner } from './scanner.js';
import type { Case } from './testing/case.js';
import { goCases } from './testing/go-cases.js';
import { javaCases } from './testing/java-cases.js';
import { javascriptCases } from './testing/javascript-cases.js';
import { phpCases } from './testing/php-cases.js';
import { pythonCases } from './testing/python-cases.js';

async function found(path: string, text: string): Promise<readonly Finding[]> {
  const made = await sastEngine.take({ path, bytes: Buffer.from(text) });
  if (made.notScanned.length > 0) throw new Error(`${JSON.stringify(made.notScanned)} of ${text}`);
  return made.findings;
}

const languages: readonly (readonly [path: string, cases: readonly Case[]])[] = [
  ['a.js', javascriptCases],
  ['a.py', pythonCases],
  ['a.php', phpCases],
  ['a.go', goCases],
  ['A.java', javaCases],
];

for (const [path, cases] of languages)
  t.test(`${path}: each rule finds what breaks it, and not its twin`, async (t) => {
    for (const [rule, bad, good] of cases) {
      const rules = (await found(path, bad)).map((one) => one.rule);
      t.ok(rules.includes(rule), `${rule} in ${bad}: ${rules.join(' ')}`);
      t.strictSame(
        (await found(path, good)).map((one) => one.rule),
        [],
        good,
      );
    }
  });

/** The same cases as TypeScript writes them: a declared type hides nothing. */
for (const types of [
  ['Request', 'Response'],
  ['express.Request<{ id: string }>', 'express.Response'],
  ['any', 'any'],
] as const)
  t.test(`a.ts: handlers with parameters of the types ${types.join(', ')}`, async (t) => {
    const typed = (text: string): string => text.replaceAll('(req, res)', `(req: ${types[0]}, res: ${types[1]})`);
    const cases = javascriptCases.filter(([, bad]) => typed(bad) !== bad);
    t.ok(cases.length > 20, `${cases.length} cases`);
    for (const [rule, bad, good] of cases) {
      const rules = (await found('a.ts', typed(bad))).map((one) => one.rule);
      t.ok(rules.includes(rule), `${rule} in ${typed(bad)}: ${rules.join(' ')}`);
      t.strictSame(await found('a.ts', typed(good)), [], typed(good));
    }
  });

t.test('every rule has a case, and every case a rule', async (t) => {
  const known = new Set(sastRules.map(({ id }) => id));
  const tested = new Set(languages.flatMap(([, cases]) => cases.map(([rule]) => rule)));
  for (const rule of tested) t.ok(known.has(rule), rule);
  for (const { id, description, remediation, cwes } of sastRules) {
    t.ok(tested.has(id), `${id} has a case`);
    t.ok(description.length > 50 && remediation.length > 20 && cwes.length > 0, id);
  }
});

t.test('a finding has its way: source, steps through functions, and the place', async (t) => {
  const [finding, ...others] = await found(
    'a.js',
    `const { exec } = require('child_process');
function run(command) {
  exec(command);
}
app.get('/', (req, res) => {
  const host = req.query.host;
  const text = 'ping ' + host;
  run(text);
});
`,
  );
  t.same(others, []);
  t.match(finding, { rule: 'command-injection', line: 3, snippet: 'exec(command);' });
  t.same(
    finding?.flow?.map(({ line }) => line),
    [6, 7, 8, 3],
  );
  t.match(finding?.flow?.[0], {
    what: 'query parameter of the request "host"',
    snippet: 'const host = req.query.host;',
  });
});

t.test('a comment sets a finding aside, with its reason', async (t) => {
  const text = 'import hashlib\n# gatehouse:ignore weak-hash a name of a cache\nhashlib.md5(a)\nhashlib.md5(b)\n';
  t.match(await found('a.py', text), [{ line: 3, suppressed: 'a name of a cache' }, { line: 4 }]);
});

const broken = '$$$ ((( %%% '.repeat(50);
const hostile: readonly (readonly [what: string, path: string, text: string, reason: RegExp, isFault: boolean])[] = [
  ['deep brackets', 'a.js', '(\n'.repeat(50_000), /nested|parsed/, true],
  ['deep lists', 'a.py', `x = ${'[\n'.repeat(3000)}${']'.repeat(3000)}`, /nested/, true],
  ['a chain of sums', 'A.java', `class A { int a = ${'1 +\n'.repeat(20_000)}1; }`, /nested/, true],
  ['no source at all', 'a.php', `<?php ${broken}`, /parsed/, true],
  ['one long line', 'a.js', `f(${'1,'.repeat(20_000)}1);`, /long/, false],
  [
    'one long line in source of people',
    'a.js',
    `f(${'1,'.repeat(11_000)}1);\n${'g();\n'.repeat(200)}`,
    /longer than/,
    true,
  ],
  ['a tool has made it', 'a.py', '# @generated\nx = 1\n', /a tool has made/, false],
  ['bytes', 'a.js', 'a\0b', /binary/, false],
];
t.test('hostile files are bounded and told', async (t) => {
  for (const [what, path, text, reason, isFault] of hostile) {
    const began = performance.now();
    const { notScanned, scanned } = await sastEngine.take({ path, bytes: Buffer.from(text) });
    t.match(notScanned, [{ path, reason, isFault }], what);
    t.same(scanned, [], what);
    t.ok(performance.now() - began < 4000, `${what} in time`);
  }
});

t.test('a function that branches without an end is cut and told, the next one is followed', async (t) => {
  const many = Array.from(
    { length: 40 },
    (_, at) => `f${at}(x) { return f${at + 1}(x) + f${at + 1}(x) + f${at + 1}(x); }`,
  );
  const text = `${many.map((one) => `function ${one}`).join('\n')}
const around = (req) => { ${'for (const a of b) { '.repeat(16)} g(a); ${'} '.repeat(16)} };
app.get('/', (req, res) => res.send(req.query.a));
`;
  const { notScanned, findings } = await sastEngine.take({ path: 'a.js', bytes: Buffer.from(text) });
  t.match(notScanned, [{ reason: /intricate/, isFault: true }]);
  t.match(findings, [{ rule: 'cross-site-scripting' }]);
});

t.test('files of other languages are counted, files of none are not', async (t) => {
  t.match(wantsSource('a/b.rb'), /Ruby/);
  t.match(wantsSource('a.min.js'), /a tool/);
  t.equal(wantsSource('README.md'), false);
  for (const path of ['a.js', 'a.tsx', 'a.py', 'a.java', 'a.php', 'a.go']) t.equal(wantsSource(path), true, path);
});

t.test('SARIF has the way of data as a code flow', async (t) => {
  const folder = t.testdir({ 'a.py': "from flask import request\nimport os\nos.system(request.args['a'])\n" });
  const source = await openSource(folder);
  const result = await scan(source, [sastScanner], () => undefined, new AbortController().signal);
  t.match(toSarif(result, 'whole'), {
    runs: [
      {
        tool: { driver: { name: 'gatehouse-sast' } },
        results: [{ ruleId: 'command-injection', codeFlows: [{ threadFlows: [{ locations: [{}] }] }] }],
        properties: { complete: true },
      },
    ],
  });
});
