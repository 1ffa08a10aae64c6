// Schedules over /api/v1: what is due is begun once, as its owner; overlaps and missed times do what is defined; who
// has lost the right starts nothing any more.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { testMsMax, until } from '#api/testing/waiting';
import { Budget } from '../dast/http/pace.js';
import { Lab } from '../dast/lab/lab.js';
import { keepRunning, whenScansEnd } from '../dast/run/run-scan.js';
import type { Json } from '../testing/import-client.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];

const kev = JSON.stringify({
  ...{ title: 'c', catalogVersion: '1', dateReleased: '2026-02-27T10:00:00.000Z', count: 1 },
  vulnerabilities: [{ cveID: 'CVE-2026-1000', dateAdded: '2026-02-01', dueDate: '2026-02-22', cwes: [] }],
});

async function startPublisher(t: Test): Promise<string> {
  const server = createServer((_, reply) => void reply.end(kev));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/kev.json`;
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.0/8']) });
  const lab = await new Lab().start();
  t.teardown(async () => {
    await whenScansEnd();
    await at.close();
    await lab.close();
  });
  const admin = await at.user('admin');
  const operator = await at.user('operator');
  const as = async (email: string) => String((await at.logIn(email)).body['token']);
  // hours pass: sessions end meanwhile
  const call = async (method: string, path: string, body?: unknown, status = 200, who = admin.email): Promise<Json> => {
    const reply = await at.call(method, `/api/v1${path}`, { token: await as(who), body });
    t.equal(reply.status, status, `${method} ${path}: ${reply.text.slice(0, 300)}`);
    return reply.body;
  };
  const round = async (): Promise<unknown> => {
    const job = at.jobs.find(({ name }) => name === 'vm-schedules');
    return job?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
  };
  const clockTo = (text: string): void => void (at.clock.nowMs = Date.parse(text));
  const application = String((await call('POST', '/applications', { name: 'a' }, 201))['id']);
  const made = await call(
    'POST',
    '/targets',
    {
      ...{ application_id: application, url: `${lab.origin}/show/text?word=a`, requests_per_second: 2000 },
      scope_paths: ['/show/text', '/robots.txt'],
    },
    201,
  );
  const target = String(made['id']);
  const verify = async () => {
    lab.verifyToken = String((await call('GET', `/targets/${target}/verification`))['file'].contents);
    await call('POST', `/targets/${target}/verify`, { method: 'file' });
  };
  const nightly = {
    ...{ name: 'nightly', kind: 'scan', cron: '0 3 * * *', timezone: 'Europe/Vienna' },
    payload: { target_id: target, profile: 'quick' },
  };
  const read = async (id: string): Promise<Json> => call('GET', `/schedules/${id}`);
  let schedule = '';

  await t.test('what is no schedule is refused with what to write', async (t) => {
    const table: readonly (readonly [Json, RegExp])[] = [
      [{ cron: '* * * * *' }, /more often/],
      [{ cron: '0 0 31 2 *' }, /never comes/],
      [{ timezone: 'Mars/Base' }, /no time zone/],
      [{ payload: { target_id: target } }, /takes target_id and profile/],
      [{ kind: 'feed' }, /takes set/],
    ];
    for (const [wrong, words] of table)
      t.match(
        await call('POST', '/schedules', { ...nightly, ...wrong }, 422),
        { detail: words },
        JSON.stringify(wrong),
      );
    t.match(await call('POST', '/schedules', { ...nightly, payload: { target_id: '999', profile: 'quick' } }, 404), {});
    const viewer = await at.user('viewer');
    t.match(await call('POST', '/schedules', nightly, 403, viewer.email), { detail: /manage_schedules/ });
    const own = await call('POST', '/schedules', nightly, 201, operator.email);
    t.match(own, { next_run_at: '2026-03-02T02:00:00.000Z', enabled: true, owner: operator.email, last_outcome: null });
    schedule = String(own['id']);
    t.match(await call('GET', '/schedules?kind=scan&enabled=true'), { total: 1, items: [{ id: schedule }] });
  });

  await t.test('what is due is begun once; what cannot begin says why', async (t) => {
    t.equal(await round(), '0 scheduled runs were begun', 'nothing is due');
    clockTo('2026-03-02T02:00:05Z');
    t.equal(await round(), '0 scheduled runs were begun');
    const refused = { last_outcome: 'refused', last_reason: /not verified/, next_run_at: '2026-03-03T02:00:00.000Z' };
    t.match(await read(schedule), refused);
    await verify();
    clockTo('2026-03-03T02:00:05Z');
    t.equal(await round(), '1 scheduled runs were begun');
    t.equal(await round(), '0 scheduled runs were begun', 'once');
    const after = await read(schedule);
    t.match(after, { last_outcome: 'started', last_run_id: String, last_due_at: '2026-03-03T02:00:00.000Z' });
    await whenScansEnd();
    const run = await call('GET', `/scans/${String(after['last_run_id'])}`);
    t.match(run, { status: 'succeeded', created_by: operator.email, input: { profile: 'quick' } });
    const entries = JSON.stringify((await call('GET', '/audit?limit=20'))['items']);
    t.match(entries, /began the scan \d+ \(quick\) of .* \(by a schedule\)/);
  });

  await t.test('where as many scans run as may, it is tried again a minute later', async (t) => {
    let free = (): void => undefined;
    const done = new Promise<void>((resolve) => (free = resolve));
    const budget = new Budget({ requestsMax: 1, secondsMax: 1 });
    for (let place = 0; place < 4; place += 1)
      keepRunning(9_000_000 + place, { targetId: 0, budget, stop: new AbortController(), done });
    clockTo('2026-03-04T02:00:05Z');
    t.equal(await round(), '0 scheduled runs were begun');
    t.match(await read(schedule), {
      ...{ last_outcome: 'refused', last_reason: /scans are running/ },
      next_run_at: '2026-03-04T02:01:05.000Z',
    });
    free();
    await whenScansEnd();
    clockTo('2026-03-04T02:01:06Z');
    t.equal(await round(), '1 scheduled runs were begun');
    t.match(await read(schedule), { last_outcome: 'started', next_run_at: '2026-03-05T02:00:00.000Z' });
    await whenScansEnd();
  });

  await t.test(
    'missed times are made up for by one run, or left out; what still runs is not begun twice',
    async (t) => {
      clockTo('2026-03-09T11:00:00Z');
      t.equal(await round(), '1 scheduled runs were begun', 'one for six nights');
      t.match(await read(schedule), { next_run_at: '2026-03-10T02:00:00.000Z' });
      await whenScansEnd();
      await call('PATCH', `/schedules/${schedule}`, { missed: 'skip' }, 200, operator.email);
      clockTo('2026-03-12T11:00:00Z');
      t.equal(await round(), '0 scheduled runs were begun');
      t.match(await read(schedule), { last_outcome: 'missed', next_run_at: '2026-03-13T02:00:00.000Z' });
      lab.delayMs = 100;
      const before = lab.seen.length;
      const run = await call('POST', `/schedules/${schedule}/run-now`, undefined, 202);
      t.match(run, { kind: 'dast', status: 'running', created_by: admin.email });
      t.match(await call('POST', `/schedules/${schedule}/run-now`, undefined, 409), { detail: /still goes on/ });
      await until('it asks', async () => lab.seen.length > before);
      clockTo('2026-03-13T02:00:05Z');
      await round();
      t.match(await read(schedule), {
        last_outcome: 'overlapped',
        last_reason: new RegExp(`Its run ${String(run['id'])} `),
      });
      await call('POST', `/scans/${String(run['id'])}/cancel`);
      await whenScansEnd();
      lab.delayMs = 0;
    },
  );

  await t.test('paused it starts nothing, resumed it makes up for nothing; a change moves its next time', async (t) => {
    t.match(await call('POST', `/schedules/${schedule}/pause`), { enabled: false, next_run_at: null });
    await call('POST', `/schedules/${schedule}/pause`, undefined, 409);
    clockTo('2026-03-20T03:00:00Z');
    t.equal(await round(), '0 scheduled runs were begun');
    t.match(await call('POST', `/schedules/${schedule}/resume`), { next_run_at: '2026-03-21T02:00:00.000Z' });
    // in summer time it is 02:00 in Vienna at 00:00 UTC
    const changed = await call(
      'PATCH',
      `/schedules/${schedule}`,
      { cron: '0 2 1 4 *', missed: 'run_once' },
      200,
      operator.email,
    );
    t.match(changed, { next_run_at: '2026-04-01T00:00:00.000Z', owner: operator.email });
  });

  await t.test('it runs with the rights that its owner has then', async (t) => {
    await call('PATCH', `/users/${operator.id}`, { role: 'viewer' });
    clockTo('2026-04-01T00:00:05Z');
    t.equal(await round(), '0 scheduled runs were begun');
    t.match(await read(schedule), {
      last_outcome: 'refused',
      last_reason: /has not the permission run_scans any more/,
    });
    await call('POST', `/users/${operator.id}/suspend`);
    clockTo('2027-04-01T00:00:05Z');
    await round();
    t.match(await read(schedule), { last_outcome: 'refused', last_reason: /suspended/ });
  });

  await t.test('feeds: fetched at the time of the schedule, refused where no address is set', async (t) => {
    const feed = { name: 'kev', kind: 'feed', cron: '0 6 * * *', payload: { set: 'kev' }, jitter_seconds: 600 };
    const { id } = await call('POST', '/schedules', feed, 201);
    t.match(await call('POST', `/schedules/${String(id)}/run-now`, undefined, 409), { detail: /No address is set/ });
    const settings = { vm_kev_url: await startPublisher(t) };
    const reply = await at.call('PATCH', '/api/settings', { token: await as(admin.email), body: settings });
    t.equal(reply.status, 200, reply.text);
    clockTo('2027-04-02T06:15:00Z');
    t.equal(await round(), '1 scheduled runs were begun');
    const after = await read(String(id));
    t.match(after, { application_id: null, last_outcome: 'started', timezone: 'UTC' });
    t.match(await call('GET', `/runs/${String(after['last_run_id'])}`), {
      status: 'succeeded',
      created_by: admin.email,
    });
    await call('DELETE', `/schedules/${String(id)}`, undefined, 204);
    await call('DELETE', `/targets/${target}`, undefined, 204);
    clockTo('2028-04-01T00:00:05Z');
    t.equal(await round(), '0 scheduled runs were begun', 'a target that is gone is asked for in vain');
  });
}

t.test('schedules', (t) => onOneDatabase(t, 'schedules', suite));
