// A WebSocket whose node ends: the close frame stands between frames, and nothing of the upstream follows it.
import t from 'tap';
import { closeFrame } from '../../listeners/websocket-frames.js';
import { LeavingTunnel } from './leaving-tunnel.js';

function tunnelTo(): { tunnel: LeavingTunnel; sent: () => string } {
  const sent: Buffer[] = [];
  const client = { send: (bytes: Buffer) => sent.push(Buffer.from(bytes)) > 0, end: () => {} };
  return { tunnel: new LeavingTunnel(client), sent: () => Buffer.concat(sent).toString('hex') };
}

const word = (text: string): Buffer => Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]);
const goingAway = closeFrame(1001).toString('hex');

t.test('between two frames it is told at once', async (t) => {
  const { tunnel, sent } = tunnelTo();
  tunnel.send(word('one'));
  tunnel.goAway();
  tunnel.goAway();
  tunnel.send(word('two'));
  t.equal(sent(), word('one').toString('hex') + goingAway);
});

t.test('behind a frame that is under way, wherever that was cut', async (t) => {
  const long = Buffer.concat([Buffer.from([0x82, 126, 1, 44]), Buffer.alloc(300, 7)]);
  for (let cut = 1; cut < long.length; cut += 1) {
    const { tunnel, sent } = tunnelTo();
    const borrowed = Buffer.from(long.subarray(0, cut));
    tunnel.send(borrowed);
    borrowed.fill(0); // whoever lent the bytes goes on with them
    tunnel.goAway();
    if (sent() !== long.subarray(0, cut).toString('hex')) t.fail(`cut at ${cut}: it is told within a frame`);
    tunnel.send(long.subarray(cut));
    if (sent() !== long.toString('hex') + goingAway) t.fail(`cut at ${cut}: ${sent()}`);
  }
  t.pass('told behind the frame');
});

t.test('an upstream that speaks something else is passed on, and nothing of it is kept', async (t) => {
  const { tunnel, sent } = tunnelTo();
  const none = Buffer.from([0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255]); // a length beyond any
  const { borders } = tunnel as unknown as { readonly borders: { readonly head: Buffer } };
  for (let count = 0; count < 100; count += 1) {
    tunnel.send(none);
    t.ok(borders.head.length <= 14, 'heads do not pile up');
  }
  tunnel.goAway();
  t.equal(sent(), none.toString('hex').repeat(100), 'no close frame stands where nobody knows what is one');
});
