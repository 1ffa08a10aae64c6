// Scans over /api/v1, against the lab: nothing is asked of a target that is not verified; findings go through the
// importer; each is tried again behind a firewall; stop, switch and a process that ends close nothing.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { testMsMax, until } from '#api/testing/waiting';
import { Client, type Json } from '../testing/import-client.js';
import { endLostRuns } from '../kit/runs.js';
import { Lab, labUser } from './lab/lab.js';
import { whenScansEnd } from './run/run-scan.js';

t.setTimeout(testMsMax);
/** Of one target, by all that asks it. */
const perSecond = 40;
type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];

/** A firewall that knows two signs of attacks, in addresses alone. */
async function startFirewall(t: Test, lab: Lab) {
  const asked: number[] = [];
  const waf = { url: '', asked, attackStatus: 403 };
  const server = createServer((incoming, reply) => {
    asked.push(performance.now());
    const isAttack = /'|root|passwd/i.test(decodeURIComponent(incoming.url ?? ''));
    if (isAttack) return void reply.writeHead(waf.attackStatus).end('blocked');
    const headers = { ...incoming.headers, 'x-via-waf': '1' };
    const onward = request(lab.origin + (incoming.url ?? '/'), { method: incoming.method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    onward.on('error', () => reply.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  waf.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return waf;
}

async function suite(t: Test, database: Database): Promise<void> {
  const outbound = createGuardedClient(['127.0.0.0/8']);
  const at = await startTestApp(database, { outbound });
  const lab = await new Lab().start();
  t.teardown(async () => {
    await whenScansEnd();
    await at.close();
    await lab.close();
  });
  const client = new Client(at, (await at.user('admin')).token);
  const application = await client.application();
  const waf = await startFirewall(t, lab);
  const call = async (method: string, path: string, body?: unknown, status = 200): Promise<Json> => {
    const reply = await client.call(method, path, body);
    t.equal(reply.status, status, `${method} ${path}: ${reply.text.slice(0, 300)}`);
    return reply.body;
  };
  const ended = async (id: string): Promise<Json> => {
    let run: Json = {};
    await until(`the scan ${id} ends`, async () => {
      run = (await client.call('GET', `/scans/${id}`)).body;
      return run['status'] !== 'running';
    });
    return run;
  };
  const target = String(
    (
      await call(
        'POST',
        '/targets',
        {
          application_id: application,
          url: `${lab.origin}/`,
          requests_per_second: 2000,
          // two flaws, and pages beside them: what is tried is the way through the API
          scope_paths: ['/catalog', '/catalog-safe', '/show/text', '/account', '/login', '/robots.txt'],
        },
        201,
      )
    )['id'],
  );
  const begin = async (status = 202) => call('POST', '/scans', { target_id: target, profile: 'standard' }, status);

  await t.test('a target is scanned once it is proven, and no longer when its address changes', async (t) => {
    t.match(await begin(409), { detail: /not verified/ });
    t.match(await call('POST', `/targets/${target}/verify`, { method: 'file' }, 409), {
      detail: /gatehouse-scan\.txt/,
    });
    t.match(await call('POST', `/targets/${target}/verify`, { method: 'site' }, 409), { detail: /linked to no site/ });
    const ways = await call('GET', `/targets/${target}/verification`);
    lab.verifyToken = String(ways['file'].contents);
    const verified = await call('POST', `/targets/${target}/verify`, { method: 'file' });
    t.match(verified, { verified_by: 'file', verified_at: String });
    t.notMatch(JSON.stringify(verified), lab.verifyToken, 'the token is in no list of targets');
    t.match(await call('PATCH', `/targets/${target}`, { url: `${lab.origin}/x` }), { verified_at: null });
    await call('PATCH', `/targets/${target}`, { url: `${lab.origin}/`, waf_url: waf.url });
    t.match(await begin(409), { detail: /not verified/ });
    await call('POST', `/targets/${target}/verify`, { method: 'file' });
  });

  await t.test('the secret of a session stays in, and goes to no other origin', async (t) => {
    const profile = {
      type: 'form',
      login_url: `${lab.origin}/login`,
      user: labUser.name,
      check_url: `${lab.origin}/account`,
      check_text: 'Hello alice',
    };
    const path = `/targets/${target}/auth-profile`;
    const wrong = { profile: { ...profile, login_url: 'https://other.example/' }, secret: 'x' };
    t.match(await call('PUT', path, wrong, 422), { detail: /is not of the target/ });
    const kept = await call('PUT', path, { profile, secret: labUser.password });
    t.match(kept, { profile: { has_secret: true, user: 'alice' } });
    const all = JSON.stringify([kept, await call('GET', path), await call('GET', '/audit')]);
    t.notMatch(all, labUser.password);
  });

  await t.test('findings go through the importer, are tried behind the firewall, and are proved again', async (t) => {
    // the home page is out of scope: what is scanned comes from the data plane's inventory and the scope
    await call('PATCH', `/targets/${target}`, { scope_paths: [], excluded_paths: homeButCatalog });
    const whole = { status: 'succeeded', progress: 100, result: { complete: true, phase: 'done' } };
    await t.test('nothing reaches a waf_url that is not verified', async (t) => {
      const begun = await begin();
      const note = /Nothing is sent to the waf_url .* not verified/;
      t.match(begun['input'], { waf_url: null, notes: [note] });
      const run = await ended(String(begun['id']));
      t.match(run, { ...whole, result: { notes: [note] } }, JSON.stringify(run));
      const [one] = (await call('GET', `/scans/${run['id']}/findings`))['items'] as Json[];
      t.match(one, { behind_waf: 'not_tried', behind_waf_note: note });
      const again = await call('POST', `/scans/${run['id']}/prove`, { finding: one?.['id'] });
      t.match(again, { still_there: true, behind_waf: 'not_tried', behind_waf_note: note });
      t.equal(waf.asked.length, 0);
      const ways = await call('GET', `/targets/${target}/verification`);
      t.match(ways, { waf: { url: waf.url, is_tried: false, verified_at: null, file: { contents: lab.verifyToken } } });
      await call('POST', `/targets/${target}/verify`, { method: 'header', of: 'waf' }, 409);
      const verified = await call('POST', `/targets/${target}/verify`, { method: 'file', of: 'waf' });
      t.match(verified, { waf_verified_by: 'file', verified_by: 'file' });
    });
    const run = await ended(String((await begin())['id']));
    t.match(run, { ...whole, result: { notes: [] } }, JSON.stringify(run));
    const found = (await call('GET', `/scans/${run['id']}/findings?limit=500`))['items'] as Json[];
    const injection = found.find(({ check }) => check === 'sql-injection-boolean');
    const scripting = found.find(({ check }) => check === 'xss-reflected');
    t.match(injection, { url: `${lab.origin}/catalog`, param: 'number', severity: 'critical', finding_id: String });
    t.match(injection, { request: /GET \/catalog\?number=/, response: /HTTP 200/, proof: /10 turns/ });
    t.match(scripting, { behind_waf: 'exploitable', param: 'term' }, 'the firewall does not know it');
    t.match(scripting, { patch: { fits: false, why: /no firewall/ }, vpatch_id: null });
    const refused = await call('POST', '/vpatches', { vulnerability_id: scripting?.['finding_id'] }, 503);
    t.match(refused, { detail: /no firewall/ });
    t.match(
      found.find(({ check }) => check === 'path-traversal'),
      { behind_waf: 'blocked', patch: null },
      'it knows this one',
    );
    const hub = (await client.findings(application)).filter(({ tool }) => tool === 'gatehouse-dast');
    // two checks that prove the same weakness at one place are one finding
    const named = new Set(found.map(({ finding_id: id }) => String(id)));
    t.same(hub.map(({ id }) => String(id)).toSorted(), [...named].toSorted(), 'each is a finding');
    const [one] = hub.filter(({ rule_id: rule }) => rule === 'xss-reflected');
    t.match(one, { source: 'dast', cwe: ['CWE-79'], tags: ['exploitable-behind-waf'] });
    t.notMatch(JSON.stringify([found, hub]), /session=ey|Lab-Passw0rd/, 'no credentials in what is kept');
    const again = await call('POST', `/scans/${run['id']}/prove`, { finding: scripting?.['id'] });
    t.match(again, { still_there: true, behind_waf: 'exploitable' });
    const traversal = found.find(({ check }) => check === 'path-traversal')?.['id'];
    for (const [status, behind] of Object.entries({ 404: 'unknown', 429: 'unknown', 502: 'unknown', 403: 'blocked' })) {
      waf.attackStatus = Number(status);
      const tried = await call('POST', `/scans/${run['id']}/prove`, { finding: traversal });
      t.match(tried, { still_there: true, behind_waf: behind }, `the firewall's entry answers ${status}`);
    }
    const second = await ended(String((await begin())['id']));
    t.match(second['result'], { report: { created: 0, closed: 0 } });
  });

  await t.test('scan, way behind the firewall and what is proved again share rate and budget', async (t) => {
    const path = `/targets/${target}`;
    const narrow = { excluded_paths: [...homeButCatalog, '/catalog*', '/show/p*', '/login', '/account'] };
    await call('PUT', `${path}/auth-profile`, { profile: null });
    await call('PATCH', path, { ...narrow, requests_per_second: perSecond });
    const before = (await call('GET', '/scans?limit=1'))['items'] as Json[];
    const found = (await call('GET', `/scans/${before[0]?.['id']}/findings?limit=500`))['items'] as Json[];
    const scripting = found.find(({ check }) => check === 'xss-reflected');
    const prove = async () => client.call('POST', `/scans/${before[0]?.['id']}/prove`, { finding: scripting?.['id'] });
    const [from, fromWaf] = [lab.seen.length, waf.asked.length];
    const run = String((await begin())['id']);
    const proofs = await Promise.all([prove(), prove(), prove()]);
    const end = await ended(run);
    const asked = [
      // what the firewall passes on is seen there and here: counted once
      ...lab.seen.slice(from).filter(({ viaWaf }) => !viaWaf),
      ...waf.asked.slice(fromWaf).map((atMs) => ({ atMs, run: 'waf' })),
    ].sort((left, right) => left.atMs - right.atMs);
    for (const { status, body } of proofs) t.match({ status, body }, { status: 200, body: { still_there: true } });
    t.ok(
      ['waf', 'scan', 'prove'].every((name) => asked.some((one) => one.run.startsWith(name))),
      'each of them asked',
    );
    const worst = Math.max(
      ...asked.map((one, at) => asked.filter((other, to) => to >= at && other.atMs < one.atMs + 1000).length),
    );
    // what a busy machine delays arrives together with the next
    t.ok(worst <= perSecond * 1.2, `${worst} requests in a second, ${perSecond} are allowed`);
    t.equal(end['result'].requests, asked.length, 'each is in the budget of the run');
    await call('PATCH', path, { requests_max: 20 });
    t.match(await ended(String((await begin())['id'])), { status: 'timed_out', error: /budget of 20/ });
    const was = lab.seen.length;
    lab.delayMs = 400;
    const slow = prove();
    await until('it asks', async () => lab.seen.length > was);
    const pressed = performance.now();
    await call('PUT', '/scan-switch', { halted: true, reason: 'enough' });
    t.match(await slow, { status: 409, body: { detail: /scans (?:were|are) stopped/i } });
    t.ok(performance.now() - pressed < 1000, 'within a second');
    const last = lab.seen.length;
    await call('PUT', '/scan-switch', { halted: false, reason: 'over' });
    lab.delayMs = 0;
    t.equal(lab.seen.length, last);
    await call('PATCH', path, { excluded_paths: homeButCatalog, requests_per_second: 2000, requests_max: 20_000 });
  });

  await t.test('only who may start scans lets them go further; another origin is proved anew', async (t) => {
    const made = await call(
      'POST',
      '/rbac/roles',
      {
        name: 'keeper',
        permissions: ['view_assets', 'edit_assets', 'view_scans'],
      },
      201,
    );
    t.ok(made['id']);
    const person = await at.user('viewer');
    await call('PUT', `/rbac/grants/${person.id}`, {
      items: [{ scope: 'application', scope_id: application, role: 'keeper' }],
      confined: true,
    });
    const path = `/targets/${target}`;
    const patch = async (body: unknown) => at.call('PATCH', `/api/v1${path}`, { token: person.token, body });
    const { excluded_paths: before } = await call('GET', path);
    const refused: readonly object[] = [
      { excluded_paths: before.slice(1) },
      { scan_methods: ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE'] },
      { requests_per_second: 2000, requests_max: 30_000 },
      { callback_url: 'https://elsewhere.example' },
    ];
    for (const body of refused) {
      const reply = await patch(body);
      t.match(reply, { status: 403, body: { detail: /needs the permission run_scans/ } }, JSON.stringify(body));
    }
    t.same((await call('GET', path))['excluded_paths'], before, 'nothing was changed');
    // a target that is made anew has the bounds of its author: verifying it is what lets a scan go that far
    const anew = await at.call('POST', '/api/v1/targets', {
      token: person.token,
      body: { application_id: application, url: `${lab.origin}/anew`, requests_per_second: 2000 },
    });
    t.equal(anew.status, 201);
    for (const method of ['file', 'header', 'site']) {
      const proof = `/api/v1/targets/${String(anew.body['id'])}/verify`;
      const reply = await at.call('POST', proof, { token: person.token, body: { method } });
      t.match(reply, { status: 403, body: { detail: /run_scans/ } }, method);
    }
    t.equal((await patch({ excluded_paths: [...before, '/more'], scope_paths: ['/'] })).status, 200, 'narrower');
    t.equal((await patch({ scope_paths: [] })).status, 403, 'wider');
    await call('PATCH', path, { excluded_paths: before, scope_paths: [] });
    const [entry] = (await call('GET', '/audit?limit=1'))['items'] as Json[];
    const details = { before: { excluded_paths: [...before, '/more'] }, after: { excluded_paths: before } };
    t.match(entry, { summary: `changed the target ${target}`, details });
    t.match(await call('PATCH', path, { waf_url: `${waf.url}/in` }), { waf_verified_by: 'file' }, 'the same origin');
    t.match(await call('PATCH', path, { waf_url: 'https://elsewhere.example' }), {
      waf_verified_at: null,
      verified_by: 'file',
    });
    await call('PATCH', path, { waf_url: null });
  });

  await t.test('stop, switch and a process that ends close nothing', async (t) => {
    const known = ((await call('GET', '/scans?status=succeeded&limit=1'))['items'] as Json[])[0]?.['id'];
    const [proved] = (await call('GET', `/scans/${known}/findings`))['items'] as Json[];
    for (const status of [403, 429]) {
      lab.refuses = status;
      const refused = await ended(String((await begin())['id']));
      const result = { complete: false, report: { closed: 0 } };
      t.match(refused, { status: 'failed', error: new RegExp(`No page was reached.*${status}`), result });
    }
    t.match(await call('POST', `/scans/${known}/prove`, { finding: proved?.['id'] }, 409), {
      detail: /could not be tried/,
    });
    lab.refuses = null;
    lab.delayMs = 40;
    const first = String((await begin())['id']);
    t.match(await begin(409), { detail: /is running/ }, 'one scan for each target');
    await until('it crawls', async () => (await call('GET', `/scans/${first}`))['result'].requests > 5);
    await call('POST', `/scans/${first}/cancel`);
    t.match(await ended(first), { status: 'canceled', result: { complete: false, report: { closed: 0 } } });
    const second = String((await begin())['id']);
    await until('it crawls', async () => (await call('GET', `/scans/${second}`))['result'].requests > 5);
    await call('PUT', '/scan-switch', { halted: true, reason: 'maintenance' });
    t.match(await ended(second), { status: 'canceled' });
    t.match(await begin(409), { detail: /maintenance/ });
    await call('PUT', '/scan-switch', { halted: false, reason: 'over' });
    const third = String((await begin())['id']);
    await until('it crawls', async () => (await call('GET', `/scans/${third}`))['result'].requests > 5);
    await call('PATCH', `/targets/${target}`, { url: `${lab.origin}/other` });
    t.match(await ended(third), { status: 'canceled', error: /not verified any more/, result: { complete: false } });
    const after = lab.seen.length;
    t.match(await begin(409), { detail: /not verified/ });
    t.equal(lab.seen.length, after, 'nothing is sent to a target whose address was changed');
    lab.delayMs = 0;
    await whenScansEnd();
    const [lost] = await database.sql<{ id: number }[]>`
      insert into vm_runs (kind, application_id, status, input, result, lease_until, created_by, created_at)
      values ('dast', ${application}, 'running', '{}', '{"pages": 7, "complete": false}', '2026-01-01', 't', now())
      returning id`;
    await endLostRuns(database.sql, new Date(at.clock.nowMs));
    t.match(await call('GET', `/scans/${lost?.id}`), { status: 'failed', error: /worker/, result: { pages: 7 } });
    const open = (await client.findings(application)).filter(({ status }) => status === 'resolved');
    t.same(open, [], 'nothing was closed');
  });
}

/** All that the home page leads to, but for a few pages: what a scan of everything finds is the lab's own test. */
const homeButCatalog = [
  ...['/products*', '/member*', '/find*', '/filter*', '/sql-help', '/lottery', '/report*', '/subscribe*', '/ping*'],
  ...[
    '/convert*',
    '/job',
    '/greet*',
    '/letter*',
    '/view*',
    '/doc',
    '/unix-course',
    '/show/*-*',
    '/show/s*',
    '/show/d*',
  ],
  ...['/show/b*', '/show/l*', '/show/c*', '/show/a*', '/show/h*', '/show/n*', '/show-safe/*', '/feedback*', '/note*'],
  ...['/plain', '/go*', '/jump*', '/soon', '/language*', '/reset*', '/api/*', '/app.php*', '/crash*', '/settings*'],
  ...['/admin/*', '/vault*', '/item/*', '/fetch*', '/profile*', '/calendar/*', '/days', '/blog/*', '/s/*', '/loop/*'],
  ...['/private/*', '/download-safe', '/openapi.json'],
];

t.test('scans', (t) => onOneDatabase(t, 'scans', suite));
