// Part 2, section 7: whatever is asked below /api/v1, and however wrong it is, a refusal is a standard status with
// {"detail": string} and nothing else, and no input makes the server fail. What is sent is taken from the rows.
import t, { type Test } from 'tap';
import { startTestApp, type Reply, type TestApp } from '#api/testing/app';
import { attempts, type Operation } from '#api/testing/builders/wrong-input';
import { onBothDatabases, onEmbeddedDatabase, withoutPostgres } from '#api/testing/databases';
import { endpoints } from '../endpoints.js';
import type { Endpoint } from '../kit/endpoint.js';
import { fillOrganisation, type Filled } from '../testing/filled-organisation.js';
import { sampleOf } from '../testing/sample.js';
import { answerFault } from '../testing/answer-fault.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const v1 = '/api/v1';
/** These end the session that asks, or change the password that it was made with. */
const endsSessions = new Set(['/auth/logout', '/auth/logout-all', '/auth/refresh', '/auth/password/change']);
/** Without a firewall beside the API these have nobody to ask. */
const needsOthers = /^\/(?:vpatches|sso)\b/;
/** One of so many wrong requests is sent, and SEED chooses which; `make fuzz` sends all 13,000, to both databases. */
const shareWanted = Number(process.env['WRONG_INPUT_SHARE'] ?? 40);
const seed = Number(process.env['SEED'] ?? 0);

/** Rows that refuse even a right request here, since a code, a provider, a firewall or another person is missing. */
const needsMore: readonly string[] = [
  'DELETE /acceptances/:id 409',
  'DELETE /applications/:id 409',
  'DELETE /auth/mfa 401',
  'DELETE /backups/:id 409',
  'DELETE /integrations/:id 409',
  'DELETE /notifications/channels/:id 409',
  'DELETE /sast/rules/:id 409', // what is built in stays
  'DELETE /secrets/detectors/:id 409',
  'DELETE /sso/providers/:id 404',
  'DELETE /threat-intel/feeds/:id 409',
  'DELETE /vulnerabilities/:id/duplicates/:dup_id 404',
  'GET /backups 409',
  'GET /backups/:id 409',
  'GET /backups/:id/download 409',
  'GET /backups/made 409',
  'GET /backups/schedule 409',
  'GET /branding/logo 404',
  'GET /ci/badge/:application_id 404',
  'GET /comments 422',
  'GET /sast/scans/:id/sarif 409',
  'GET /scan-callbacks/:token 404',
  'GET /scans/compare 404',
  'GET /search 422',
  'GET /sso/callback/:id 404',
  'GET /sso/login/:id 404',
  'GET /sso/providers/:id 404',
  'GET /vpatches/:id/hits 503',
  'PATCH /backups/schedule 409',
  'PATCH /repositories/:id 422', // a credential, and no address that it is for
  'PATCH /sso/providers/:id 404',
  'PATCH /threat-models/:id/threats/:tid 404', // the second id is of no threat
  'POST /acceptances/:id/approve 403',
  'POST /acceptances/:id/extend 403',
  'POST /acceptances/:id/revoke 409',
  'POST /api-security/tests 409',
  'POST /api-security/tests/:id/cancel 409',
  'POST /assessments/:id/transition 409', // the change before has moved it there
  'POST /auth/login 401',
  'POST /auth/mfa 401',
  'POST /auth/mfa/confirm 422',
  'POST /auth/mfa/enroll 401',
  'POST /backups 409',
  'POST /backups/:id/restore 409',
  'POST /backups/:id/verify 409',
  'POST /backups/prune 409',
  'POST /discovery/runs/:id/cancel 409',
  'POST /exploit/runs 409',
  'POST /findings/deduplications/:id/undo 409',
  'POST /gate/evaluations/:id/override 409',
  'POST /repositories 422', // a credential, and no address that it is for
  'POST /repositories/:id/fetch 422', // it has no address
  'POST /repositories/:id/scan 409',
  'POST /runs/:id/cancel 409',
  'POST /runtime/heartbeat 403', // a sensor that is registered has to sign
  'POST /scans 409',
  'POST /scans/:id/cancel 409',
  'POST /scans/:id/prove 404',
  'POST /schedules/:id/run-now 409',
  'POST /scm/webhook/:provider 401',
  'POST /secrets/:vuln_id/rotated 409',
  // the finding has become one of severity info, which has no deadline
  'POST /sla/clocks/:id/pause 409',
  'POST /sla/clocks/:id/resume 409',
  'POST /sso/providers 422',
  'POST /sso/providers/:id/test 404',
  'POST /targets/:id/probe 409',
  'POST /targets/:id/verify 409',
  'POST /vpatches 503',
  'POST /vpatches/:id/activate 503',
  'POST /vpatches/:id/disable 503',
  'POST /vpatches/:id/prove 409',
  'POST /vulnerabilities/:id/retest 409',
];

/** Why it is no refusal as the specification has it; null when it is one, or none at all. */
function refusalFault(reply: Reply, path: string): string | null {
  if (reply.status >= 500 && !(reply.status === 503 && needsOthers.test(path))) return 'the server failed';
  if (reply.status < 400) return null;
  if (!/^application\/json\b/.test(String(reply.headers['content-type']))) return 'it is not application/json';
  if (Object.keys(reply.body).join() !== 'detail') return 'it has other members than detail';
  if (typeof reply.body['detail'] !== 'string' || reply.body['detail'] === '') return 'detail is no text';
  return /node_modules|\.js:\d+|syntax error|violates|invalid input|relation "|column "/i.test(reply.text)
    ? 'something of the inside leaks'
    : null;
}

/** The row in the form that the generator of wrong input reads. */
const operationOf = (row: Endpoint): Operation => ({
  parameters: Object.keys(row.query?.properties ?? {}).map((name) => ({
    name,
    in: 'query',
    required: (row.query?.required as readonly string[] | undefined)?.includes(name) === true,
  })),
  ...(row.body === undefined ? {} : { requestBody: {} }),
  responses: {},
});

interface Asking {
  readonly at: TestApp;
  readonly filled: Filled;
  readonly token: string;
  /** Which of the wrong requests this database gets. */
  count: number;
  /** Rows that refuse what should be right. */
  readonly refused: string[];
}

async function askAll(asking: Asking, row: Endpoint) {
  const { at, filled, token } = asking;
  const pattern = `${v1}${row.path.replace(/:(\w+)/g, '{$1}')}`;
  const id = filled.idOf(row.path);
  const right = row.body === undefined ? {} : { ...(sampleOf(row.body) as object), ...filled.bodyOf(row) };
  const faults: string[] = [];
  let calls = 0;
  for (const { what, ...attempt } of attempts(pattern, operationOf(row), { [pattern]: id }, right)) {
    if (what !== 'as it should be' && asking.count++ % shareWanted !== 0) continue;
    const reply = await at.call(row.method, attempt.url, { token, ip: `192.0.2.${calls % 250}`, ...attempt });
    const found = refusalFault(reply, row.path) ?? answerFault(reply, row);
    if (found !== null) faults.push(`${found}: ${what} → ${reply.status} ${reply.text.slice(0, 200)}`);
    calls++;
    if (what === 'as it should be' && reply.status >= 400)
      asking.refused.push(`${row.method} ${row.path} ${reply.status}`);
  }
  return { calls, faults };
}

async function sweep(t: Test, database: Database): Promise<void> {
  // the statements are the same ones: without a wish for all of them one database is asked
  const isAsked = database.kind === 'postgres' || withoutPostgres !== false || shareWanted === 1;
  if (!isAsked) return void t.pass('PostgreSQL is asked');
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const filled = await fillOrganisation(at, database, admin.token);
  const refused: string[] = [];
  const asking: Asking = {
    at,
    filled,
    token: admin.token,
    count: seed,
    refused,
  };
  let calls = 0;
  // what reads comes first and what deletes last, so that every row finds what it asks for
  const last = ({ method }: Endpoint): number => ({ GET: 0, DELETE: 2 })[method as string] ?? 1;
  for (const row of [...endpoints].sort((left, right) => last(left) - last(right))) {
    if (endsSessions.has(row.path) || row.upload !== undefined) continue;
    const done = await askAll(asking, row);
    calls += done.calls;
    t.same(done.faults, [], `S7 ${row.method} ${row.path}`);
  }
  t.ok(calls > 13_000 / shareWanted, `S7: ${calls} calls`);
  t.same(refused.sort(), needsMore, 'S7: what should be right is answered');
}

t.test('S7 wrong input of every kind: standard status, detail and nothing else, no failure', (t) =>
  onBothDatabases(t, 'wrong input', sweep),
);

t.test('S7 what is no route, no method, no address and too much is refused in the same form', (t) =>
  onEmbeddedDatabase(t, 'no routes', async (t, database) => {
    const at = await startTestApp(database, { notFoundPerMinute: 8 });
    t.teardown(() => at.close());
    const { token } = await at.user('viewer');
    const statusOf: readonly (readonly [string, string, number])[] = [
      ['GET', `${v1}/nonsense`, 404],
      ['GET', v1, 404],
      ['GET', `${v1}/`, 404],
      ['PUT', `${v1}/findings`, 405],
      ['DELETE', `${v1}/graph/attack-chains`, 405],
      ['GET', `${v1}/vulnerabilities/%zz`, 400],
      ['GET', `${v1}/vulnerabilities/${'9'.repeat(500)}`, 404],
      ['GET', `${v1}/nonsense?x=${'y'.repeat(5000)}`, 404],
    ];
    for (const [method, url, status] of statusOf) {
      const reply = await at.call(method, url, { token });
      t.equal(reply.status, status, `${method} ${url.slice(0, 60)}: ${reply.text.slice(0, 200)}`);
      t.equal(refusalFault(reply, url), null, `${method} ${url.slice(0, 60)}: ${reply.text.slice(0, 200)}`);
    }
    let reply = await at.call('GET', `${v1}/nonsense`, { token });
    for (let tries = 0; tries < 20 && reply.status === 404; tries++)
      reply = await at.call('GET', `${v1}/nonsense`, { token });
    t.equal(reply.status, 429, 'probing is limited');
    t.equal(refusalFault(reply, v1), null, reply.text);
    t.match((await at.call('GET', '/api/nonsense', { token, ip: '192.0.2.99' })).body, { code: 'not_found' });
  }),
);
