// ws_inspect: what is text in a binary message is seen by rules, whatever a sender puts around it.
import t, { type Test } from 'tap';
import { listenerKinds, startPlane, testMsMax, until } from './harness.js';
import { codeOf, frame, noise, opcode, open, type Client } from './websocket-client.js';
import { startWebSocketServer } from './websocket-server.js';

t.setTimeout(testMsMax);

const bytesMax = 1000;
const attack = 'this is EVIL, and more';

const fillers: readonly (readonly [string, string])[] = [
  ['U+0000', '\0'],
  ['U+0001', '\x01'],
  ['escapes', '\x1b'],
  ['deletes', '\x7f'],
  ['two control characters in turn', '\0\x01'],
  ['three in turn', '\x02\x00\x1f'],
];
const fill = (unit: string, bytes: number): string => unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes);
const utf16 = (text: string): string => Buffer.from(text, 'utf16le').toString('latin1');
const utf32 = (text: string): string => [...text].map((character) => `${character}\0\0\0`).join('');
const swapped = (text: string): string => Buffer.from(utf16(text), 'latin1').swap16().toString('latin1');

/** In Latin1; all of them hold an attack, and no application may have it. */
function* attacks(): Generator<readonly [what: string, message: string]> {
  for (const [what, unit] of fillers) {
    for (const bytes of [1, 5, 50, 120, 160, 400, 900]) {
      yield [`${bytes} ${what} before`, fill(unit, bytes) + attack];
      yield [`${bytes} ${what} behind`, attack + fill(unit, bytes)];
      yield [`${bytes} ${what} on both sides`, `hello {${fill(unit, bytes / 2)}${attack}${fill(unit, bytes / 2)}`];
    }
    for (const bytes of [1001, 1100, 2000, 9000]) {
      yield [`${bytes} ${what} before, beyond the limit`, fill(unit, bytes) + attack];
      yield [`${bytes} ${what} behind, beyond the limit`, attack + fill(unit, bytes)];
      yield [`${bytes} ${what} before UTF-16, beyond the limit`, fill(unit, bytes) + utf16(attack)];
    }
    yield [`${what} within`, `this is EV${unit}IL, and more`];
    yield [`${what} within, among noise`, `${noise(200)}this is EV\0IL, and more${noise(200)}`];
  }
  for (const [what, encode] of [
    ['UTF-16', utf16],
    ['UTF-16, the other byte first', swapped],
    ['UTF-32', utf32],
  ] as const) {
    yield [what, encode(attack)];
    yield [`${what} behind letters beyond ASCII`, utf16('\u00e9\u4e2d\u0431') + encode(attack)];
    yield [`${what} behind U+0000`, encode('\0'.repeat(100)) + encode(attack)];
    yield [`${what} behind U+0000, beyond the limit`, encode('\0'.repeat(800)) + encode(attack)];
    yield [`${what} behind noise`, noise(400) + encode(attack)];
  }
  for (const bytes of [5, 100, 800, 2000, 9001]) {
    yield [`behind ${bytes} bytes of noise`, noise(bytes) + attack];
    yield [`before ${bytes} bytes of noise`, attack + noise(bytes)];
    yield [`between ${bytes} bytes of noise`, noise(bytes) + attack + noise(bytes)];
  }
  yield ['MessagePack', `\x82\xa1n\xcb\x40\x09\x21\xfb\x54\x44\x2d\x18\xa1q\xb6${attack}`];
  yield ['protobuf', `\x08\x96\x01\x12\x16${attack}\x1a\x80\x02${noise(256)}`];
  yield ['with a surrogate in it', `so \xed\xa0\x80 ${attack}`];
  yield ['cut bytes between its letters', `${noise(30)}this is EVIL\xff\xfe, and more`];
}

/** In Latin1. */
const harmless: readonly (readonly [string, string])[] = [
  ['zeros', fill('\0', 900)],
  ['zeros beyond the limit', fill('\0', 5000)],
  ['zeros and noise', fill('\0', 3000) + noise(3000)],
  ['noise', noise(30_000)],
  ['noise, ending where a part does', noise(4 * bytesMax)],
  ['UTF-16', utf16('plain words, nothing else')],
  ['numbers of 32 bits', [7, 300, 1e6, -1].map((n) => `${String.fromCharCode(n & 255)}\0\0\0`).join('')],
  ['a string among noise', `${noise(700)}plain words, nothing else${noise(2000)}`],
];

type Cut = (message: string) => Buffer[];

const whole: Cut = (message) => [frame(opcode.binary, message)];
const cutInto =
  (bytes: number, between: Buffer | null): Cut =>
  (message) => {
    const frames: Buffer[] = [];
    for (let at = 0; at < message.length; at += bytes) {
      const isFinal = at + bytes >= message.length;
      const code = at === 0 ? opcode.binary : opcode.continuation;
      frames.push(frame(code, message.slice(at, at + bytes), { isFinal }));
      if (between !== null && !isFinal) frames.push(between);
    }
    return frames;
  };
const cuts: readonly (readonly [string, Cut])[] = [
  ['in one frame', whole],
  ['in frames of 700 bytes', cutInto(700, null)],
  ['in frames of 97 bytes with pings between', cutInto(97, frame(opcode.ping, 'p'))],
  ['in frames of 1003 bytes with pongs between', cutInto(1003, frame(0x0a, ''))],
];

async function refusesAll(t: Test, start: () => Promise<Client>, cut: Cut): Promise<void> {
  const list = [...attacks()];
  const batch = 20;
  for (let from = 0; from < list.length; from += batch)
    await Promise.all(
      list.slice(from, from + batch).map(async ([what, message]) => {
        const client = await start();
        client.socket.write(Buffer.concat(cut(message)));
        const isClosed = await until(() => client.isClosed);
        const code = codeOf(client);
        if (!isClosed || (code !== 1008 && code !== 1009)) t.fail(`${what}: closed ${String(isClosed)}, ${code}`);
      }),
    );
  t.ok(list.length > 200, `${list.length} messages`);
}

for (const kind of listenerKinds)
  t.test(`${kind}: text in binary messages`, async (t) => {
    const backend = await startWebSocketServer(t);
    const plane = await startPlane(t, kind, {
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
      ws_inspect: { enabled: true, message_bytes_max: bytesMax },
    });
    const { http: port } = plane.ports;
    for (const [how, cut] of cuts) {
      await t.test(`attacks ${how}`, (t) => refusesAll(t, () => open(t, port), cut));
      await t.test(`others ${how}`, async (t) => {
        const client = await open(t, port);
        for (const [what, message] of harmless) {
          backend.heard.length = 0;
          client.socket.write(Buffer.concat(cut(message)));
          const expected = Buffer.from(message, 'latin1');
          t.ok(await until(() => backend.heard.join('').length >= message.length), `${what} passes`);
          t.ok(Buffer.from(backend.heard.join(''), 'latin1').equals(expected), `${what} arrives as it was`);
        }
        client.socket.destroy();
      });
    }
    t.notOk(
      backend.heard.some((text) => text.includes('EVIL')),
      'the application has seen none of it',
    );
    const long = await open(t, port);
    long.socket.write(frame(opcode.binary, fill('\0', 1100) + 'plain words'));
    t.ok(await until(() => long.isClosed));
    t.equal(codeOf(long), 1009, 'text beyond the limit ends with 1009, whatever is before it');
  });
