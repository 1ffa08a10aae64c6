// Certificates: which one a client gets, and what happens while files change.
import { mkdir, mkdtemp, readFile, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { connect as http2Connect } from 'node:http2';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { generate } from 'selfsigned';
import t, { type Test } from 'tap';
import { configOf, startBackend, startPlane, testMsMax, until } from '../../e2e/harness.js';
import { CertificateStore } from './certificate-store.js';

t.setTimeout(testMsMax);

interface Made {
  readonly cert: string;
  readonly key: string;
}

async function make(names: readonly string[], days = 90, keyType: 'ec' | 'rsa' = 'ec'): Promise<Made> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: names[0] as string }], {
    keyType,
    notAfterDate: new Date(Date.now() + days * 86_400_000),
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) }],
  });
  return { cert, key };
}

async function folderOf(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-certificates-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function openStore(t: Test, folder: string, dataDir: string, hosts: readonly string[] = []) {
  const problems: string[] = [];
  const onProblem = ({ source, message }: { source: string; message: string }): void => {
    problems.push(`${source} ${message}`);
  };
  return CertificateStore.open({ folder, dataDir, hosts, onProblem, everyMs: 20 }).then((store) => {
    t.teardown(() => store.close());
    return { store, problems };
  });
}

const names = (store: CertificateStore): string[] => store.current.entries.map((entry) => entry.names.join(' '));

t.test('TLS: a node without certificates makes one, and keeps it', async (t) => {
  const dataDir = await folderOf(t);
  const { store, problems } = await openStore(t, join(dataDir, 'none'), dataDir, ['shop.example']);
  const { fallback } = store.current;
  t.ok(['localhost', '127.0.0.1', 'shop.example'].every((name) => fallback.names.includes(name)));
  t.ok(fallback.notAfterMs < Date.now() + 398 * 86_400_000, 'not for longer than browsers take it');
  t.strictSame(problems, []);
  const again = await openStore(t, join(dataDir, 'none'), dataDir, ['shop.example']);
  t.equal(again.store.current.fallback.chain, fallback.chain, 'the same after a restart');
  const other = await openStore(t, join(dataDir, 'none'), dataDir, ['shop.example', 'new.example']);
  t.not(other.store.current.fallback.chain, fallback.chain, 'another for another site');
  const file = join(dataDir, 'tls', 'self-signed.pem');
  t.equal((await stat(file)).mode & 0o077, 0, 'nobody else reads its key');
  await writeFile(file, 'broken');
  t.ok((await openStore(t, dataDir, dataDir)).store.current.fallback.names.includes('localhost'));
});

t.test('TLS: certificates and keys are found by what they hold', async (t) => {
  const [folder, dataDir] = [await folderOf(t), await folderOf(t)];
  const [one, two, three] = [
    await make(['a.example']),
    await make(['b.example']),
    await make(['c.example'], 90, 'rsa'),
  ];
  await writeFile(join(folder, 'a.crt'), one.cert);
  await writeFile(join(folder, 'a.key'), one.key);
  await writeFile(join(folder, 'both.pem'), `${two.key}\n${two.cert}`);
  await mkdir(join(folder, 'archive', 'c'), { recursive: true });
  await mkdir(join(folder, 'c'));
  await writeFile(join(folder, 'archive', 'c', 'real.pem'), three.cert);
  await symlink(join(folder, 'archive', 'c', 'real.pem'), join(folder, 'c', 'fullchain.pem'));
  await writeFile(join(folder, 'c', 'privkey.pem'), three.key);
  await writeFile(join(folder, 'notes.txt'), 'not looked at');
  const { store, problems } = await openStore(t, folder, dataDir);
  t.strictSame(names(store).sort(), ['a.example', 'b.example', 'c.example']);
  t.strictSame(problems, []);
  t.equal(store.current.fallback.source, 'a.crt', 'the first by name serves who names none');
  await writeFile(join(folder, 'default.pem'), two.key + two.cert);
  store.watch(() => {});
  await until(async () => store.current.fallback.source === 'default.pem');
});

t.test('TLS: what cannot be used is told by its file, and the others serve', async (t) => {
  const [folder, dataDir] = [await folderOf(t), await folderOf(t)];
  const [fine, alone, old] = [await make(['a.example']), await make(['b.example']), await make(['old.example'], 3)];
  await writeFile(join(folder, 'a.pem'), fine.cert + fine.key);
  await writeFile(join(folder, 'alone.crt'), alone.cert);
  await writeFile(join(folder, 'broken.crt'), '-----BEGIN CERTIFICATE-----\nMIIB');
  await writeFile(join(folder, 'junk.key'), '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----');
  await writeFile(join(folder, 'old.pem'), old.cert + old.key);
  const { store, problems } = await openStore(t, folder, dataDir);
  t.strictSame(names(store), ['a.example', 'old.example']);
  t.match(problems.sort(), [
    /^alone\.crt has no private key/,
    /^broken\.crt is empty, or ends within/,
    /^junk\.key has a key that cannot be used/,
    /^old\.pem ends on .* renew it/,
  ]);
});

t.test('TLS: half of a replacement changes nothing, the whole of it does; the last for a name counts', async (t) => {
  const [folder, dataDir] = [await folderOf(t), await folderOf(t)];
  const [before, after] = [await make(['a.example'], 30), await make(['a.example'], 60)];
  await writeFile(join(folder, 'a.crt'), before.cert);
  await writeFile(join(folder, 'a.key'), before.key);
  const { store, problems } = await openStore(t, folder, dataDir);
  const served = (): string | undefined => store.current.entries[0]?.chain.trim();
  let changes = 0;
  store.watch(() => (changes += 1));
  await writeFile(join(folder, 'a.crt'), '');
  await until(async () => changes === 1);
  t.equal(served(), before.cert.trim(), 'an empty file');
  await writeFile(join(folder, 'a.crt'), after.cert);
  await until(async () => changes >= 2 && problems.some((text) => text.includes('no private key')));
  t.equal(served(), before.cert.trim(), 'a certificate whose key is not there yet');
  await writeFile(join(folder, 'a.key'), after.key);
  await until(async () => served() === after.cert.trim());
  await writeFile(join(folder, 'second.pem'), before.cert + before.key);
  await until(async () => store.current.entries.length === 2);
  t.equal(served(), after.cert.trim(), 'the one that ends later');
  await Promise.all(['a.crt', 'a.key', 'second.pem'].map((name) => unlink(join(folder, name))));
  await until(async () => store.current.fallback.source === 'self-signed');
});

function offered(port: number, servername: string): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, rejectUnauthorized: false, ...(servername === '' ? {} : { servername }) }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

t.test(
  'TLS: a client gets the certificate for the name it asks for, from all workers, as soon as it is there',
  async (t) => {
    const dataDir = await folderOf(t);
    const backend = await startBackend(t, (_request, response) => response.end('fine'));
    const sites = [{ name: 'shop', prefix: '/', host: 'shop.example', upstream: backend.url, protected: true }];
    const folder = join(dataDir, 'tls');
    const plane = await startPlane(
      t,
      'net',
      {},
      { dataDir, workers: 2, tls: { port: 0 }, initial: { config: configOf({ sites }), artifact: null } },
    );
    const port = plane.ports.tls as number;
    const first = await offered(port, 'shop.example');
    t.match(first.subjectaltname, /DNS:shop\.example/, 'self-signed, for the site');
    const [exact, wild] = [await make(['shop.example']), await make(['*.example', 'Other.Test'])];
    await writeFile(join(folder, 'shop.pem'), exact.cert + exact.key);
    await writeFile(join(folder, 'wild.pem'), wild.cert + wild.key);
    const subject = async (name: string): Promise<string> => (await offered(port, name)).subject.CN as string;
    await until(
      async () => (await subject('shop.example')) === 'shop.example' && (await subject('a.example')) === '*.example',
    );
    for (let count = 0; count < 12; count += 1)
      t.equal(await subject('SHOP.example'), 'shop.example', 'from each worker');
    t.equal(await subject('other.test'), '*.example');
    t.equal(await subject('deep.a.example'), 'shop.example', 'a wildcard is for one label');
    t.equal(await subject(''), 'shop.example', 'no name');
    t.match((await plane.status())['tls'], {
      certificates: [{ source: 'shop.pem', isFallback: true }, { source: 'wild.pem' }],
    });
    t.match(await readFile(join(folder, 'self-signed.pem'), 'latin1'), /BEGIN CERTIFICATE/);
  },
);

t.test(
  '10.8: a host whose certificate is another one than that of the connection gets 421, over both protocols',
  async (t) => {
    const dataDir = await folderOf(t);
    const backend = await startBackend(t, (_request, response) => response.end('fine'));
    const folder = join(dataDir, 'tls');
    await mkdir(folder, { recursive: true });
    const files = {
      'one.pem': await make(['one.example', 'www.one.example']),
      'two.pem': await make(['two.example']),
      'wild.pem': await make(['*.wild.example', 'one.example']),
    };
    for (const [name, { cert, key }] of Object.entries(files)) await writeFile(join(folder, name), cert + key);
    const sites = [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }];
    const initial = { config: configOf({ sites }), artifact: null };
    const plane = await startPlane(t, 'net', {}, { dataDir, tls: { port: 0 }, initial });
    const port = plane.ports.tls as number;
    const over1 = (servername: string, host: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const options = { port, servername, headers: { host }, rejectUnauthorized: false, agent: false as const };
        get(options, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        }).on('error', reject);
      });
    const over2 = (servername: string, host: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const session = http2Connect(`https://localhost:${port}`, { servername, rejectUnauthorized: false });
        session.on('error', reject);
        const stream = session.request({ ':path': '/', ':authority': host });
        stream.on('response', (fields) => {
          resolve(fields[':status'] ?? 0);
          session.destroy();
        });
        stream.on('error', () => {});
      });
    const [served, apart] = [503, 421]; // no rules are loaded, so that a request that came to its site gets 503
    for (const over of [over1, over2])
      for (const [name, host, status] of [
        ['one.example', 'one.example', served],
        ['one.example', 'ONE.example:8443', served],
        ['one.example', 'www.one.example', served],
        ['one.example', 'two.example', apart],
        ['one.example', 'two.example:443', apart],
        ['one.example', 'TWO.example.', apart],
        ['two.example', 'www.one.example', apart],
        ['a.wild.example', 'b.wild.example', served],
        ['a.wild.example', 'one.example', served],
        ['a.wild.example', 'deep.b.wild.example', served],
        ['two.example', '127.0.0.1', served],
        ['one.example', '127.0.0.1', served],
        ['unknown.example', 'other.example', served],
        ['two.example', 'a.wild.example', apart],
      ] as const)
        t.equal(await over(name, host), status, `${over.name}: ${host} over a connection for ${name}`);
    t.equal(await over1('', 'two.example'), served, 'who names nothing in the handshake chose nothing');
  },
);
