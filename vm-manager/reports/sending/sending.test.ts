// Reports on their way: by hand and by the clock, to a mail server that speaks SMTP, with the mail taken apart.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { root } from '#api/testing/processes/up';
import { makeDirectory } from '#api/testing/temporary';
import { testMsMax } from '#api/testing/waiting';
import { whenQuiet } from '../../kit/runs/background.js';
import { startFakeSmtp, type FakeMail } from '../../notifications/testing/fake-smtp.js';
import { readMail } from '../../notifications/testing/read-mail.js';
import type { Json } from '../../testing/import-client.js';
import { mayReceive } from './receivers.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const minute = 60_000;

t.test('27.9: an entry with @ in front is that domain and no other; letters of either case are the same', (t) => {
  const channel = {
    config: { from: 'g@h.example', to: ['team@a.example'], report_recipients: ['@b.example', 'x@c.d'] },
  };
  const table = {
    'team@a.example': true,
    'Team@A.example': true,
    'other@a.example': false,
    'who@b.example': true,
    'who@B.Example': true,
    'who@sub.b.example': false,
    'who@evilb.example': false,
    'x@c.d': true,
    'ax@c.d': false,
    '@b.example': true, // no mailbox: the schema refuses it before
  };
  for (const [address, may] of Object.entries(table)) t.equal(mayReceive(channel, address), may, address);
  t.end();
});

async function sending(t: Test, database: Database): Promise<void> {
  const smtp = await startFakeSmtp(t);
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.1']) });
  t.teardown(async () => {
    await whenQuiet();
    await at.close();
  });
  const admin = await at.user('admin');
  // hours pass: sessions end meanwhile
  const tokenOf = async (email: string): Promise<string> => String((await at.logIn(email)).body['token']);
  const call = async (method: string, path: string, body?: unknown, who = admin.email) =>
    at.call(method, `/api/v1${path}`, { token: await tokenOf(who), body });
  const made = async (path: string, body: object): Promise<string> => {
    const reply = await call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  };
  const round = async (...names: readonly string[]): Promise<unknown[]> => {
    const told: unknown[] = [];
    for (const name of names)
      told.push(
        await at.jobs
          .find((one) => one.name === name)
          ?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) }),
      );
    return told;
  };
  const mails = (): FakeMail[] => smtp.mails.splice(0);
  const application = await made('/applications', { name: 'Shop' });
  const other = await made('/applications', { name: 'Other' });
  await made('/vulnerabilities', { application_id: application, title: 'x', severity: 'high', cwe: ['CWE-79'] });
  const config = {
    ...{ host: '127.0.0.1', port: smtp.port, security: 'none', from: 'gate@example.org', to: ['team@example.org'] },
    report_recipients: ['@board.example', 'auditor@example.net'],
    console_url: 'https://gatehouse.example',
  };
  const mail = { type: 'email', config };
  const report = await made('/reports', { format: 'pdf', title: 'Lage für Łódź\u202e', sections: ['open-findings'] });
  const send = async (body: object, id = report, who = admin.email) => call('POST', `/reports/${id}/send`, body, who);
  const deliveries = async (query = ''): Promise<Json[]> =>
    (await call('GET', `/reports/deliveries?${query}`)).body['items'] as Json[];
  t.match(await send({}), { status: 409, body: { detail: /no channel of e-mail/ } });
  const channel = await made('/notifications/channels', { name: 'mail', ...mail });

  await t.test('27.9: the file is attached as it was built, a mail for each mailbox', async (t) => {
    t.match((await call('GET', '/reports/channels')).body, {
      items: [{ id: channel, name: 'mail', to: ['team@example.org'], works: true }],
    });
    const recipients = ['boss@board.example', 'auditor@example.net', 'BOSS@board.example'];
    const sent = await send({ channel_id: channel, recipients });
    t.match(sent, { status: 202, body: { items: [{ state: 'queued' }, { recipient: 'auditor@example.net' }] } });
    t.equal((sent.body['items'] as Json[]).length, 2, 'the same mailbox once');
    t.match(await send({ recipients: ['boss@board.example'] }), { status: 409, body: { detail: /waits/ } }, 'twice');
    t.same(await round('vm-report-mail', 'vm-report-mail'), [
      '2 mails with reports were sent',
      '0 mails with reports were sent',
    ]);
    const [first, second, ...more] = mails();
    t.same([first?.to, second?.to, more], [['boss@board.example'], ['auditor@example.net'], []]);
    const { headers, parts } = readMail(first?.text ?? '');
    t.equal(headers.get('to'), 'boss@board.example', 'nobody reads who else got it');
    t.equal(headers.get('subject')?.trim(), 'Lage für Łódź', 'without marks that turn the direction');
    t.match(headers.get('message-id'), /^<gatehouse-report-\d+@gatehouse\.invalid>$/);
    const [text, file] = parts;
    t.match(text?.content.toString(), `${admin.email} sent it to you.`);
    t.match(text?.content.toString(), 'https://gatehouse.example/vulnerabilities/reports');
    t.match(file, { type: /^application\/pdf/, name: /^report-\d+-2026-\d\d-\d\d\.pdf$/ });
    const [stored] = await database.sql<{ content: Uint8Array }[]>`
      select content from vm_report_contents where report_id = ${report}`;
    t.ok(file?.content.equals(Buffer.from(stored?.content ?? [])), 'to the byte');
    t.match(await deliveries(`report_id=${report}`), [
      { recipient: 'auditor@example.net', state: 'sent', attempts: 1, sent_at: String, created_by: admin.email },
      { recipient: 'boss@board.example', state: 'sent' },
    ]);
    t.match((await call('GET', '/audit?limit=5')).text, /sends the report \d+ through the channel mail/);
    const page = await made('/reports', { format: 'html' });
    t.equal((await send({}, page)).status, 202, 'without mailboxes: those of the channel');
    await round('vm-report-mail');
    const [html] = mails();
    t.same(html?.to, ['team@example.org']);
    t.match(readMail(html?.text ?? '').parts[1], { type: /^text\/html/, name: /\.html$/ });
  });

  await t.test('27.9: only to whom the channel allows, only by who may read it and may send', async (t) => {
    const evil = await send({ recipients: ['boss@board.example', 'eve@evil.example'] });
    t.match(evil, { status: 422, body: { detail: /recipients\/1 eve@evil\.example gets no reports/ } });
    for (const wrong of ['a@b.c\r\nBcc: x@y.z', 'Name <a@board.example>', '@board.example', 'a b@board.example'])
      t.equal((await send({ recipients: [wrong] })).status, 422, JSON.stringify(wrong));
    t.equal((await send({ recipients: Array.from({ length: 21 }, (_, n) => `u${n}@board.example`) })).status, 422);
    t.match(await send({ channel_id: '999' }), { status: 422, body: { detail: /channel_id/ } });
    const viewer = await at.user('viewer');
    t.match(await send({}, report, viewer.email), { status: 403, body: { detail: /send_reports/ } });
    const confined = await at.user('operator');
    await call('PUT', `/rbac/grants/${confined.id}`, {
      confined: true,
      items: [{ scope: 'application', scope_id: application, role: 'operator' }],
    });
    t.equal((await send({}, report, confined.email)).status, 404, 'of what they may not read');
    const own = await call('POST', '/reports', { format: 'csv' }, confined.email);
    t.equal((await send({}, String(own.body['id']), confined.email)).status, 202);
    const theirs = await call('GET', '/reports/deliveries', undefined, confined.email);
    t.match(theirs.body, { total: 1, items: [{ report_id: own.body['id'], created_by: confined.email }] });
    const token = await call('POST', '/tokens', { name: 'r', scopes: ['read'] });
    const read = await at.call('POST', `/api/v1/reports/${report}/send`, { token: token.body['token'], body: {} });
    t.equal(read.status, 403, 'a token that reads');
    await round('vm-report-mail');
    t.equal(mails().length, 1);
    // what an administrator takes away holds for mails that wait, too
    await send({ recipients: ['boss@board.example', 'auditor@example.net'] });
    const less = { ...config, report_recipients: ['auditor@example.net'] };
    await call('PATCH', `/notifications/channels/${channel}`, { config: less });
    await round('vm-report-mail');
    t.same(
      mails().map(({ to }) => to),
      [['auditor@example.net']],
    );
    t.match(await deliveries('state=failed'), [{ recipient: 'boss@board.example', last_error: /any more/ }]);
    await call('PATCH', `/notifications/channels/${channel}`, { config });
  });

  await t.test('27.9: what a server does not take is tried again, later and later, then a notice', async (t) => {
    await send({ recipients: ['boss@board.example'] });
    smtp.answers.set('RCPT', '451 greylisted');
    const waits: number[] = [];
    for (let tries = 1; tries <= 3; tries += 1) {
      const before = at.clock.nowMs;
      await round('vm-report-mail');
      const [row] = await deliveries('state=queued');
      t.match(row, { attempts: tries, last_error: /451/ });
      waits.push(Date.parse(String(row?.['not_before'])) - before);
      await round('vm-report-mail');
      t.match(await deliveries('state=queued'), [{ attempts: tries }], 'not before its time');
      at.clock.nowMs += (waits.at(-1) ?? 0) + 1000;
    }
    t.match(
      waits.map((wait) => Math.floor(wait / 30_000)),
      [1, 2, 4],
      waits.join(),
    );
    smtp.answers.delete('RCPT');
    await round('vm-report-mail');
    t.match(mails(), [{ to: ['boss@board.example'] }]);
    t.match(await deliveries(`report_id=${report}&state=sent`), { 0: { attempts: 4, last_error: null } });
    await send({ recipients: ['boss@board.example', 'auditor@example.net'] });
    smtp.answers.set('RCPT', '550 no such user');
    await round('vm-report-mail');
    t.match(await deliveries('state=failed'), [{ last_error: /550/ }, { last_error: /550/ }, {}]);
    const events = (await call('GET', '/events?limit=200')).body['items'] as Json[];
    const failed = events.filter(({ type }) => type === 'report.failed');
    t.match(failed.at(-1), { payload: { summary: /to auditor@example\.net: .*550/ } });
    smtp.answers.delete('RCPT');
    await send({ recipients: ['boss@board.example'] });
    await database.sql`update vm_report_deliveries set attempts = 11 where state = 'queued'`;
    smtp.answers.set('MAIL', '421 busy');
    await round('vm-report-mail');
    t.match((await deliveries('state=failed'))[0], { attempts: 12, last_error: /421/ }, 'it ends');
    smtp.answers.clear();
    await call('PATCH', `/notifications/channels/${channel}`, { enabled: false });
    t.match(await send({}), { status: 409, body: { detail: /switched off/ } });
    await call('PATCH', `/notifications/channels/${channel}`, { enabled: true });
    const gone = await made('/reports', { format: 'csv' });
    await send({}, gone);
    await call('DELETE', `/reports/${gone}`);
    await round('vm-report-mail');
    t.match((await deliveries('state=failed'))[0], { report_id: null, last_error: /deleted/ });
    t.same(mails(), []);
  });

  await t.test('27.9: a schedule builds and sends as its owner, in its zone; failing is a notice', async (t) => {
    const payload = { format: 'html', sections: 'open-findings', days: '7', recipients: 'boss@board.example' };
    const weekly = { name: 'weekly', kind: 'report', cron: '30 8 * * 1', timezone: 'Asia/Kathmandu' };
    const wrong: readonly (readonly [Json, RegExp])[] = [
      [{ ...payload, recipients: 'eve@evil.example' }, /gets no reports/],
      [{ ...payload, recipients: 'boss@board.example,,' }, /no mailbox/],
      [{ ...payload, sections: 'open-findings,nonsense' }, /nonsense, which is no section/],
      [{ ...payload, days: '99' }, /more than 92/],
      [{ sections: 'open-findings' }, /takes/],
    ];
    for (const [body, words] of wrong)
      t.match(await call('POST', '/schedules', { ...weekly, payload: body }), { status: 422, body: { detail: words } });
    const token = (await call('POST', '/tokens', { name: 'c', scopes: ['admin'], application_ids: [application] }))
      .body['token'] as string;
    const byToken = (body: Json) =>
      at.call('POST', '/api/v1/schedules', { token, body: { ...weekly, name: 'of a token', payload: body } });
    t.match(await byToken(payload), { status: 403 }, 'its owner sees more than the token');
    t.equal((await byToken({ ...payload, application_id: other })).status, 404);
    t.equal((await byToken({ ...payload, application_id: application })).status, 201);
    const owner = await at.user('operator');
    const schedule = await call('POST', '/schedules', { ...weekly, payload }, owner.email);
    t.equal(schedule.status, 201, schedule.text);
    const id = String(schedule.body['id']);
    at.clock.nowMs = Date.parse(String(schedule.body['next_run_at'])) + 5000;
    t.equal(new Date(at.clock.nowMs).toISOString().slice(11, 16), '02:45', '8:30 in Kathmandu');
    await round('vm-schedules');
    await whenQuiet();
    await round('vm-report-mail');
    const got = mails().map(({ text }) => readMail(text));
    t.equal(got.length, 2, 'also that of the token');
    const page = got
      .map(({ parts }) => parts[1]?.content.toString() ?? '')
      .find((one) => one.includes('The organisation'));
    t.match(page, /08:30:05 GMT\+5:45/);
    t.match(await deliveries(`schedule_id=${id}`), [{ state: 'sent', schedule_id: id, created_by: owner.email }]);
    const run = (await call('GET', `/schedules/${id}`)).body;
    t.match(run, { last_outcome: 'started', last_run_id: String });
    t.match((await call('GET', `/runs/${String(run['last_run_id'])}`)).body, { status: 'succeeded' });
    await database.sql`
      insert into vm_reports (title, scope, sections, format, created_by, created_by_name, created_at, schedule_id)
      select 'old', '{}', '[]', 'csv', ${owner.id}, 'x', now(), ${id} from generate_series(1, 40)`;
    await call('POST', `/schedules/${id}/run-now`);
    await whenQuiet();
    const [kept] = await database.sql`select count(*)::int as n from vm_reports where schedule_id = ${id}`;
    t.match(kept, { n: 30 }, 'the newest');
    await round('vm-report-mail');
    mails();
    await call('PATCH', `/users/${owner.id}`, { role: 'viewer' });
    await round('vm-outbox');
    at.clock.nowMs += 7 * 24 * 60 * minute;
    await round('vm-schedules');
    await whenQuiet();
    t.match((await call('GET', `/schedules/${id}`)).body, { last_outcome: 'refused', last_reason: /send_reports/ });
    const events = (await call('GET', '/events?limit=500')).body['items'] as Json[];
    t.match(events.filter(({ type }) => type === 'schedule.refused').at(-1), {
      entity: 'schedule',
      entity_id: id,
      payload: { summary: /^weekly: .*send_reports/ },
    });
    await database.sql`update vm_channels set state = 'failed', reason = 'no such user.'`;
    const now = await call('POST', '/schedules', { ...weekly, name: 'own', payload });
    await call('POST', `/schedules/${String(now.body['id'])}/run-now`);
    await whenQuiet();
    const last = ((await call('GET', '/events?limit=500')).body['items'] as Json[]).at(-1);
    t.match(last, { type: 'report.failed', payload: { summary: /The schedule own: The channel mail does not work/ } });
  });

  await t.test('27.9: the commands of docs/reports.md do what it says', async (t) => {
    await database.sql`update vm_channels set state = 'ok'`;
    await call('PATCH', `/notifications/channels/${channel}`, {
      config: { ...config, report_recipients: ['@example.org'] },
    });
    const page = await readFile(join(root, 'docs/reports.md'), 'utf8');
    const [, script = ''] = /```sh\n([^]*?)```/.exec(page) ?? [];
    t.match(script, /reports.*send[^]*schedules/);
    const URL = await at.app.listen({ port: 0, host: '127.0.0.1' });
    const env = { PATH: process.env['PATH'] ?? '', URL, S: await tokenOf(admin.email) };
    const cwd = await makeDirectory(t, 'reports');
    const run = await promisify(execFile)('/bin/bash', ['-eu', '-o', 'pipefail', '-c', script], { cwd, env });
    t.match(run.stdout, /"report_recipients":\["@example.org"\][^]*"recipient":"board@example.org"[^]*"kind":"report"/);
    t.equal((await readFile(join(cwd, 'report.pdf'))).subarray(0, 5).toString(), '%PDF-');
    await whenQuiet();
    await round('vm-report-mail');
    const files = mails().map(({ to, text }) => [to[0], readMail(text).parts[1]?.type.split(';')[0]]);
    t.same(files, Array(2).fill(['board@example.org', 'application/pdf']));
  });

  await t.test('27.9: a file that no mail server takes is refused with what to do', async (t) => {
    await database.sql`update vm_channels set state = 'ok'`;
    await database.sql`
      update vm_report_contents set content = convert_to(repeat('x', 15728641), 'UTF8') where report_id = ${report}`;
    t.match(await send({}), { status: 422, body: { detail: /16 MB, and a mail takes 15: build it with fewer/ } });
  });
}

void onBothDatabases(t, 'vm reports that are sent', sending);
