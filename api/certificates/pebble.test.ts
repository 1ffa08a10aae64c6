// Certificates from an authority, with the real data plane answering it: issued, renewed, revoked, and what happens
// while the directory is away.
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createNodeGates, type NodeGates } from '../edge/node-gates.js';
import type { AcmeDirectory, AcmeEnv } from '../env.js';
import { createNodeClient } from '../nodes/node-client.js';
import { startTestApp } from '../testing/app.js';
import { nodeToken, startNode, type TestNode } from '../testing/data-plane.js';
import { onOneDatabase } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { makePebbleTrust, startPebble, withoutPebble } from '../testing/servers/pebble.js';
import { makeDirectory } from '../testing/temporary.js';
import { testMsMax, until } from '../testing/waiting.js';

t.setTimeout(testMsMax);

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const trust = withoutPebble === false ? await makePebbleTrust(t) : { caFile: '', keyFile: '' };

const directory = (name: string, url: string, eab: AcmeDirectory['eab'] = null): AcmeDirectory => ({ name, url, eab });

/** The serial number of the certificate that a node shows for a name. */
function shown({ https }: TestNode, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: https, servername, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw).serialNumber);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

async function installation(
  t: Test,
  database: Database,
  acme: Partial<AcmeEnv>,
  gatesOf = (gates: NodeGates) => gates,
) {
  const node = await startNode(t, { upstream: 'http://127.0.0.1:1', hasTls: true });
  const gates = gatesOf(createNodeGates([node.url], createNodeClient({ token: nodeToken })));
  const env: AcmeEnv = {
    email: 'it@gatehouse.local',
    directories: [],
    staging: null,
    caFile: trust.caFile,
    dnsHook: null,
  };
  const given: { -readonly [Name in keyof AcmeEnv]: AcmeEnv[Name] } = { ...env, ...acme };
  const at = await startTestApp(database, { nodeGates: gates, acme: given });
  t.teardown(() => at.close());
  at.clock.nowMs = Date.now();
  const round = (): Promise<string> => {
    const job = at.jobs.find(({ name }) => name === 'certificates');
    return job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal }) as Promise<string>;
  };
  let { token } = await at.user('admin');
  /** Sessions end while the clock is set forward. */
  const asAdmin = async (method: string, url: string, body?: object) => {
    const call = () => at.call(method, url, { token, ...(body === undefined ? {} : { body }) });
    const reply = await call();
    if (reply.status !== 401) return reply;
    token = (await at.user('admin')).token;
    return call();
  };
  const view = async (id: string) => (await asAdmin('GET', `/api/certificates/${id}`)).body;
  const settled = (id: string): Promise<void> =>
    until('the order is over', async () => {
      const { is_ordering: isOrdering, issued, error } = await view(id);
      return isOrdering === false && (issued !== null || error !== null);
    });
  const order = async (body: object) => {
    const reply = await asAdmin('POST', '/api/certificates', body);
    if (reply.status !== 201) throw new Error(reply.text);
    const id = String(reply.body['id']);
    await settled(id);
    return view(id);
  };
  const warnings = async (): Promise<number[]> =>
    (
      await database.sql<{ details: string }[]>`
      select details from audit_entries where action = 'certificate.ending' order by id`
    ).map(({ details }) => (JSON.parse(details) as { days: number }).days);
  return { at, node, env: given, round, asAdmin, view, order, warnings };
}

type Installation = Awaited<ReturnType<typeof installation>>;

const pebbleFor = (t: Test, { node }: Pick<Installation, 'node'>, eab?: Readonly<Record<string, string>>) =>
  startPebble(t, { ports: { http: node.http, tls: node.https }, trust, ...(eab === undefined ? {} : { eab }) });

async function lifeSuite(t: Test, database: Database): Promise<void> {
  let refusals = 0;
  const made = await installation(t, database, {}, (gates) => ({
    ...gates,
    giveCertificates: async (node, list) => (refusals-- > 0 ? false : gates.giveCertificates(node, list)),
  }));
  const { at, node, env, round, asAdmin, view, order, warnings } = made;
  const pebble = await pebbleFor(t, made);
  env.directories = [directory('pebble', pebble.url)];
  const name = 'shop.example.test';
  const selfSigned = await shown(node, name);

  const first = await order({ names: ['Shop.example.test.', 'www.shop.example.test'] });
  t.match(first, { state: 'serving', names: [name, `www.${name}`], error: null, issued: { is_on_nodes: true } });
  t.equal(await shown(node, name), first['issued'].serial, 'the node shows it');
  t.equal(await shown(node, `www.${name}`), first['issued'].serial);
  t.equal((await asAdmin('POST', '/api/certificates', { names: [`www.${name}`, name] })).status, 409);

  const viewer = await at.user('viewer');
  const seen = await at.call('GET', '/api/certificates', { token: viewer.token });
  t.equal(seen.status, 200);
  t.notMatch(seen.text, /PRIVATE|BEGIN|sealed/, 'no key is shown to anybody');
  t.equal((await at.call('POST', `/api/certificates/${first['id']}/renew`, { token: viewer.token })).status, 403);
  const stored = await database.sql<{ key_sealed: string }[]>`select key_sealed from certificate_issues`;
  t.ok(stored.every(({ key_sealed: key }) => key.startsWith('sealed:') && !key.includes('PRIVATE')));
  t.equal(await round(), 'nothing new', 'not due');

  const [from, to] = [Date.parse(first['issued'].not_before), Date.parse(first['issued'].not_after)];
  const due = Date.parse(String(first['next_attempt_at']));
  t.ok(due <= from + ((to - from) * 2) / 3 && due > from + (to - from) * 0.6, 'two thirds of its life, less by chance');
  at.clock.nowMs = due - 1000;
  t.equal(await round(), 'nothing new');
  at.clock.nowMs = due + 1000;
  refusals = 1;
  await round();
  const renewed = await view(first['id']);
  t.not(renewed['issued'].serial, first['issued'].serial, 'a new one was issued');
  t.equal(renewed['issued'].is_on_nodes, false);
  t.equal(await shown(node, name), first['issued'].serial, 'the old one serves until the new one does');
  await round();
  t.equal(await shown(node, name), renewed['issued'].serial);
  t.match(await view(first['id']), { issued: { is_on_nodes: true }, state: 'serving' });
  t.equal(await pebble.statusOf(first['issued'].serial), 'Valid');

  await weekWithout(t, made, renewed, () => pebble.stop());

  const back = await pebbleFor(t, made); // it knows no account and no certificate of before
  env.directories = [directory('pebble', back.url)];
  t.match(await asAdmin('POST', `/api/certificates/${first['id']}/renew`), { status: 200 });
  await until('it is ordered', async () => (await view(first['id']))['error'] === null);
  const last = await view(first['id']);
  t.match(last, { attempts: 0, fix: null });
  t.equal(await shown(node, name), last['issued'].serial);
  t.match(await asAdmin('POST', `/api/certificates/${first['id']}/revoke`), {
    status: 200,
    body: { state: 'revoked' },
  });
  t.equal(await back.statusOf(last['issued'].serial), 'Revoked');
  t.equal(await shown(node, name), selfSigned, 'it is shown no more');
  t.equal((await asAdmin('POST', `/api/certificates/${first['id']}/revoke`)).status, 409);
  t.strictSame(await warnings(), [21, 7, 1, 0]);
}

/** From three weeks before the end to behind it without a directory. */
async function weekWithout(
  t: Test,
  { at, node, round, view, warnings }: Installation,
  { id, issued, next_attempt_at: due }: Record<string, any>,
  stopDirectory: () => Promise<void>,
): Promise<void> {
  await stopDirectory();
  const to = Date.parse(issued.not_after);
  at.clock.nowMs = Date.parse(due) + 1000;
  const attempts: number[] = [];
  let known = 0;
  for (const endMs = at.clock.nowMs + 7 * dayMs; at.clock.nowMs < endMs; at.clock.nowMs += hourMs / 2) {
    await round();
    const tries = Number((await view(id))['attempts']);
    if (tries > known) attempts.push(at.clock.nowMs);
    known = tries;
  }
  const pauses = attempts.slice(1).map((ms, index) => (ms - (attempts[index] as number)) / hourMs);
  for (const [index, hours] of [1, 2, 4, 8, 16, 24, 24, 24].entries())
    t.ok(Math.abs((pauses[index] ?? 0) - hours) <= hours / 10 + 0.5, `pause ${index + 1}: ${pauses[index]} h`);
  t.ok(attempts.length <= 13, `${attempts.length} attempts in a week`);
  t.equal(await shown(node, 'shop.example.test'), issued.serial, 'the old one is served all the time');
  const failing = await view(id);
  t.match(failing, { state: 'failing', error: /ECONNREFUSED/, fix: /directory cannot be reached/ });
  t.equal(failing['issued'].serial, issued.serial);
  t.strictSame(await warnings(), []);
  for (const [days, told] of [
    [22, []],
    [20.9, [21]],
    [20, [21]],
    [6.9, [21, 7]],
    [0.9, [21, 7, 1]],
    [-0.1, [21, 7, 1, 0]],
  ] as const) {
    at.clock.nowMs = to - days * dayMs;
    await round();
    t.strictSame(await warnings(), told, `${days} days before its end`);
  }
  t.match(await view(id), { state: 'ended' });
}

/** Sets TXT records at the name server of pebble, as an operator's program would. */
const hookText = (dns: string): string => `#!/usr/bin/env node
const [step, name, value] = process.argv.slice(2);
const body = JSON.stringify({ host: name + '.', ...(step === 'present' ? { value } : {}) });
fetch('${dns}/' + (step === 'present' ? 'set-txt' : 'clear-txt'), { method: 'POST', body }).then(
  (answer) => process.exit(answer.ok ? 0 : 1),
  () => process.exit(1),
);
`;

async function waysSuite(t: Test, database: Database): Promise<void> {
  const made = await installation(t, database, {});
  const { at, node, env, asAdmin, order, round, view } = made;
  const eab = { 'kid-1': 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' };
  const pebble = await pebbleFor(t, made, eab);
  const closed = directory('closed', `https://localhost:${await freePort()}/dir`);
  const bound = directory('bound', pebble.url, { kid: 'kid-1', hmacKey: eab['kid-1'] });

  env.directories = [directory('unbound', pebble.url)];
  t.match(await order({ names: ['eab.example.test'] }), { state: 'failing', fix: /ACME_EAB/ });
  for (const [what, given] of [
    ['another key', { kid: 'kid-1', hmacKey: 'AAAA' + eab['kid-1'].slice(4) }],
    ['a key id that the authority does not know', { kid: 'kid-2', hmacKey: eab['kid-1'] }],
  ] as const) {
    env.directories = [directory('wrong', pebble.url, given)];
    const refused = await order({ names: [`${given.kid}.example.test`] });
    t.match(refused, { state: 'failing', fix: /ACME_EAB/ }, `${what}: ${refused['error']}`);
  }

  env.directories = [bound, closed];
  const alpn = await order({ names: ['alpn.example.test'], challenge: 'tls-alpn-01' });
  t.match(alpn, { state: 'serving', issued: { directory: 'bound' } }, alpn['error']);
  t.equal(await shown(node, 'alpn.example.test'), alpn['issued'].serial);

  for (const [what, body, wanted] of [
    ['a wildcard without dns-01', { names: ['*.example.test'] }, /dns-01 only/],
    ['dns-01 without a program', { names: ['a.example.test'], challenge: 'dns-01' }, /ACME_DNS_HOOK/],
    ['a directory that there is not', { names: ['a.example.test'], directory: 'x' }, /bound, closed/],
    ['no name', { names: ['shop'] }, /has no domain/],
    ['an address', { names: ['192.0.2.1'] }, /is an address/],
    ['another form', { names: ['https://a.example.test/'] }, /no host name/],
  ] as const)
    t.match(await asAdmin('POST', '/api/certificates', body), { status: 400, text: wanted }, what);

  env.dnsHook = join(await makeDirectory(t, 'hook'), 'hook.cjs');
  await writeFile(env.dnsHook, hookText(pebble.dns), { mode: 0o700 });
  const wild = await order({ names: ['*.wild.example.test', 'wild.example.test'], challenge: 'dns-01' });
  t.match(wild, { state: 'serving' }, wild['error']);
  t.equal(await shown(node, 'any.wild.example.test'), wild['issued'].serial);

  env.directories = [closed, bound];
  const turn = await order({ names: ['turn.example.test'] });
  t.match(turn, { state: 'failing', attempts: 1 });
  for (let tries = 1; tries < 4; tries += 1) {
    at.clock.nowMs += dayMs;
    await round();
  }
  t.match(
    await view(turn['id']),
    { state: 'serving', issued: { directory: 'bound' } },
    'the next after three failures',
  );

  env.staging = directory('staging', closed.url);
  env.directories = [bound];
  const tried = await order({ names: ['tried.example.test'] });
  t.match(tried, { state: 'failing', issued: null }, 'nothing is ordered where the trial fails');
  env.staging = directory('staging', pebble.url, bound.eab);
  at.clock.nowMs += dayMs;
  await round();
  t.match(await view(tried['id']), { state: 'serving' });
  const [row] = await database.sql`select rehearsed_at from certificates where id = ${tried['id']}`;
  t.ok(row?.['rehearsed_at']);
  const open = await database.sql`select 1 from acme_challenges`;
  t.equal(open.length, 0, 'no challenge is left open');
}

t.test('from the order to the revocation', { skip: withoutPebble }, (t) =>
  onOneDatabase(t, 'the life of a certificate', lifeSuite),
);
t.test('proofs, accounts, directories', { skip: withoutPebble }, (t) =>
  onOneDatabase(t, 'ways to a certificate', waysSuite),
);
