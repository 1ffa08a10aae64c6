// A user scans the second lab over HTTP: a target is made, proved and scanned, and its findings are read. The scan has
// a browser where there is one; without, it says which pages it did not look at, and why.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startTestApp, testEnv } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { testMsMax, until } from '#api/testing/waiting';
import { Client, type Json } from '../../../testing/import-client.js';
import { findChromium } from '../../browser/process.js';
import { templateOf } from '../../http/forms.js';
import { callbackList, whenScansEnd } from '../../run/run-scan.js';
import { Harbour, harbourFlaws, harbourToken } from './harbour.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];

const nameOf = ({ check, url, param }: Json): string => {
  const path = decodeURIComponent(new URL(String(url)).pathname);
  return `${check} ${templateOf(path).replaceAll(/\{[^/]*\}/g, '{}')} ${param ?? ''}`.trim();
};

/** What a place of the target that fetches addresses ends up at. */
async function startListener(t: Test): Promise<string> {
  const server = createServer((request, reply) => {
    const answer = callbackList.take((request.url ?? '').split('/').at(-1) ?? '');
    reply.writeHead(answer === null ? 404 : 200).end(answer ?? '');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A program in the place of Chromium, whose text can be changed; another user may run it. */
async function startStandIn(t: Test) {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-harbour-'));
  t.teardown(async () => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  const path = join(directory, 'chromium');
  const become = async (text: string | null): Promise<void> => {
    await rm(path, { force: true });
    if (text !== null) await writeFile(path, `#!/bin/sh\n${text}\n`);
    if (text !== null) await chmod(path, 0o755);
  };
  return { path, become };
}

/** As Chromium 156 ends where this is forbidden, with what else it writes there. */
const dying = (fatal: string): string =>
  ['ERROR:filesystem_posix.cc:63] mkdir : No such file or directory (2)', `FATAL:zygote_host_impl_linux.cc:${fatal}`]
    .map((line) => `echo "[1:1:1129/182221.81:${line}" >&2`)
    .concat('kill -TRAP $$')
    .join('\n');
const withoutNamespaces = dying('130] No usable sandbox! If this is a Debian system, please install');
const withoutChroot = dying('254] Failed to receive hello message from zygote');
const noSandbox = /^Chromium does not run without its sandbox, .*RestrictNamespaces=/;

async function suite(t: Test, database: Database): Promise<void> {
  const outbound = createGuardedClient(['127.0.0.0/8']);
  const lab = await new Harbour().start();
  const standIn = await startStandIn(t);
  const chromium = standIn.path;
  const at = await startTestApp(database, { outbound, env: { ...testEnv, chromium } });
  t.teardown(async () => {
    await whenScansEnd();
    await at.close();
    await lab.close();
  });
  const client = new Client(at, (await at.user('admin')).token);
  const call = async (method: string, path: string, body?: unknown, status = 200): Promise<Json> => {
    const reply = await client.call(method, path, body);
    t.equal(reply.status, status, `${method} ${path}: ${reply.text.slice(0, 300)}`);
    return reply.body;
  };
  const { id } = await call(
    'POST',
    '/targets',
    {
      application_id: await client.application(),
      url: `${lab.origin}/`,
      requests_per_second: 2000,
      requests_max: 60_000,
      excluded_paths: ['/intern/lager/tief'],
      callback_url: await startListener(t),
    },
    201,
  );
  lab.verifyToken = String((await call('GET', `/targets/${id}/verification`))['file'].contents);
  await call('POST', `/targets/${id}/verify`, { method: 'file' });
  const profile = { type: 'cookie', name: 'token', check_url: `${lab.origin}/rest/account`, check_text: 'harbour' };
  await call('PUT', `/targets/${id}/auth-profile`, { profile, secret: harbourToken });
  const scan = async (body: Json): Promise<{ run: Json; found: string[] }> => {
    const begun = await call('POST', '/scans', { target_id: id, ...body }, 202);
    let run: Json = {};
    await until('the scan ends', async () => {
      run = (await client.call('GET', `/scans/${begun['id']}`)).body;
      return run['status'] !== 'running';
    });
    const { items } = await call('GET', `/scans/${begun['id']}/findings?limit=500`);
    return { run, found: (items as Json[]).map(nameOf) };
  };

  // each of these scans goes on to its end
  for (const [name, program, why] of [
    ['that may make no namespaces', withoutNamespaces, noSandbox],
    ['that may not use chroot', withoutChroot, noSandbox],
    ['that ends at once', 'kill -KILL $$', /^The browser has ended \(SIGKILL\)\.$/],
    ['that says nothing', 'exit 1', /^The browser has ended\.$/],
    ['that is no program', null, /^The variable CHROMIUM of the control plane says \/.*, which is no program\.$/],
  ] as const)
    await t.test(`with a browser ${name} the scan says so`, async (t) => {
      await standIn.become(program);
      const { run } = await scan({ profile: 'quick', browser: true });
      t.match(run, { status: 'succeeded', input: { browser: true }, result: { complete: true } }, JSON.stringify(run));
      const { browser, notes } = run['result'] as { browser: Json; notes: string[] };
      t.match(browser, { pages: 0, requests: 0 });
      const told = `${browser['not_looked_at']} pages that need a browser were not looked at in one. `;
      t.ok(Number(browser['not_looked_at']) > 1);
      const [note = '', ...others] = notes.filter((one) => one.startsWith(told));
      t.match(note.slice(told.length), why, notes.join());
      t.same(others, []);
    });

  await t.test('without a browser the scan says what it did not look at', async (t) => {
    const { run } = await scan({ profile: 'quick' });
    t.match(run, { status: 'succeeded', input: { browser: false } }, JSON.stringify(run));
    t.match(run['result'], { browser: { pages: 0, requests: 0 } });
    const note = /^\d+ pages that need a browser were not looked at in one\. The scan was begun without one\.$/;
    t.ok(
      (run['result'].notes as string[]).some((one) => note.test(one)),
      run['result'].notes.join(),
    );
  });

  const real = findChromium(null);
  const skip = real === null ? 'there is no Chromium' : false;
  await t.test('with a browser what only scripts ask for is tried', { skip }, async (t) => {
    await standIn.become(`exec '${real}' "$@"`);
    const before = lab.asked.length;
    const { run, found } = await scan({ profile: 'full' });
    t.match(run, { status: 'succeeded', result: { complete: true } }, JSON.stringify(run));
    const missing = harbourFlaws.filter((one) => !found.includes(one));
    const wrong = found.filter((one) => !harbourFlaws.includes(one));
    const { requests, seconds, browser } = run['result'];
    t.comment(
      `${found.length} of ${harbourFlaws.length}; ${requests} requests, ${seconds} s, ${JSON.stringify(browser)}`,
    );
    t.same(missing, [], 'all are found');
    t.same(wrong, [], 'nothing else is reported');
    t.same(lab.harm, [], 'no logout, nothing destroyed');
    t.ok(
      lab.asked.slice(before).every(({ run: of }) => /^scan-\d+$/.test(of)),
      'each request says whose it is',
    );
    // values of checks are no steps of the crawl
    const steps = lab.asked.filter(({ path }) => /^\/rest\/page\/\d+$|^\/kalender\?monat=-?\d+$/.test(path));
    t.ok(new Set(steps.map(({ path }) => path)).size < 60, 'traps do not catch it');
  });
}

await onOneDatabase(t, 'the second lab', suite);
