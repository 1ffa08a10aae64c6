// Backups on a schedule: what is due, what is remembered, what people see and may.
import t from 'tap';
import { onBothDatabases } from '../../testing/databases.js';
import { startTestApp } from '../../testing/app.js';
import { until } from '../../testing/waiting.js';
import { createBackupJob } from './job.js';
import type { BackupAsked, BackupReport } from './runs.js';
import { isRunning, listRuns, nextAt, type BackupRun } from './runs.js';

const report: BackupReport = {
  place: '/copies',
  name: 'gatehouse-20260301T120000Z.tar.age',
  bytes: 4321,
  sha256: 'a'.repeat(64),
  tables: 3,
  rows: 99,
  release: '1.0.0',
  secrets: 'sealed',
  checked: 'bytes',
  removed: [],
};
const hourMs = 3600_000;
const runAt = (startedMs: number, over: Partial<BackupRun> = {}): BackupRun => ({
  id: '1',
  started_at: new Date(startedMs),
  ended_at: new Date(startedMs + 1),
  actor: null,
  report,
  error: null,
  ...over,
});

t.test('when the next is due', async (t) => {
  const now = Date.UTC(2026, 2, 1);
  const failed = { report: null, error: 'full' };
  const table: [string, number, BackupRun | undefined, number | null][] = [
    ['off', 0, undefined, null],
    ['off, with older ones', 0, runAt(now), null],
    ['the first at once', 24, undefined, now],
    ['a day after the last', 24, runAt(now - hourMs), now + 23 * hourMs],
    ['an hour after a failure', 24, runAt(now, failed), now + hourMs],
    ['never later than the schedule', 1, runAt(now, failed), now + hourMs],
    ['a clock that was set back', 24, runAt(now + 900 * hourMs), now],
  ];
  for (const [what, hours, last, expected] of table) t.equal(nextAt(hours, last, now), expected, what);
  t.ok(isRunning(runAt(now - hourMs, { ended_at: null }), now));
  t.notOk(isRunning(runAt(now - 4 * hourMs, { ended_at: null }), now), 'its process has ended');
  t.notOk(isRunning(undefined, now));
});

t.test('the schedule', (t) =>
  onBothDatabases(t, 'backup schedule', async (t, database) => {
    const asked: BackupAsked[] = [];
    let outcome: BackupReport | Error | Promise<BackupReport> = report;
    let stopped: (reason: unknown) => void = () => undefined;
    const runBackup = async (given: BackupAsked): Promise<BackupReport> => {
      asked.push(given);
      given.signal.addEventListener('abort', () => stopped(given.signal.reason));
      if (outcome instanceof Error) throw outcome;
      return outcome;
    };
    const at = await startTestApp(database, { runBackup });
    t.teardown(() => at.close());
    const settings = { ...(await at.parts.currentSettings()), backup_every_hours: 24, backup_keep: 3 };
    let everyHours = 0;
    const job = createBackupJob({
      database,
      now: at.parts.now,
      runBackup,
      currentSettings: async () => ({ ...settings, backup_every_hours: everyHours }),
    });
    const look = (): Promise<string> => job.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
    t.match(await look(), /no schedule/);
    everyHours = 24;
    t.match(await look(), /gatehouse-20260301T120000Z\.tar\.age in \/copies/);
    t.match(asked, [{ isSealedWhole: true, keep: 3 }]);
    t.match(await look(), /nothing was due/);
    at.clock.nowMs += 24 * hourMs;
    outcome = new Error('No space left on the store');
    await t.rejects(look(), /No space left/);
    t.equal(asked.length, 2);
    t.match(await look(), /nothing was due/, 'a failure is not tried again at once');
    // logged in now: sessions do not outlive a day
    const [admin, viewer] = [await at.user('admin', 'a@example.org'), await at.user('viewer', 'v@example.org')];
    const status = await at.call('GET', '/api/backup', { token: viewer.token });
    t.match(status, {
      status: 200,
      body: {
        can_run: true,
        every_hours: 0,
        next_at: null,
        items: [
          { state: 'failed', error: 'No space left on the store', name: null, actor: null },
          { state: 'made', name: report.name, bytes: 4321, checked: 'bytes', error: null },
        ],
      },
    });
    t.equal(typeof (status.body as { age_seconds: unknown }).age_seconds, 'number');
    t.equal((await at.call('POST', '/api/backup/run', { token: viewer.token })).status, 403);
    t.equal((await at.call('GET', '/api/backup', { token: null })).status, 401);
    let finish: () => void = () => undefined;
    outcome = new Promise((resolve, reject) => {
      finish = () => resolve(report);
      stopped = reject;
    });
    const askTwice = [1, 2].map(() => at.call('POST', '/api/backup/run', { token: admin.token }));
    const [begun, refused] = (await Promise.all(askTwice)).toSorted((a, b) => a.status - b.status);
    t.match(begun, { status: 202, body: { is_running: true, items: [{ state: 'running' }] } });
    t.match(refused, { status: 409, body: { detail: /being made/ } }, 'one at a time');
    t.match(await look(), /nothing was due/, 'and not beside the schedule');
    t.equal(asked.length, 3);
    finish();
    const newest = async () => (await at.call('GET', '/api/backup', { token: admin.token })).body['items'][0];
    await until('the run ends', async () => (await newest()).state !== 'running');
    t.match(await newest(), { state: 'made', actor: admin.email, checked: 'bytes' });
    const rows = await database.sql`select action from audit_entries where action = 'backup.run'`;
    t.equal(rows.length, 1, 'who asked is in the audit log');
    outcome = new Promise((_, reject) => (stopped = reject));
    t.match(await at.call('POST', '/api/backup/run', { token: admin.token }), { status: 202 });
    await at.app.close();
    const [last] = await listRuns(database.sql, 1);
    t.match(last, { report: null, error: /was stopped/ }, 'a stop ends the run and says so');
  }),
);
