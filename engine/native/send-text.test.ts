// Text written to a connected socket by the addon.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { nativeAddon, textSender } from './addon.js';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

const numberOf = (socket: Socket): number =>
  (socket as unknown as { readonly _handle: { readonly fd: number } })._handle.fd;

function pair(t: Test): Promise<Pair> {
  return new Promise((resolve) => {
    const server = createServer();
    t.teardown(() => server.close());
    server.listen(0, '127.0.0.1', () => {
      const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
      t.teardown(() => near.destroy());
      server.on('connection', (far) => {
        t.teardown(() => far.destroy());
        near.once('connect', () => resolve({ near, far }));
        if (!near.connecting) resolve({ near, far });
      });
    });
  });
}

t.test('8: text arrives byte for byte, latin1', async (t) => {
  const send = textSender();
  if (send === null) throw new Error('the addon has no such function');
  const { near, far } = await pair(t);
  const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
  t.equal(send(numberOf(near), all), 256);
  t.equal(send(numberOf(near), `a${all}`.slice(0, 1) + 'b'.repeat(10)), 11, 'a text made of parts');
  let came = '';
  await new Promise<void>((resolve) => {
    far.on('data', (chunk) => {
      came += chunk.toString('latin1');
      if (came.length >= 267) resolve();
    });
  });
  t.equal(came, `${all}abbbbbbbbbb`);
});

t.test('8: what the system does not take is not taken for sent', async (t) => {
  const send = textSender();
  if (send === null) throw new Error('the addon has no such function');
  const { near, far } = await pair(t);
  far.pause();
  t.equal(send(numberOf(near), ''), 0);
  t.equal(send(numberOf(near), 'a'.repeat(32 * 1024)), 0, 'too long for one call');
  t.equal(send(-1, 'a'), 0, 'no socket');
  t.equal(send(1_000_000, 'a'), 0, 'none with this number');
  const text = 'a'.repeat(32 * 1024 - 1);
  let sent = 0;
  let last = text.length;
  for (let nth = 0; nth < 100_000 && last === text.length; nth += 1) {
    last = send(numberOf(near), text);
    sent += last;
  }
  t.ok(last < text.length, `full behind ${sent} bytes`);
  let came = 0;
  await new Promise<void>((resolve) => {
    far.on('data', (chunk) => {
      came += chunk.length;
      if (came >= sent) resolve();
    });
    far.resume();
  });
  t.equal(came, sent, 'and exactly those arrive');
});

t.test('8: wrong arguments', async (t) => {
  const { sendText: send } = nativeAddon() as unknown as { sendText(...values: unknown[]): number };
  for (const wrong of [[], [1], ['1', 'a'], [-1, 1], [-1, Buffer.from('a')]])
    t.throws(() => send(...wrong), TypeError, JSON.stringify(wrong));
});
