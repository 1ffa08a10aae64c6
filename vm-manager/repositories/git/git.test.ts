// Repositories that the server fetches: by the guarded way out alone, of hosts that are named, a branch as it is.
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases, onOneDatabase } from '#api/testing/databases';
import { testMsMax, until } from '#api/testing/waiting';
import { Client, type Json } from '../../testing/import-client.js';
import { madeChecked } from '../../scanners/testing/made-secrets.js';
import { hasGit, makeCertificate, startGitServer } from '../testing/git-server.js';
import { openDoor } from './door.js';
import { branchPattern, fetchTree } from './fetch.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const token = (seed: number): string => `t = '${madeChecked('ghp_', seed)}'\n`;

async function suite(t: Test, database: Database): Promise<void> {
  const server = await startGitServer();
  const outbound = createGuardedClient(['127.0.0.1']);
  const at = await startTestApp(database, { outbound });
  t.teardown(() => at.close());
  t.teardown(() => server.close());
  const client = new Client(at, (await at.user('admin')).token);
  const app = await client.application();
  const settle = async (vm_git_hosts: string): Promise<void> => {
    const { status, text } = await at.call('PATCH', '/api/settings', { token: client.token, body: { vm_git_hosts } });
    t.equal(status, 200, text);
  };
  const repository = async (body: object): Promise<string> => {
    const made = await client.call('POST', '/repositories', { application_id: app, ...body });
    t.equal(made.status, 201, made.text);
    return String(made.body['id']);
  };
  const fetched = (id: string, body: object = {}) => client.call('POST', `/repositories/${id}/fetch`, body);

  await t.test('only hosts that are named, and only by the guarded way out', async (t) => {
    server.commit('shop', 'main', { 'a.ts': token(1) });
    const id = await repository({ name: 'shop', url: `${server.url}/shop.git` });
    t.match(await fetched(id), { status: 422, body: { detail: /vm_git_hosts/ } });
    await settle('git.example.test');
    t.match(await fetched(id), { status: 422, body: { detail: /vm_git_hosts/ } });
    t.same(server.asked, [], 'nobody was asked');
    await settle(`10.0.0.1, localhost.example.test, ${server.host}`);
    const private_ = await repository({ name: 'private', url: 'https://10.0.0.1/a.git' });
    t.match(await fetched(private_), { status: 422, body: { detail: /10\.0\.0\.1/ } }, 'a private address');
    for (const url of ['ssh://git@git.example/a', 'git@git.example:a/b']) {
      const other = await repository({ name: url.slice(0, 20), url });
      t.match(await fetched(other), { status: 422, body: { detail: /https/ } }, url);
    }
  });

  await t.test(
    'a branch is a snapshot and is scanned; what the repository says of archives changes nothing',
    async (t) => {
      const commit = server.commit('shop', 'main', {
        'a.ts': token(1),
        'hidden/b.ts': token(2),
        '.gitattributes': 'hidden export-ignore\n*.txt export-subst\n* filter=evil\n',
        'c.txt': '$Format:%H$',
        '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = http://127.0.0.1:1/x\n',
      });
      server.commit('shop', 'feature/one', { 'd.ts': token(3) });
      const id = await repository({ name: 'team/shop', url: `${server.url}/shop.git` });
      const made = await fetched(id);
      t.match(made, { status: 201, body: { commit, branch: 'main', files: 5, root: '', form: 'tar', state: 'ready' } });
      t.match(await fetched(id), { body: { id: made.body['id'] } }, 'the same commit is the same snapshot');
      t.match(await fetched(id, { branch: 'feature/one' }), { status: 201, body: { branch: 'feature/one', files: 1 } });
      at.clock.nowMs += 60_000;
      const begun = await client.call('POST', `/repositories/${id}/scan`, {
        engines: ['secrets'],
        snapshot_id: made.body['id'],
      });
      const [run] = begun.body['items'] as Json[];
      await until('the scan ends', async () => {
        const { status } = (await client.call('GET', `/runs/${run?.['id']}`)).body;
        return status !== 'queued' && status !== 'running';
      });
      const places = (await client.findings(app)).map(({ location }) => String(location)).sort();
      t.same(places, ['a.ts:1', 'hidden/b.ts:1']);
    },
  );

  await t.test('a credential is sealed, goes to its origin alone, and is in no answer', async (t) => {
    const id = await repository({
      ...{ name: 'locked', url: `${server.url}/shop.git`, credential: 'a-token-of-the-host', credential_user: 'me' },
    });
    server.asked.length = 0;
    t.equal((await fetched(id)).status, 201);
    const expected = `Basic ${Buffer.from('me:a-token-of-the-host').toString('base64')}`;
    t.ok(server.asked.length > 0 && server.asked.every((one) => one === expected), server.asked.join());
    const [row] = await database.sql`select credential from vm_repositories where id = ${id}`;
    t.match(row?.['credential'], /^sealed:v1:/);
    t.notMatch((await client.call('GET', `/repositories/${id}`)).text, /a-token-of|sealed:/);
    const moved = await client.call('PATCH', `/repositories/${id}`, { url: 'https://evil.example/shop.git' });
    t.match(moved, { status: 422, text: /credential is needed again/ });
    const other = { url: `${server.url}/other.git` };
    t.equal((await client.call('PATCH', `/repositories/${id}`, other)).status, 200, 'the same origin');
    server.asked.length = 0;
    t.match(await fetched(id), { status: 502, body: { detail: /not found|could not fetch/i } });
    t.equal((await client.call('PATCH', `/repositories/${id}`, { credential: null })).status, 200);
    const body = { name: 'x', application_id: app, credential: 'y' };
    t.match(await client.call('POST', '/repositories', body), { status: 422, text: /credential is for no address/ });
  });

  await t.test('a part of it alone, with its paths from the top', async (t) => {
    server.commit('mono', 'main', {
      'services/shop/a.ts': token(4),
      'services/shop-two/b.ts': token(5),
      'c.ts': token(6),
    });
    const id = await repository({ name: 'mono', url: `${server.url}/mono.git`, directory: 'services/shop' });
    const made = await fetched(id);
    t.match(made, { status: 201, body: { files: 1, root: '' } });
    const scanned = async (): Promise<string[]> => {
      at.clock.nowMs += 60_000;
      const begun = await client.call('POST', `/repositories/${id}/scan`, { engines: ['secrets'] });
      t.equal(begun.status, 202, begun.text);
      const [run] = begun.body['items'] as Json[];
      await until('the scan ends', async () => {
        const { status } = (await client.call('GET', `/runs/${run?.['id']}`)).body;
        return status !== 'queued' && status !== 'running';
      });
      const open = (await client.findings(app)).filter(({ status }) => status !== 'resolved');
      return open.map(({ location }) => String(location)).filter((one) => /services|c\.ts/.test(one));
    };
    t.same(await scanned(), ['services/shop/a.ts:1']);
    const change = { directory: 'services/shop-two' };
    t.equal((await client.call('PATCH', `/repositories/${id}`, change)).status, 200);
    t.equal((await fetched(id)).status, 201);
    t.same(await scanned(), ['services/shop-two/b.ts:1'], 'what is not of the part any more is closed');
    for (const directory of ['../x', 'a/../b', './a', '/a', 'a/', 'a//b', 'a\\b'])
      t.equal((await client.call('PATCH', `/repositories/${id}`, { directory })).status, 422, directory);
    t.equal((await client.call('PATCH', `/repositories/${id}`, { directory: 'none' })).status, 200);
    t.match(await fetched(id), { status: 502, body: { detail: /none/ } });
  });

  await t.test('https of a host that an authority of the operator answers for', async (t) => {
    const pair = makeCertificate();
    const secure = await startGitServer(pair);
    t.teardown(() => secure.close());
    secure.commit('shop', 'main', { 'a.ts': 'let a = 1;' });
    await settle(`${server.host}, ${secure.host}`);
    const id = await repository({ name: 'secure', url: `${secure.url}/shop.git` });
    t.match(await fetched(id), { status: 502, body: { detail: /certificate/i } }, 'nobody knows it');
    const trust = (vm_git_authorities: string) =>
      at.call('PATCH', '/api/settings', { token: client.token, body: { vm_git_authorities } });
    t.not((await trust('no certificate')).status, 200);
    t.equal((await trust(makeCertificate().cert)).status, 200);
    t.match(await fetched(id), { status: 502, body: { detail: /certificate/i } }, 'another one does not do');
    t.equal((await trust(pair.cert.replaceAll('\n', ''))).status, 200, 'a form may lose the ends of lines');
    t.match(await fetched(id), { status: 201, body: { files: 1 } });
    const empty = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----';
    t.equal((await trust(empty)).status, 200);
    t.match(await fetched(id), { status: 502, body: { detail: /vm_git_authorities/ } });
    t.equal((await trust('')).status, 200);
  });

  await t.test('redirects, wrong branches, other answers', async (t) => {
    const id = await repository({ name: 'other', url: `${server.url}/shop.git` });
    t.match(await fetched(id, { branch: 'none' }), { status: 502, body: { detail: /none/ } });
    for (const branch of ['--upload-pack=x', '-x', 'a..b', '/a', 'a b', 'x:y', 'a.lock'])
      t.equal((await fetched(id, { branch })).status, 422, branch);
    server.instead = (_request, reply) => void reply.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    t.match(await fetched(id), { status: 502 }, 'a redirect is not followed');
    server.instead = (_request, reply) => void reply.writeHead(401).end();
    t.match(await fetched(id), { status: 502, body: { detail: /could not|fetch/ } }, 'nobody is asked for a password');
    server.instead = null;
    await client.call('PATCH', `/repositories/${id}`, { default_branch: '--evil' });
    t.match(await fetched(id), { status: 422, body: { detail: /branch/ } });
  });
}

const skip = hasGit() ? false : 'git http-backend is not here';

t.test('limits of size and time', { skip }, async (t) => {
  const server = await startGitServer();
  t.teardown(() => server.close());
  const { connect } = createGuardedClient(['127.0.0.1']);
  server.commit('big', 'main', { 'a.txt': Array.from({ length: 30_000 }, (_, n) => `${n * 7919}`).join('\n') });
  const wanted = { url: `${server.url}/big.git`, branch: 'main', credential: null };
  const ask = (limits: { bytesMax: number; msMax: number }) => fetchTree(wanted, connect, limits);
  await t.rejects(ask({ bytesMax: 20_000, msMax: 30_000 }), { code: 'body_too_large' }, 'on its way');
  await t.rejects(ask({ bytesMax: 150_000, msMax: 30_000 }), { code: 'body_too_large' }, 'unpacked');
  server.instead = () => undefined;
  const began = performance.now();
  await t.rejects(ask({ bytesMax: 1e6, msMax: 1500 }), { code: 'outbound_failed', message: /not ready after 1.5 s/ });
  t.ok(performance.now() - began < 20_000);
});

/** Both ends of a connection. */
async function pairOf(t: Test): Promise<{ readonly socket: Socket; readonly other: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => void server.close());
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [other] = (await once(server, 'connection')) as [Socket];
  other.on('error', () => undefined).resume();
  return { socket, other };
}

t.test('names of branches', (t) => {
  for (const name of ['main', 'feature/one', 'release-1.0', 'user@home', 'a#1'])
    t.match(name, new RegExp(branchPattern), name);
  for (const name of ['', '-a', '/a', 'a/', 'a//b', 'a..b', 'a@{1}', 'a.lock', '.a', 'a/.b', 'a b', 'a~1', 'a:b', 'a?'])
    t.notMatch(name, new RegExp(branchPattern), name);
  t.end();
});

/** The control plane may run where there is no git: it says so, and everything else works. */
async function withoutGit(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.1']) });
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const body = { vm_git_hosts: '127.0.0.1:9' };
  t.equal((await at.call('PATCH', '/api/settings', { token: client.token, body })).status, 200);
  const made = await client.call('POST', '/repositories', {
    ...{ name: 'shop', application_id: await client.application(), url: 'http://127.0.0.1:9/shop.git' },
  });
  const path = process.env['PATH'];
  process.env['PATH'] = t.testdir({});
  t.teardown(() => void (process.env['PATH'] = path));
  const reply = await client.call('POST', `/repositories/${made.body['id']}/fetch`, {});
  t.match(reply, { status: 503, body: { detail: /git is not installed/ } }, reply.text);
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith('gatehouse-git-'));
  t.notOk(
    left.some((name) => existsSync(join(tmpdir(), name, 'r'))),
    'nothing is left behind',
  );
}

t.test('a door that is closed lets nobody through who is on the way', async (t) => {
  const { socket, other } = await pairOf(t);
  let arrive = (_: Socket): void => undefined;
  const door = await openDoor(new URL('https://git.example'), () => new Promise((done) => (arrive = done)), 1e6);
  const { port, username, password } = new URL(door.url);
  const client = connect(Number(port), '127.0.0.1');
  const word = Buffer.from(`${username}:${password}`).toString('base64');
  client.write(`CONNECT git.example:443 HTTP/1.1\r\nProxy-Authorization: Basic ${word}\r\n\r\n`);
  client.on('error', () => undefined);
  await new Promise((done) => setTimeout(done, 100));
  door.close();
  arrive(socket);
  await once(other, 'close');
  t.ok(socket.destroyed);
});

t.test('where git is not installed', (t) => onOneDatabase(t, 'no git', withoutGit));
t.test('fetched repositories', { skip }, (t) => onBothDatabases(t, 'fetched repositories', suite));
