// Each kind of tracker from the first test of its settings to the ticket that is closed: over HTTP, against a server
// that answers as the tracker does.
import t, { type Test } from 'tap';
import { onBothDatabases } from '#api/testing/databases';
import { cases, commentsOf, type Case } from './testing/fake-trackers.js';
import { minute, stageOf, type Database, type Stage } from './testing/stage.js';

const hostile = 'Ping @admin <b>*x*</b> {code} [a](https://evil.example) #1 [code]<i>[/code]';
const description = 'first line\n/close\nh1. head\nconnect with password=Hunter2-Secret-99 please';

/** What must not stand in the text of a ticket, as it means something there. */
const unwanted: Readonly<Record<string, readonly RegExp[]>> = {
  jira_cloud: [],
  jira_datacenter: [/(?<!\\)\{code/, /(?<!\\)\[a/, /^h1\./m, /(?<!\\)\*x/],
  github: [/(?<!\\)<b/, /@admin/, /#1/, /(?<!\\)\[a\]/, /(?<!\\)\*x/],
  gitlab: [/(?<!\\)<b/, /@admin/, /#1/, /(?<!\\)\[a\]/, /^\/close/m],
  servicenow: [/\[code\]/],
  webhook: [/(?<!\\)<b/, /(?<!\\)\[a\]/],
};

async function testsAndMakes(t: Test, stage: Stage): Promise<string> {
  const { of, fake } = stage;
  t.match((await stage.integration())['state'], 'untested');
  const tried = await stage.client.call('POST', `/integrations/${stage.id}/test`);
  t.match(tried, { status: 200, body: { ok: true, latency_ms: Number, detail: /\w/ } }, tried.text);
  t.match((await stage.integration())['state'], 'ok');
  const finding = await stage.finding(hostile, { description });
  const { status, body, text } = await stage.ask([finding]);
  t.equal(status, 202, text);
  const [issue] = fake.issues;
  if (issue === undefined) throw new Error(text);
  t.match(body['items'], [
    {
      vuln_id: finding,
      created: true,
      ticket: { state: 'open', key: of.key(issue), url: /^https?:\/\//, last_error: null },
    },
  ]);
  t.match(of.title(issue), /^\[high\] Ping @admin/);
  const said = of.text(issue);
  for (const one of unwanted[of.type] ?? []) t.notMatch(said, one, `${of.type}: ${said}`);
  t.match(said, /CWE\\?-79/);
  t.notMatch(JSON.stringify(issue.raw), /Hunter2/, 'secrets are masked');
  t.match(JSON.stringify(issue.raw), /gatehouse-[0-9a-f]{24}/, 'with the marker');
  const again = await stage.ask([finding]);
  t.match(again.body['items'], [{ created: false, ticket: { key: of.key(issue) } }]);
  t.equal(fake.issues.length, 1, 'asked twice, made once');
  const all = JSON.stringify([await stage.integration(), again.body, (await stage.client.call('GET', '/audit')).body]);
  t.notOk(all.includes(of.secret), 'the secret is in no answer and no audit entry');
  return finding;
}

async function comesBack(t: Test, stage: Stage, finding: string): Promise<void> {
  const { of, fake } = stage;
  const [issue] = fake.issues;
  if (issue === undefined) return;
  const person = await stage.at.user('operator', 'dev@example.org');
  await stage.move(finding, 'confirmed');
  fake.say(issue, 'Dana', 'I look at it; token=ghp_abcdefghijklmnopqrstuvwxyz0123456789');
  if (of.namesAssignee) issue.assignee = 'Dev@Example.org';
  issue.isOpen = false;
  await stage.round(6 * minute);
  t.equal(await stage.status(finding), 'fix_pending', 'a closed ticket waits for the proof of its fix');
  const { body: history } = await stage.client.call('GET', `/vulnerabilities/${finding}/history`);
  t.match(history['items'][0], { from: 'confirmed', to: 'fix_pending', by: 'ticket', reason: /was closed in/ });
  const comments = await stage.comments(finding);
  t.match(comments, [{ author: /^Dana \(/, text: /^I look at it/ }]);
  t.notMatch(JSON.stringify(comments), /ghp_abcdefghijklmnop/, 'what comes back is masked as well');
  const { body: now } = await stage.client.call('GET', `/vulnerabilities/${finding}`);
  t.equal(now['assignee_id'], of.namesAssignee ? person.id : null);
  t.match(await stage.ticket(finding), { state: 'closed', vulns: [{ id: finding, status: 'fix_pending' }] });
  for (let i = 0; i < 3; i++) await stage.round(70 * minute);
  t.equal((await stage.comments(finding)).length, comments.length, 'a comment comes once');
  t.equal(await stage.status(finding), 'fix_pending', 'never resolved by itself');
  t.equal(commentsOf(issue).length, 1, 'nothing is said to a ticket for what it said itself');
}

async function goesThere(t: Test, stage: Stage): Promise<void> {
  const { of, fake } = stage;
  const finding = await stage.finding('closed here');
  await stage.ask([finding]);
  const issue = fake.issues.at(-1);
  if (issue === undefined) throw new Error('no ticket');
  await stage.round(6 * minute);
  await stage.move(finding, 'resolved');
  await stage.round();
  t.equal(issue.isOpen, false, 'the ticket is closed');
  t.match(commentsOf(issue), [/These findings are closed/], commentsOf(issue).join('\n'));
  t.match(await stage.ticket(finding), { state: 'closed', last_error: null });
  for (let i = 0; i < 3; i++) await stage.round(70 * minute);
  t.equal(commentsOf(issue).length, 1, 'said once');
  t.equal(await stage.status(finding), 'resolved', 'and it stays what people made it');
  t.equal((await stage.comments(finding)).length, 0, 'what was said from here does not come back');
  await stage.move(finding, 'reopened');
  await stage.round();
  t.equal(issue.isOpen, true, 'open again with its finding');
  t.match(commentsOf(issue).at(-1), /These findings are open again/);
  await stage.round(6 * minute);
  t.equal(await stage.status(finding), 'reopened');
  t.equal(of.reads ? (await stage.ticket(finding))['state'] : 'open', 'open');
}

async function groups(t: Test, stage: Stage): Promise<void> {
  const { fake, of } = stage;
  const before = fake.issues.length;
  const single = await stage.finding('one alone');
  await stage.ask([single]);
  const others = [await stage.finding('first of two'), await stage.finding('second of two', { severity: 'critical' })];
  const { body } = await stage.ask([single, ...others], { grouped: true });
  t.equal(fake.issues.length, before + 2, 'one for those that had none');
  const keys = (body['items'] as { ticket: { key: string } }[]).map(({ ticket }) => ticket.key);
  t.equal(keys[1], keys[2]);
  t.not(keys[0], keys[1]);
  const issue = fake.issues.at(-1);
  if (issue === undefined) return;
  t.match(of.title(issue), /^2 findings: \[critical\] second of two/);
  t.match(of.text(issue), /first of two[^]*|second of two/);
  await stage.move(others[0] ?? '', 'resolved');
  await stage.round();
  t.equal(commentsOf(issue).length, 0, 'not before all are closed');
  await stage.move(others[1] ?? '', 'false_positive', { justification: 'component_not_present' });
  await stage.round();
  t.equal(commentsOf(issue).length, 1);
  t.equal(issue.isOpen, false);
}

async function links(t: Test, stage: Stage): Promise<void> {
  const { fake, of } = stage;
  if (!of.reads) {
    t.match(await stage.ask([await stage.finding('x')], { key: 'HOOK-1' }), { status: 422, text: /nothing is read/ });
    return;
  }
  const before = fake.issues.length;
  const [issue] = fake.issues;
  if (issue === undefined) return;
  const finding = await stage.finding('belongs to a ticket that is there');
  const reply = await stage.ask([finding], { key: of.key(issue) });
  t.match(reply.body['items'], [{ created: true, ticket: { key: of.key(issue), vulns: { length: 2 } } }], reply.text);
  t.equal(fake.issues.length, before, 'none was made');
  const own = fake.add({ fields: { labels: [] }, title: 'by people', body: '', description: '' });
  const lone = await stage.ask([await stage.finding('another')], { key: of.key(own) });
  t.match(lone.body['items'], [
    { ticket: { state: 'open', key: of.key(own), attempts: [{ action: 'link', ok: true }] } },
  ]);
  const none = await stage.finding('of a ticket that is not there');
  const missing = await stage.ask([none], { key: of.key({ ...own, number: 4711 }) });
  t.match(missing.body['items'], [{ ticket: { state: 'failed', key: null, last_error: /There is no|answers GET/ } }]);
}

async function suite(t: Test, database: Database, of: Case): Promise<void> {
  const settings = { close_tickets: true, ...(of.namesAssignee ? { take_assignee: true } : {}) };
  const stage = await stageOf(t, database, of, settings);
  const finding = await testsAndMakes(t, stage);
  if (of.reads) await t.test('its state, comments and assignee come back', (t) => comesBack(t, stage, finding));
  await t.test('what is closed here is said there, and closed', (t) => goesThere(t, stage));
  await t.test('one ticket for several findings', (t) => groups(t, stage));
  await t.test('a ticket that is there is linked', (t) => links(t, stage));
}

for (const of of cases)
  void t.test(of.type, (t) => onBothDatabases(t, of.type, (t, database) => suite(t, database, of)));
