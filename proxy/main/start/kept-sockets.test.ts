// Sockets that outlive a data plane: who connects between the end of one and the begin of the next, or while a worker
// is replaced, waits and is answered. The store stands in for systemd (deploy/testing/inside-systemd.sh has the real).
import { closeSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { duplicateSocket } from '#engine';
import { startBackend, startPlane, testMsMax, until } from '../../e2e/harness.js';
import { sendRaw, statusOf } from '../../e2e/raw-client.js';
import type { SocketStore } from './kept-sockets.js';

const host = '127.0.0.1';
const skip = process.platform === 'linux' ? false : 'Linux only';
t.setTimeout(testMsMax);

interface Store extends SocketStore {
  readonly names: () => string[];
  /** As the process does when it is ready: what was not taken since is closed. */
  readonly closeOthers: () => void;
}

function storeOf(t: Test): Store {
  const kept = new Map<string, number>();
  const taken = new Set<string>();
  t.teardown(() => [...kept.values()].forEach((socket) => closeSync(socket)));
  return {
    take(name) {
      const socket = kept.get(name);
      taken.add(name);
      return socket === undefined ? null : duplicateSocket(socket);
    },
    keep(name, socket) {
      kept.set(name, duplicateSocket(socket));
    },
    closeOthers() {
      for (const [name, socket] of kept) {
        if (taken.has(name)) continue;
        kept.delete(name);
        closeSync(socket);
      }
      taken.clear();
    },
    names: () => [...kept.keys()].sort(),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

async function shopOf(t: Test) {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  return { sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }] };
}

const request = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const ask = async (port: number): Promise<number> => statusOf((await sendRaw(port, request)).text);

for (const workers of [1, 2])
  t.test(`${workers} worker(s): a restart refuses no client`, { skip }, async (t) => {
    const [store, settings, port] = [storeOf(t), await shopOf(t), await freePort()];
    const options = { workers, port, socketStore: store };
    const first = await startPlane(t, 'net', settings, options);
    t.equal(await ask(port), 200);
    t.equal(store.names().length, workers);
    await first.stop();
    const waiting = Array.from({ length: 40 }, () => ask(port));
    await startPlane(t, 'net', settings, options);
    t.same(new Set(await Promise.all(waiting)), new Set([200]), 'clients that came between are answered');
  });

t.test('more workers than before, and fewer', { skip }, async (t) => {
  const [store, settings, port] = [storeOf(t), await shopOf(t), await freePort()];
  for (const workers of [1, 2, 1]) {
    const plane = await startPlane(t, 'net', settings, { workers, port, socketStore: store });
    store.closeOthers();
    for (let count = 0; count < 20; count += 1) t.equal(await ask(port), 200);
    t.equal(store.names().length, workers);
    await plane.stop();
  }
});

t.test('a worker that dies loses no client that waits for it', { skip }, async (t) => {
  const [store, settings, port] = [storeOf(t), await shopOf(t), await freePort()];
  const plane = await startPlane(t, 'net', settings, { workers: 2, port, socketStore: store });
  await sendRaw(port, request.replace('\r\nConn', '\r\nx-crash-worker: 1\r\nConn'));
  const answers = await Promise.all(Array.from({ length: 60 }, () => ask(port)));
  t.same(new Set(answers), new Set([200]));
  t.ok(await until(async () => (await plane.status())['restarts'] === 1), 'it was replaced');
});

t.test('another port or address is another socket; the TLS edge has its own', { skip }, async (t) => {
  const [store, settings] = [storeOf(t), await shopOf(t)];
  const [one, two, edge] = [await freePort(), await freePort(), await freePort()];
  for (const port of [one, two]) {
    const plane = await startPlane(t, 'net', settings, { port, tls: { port: edge }, socketStore: store });
    t.equal(await ask(port), 200);
    await plane.stop();
  }
  const names = [`plain-0_${one}_${host}`, `plain-0_${two}_${host}`, `tls-0_${edge}_${host}`];
  t.same(store.names(), names.sort());
});

t.test('a port that a stranger has is reported, and one chosen by the system is not kept', { skip }, async (t) => {
  const [store, settings, port] = [storeOf(t), await shopOf(t), await freePort()];
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  t.teardown(() => void server.close());
  await t.rejects(startPlane(t, 'net', settings, { port, socketStore: store }), { message: /another program uses/ });
  const plane = await startPlane(t, 'net', settings, { port: 0, socketStore: store });
  t.equal(await ask(plane.ports.http), 200);
  t.same(store.names(), []);
});
