// ws_inspect: text messages of clients are seen by rules before the application has them.
import { connect } from 'node:net';
import t from 'tap';
import type { ListenerKind } from '../listeners/index.js';
import {
  auditLines,
  isInFlight,
  listenerKinds,
  metricsWith,
  startBackend,
  startPlane,
  testMsMax,
  until,
} from './harness.js';
import { codeOf, frame, noise, opcode, open } from './websocket-client.js';
import { startWebSocketServer } from './websocket-server.js';

t.setTimeout(testMsMax);

const isOfControl = /^(?:an attack in (?:a p[io]ng|the reason)|a ping with it)/;

const wide = (text: string): string => Buffer.from(text, 'utf16le').toString('latin1');

/** In Latin1. */
const harmlessBinary: readonly (readonly [string, string])[] = [
  ['protobuf', '\x08\x96\x01\x12\x05hello\x1d\x00\x00\x80\x3f'],
  ['MessagePack', '\x82\xa2id*\xa4name\xa3Ann'],
  ['text', 'plain words'],
  ['JSON', '{"id":7}'],
  ['UTF-16', wide('plain words')],
  ['nothing', ''],
  ['one byte', '\xff'],
  ['a name among noise', `${noise(300)}EVI L${noise(300)}`],
];
const attacksAsBinary: readonly (readonly [string, string])[] = [
  ['text as binary', 'so EVIL'],
  ['JSON as binary', '{"a":["EVIL"]}'],
  ['JSON behind a byte order mark', '\xef\xbb\xbf{"a":["EVIL"]}'],
  ['UTF-8 beyond ASCII as binary', 'Gr\xc3\xbc\xc3\x9fe EVIL'],
  ['text behind control bytes', `\x00\x00\x00\x07${'\x01'.repeat(50)}EVIL`],
  ['text with a byte that is no UTF-8', 'so EVIL\xff'],
  ['a string of MessagePack', '\x81\xa4name\xa7so EVIL'],
  ['UTF-16', wide('so EVIL')],
  ['UTF-16, the other byte first', Buffer.from(wide('so EVIL'), 'latin1').swap16().toString('latin1')],
];

const settings = (upstream: string, ws: object): object => ({
  sites: [{ name: 'shop', prefix: '/', upstream, protected: true }],
  ws_inspect: ws,
});

function messages(kind: ListenerKind): void {
  t.test(`${kind}: text messages are seen by rules when ws_inspect is on`, async (t) => {
    const backend = await startWebSocketServer(t);
    const plane = await startPlane(t, kind, settings(backend.url, { enabled: true, message_bytes_max: 1000 }));
    const port = plane.ports.http;

    const good = await open(t, port, '/chat', 'Sec-WebSocket-Extensions: permessage-deflate\r\n');
    t.notMatch(backend.heads[0], /permessage-deflate/i, 'no compression is offered');
    good.socket.write(frame(opcode.text, 'hello'));
    good.socket.write(frame(opcode.text, 'in ', { isFinal: false }));
    good.socket.write(frame(opcode.ping, 'p'));
    good.socket.write(frame(opcode.ping, 'a longer one of plain words'));
    good.socket.write(frame(opcode.continuation, 'pieces'));
    t.ok(await until(() => good.heard.includes('hello')), 'a message passes');
    t.ok(await until(() => backend.heard.join('').includes('in pieces')), 'one of several frames passes whole');
    for (const [what, bytes] of harmlessBinary) {
      good.socket.write(frame(opcode.binary, bytes));
      t.ok(await until(() => backend.heard.includes(bytes)), `${what} passes as binary`);
    }
    const picture = noise(5000);
    good.socket.write(frame(opcode.binary, picture));
    t.ok(await until(() => backend.heard.includes(picture)), 'larger ones that are no text pass');
    const [start, middle, end] = [picture.slice(0, 700), picture.slice(700, 2500), picture.slice(2500)];
    good.socket.write(frame(opcode.binary, start, { isFinal: false }));
    good.socket.write(frame(opcode.ping, 'p'));
    good.socket.write(frame(opcode.continuation, middle, { isFinal: false }));
    good.socket.write(frame(opcode.continuation, end));
    t.ok(
      await until(
        () =>
          backend.heard.filter((text) => text === picture).length > 1 ||
          backend.heard.join('').split(picture).length > 2,
      ),
      'as do those in pieces',
    );
    good.socket.write(frame(opcode.text, 'text behind it'));
    t.ok(await until(() => backend.heard.includes('text behind it')), 'and messages behind them');
    const bytewise = frame(opcode.text, 'x'.repeat(900));
    for (const byte of bytewise) good.socket.write(Buffer.from([byte]));
    t.ok(await until(() => backend.heard.includes('x'.repeat(900))), 'as does one that comes byte by byte');
    good.socket.destroy();

    const refusals: readonly (readonly [string, readonly Buffer[], number])[] = [
      ['an attack', [frame(opcode.text, 'so EVIL')], 1008],
      ['an attack in JSON', [frame(opcode.text, '{"a":["EVIL"]}')], 1008],
      ['an attack in a ping', [frame(opcode.ping, 'this is EVIL')], 1008],
      ['an attack in a pong', [frame(0x0a, 'this is EVIL')], 1008],
      ['an attack in the reason of a close', [frame(opcode.close, '\x03\xe8this is EVIL')], 1008],
      [
        'a ping with it inside a message',
        [frame(opcode.text, 'a', { isFinal: false }), frame(9, 'this is EVIL')],
        1008,
      ],
      [
        'an attack in two frames',
        [frame(opcode.text, 'so EV', { isFinal: false }), frame(opcode.continuation, 'IL')],
        1008,
      ],
      [
        'an attack with a ping inside',
        [frame(opcode.text, 'EV', { isFinal: false }), frame(opcode.ping, ''), frame(opcode.continuation, 'IL')],
        1008,
      ],
      ...attacksAsBinary.map(([what, text]) => [what, [frame(opcode.binary, text)], 1008] as const),
      [
        'a binary attack in three frames, with a ping inside',
        [
          frame(opcode.binary, 'so EV', { isFinal: false }),
          frame(opcode.ping, ''),
          frame(opcode.continuation, '', { isFinal: false }),
          frame(opcode.continuation, 'IL'),
        ],
        1008,
      ],
      ['text over the limit as binary', [frame(opcode.binary, `${'y'.repeat(1100)}EVIL`)], 1009],
      [
        'fragments of it over the limit',
        [frame(opcode.binary, 'y'.repeat(600), { isFinal: false }), frame(opcode.continuation, 'y'.repeat(600))],
        1009,
      ],
      ['a message over the limit', [frame(opcode.text, 'y'.repeat(1001))], 1009],
      [
        'fragments over the limit',
        [frame(opcode.text, 'y'.repeat(600), { isFinal: false }), frame(opcode.continuation, 'y'.repeat(600))],
        1009,
      ],
    ];
    for (const [what, frames, code] of refusals) {
      // uws answers and keeps control frames itself
      if (kind === 'uws' && isOfControl.test(what)) continue;
      const client = await open(t, port);
      for (const one of frames) client.socket.write(one);
      t.ok(await until(() => client.isClosed), `${what} ends the connection`);
      t.equal(codeOf(client), code, `${what}: ${code}`);
    }
    // uws closes such connections itself, with codes of its own. A frame without a mask it reads as one with a mask, so
    // that it waits for four bytes more, and its idle limit of two minutes ends the connection: not waited for here.
    const unmasked: readonly (readonly [string, Buffer])[] = [
      ['a frame without a mask', frame(opcode.text, 'EVIL', { isMasked: false })],
    ];
    const violations: readonly (readonly [string, Buffer])[] = [
      ...(kind === 'uws' ? [] : unmasked),
      ['reserved bits', frame(opcode.text, 'EVIL', { bits: 0x40 })],
      ['an opcode of nothing', frame(3, 'EVIL')],
      ['a continuation of nothing', frame(opcode.continuation, 'EVIL')],
      ['a ping in pieces', frame(opcode.ping, 'EVIL', { isFinal: false })],
    ];
    for (const [what, bytes] of violations) {
      const client = await open(t, port);
      client.socket.write(bytes);
      t.ok(await until(() => client.isClosed), `${what} ends the connection`);
      if (kind !== 'uws') t.equal(codeOf(client), 1002, `${what}: 1002`);
    }
    t.notOk(
      backend.heard.some((text) => text.includes('EVIL')),
      'the application has seen none of it',
    );
    const blocked = (kind === 'uws' ? 5 : 9) + attacksAsBinary.length;
    t.match(
      await metricsWith(plane, `websocket_messages_total{outcome="blocked"} ${blocked}`),
      `outcome="blocked"} ${blocked}`,
    );
    interface Line {
      readonly transaction: { readonly request: { readonly uri: string }; readonly gatehouse?: { verdict: string } };
    }
    let lines: Line[] = [];
    await until(async () => (lines = await auditLines<Line>(plane)).length >= 4);
    t.equal(lines.filter(({ transaction }) => transaction.request.uri === '/chat').length, blocked, 'each is recorded');
    t.ok(await until(async () => isInFlight(plane, 0)), 'nothing in flight');
  });

  t.test(`${kind}: messages pass unseen by default, and are only recorded in DetectionOnly`, async (t) => {
    const backend = await startWebSocketServer(t);
    const plain = await startPlane(t, kind, settings(backend.url, {}));
    const unseen = await open(t, plain.ports.http);
    unseen.socket.write(frame(opcode.text, 'EVIL one'));
    t.ok(await until(() => backend.heard.includes('EVIL one')));
    const watching = { ...settings(backend.url, { enabled: true }), mode: 'DetectionOnly' };
    const plane = await startPlane(t, kind, watching);
    const seen = await open(t, plane.ports.http);
    seen.socket.write(frame(opcode.text, 'EVIL two'));
    t.ok(await until(() => backend.heard.includes('EVIL two')));
    t.match(await metricsWith(plane, 'outcome="flagged"} 1'), 'websocket_messages_total{outcome="flagged"} 1');
  });
}

for (const kind of listenerKinds) messages(kind);

const introspection = '{__schema{types{name}}}';
const deep = `query{${'a{'.repeat(60)}b${'}'.repeat(61)}`;
const operation = (type: string, payload: object): string => JSON.stringify({ id: '1', type, payload });
/** Of both protocols over WebSocket, and what servers take besides. */
const refusedOperations: readonly (readonly [string, string])[] = [
  ['subscribe', operation('subscribe', { query: introspection })],
  ['start of the older protocol', operation('start', { query: introspection })],
  ['a mutation beyond the limits', operation('subscribe', { query: deep.replace('query', 'mutation') })],
  ['a query beyond the limits', operation('start', { query: deep })],
  [
    'a subscription that asks for the schema',
    operation('subscribe', { query: `subscription{${introspection.slice(1)}` }),
  ],
  ['a name written with escapes', operation('subscribe', {}).replace('{}', `{"\\u0071uery":"${introspection}"}`)],
  ['a batch', `[${operation('subscribe', { query: introspection })}]`],
  ['without a type', JSON.stringify({ query: introspection })],
];
const honestOperations: readonly string[] = [
  JSON.stringify({ type: 'connection_init', payload: { token: 'abc' } }),
  operation('subscribe', { query: 'subscription Orders($id:ID!){order(id:$id){status}}', variables: { id: '7' } }),
  operation('start', { query: 'query{me{name}}', operationName: null }),
  JSON.stringify({ id: '1', type: 'complete' }),
];

for (const path of ['/graphql', '/live'])
  t.test(`graphql_protect holds for operations in messages on ${path}`, async (t) => {
    const backend = await startWebSocketServer(t);
    const base = { ...settings(backend.url, { enabled: true }), graphql_protect: true };
    const plane = await startPlane(t, 'net', base);
    const good = await open(t, plane.ports.http, path);
    for (const text of honestOperations) {
      good.socket.write(frame(opcode.text, text));
      t.ok(await until(() => backend.heard.includes(text)), text);
    }
    for (const isBinary of [false, true])
      for (const [what, text] of refusedOperations) {
        const client = await open(t, plane.ports.http, path);
        client.socket.write(frame(isBinary ? opcode.binary : opcode.text, text));
        t.ok(await until(() => client.isClosed), `${what} ends the connection`);
        t.equal(codeOf(client), 1008, what);
        t.notOk(backend.heard.includes(text), `${what}: not seen by the application`);
      }
    const count = 2 * refusedOperations.length;
    t.match(
      await metricsWith(plane, `outcome="blocked"} ${count}`),
      `websocket_messages_total{outcome="blocked"} ${count}`,
    );
    interface Line {
      readonly transaction: { readonly messages: readonly { readonly details: { readonly ruleId: string } }[] };
    }
    let lines: Line[] = [];
    t.ok(await until(async () => (lines = await auditLines<Line>(plane)).length >= count), 'each is recorded');
    const ids = new Set(lines.flatMap(({ transaction }) => transaction.messages.map(({ details }) => details.ruleId)));
    t.ok(ids.has('1006510') && ids.has('1006511'), `by the rules of the gate: ${[...ids].join(', ')}`);

    const watching = await startPlane(t, 'net', { ...base, mode: 'DetectionOnly' });
    const seen = await open(t, watching.ports.http, path);
    const [, text = ''] = refusedOperations[0] ?? [];
    seen.socket.write(frame(opcode.text, text));
    t.ok(await until(() => backend.heard.includes(text)), 'DetectionOnly lets it pass');
    t.match(await metricsWith(watching, 'outcome="flagged"} 1'), 'websocket_messages_total{outcome="flagged"} 1');
  });

t.test('an application that is no WebSocket server answers the handshake as it likes', async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end('plain'));
  const plane = await startPlane(t, 'net', settings(backend.url, { enabled: true }));
  const socket = connect(plane.ports.http, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  socket.write(
    'GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n\r\n',
  );
  t.ok(await until(() => text.endsWith('plain')), text);
});
