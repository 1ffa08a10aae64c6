// Words of SARIF that set a result aside, or call it harmless, and words that do not: what nobody has decided, and what
// nobody understands, does not pass the gate.
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onEmbeddedDatabase } from '#api/testing/databases';
import { Client } from '../../testing/import-client.js';
import { found, run, sarif } from '../../testing/reports-of-scopes.js';

const grave = { ...found(), properties: { 'security-severity': '9.8' } };
const plain = { ruleId: 'r', message: { text: 'm' } };
const aside = (...statuses: (string | undefined)[]) => ({
  ...grave,
  suppressions: statuses.map((status) => ({ kind: 'external', ...(status === undefined ? {} : { status }) })),
});

/** What it shows → the result, its severity (null: no finding), whether the severity is assumed. */
const words: readonly (readonly [what: string, result: object, severity: string | null, isAssumed?: boolean])[] = [
  ['review', { ...grave, kind: 'review' }, 'critical'],
  ['open', { ...grave, kind: 'open' }, 'critical'],
  ['open, with a level', { ...found(), kind: 'open' }, 'high'],
  ['informational, with a score', { ...grave, kind: 'informational' }, 'critical'],
  ['informational', { ...plain, kind: 'informational' }, 'info'],
  ['open, not rated', { ...plain, kind: 'open' }, 'info'],
  ['Fail', { ...grave, kind: 'Fail' }, 'critical'],
  ['a word that is none', { ...grave, kind: 'vulnerable' }, 'critical', true],
  ['a word that is none, not rated', { ...plain, kind: 'vulnerable' }, 'high', true],
  ['pass', { ...grave, kind: 'pass' }, null],
  ['notApplicable', { ...grave, kind: 'notApplicable' }, null],
  ['accepted', aside('accepted'), null],
  ['without a status', aside(undefined), null],
  ['accepted twice', aside('accepted', 'accepted'), null],
  ['under review', aside('underReview'), 'critical'],
  ['rejected', aside('rejected'), 'critical'],
  ['accepted and rejected', aside('accepted', 'rejected'), 'critical'],
  ['a status that is none', aside('proposed'), 'critical'],
  ['no suppression', aside(), 'critical'],
];

void onEmbeddedDatabase(t, 'words that nobody understands do not pass the gate', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [what, result, severity, isAssumed = false] of words) {
    const app = await client.application();
    const { body } = await client.send(app, sarif(run('CodeQL', [result])), { commit: 'c', mode: 'sync' });
    const basis = isAssumed ? 'assumed' : 'report';
    t.match(await client.findings(app), severity === null ? [] : [{ severity, severity_basis: basis }], what);
    t.equal((await client.findings(app)).length, severity === null ? 0 : 1, what);
    t.match(body['report'], { complete: !isAssumed }, `${what}: complete`);
    if (isAssumed) t.match(body['report'].problems, [{ detail: /is none of SARIF/ }], `${what}: told`);
    const { body: gate } = await client.call('POST', '/gate/evaluate', { application_id: app, commit: 'c' });
    t.equal(gate['exit_code'], severity === null || severity === 'info' ? 0 : 1, `${what}: the gate`);
  }
});
