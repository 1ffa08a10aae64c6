// What is left of scans, over /api/v1 against the lab: log, coverage, comparison; profiles of the organisation; one
// look at a target, scans of groups, single findings again; and the stream of events.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { testMsMax, until } from '#api/testing/waiting';
import { Client, type Json } from '../../testing/import-client.js';
import { whenQuiet } from '../../kit/runs/background.js';
import { Lab } from '../lab/lab.js';
import { whenScansEnd } from '../run/run-scan.js';
import { covered } from './covered.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];

t.test('coverage is measured by what the data plane has seen, whatever identities are called', (t) => {
  const shapes = ['GET https://a.example/items/{}?query:q none', 'GET https://a.example/? none'];
  const run = {
    result: { complete: true, forms: 4, forms_done: 3, shapes, checks: { a: 2 }, not_looked_at: { b: 1 } },
  };
  const seen = ['/items/{id}', '/items/{item}', '/', '/admin'].map((template) => ({ method: 'GET', template }));
  const found = covered(run as never, seen);
  const inventory = { known: 3, covered: 2, percent: 66, missing: ['GET /admin'] };
  t.match(found, { complete: true, percent: 75, inventory });
  t.same(
    found.checks.map(({ id }) => id),
    ['a', 'b'],
  );
  t.match(covered(run as never, []).inventory, { known: 0, percent: null });
  t.end();
});

async function readStream(url: string, headers: Record<string, string>, enough: (text: string) => boolean) {
  const stop = new AbortController();
  const answer = await fetch(url, { headers, signal: stop.signal });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array);
    if (enough(text)) break;
  }
  stop.abort();
  return { type: answer.headers.get('content-type'), text };
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.0/8']) });
  const lab = await new Lab().start();
  t.teardown(async () => {
    await whenScansEnd();
    await whenQuiet();
    await at.close();
    await lab.close();
  });
  const admin = await at.user('admin');
  const client = new Client(at, admin.token);
  const call = async (method: string, path: string, body?: unknown, status = 200): Promise<Json> => {
    const reply = await client.call(method, path, body);
    t.equal(reply.status, status, `${method} ${path}: ${reply.text.slice(0, 300)}`);
    return reply.text === '' ? {} : reply.body;
  };
  const application_id = await client.application();
  const target = async (path: string, more: Json = {}): Promise<string> => {
    const body = { application_id, url: `${lab.origin}${path}`, requests_per_second: 2000, ...more };
    return String((await call('POST', '/targets', body, 201))['id']);
  };
  const mine = await target('/show/text?term=a', { scope_paths: ['/show/text', '/robots.txt', '/.well-known'] });
  lab.verifyToken = String((await call('GET', `/targets/${mine}/verification`))['file'].contents);
  await call('POST', `/targets/${mine}/verify`, { method: 'file' });
  const ended = async (path: string): Promise<Json> => {
    let run: Json = {};
    await until(`${path} ends`, async () => (run = (await client.call('GET', path)).body)['status'] !== 'running');
    return run;
  };
  const scan = async (body: Json): Promise<Json> => {
    const { id } = await call('POST', '/scans', { target_id: mine, ...body }, 202);
    return ended(`/scans/${String(id)}`);
  };

  await t.test('profiles of the organisation run their checks alone, within their limits', async (t) => {
    const body = { name: 'scripts', base: 'standard', checks: ['xss-reflected', 'no-csp'], requests_max: 500 };
    t.match(await call('POST', '/scans/profiles', { ...body, checks: ['none'] }, 422), { detail: /no check none/ });
    t.match(await call('POST', '/scans/profiles', { ...body, name: 'full' }, 422), { detail: /of the product/ });
    const made = await call('POST', '/scans/profiles', body, 201);
    const { items } = await call('GET', '/scans/profiles');
    t.match((items as Json[]).at(-1), { id: made['id'], name: 'scripts', checks: 2, requests_max: 500 });
    t.match((items as Json[])[0], { id: null, name: 'quick', requests_max: null });
    t.match(await call('POST', '/scans', { target_id: mine }, 422), { detail: /profile is missing/ });
    const both = { target_id: mine, profile: 'quick', profile_id: made['id'] };
    t.match(await call('POST', '/scans', both, 422), { detail: /named twice/ });
    await call('POST', '/scans', { target_id: mine, profile_id: '999' }, 404);
    const run = await scan({ profile_id: made['id'] });
    t.match(run, { status: 'succeeded', input: { profile: 'scripts' } });
    t.same(Object.keys(run['result'].checks as object).sort(), ['no-csp', 'xss-reflected']);
    await call('PATCH', `/scans/profiles/${String(made['id'])}`, { requests_max: 3 });
    t.match(await scan({ profile_id: made['id'] }), { status: 'timed_out', error: /budget of 3/ });
  });

  let first: Json = {};
  await t.test('log, coverage and comparison say what a scan did, and what it says nothing about', async (t) => {
    first = await scan({ profile: 'standard' });
    const log = await call('GET', `/scans/${first['id']}/log`);
    const lines = (log['items'] as Json[]).map(({ text }) => String(text)).join('\n');
    t.match(lines, /phase crawl[\s\S]*phase checks[\s\S]*found xss-reflected \(\w+\) at GET .*\[term\]/);
    t.match(lines, /the scan came to its end$/);
    const rest = await call('GET', `/scans/${first['id']}/log?after=${log['next_after'] - 1}`);
    t.equal((rest['items'] as Json[]).length, 1);
    const coverage = await call('GET', `/scans/${first['id']}/coverage`);
    t.match(coverage, { complete: true, percent: 100, inventory: { percent: null } });
    t.ok((coverage['checks'] as Json[]).some(({ id }) => id === 'xss-reflected'));
    const quick = await scan({ profile: 'quick' });
    const places = (list: unknown) => (list as Json[]).map(({ check }) => String(check));
    const less = await call('GET', `/scans/compare?a=${first['id']}&b=${quick['id']}`);
    t.ok(places(less['not_looked_at']).includes('xss-reflected'), 'quick does not look for it');
    t.same(less['fixed'], []);
    t.ok(places(less['same']).length > 0);
    const more = await call('GET', `/scans/compare?a=${quick['id']}&b=${first['id']}`);
    t.ok(places(more['new']).includes('xss-reflected'));
    t.match(await call('GET', `/scans/compare?a=${first['id']}&b=999999`, undefined, 404), { detail: /scan 999999/ });
    await call('DELETE', `/scans/${quick['id']}`, undefined, 204);
    await call('GET', `/scans/${quick['id']}/log`, undefined, 404);
  });

  await t.test('a single finding is looked for again by what has found it', async (t) => {
    const found = (await call('GET', `/scans/${first['id']}/findings?limit=100`))['items'] as Json[];
    const scripting = found.find(({ check }) => check === 'xss-reflected');
    const path = `/vulnerabilities/${String(scripting?.['finding_id'])}/retest`;
    const run = await call('POST', path, undefined, 202);
    t.match(run, { kind: 'retest', input: { check: 'xss-reflected', vulnerability_id: scripting?.['finding_id'] } });
    t.match(await ended(`/runs/${String(run['id'])}`), { status: 'succeeded', result: { still_there: true } });
    lab.refuses = 403;
    const refused = await call('POST', path, undefined, 202);
    t.match(await ended(`/runs/${String(refused['id'])}`), { status: 'failed', error: /could not be tried/ });
    lab.refuses = null;
    const byHand = { application_id, title: 'x', severity: 'low' };
    const { id } = await call('POST', '/vulnerabilities', byHand, 201);
    t.match(await call('POST', `/vulnerabilities/${String(id)}/retest`, undefined, 409), { detail: /report again/ });
  });

  await t.test('a look at a target, and a scan of a group', async (t) => {
    const probe = await call('POST', `/targets/${mine}/probe`);
    t.match(probe, { status: 200, headers: { server: 'Lab/1.4.2' }, title: 'Lab', tls: null, technologies: [] });
    t.match(await call('GET', `/targets/${mine}`), { probe: { status: 200 }, probed_at: String, verified_by: 'file' });
    await call('PATCH', `/targets/${mine}`, { excluded_paths: ['/show'] });
    t.match(await call('POST', `/targets/${mine}/probe`, undefined, 409), { detail: /excluded/ });
    await call('PATCH', `/targets/${mine}`, { excluded_paths: [] });
    const other = await target('/other');
    const group = String((await call('POST', '/target-groups', { name: 'all' }, 201))['id']);
    const path = `/target-groups/${group}/scan`;
    t.match(await call('POST', path, { profile: 'quick' }, 409), { detail: /no targets/ });
    await call('PUT', `/target-groups/${group}/targets`, { target_ids: [mine, other] });
    const { runs, skipped } = await call('POST', path, { profile: 'quick' }, 202);
    t.match(runs, [{ kind: 'dast', status: 'running', input: { target_id: mine } }]);
    t.match(skipped, [{ target_id: other, reason: /not verified/ }]);
    t.match(await call('DELETE', `/scans/${String(runs[0].id)}`, undefined, 409), { detail: /cancel it first/ });
    await whenScansEnd();
  });

  await t.test('events come as they happen, and from where a reader stopped', async (t) => {
    const port = (
      await new Promise<AddressInfo>((done) => {
        const probe = createServer().listen(0, '127.0.0.1', () => {
          const address = probe.address() as AddressInfo;
          probe.close(() => done(address));
        });
      })
    ).port;
    await at.app.listen({ host: '127.0.0.1', port });
    const url = `http://127.0.0.1:${port}/api/v1/events/stream`;
    const headers = { authorization: `Bearer ${admin.token}` };
    const reading = readStream(url, headers, (text) => text.includes('finding.created'));
    // new ones alone: it is open before anything happens
    await until('it is made again until it is seen', async () => {
      await client.call('POST', '/vulnerabilities', { application_id, title: 'new', severity: 'low' });
      return Promise.race([reading.then(() => true), new Promise<boolean>((done) => setTimeout(done, 300, false))]);
    });
    const { type, text } = await reading;
    t.equal(type, 'text/event-stream');
    const id = Number(/^id: (\d+)\nevent: finding\.created\ndata: \{"id":"\1"/m.exec(text)?.[1]);
    t.ok(id > 0, text.slice(0, 300));
    const again = await readStream(url, { ...headers, 'last-event-id': String(id - 1) }, (one) =>
      one.includes('event:'),
    );
    t.match(again.text, new RegExp(`: from ${id - 1}\\n\\nid: ${id}\\n`), 'from where it stopped');
    const viewer = await fetch(url, { headers: { authorization: 'Bearer x' } });
    t.equal(viewer.status, 401);
  });
}

t.test('results of scans', (t) => onOneDatabase(t, 'results of scans', suite));
