// Text that goes past the streams of Node.js, beside text that does not.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { until } from '../e2e/waiting.js';
import { DirectText } from './direct-text.js';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

function pair(t: Test): Promise<Pair> {
  return new Promise((resolve) => {
    const server = createServer();
    t.teardown(() => server.close());
    server.listen(0, '127.0.0.1', () => {
      const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
      near.on('error', () => {});
      t.teardown(() => near.destroy());
      server.on('connection', (far) => {
        far.on('error', () => {});
        t.teardown(() => far.destroy());
        near.once('connect', () => resolve({ near, far }));
        if (!near.connecting) resolve({ near, far });
      });
    });
  });
}

t.test('8: nothing is lost, doubled or overtaken, also where the other side is slow', async (t) => {
  const { near, far } = await pair(t);
  far.pause();
  const direct = new DirectText(near);
  const parts: string[] = [];
  let drains = 0;
  near.on('drain', () => (drains += 1));
  let isSlow = false;
  const say = (text: string, isDirect: boolean): void => {
    parts.push(text);
    const isFlowing = isDirect ? direct.write(text) : near.write(text, 'latin1');
    if (!isFlowing) isSlow = true;
  };
  // Of all sizes, by both ways in turn, until the socket is full and well beyond.
  for (let nth = 0; nth < 2000; nth += 1) {
    const text = `${nth}:${String.fromCharCode(nth % 256).repeat((nth * 7919) % 40_000)};`;
    say(text, nth % 7 !== 3);
  }
  t.ok(isSlow, 'the writer is told');
  t.ok(direct.sentBytes > 0 && near.bytesWritten > 0, 'both ways were gone');
  const wanted = Buffer.from(parts.join(''), 'latin1');
  const came: Buffer[] = [];
  let bytes = 0;
  far.on('data', (chunk) => {
    came.push(chunk);
    bytes += chunk.length;
  });
  far.resume();
  t.ok(await until(() => bytes >= wanted.length));
  t.ok(Buffer.concat(came).equals(wanted));
  t.ok(await until(() => drains > 0), 'and hears when it may go on');
  t.equal(near.bytesWritten + direct.sentBytes, wanted.length, 'every byte is counted once');
});

t.test('8: a socket that is ended, closed or not connected yet', async (t) => {
  const early = new Promise<string>((resolve) => {
    const server = createServer((far) => {
      let text = '';
      far.on('data', (chunk) => (text += chunk.toString('latin1')));
      far.on('end', () => resolve(text));
    });
    t.teardown(() => server.close());
    server.listen(0, '127.0.0.1', () => {
      const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
      t.teardown(() => near.destroy());
      const direct = new DirectText(near);
      direct.write('before it is connected;');
      near.once('connect', () => {
        direct.write('behind;');
        near.end();
        near.on('error', () => {});
        direct.write('too late');
      });
    });
  });
  t.equal(await early, 'before it is connected;behind;');
  const { near } = await pair(t);
  const direct = new DirectText(near);
  near.destroy();
  direct.write('nobody');
  t.equal(direct.sentBytes, 0);
});

t.test('8: a connection that the other side resets is closed with its error', async (t) => {
  const { near, far } = await pair(t);
  const direct = new DirectText(near);
  const errors: (string | undefined)[] = [];
  near.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code));
  far.resetAndDestroy();
  t.ok(
    await until(() => {
      if (!near.destroyed) direct.write('a');
      return near.destroyed;
    }),
  );
  t.ok(
    errors.every((code) => code === 'ECONNRESET' || code === 'EPIPE'),
    errors.join(),
  );
});
