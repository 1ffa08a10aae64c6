// /discovery over HTTP, and its readers by themselves.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax, until } from '#api/testing/waiting';
import { Client, type Json } from '../testing/import-client.js';
import { hostOf, isPublicAddress } from './asset.js';
import { whenDiscoveryEnds } from './run.js';
import { readNmap } from './sources/nmap.js';
import { readZone } from './sources/zone.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const { signal } = new AbortController();

const zone = `$TTL 3600
$ORIGIN shop.example.
@ IN SOA ns1 hostmaster (
    2026010101 ; serial
    3600 900 604800 300 )
  IN NS ns1
  NS ns.provider.example.
ns1 A 8.8.4.4
www 300 IN CNAME edge
edge IN 60 A 93.184.215.14 ; the edge
old AAAA 2606:2800:220:1::1
inner A 10.0.0.7
_sip._tcp SRV 10 60 5060 sip
txt TXT "a ; is no comment" "b"
*.apps A 93.184.215.15
$INCLUDE /etc/passwd
$GENERATE 1-1000000 h$ A 10.0.0.$
nonsense here
`;
const nmap = `<?xml version="1.0"?><!DOCTYPE nmaprun><nmaprun scanner="nmap">
<host><status state="up"/><address addr="93.184.215.20" addrtype="ipv4"/>
<hostnames><hostname name="pay.shop.example"/></hostnames>
<ports><port protocol="tcp" portid="8443"><state state="open"/><service name="https" product="nginx"/></port>
<port protocol="tcp" portid="22"><state state="closed"/></port></ports></host>
<host><status state="down"/><address addr="10.9.9.9" addrtype="ipv4"/></host></nmaprun>`;

t.test('names and addresses', (t) => {
  t.equal(hostOf('SHOP.Example.'), 'shop.example');
  t.equal(hostOf('bücher.example'), 'xn--bcher-kva.example');
  for (const none of ['', '*.x.example', 'a b', '1.2.3', 'x'.repeat(300), 'a..b', '-a.example', 'a/b'])
    t.equal(hostOf(none), null, none.slice(0, 20));
  for (const inner of [
    '10.1.2.3',
    '192.168.1.1',
    '127.0.0.1',
    '169.254.169.254',
    '100.64.0.1',
    'fd00::1',
    '::1',
    '::ffff:10.0.0.1',
  ])
    t.equal(isPublicAddress(inner), false, inner);
  t.equal(isPublicAddress('8.8.8.8'), true);
  t.equal(isPublicAddress('2606:4700::1'), true);
  t.equal(isPublicAddress('shop.example'), null);
  t.end();
});

t.test('zone files', async (t) => {
  const { sightings, leftOut } = await readZone(zone, '', signal);
  const exposed = new Map(sightings.map(({ host, isExposed }) => [host, isExposed]));
  t.same(Object.fromEntries(exposed), {
    'ns1.shop.example': true,
    'www.shop.example': null,
    'edge.shop.example': true,
    'old.shop.example': true,
    'inner.shop.example': false,
    'sip.shop.example': null,
  });
  t.equal(leftOut, 3, 'what is included, generated or not understood is counted');
  const began = performance.now();
  const big = await readZone(`a ( ${'b '.repeat(200_000)}\n${'x A 1.1.1.1\n'.repeat(200_000)}`, 'e.example', signal);
  t.ok(performance.now() - began < 30_000);
  t.ok(big.records <= 200_001);
});

t.test('reports of Nmap', async (t) => {
  const { sightings, hosts } = await readNmap(nmap, signal);
  t.equal(hosts, 2);
  t.match(sightings, [
    { kind: 'host', host: 'pay.shop.example', isExposed: true },
    { kind: 'service', port: 8443, url: 'https://pay.shop.example:8443/', isExposed: true },
  ]);
  t.equal(sightings.length, 2);
  await t.rejects(readNmap('<html/>', signal), /no report of Nmap/);
  await t.rejects(readNmap('<!DOCTYPE a [<!ENTITY x "y">]><nmaprun/>', signal), /document type/);
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(async () => {
    await whenDiscoveryEnds();
    await at.close();
  });
  const client = new Client(at, (await at.user('admin')).token);
  const call = async (method: string, path: string, body?: unknown, status = 200): Promise<Json> => {
    const reply = await client.call(method, path, body);
    t.equal(reply.status, status, `${method} ${path}: ${reply.text.slice(0, 400)}`);
    return reply.body;
  };
  const run = async (body: object): Promise<Json> => {
    const { id } = await call('POST', '/discovery/runs', body, 202);
    let one: Json = {};
    await until('the run ends', async () => {
      one = await call('GET', `/discovery/runs/${id}`);
      return one['status'] !== 'running';
    });
    return one;
  };
  const assets = async (query = ''): Promise<Json[]> =>
    (await call('GET', `/discovery/assets?limit=200${query}`))['items'];
  const asset = async (host: string): Promise<Json> => (await assets(`&q=${host}`))[0] ?? {};

  await t.test('what is wrong is refused with its place', async (t) => {
    t.match(await call('POST', '/discovery/runs', { seeds: ['a b'] }, 422), { detail: /seeds\/0/ });
    t.match(await call('POST', '/discovery/runs', { sources: [] }, 422), { detail: /sources/ });
    await call('POST', '/discovery/runs', { sources: ['nmap'] }, 422);
    const broken = await run({ nmap: '<nmaprun><host>' });
    t.match(broken, { status: 'failed', error: /^nmap: / });
  });

  await t.test('texts that are sent along', async (t) => {
    const done = await run({ zone: { text: zone }, nmap, seeds: ['shop.example'] });
    t.match(done, { status: 'succeeded', progress: 100, result: { new: 9, phase: 'done' } });
    t.match(await asset('edge.shop.example'), { state: 'new', exposed: true, unprotected: true, sources: ['zone'] });
    t.match(await asset('inner.shop.example'), { exposed: false, unprotected: false });
    const again = await run({ zone: { text: zone } });
    t.match(again['result'], { new: 0, seen_again: 7 });
    t.equal((await asset('edge.shop.example'))['provenance'].length, 1, 'the same source once');
    const other = await run({ zone: { text: 'x A 8.8.8.8', origin: 'other.example' }, seeds: ['shop.example'] });
    t.match(other['result']['sources']['zone'], { outside_seeds: 1, new: 0 });
  });

  await t.test('what the server knows', async (t) => {
    await database.sql`
      insert into api_sites (site) values ('legacy.shop.example')`;
    await database.sql`
      insert into certificates (id, names, source, challenge, created_by, created_at)
      values ('c1', '*.shop.example cert.shop.example', 'upload', 'http-01', 'a', now())`;
    const application = await client.application();
    const text =
      'openapi: 3.1.0\ninfo: {title: x, version: "1"}\nservers: [{url: "https://api.shop.example/v1"}]\n' +
      'paths: {/a: {get: {responses: {"200": {description: x}}}}}\n';
    await call('POST', '/api-security/specs', { application_id: application, text }, 201);
    t.match(await run({}), { status: 'succeeded' });
    t.match(await asset('legacy.shop'), { sources: ['traffic'] });
    t.match(await asset('cert.shop'), { sources: ['certificate'] });
    t.match(await asset('api.shop'), { kind: 'api', url: 'https://api.shop.example/v1', sources: ['specification'] });
    t.notOk((await assets()).some(({ host }) => host.includes('*')));
  });

  await t.test('promoted with where it came from, or ignored with a reason', async (t) => {
    const edge = await asset('edge.shop.example');
    const id = String((await assets('&kind=service'))[0]?.['id']);
    const promoted = await call('POST', `/discovery/assets/${id}/promote`, { application: { name: 'Pay' } });
    t.match(promoted, { state: 'known', decided_by: /.+/, sources: ['nmap'] });
    const target = await call('GET', `/targets/${promoted['target_id']}`);
    t.match(target, {
      url: 'https://pay.shop.example:8443/',
      verified_at: null,
      application_id: promoted['application_id'],
    });
    const application = await call('GET', `/applications/${promoted['application_id']}`);
    t.match(application, { name: 'Pay', exposure: 'internet', tags: ['discovered'] });
    await call('POST', `/discovery/assets/${id}/promote`, {}, 409);
    const wrong = { application: { name: 'x' }, url: 'https://elsewhere.example/' };
    t.match(await call('POST', `/discovery/assets/${edge['id']}/promote`, wrong, 422), { detail: /host of the asset/ });
    await call('POST', '/discovery/assets/999999/promote', {}, 404);
    const old = await asset('old.shop.example');
    await call('POST', `/discovery/assets/${old['id']}/ignore`, { reason: ' ' }, 422);
    await call('POST', `/discovery/assets/${old['id']}/ignore`, { reason: 'switched off' });
    await run({ zone: { text: zone } });
    t.match(await asset('old.shop.example'), { state: 'ignored', reason: 'switched off' }, 'seen again it stays so');
    const host = await run({ nmap });
    t.match(host['status'], 'succeeded');
    t.match((await assets('&q=pay.shop&kind=host'))[0], { state: 'known' }, 'its host is known by now');
    const audit = JSON.stringify((await call('GET', '/audit?limit=100'))['items']);
    t.match(audit, /made the asset \d+ \(pay\.shop\.example\) the target/);
    t.match(audit, /ignores the asset \d+: switched off/);
  });

  await t.test('a run is stopped; whoever reaches a part only meets what is theirs', async (t) => {
    const many = Array.from({ length: 8000 }, (_, at) => `h${at} A 8.8.8.8`).join('\n');
    const { id } = await call('POST', '/discovery/runs', { zone: { text: many, origin: 'many.example' } }, 202);
    t.match(await call('POST', '/discovery/runs', { seeds: ['a.example'] }, 409), { detail: /is running/ });
    await call('POST', `/discovery/runs/${id}/cancel`);
    await whenDiscoveryEnds();
    t.match(await call('GET', `/discovery/runs/${id}`), { status: 'canceled' });
    await call('POST', `/discovery/runs/${id}/cancel`, undefined, 409);
    const project = String((await call('POST', '/projects', { name: 'p' }, 201))['id']);
    const user = await at.user('operator');
    const items = [{ scope: 'project', scope_id: project, role: 'operator' }];
    await call('PUT', `/rbac/grants/${user.id}`, { items, confined: true });
    const stranger = new Client(at, user.token);
    t.match((await stranger.call('GET', '/discovery/assets')).body, { total: 0 });
    t.equal((await stranger.call('POST', '/discovery/runs', { seeds: ['a.example'] })).status, 403);
    t.equal((await stranger.call('GET', `/discovery/runs/${id}`)).status, 403);
    const { id: one } = await asset('edge.shop');
    t.equal((await stranger.call('POST', `/discovery/assets/${one}/promote`, {})).status, 403);
  });
}

t.test('discovery', (t) => onBothDatabases(t, 'discovery', suite));
