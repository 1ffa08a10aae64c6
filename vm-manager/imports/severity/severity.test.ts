// The one reader of severities: what it knows, and what it does not take for harmless. Over HTTP: an unknown severity
// is a problem of the import, keeps its report incomplete, and stops the gate until somebody rates the finding.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import type { Severity } from '../../findings/words.js';
import { severityNames } from '../../findings/words.js';
import { Client, type Json } from '../../testing/import-client.js';
import { mappedSeverity, readSeverity } from './read.js';
import { severityOfWord, unratedWords } from './words.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const known: Readonly<Record<Severity, readonly unknown[]>> = {
  critical: [
    'critical!',
    'CRITICAL',
    ' Crit. ',
    'P0',
    'P1',
    'p-1',
    'S1',
    'sev 1',
    'SEV-0',
    'Blocker',
    'urgent',
    '9.8',
    9.8,
  ]
    .concat([
      '10/10',
      '9/10',
      'CVSS: 10.0',
      'kritisch',
      'Critique',
      'crítico',
      '严重',
      'критический',
      'high (9.1)',
    ] as never)
    .concat(['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 'P1: urgent', '**critical**', 'very-high'] as never)
    .concat(['AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', '(AV:N/AC:L/Au:N/C:C/I:C/A:C)', '10.0', '9,8'] as never)
    .concat(['5 - Critical', '1 (critical)', 'SEVERITY_CRITICAL', 'risk.critical', 'show stopper'] as never)
    .concat([
      '9.8 CRITICAL',
      'CVSS 9.8 CRITICAL',
      '9.8CRITICAL',
      'Critical/9.8',
      'CRITICAL 9.8',
      '9.8/10 CRITICAL',
    ] as never)
    .concat(['10 CRITICAL', 'CRITICAL/HIGH', 'high 9.8', 'Critical (CVSS: 9.1)'] as never),
  high: [
    'High',
    'H',
    'Severe',
    'ERROR',
    'P2',
    'S2',
    'hoch',
    'Élevée',
    'élevé',
    '高',
    'high (7.5)',
    '7.5',
    'High risk',
    ['high'],
    ...['CAT I', 'cat i', 'CAT1', 'Category I', 'Severity: CAT I', '7.5 HIGH', 'High (CVSS: 8.1)', 'medium to high'],
  ],
  medium: [
    'CAT II',
    'low/medium',
    '5.0 MEDIUM',
    'moderate',
    'M',
    'WARNING',
    'P3',
    '5.0',
    'mittel',
    '중간',
    'medium severity',
  ],
  low: [
    'low',
    'CAT III',
    '3.9 LOW',
    'L',
    'minor',
    'note',
    'P4',
    '1.2',
    '0.5/10',
    'niedrig',
    'faible',
    '4 - low',
    'SEVERITY_LOW',
  ],
  info: ['info', 'I', '0.0 NONE', 'Unimportant', 'Informational', 'negligible', 'P5', '0.0'],
};
const unknown: readonly unknown[] = [
  undefined,
  null,
  '',
  '  ',
  '4',
  4,
  9,
  0,
  -1,
  '-9.8',
  11,
  '11.0',
  10.5,
  '11/10',
  NaN,
  'NaN',
  Infinity,
  true,
  {},
  { level: 'high' },
  [],
  ['low', 'low'],
  // of a scale from 0 to 1 they are the gravest
  '0.95',
  0.95,
  '1.0',
  '.9',
  '0,9',
  '0.1',
  'low (0.9)',
  '0.9 low',
  '95/100',
  '98%',
  'AV:N/AC:L',
  'Severity 5',
  '3 (4)',
  'None',
  'Unknown',
  'N/A',
  'untriaged',
  'whatever',
  'not critical',
  'low (whatever)',
  'constructor',
  '__proto__',
  '?',
  '-',
  'x'.repeat(10_000),
];

t.test('22 Q3: severities that tools and people write', async (t) => {
  for (const [severity, values] of Object.entries(known))
    for (const value of values) t.same(readSeverity(value), { severity }, JSON.stringify(value));
  for (const value of unknown)
    t.match(
      readSeverity(value),
      { severity: 'high', severityProblem: /^has / },
      `unknown: ${String(value).slice(0, 40)}`,
    );
  t.same(readSeverity('', { ifAbsent: 'medium' }), { severity: 'medium' }, 'a tool without severities');
  t.match(readSeverity('odd', { ifAbsent: 'low' }), { severity: 'high' }, 'an unknown word is not absent');
  t.same(readSeverity('unknown', { score: 9.8 }), { severity: 'critical' }, 'unrated, with a score');
  t.match(readSeverity('odd', { score: 1 }), { severity: 'high', severityProblem: /odd/ }, 'a score explains no word');
  t.same(readSeverity(mappedSeverity('AWFUL', { awful: 'critical' })), { severity: 'critical' });
  for (const word of severityOfWord.keys()) t.notOk(unratedWords.has(word), `${word} has one meaning`);
});

t.test('22 Q3: whatever is given is rated or a problem, never silently info', async () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const { severity, severityProblem } = readSeverity(value);
      return severityNames.includes(severity) && (severityProblem === undefined || severity === 'high');
    }),
    { seed: Number(process.env['SEED'] ?? 22) },
  );
});

const csvOf = (severity: string): string => `title,severity,cwe,file\nRemote code execution,${severity},CWE-94,a.js\n`;
const sarifOf = (level: unknown, score?: unknown): Json => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'checker', rules: [{ id: 'r', properties: { 'security-severity': score } }] } },
      results: [
        {
          ruleId: 'r',
          level,
          message: { text: 'Remote code execution' },
          locations: [{ physicalLocation: { artifactLocation: { uri: 'a.js' } } }],
        },
      ],
    },
  ],
});

async function gates(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  let commits = 0;
  const push = async (app: string, report: unknown, fields: Record<string, string> = {}) => {
    const commit = `c${++commits}`;
    const sent = await client.send(app, report, { commit, branch: 'main', ...fields });
    const gate = () => client.call('POST', '/gate/evaluate', { application_id: app, commit });
    return { commit, sent, verdict: (await gate()).body, gate };
  };
  for (const word of ['P1', 'Severe', 'S1', 'urgent', '9.8', 'critical!', '4', 'whatever', 'Unknown', ''].concat([
    'P0',
    'Sev 1',
    '10.0',
    'AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    'blocker',
    '0.95',
    '1.0',
    'SEVERITY_CRITICAL',
  ]))
    t.match(
      (await push(await client.application(), csvOf(word))).verdict,
      { verdict: 'fail', exit_code: 1 },
      `CSV: a remote code execution that is "${word}"`,
    );
  for (const [level, score] of [['urgent'], ['none', 'P1'], ['none', 11], ['note', 'severe'], [7], [{}]])
    t.match(
      (await push(await client.application(), sarifOf(level, score))).verdict,
      { verdict: 'fail', exit_code: 1 },
      `SARIF: level ${JSON.stringify(level)}, security-severity ${JSON.stringify(score)}`,
    );

  const app = await client.application();
  const { sent, verdict, gate } = await push(app, csvOf('whatever'));
  t.match(sent.body['report'], {
    complete: false,
    unknown_severities: 1,
    problems: [{ detail: /"whatever".*no known/ }],
  });
  t.match(verdict, { gaps: [/1 open findings have a severity that is not known/], reason: /rate them/ });
  t.match(verdict['conditions'].at(-1), { name: 'incomplete_reports', ok: false });
  const [found] = await client.findings(app);
  t.match(found, { severity: 'high', severity_basis: 'assumed' });
  t.equal((await client.call('GET', '/findings?severity_basis=assumed')).body['items'].length > 0, true);
  await client.call('PATCH', `/vulnerabilities/${found?.['id']}`, { severity: 'low' });
  t.match((await gate()).body, { verdict: 'pass', exit_code: 0, gaps: [] }, 'a person has rated it');
  await client.send(app, csvOf('something else'), { commit: 'later', branch: 'main' });
  t.match(await client.findings(app), [{ severity: 'low', severity_basis: 'person' }], 'and that stays');
  await client.send(app, csvOf('critical'), { commit: 'later', branch: 'main' });
  t.match(await client.findings(app), [{ severity: 'critical', severity_basis: 'report' }]);

  const unreadable = await push(await client.application(), 'title,severity\nA,low\n,low\n');
  t.match(unreadable.verdict, { verdict: 'fail', reason: /import \d+ has 1 records that cannot be read/ });
  const mapping = {
    name: 'house',
    format: 'json',
    fields: { title: 't', severity: 's' },
    severity_map: { whatever: 'low' },
  };
  await client.call('POST', '/imports/mappings', mapping);
  const rows = (severity: string) => [{ t: 'One', s: severity }];
  const mapped = { format: 'mapping:house' };
  t.match((await push(await client.application(), rows('Whatever'), mapped)).verdict, { verdict: 'pass' });
  t.match((await push(await client.application(), rows('odd'), mapped)).verdict, { verdict: 'fail' });

  const lenient = { name: 'lenient', conditions: [{ metric: 'new_critical' }], incomplete_reports: 'allow' };
  t.equal((await client.call('POST', '/gate/definitions', lenient)).status, 201);
  t.match((await push(await client.application(), csvOf('whatever'))).verdict, {
    verdict: 'pass',
    reason: /not known/,
    gaps: [/not known/],
  });
}

t.test('22 Q3: the gate does not pass what it does not understand', (t) => onBothDatabases(t, 'severities', gates));
