// What a finding says of virtual patches is what POST /vpatches does with it, over /api/v1 with rules that are compiled
// and run.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { testMsMax, until } from '#api/testing/waiting';
import { Client, type Json } from '../../testing/import-client.js';
import { Lab } from '../lab/lab.js';
import { whenScansEnd } from './run-scan.js';

t.setTimeout(testMsMax);
/** What is slow, and what has nothing to do with rules. */
const leftOut = [
  ...['/report*', '/subscribe*', '/job', '/ping*', '/convert*', '/letter*', '/greet*', '/member*', '/feedback*'],
  ...['/note*', '/show-safe/*', '/api/*', '/blog/*', '/s/*', '/calendar/*', '/days', '/loop/*', '/item/*', '/login'],
  ...['/find*', '/filter*', '/doc*', '/lottery', '/sql-help', '/fetch*', '/profile*', '/vault*', '/openapi.json'],
];
type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];

async function suite(t: Test, database: Database): Promise<void> {
  const outbound = createGuardedClient(['127.0.0.0/8']);
  // a firewall whose rules can be tried; nothing is put in force here
  const tryRequests = async (): Promise<never> => Promise.reject(new Error('nothing serves in this test'));
  const at = await startTestApp(database, { outbound, tryRequests });
  const lab = await new Lab().start();
  t.teardown(async () => {
    await whenScansEnd();
    await at.close();
    await lab.close();
  });
  const client = new Client(at, (await at.user('admin')).token);
  const post = async (path: string, body: object): Promise<Json> => (await client.call('POST', path, body)).body;
  const made = await post('/targets', {
    application_id: await client.application(),
    url: `${lab.origin}/`,
    // no firewall stands before it: what is found is exploitable behind its entry, too
    waf_url: lab.origin,
    requests_per_second: 2000,
    excluded_paths: leftOut,
  });
  const target = String(made['id']);
  lab.verifyToken = String((await client.call('GET', `/targets/${target}/verification`)).body['file'].contents);
  t.match(await post(`/targets/${target}/verify`, { method: 'file' }), { verified_by: 'file' });
  const { id } = await post('/scans', { target_id: target, profile: 'standard' });
  let run: Json = {};
  await until('the scan ends', async () => {
    run = (await client.call('GET', `/scans/${id}`)).body;
    return run['status'] !== 'running';
  });
  t.match(run, { status: 'succeeded' }, JSON.stringify(run));
  const { body } = await client.call('GET', `/scans/${id}/findings?limit=500`);
  const found = (body['items'] as Json[]).filter(({ patch }) => patch !== null);
  const fits = new Set<string>();
  const asked = new Set<string>();
  for (const { check, url, patch, finding_id: finding } of found) {
    const place = `${check} ${new URL(url).pathname}`;
    // two checks that prove the same weakness at one place are one finding
    if (asked.has(String(finding))) continue;
    asked.add(String(finding));
    const reply = await client.call('POST', '/vpatches', { vulnerability_id: finding });
    if (!patch.fits) t.match(reply, { status: 422, body: { detail: patch.why } }, place);
    else {
      t.match(reply, { status: 201, body: { strategy: patch.strategy } }, `${place}: ${reply.text.slice(0, 300)}`);
      t.equal(reply.body['explanation'].join(' '), patch.why);
      fits.add(place);
    }
  }
  t.ok(asked.size > fits.size, 'some have no patch');
  for (const one of ['text', 'double', 'single', 'area', 'comment'])
    t.ok(fits.has(`xss-reflected /show/${one}`), `the evidence of /show/${one} is an attack that a rule sees`);
}

t.test('virtual patches of findings of scans', (t) => onOneDatabase(t, 'fitting', suite));
