// uWebSockets.js behind the listener contract. Fast, and it shares one port between threads on every Node version; what
// it gets wrong (see differences.ts) is refused here before the road sees it.
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import type { RequestHead } from '#engine';
import { createLocalAddress } from '../local-address.js';
import { findField, listHasToken } from '../../http/header-fields.js';
import { checkRequestHead, upgradeWithBody } from '../../http/request-syntax.js';
import type { Listener, ListenerOptions } from '../listener.js';
import { oneTurn, OpenRequests } from '../open-requests.js';
import { UwsExchange, type Bridged, type Upgrade } from './exchange.js';
import { loadUws } from './library.js';
import { RepeatedTexts } from './repeated-texts.js';

/**
 * The library decodes header bytes as UTF-8. Back to one code unit per byte: exact for valid UTF-8; other bytes ≥ 0x80
 * were already replaced inside the library, and what is inspected and forwarded is then that replacement.
 */
function toBytes(value: string): string {
  for (let index = 0; index < value.length; index += 1)
    if (value.charCodeAt(index) > 0x7f) return Buffer.from(value, 'utf8').toString('latin1');
  return value;
}

function textOf(address: ArrayBuffer): string {
  const text = Buffer.from(address).toString('latin1');
  // IPv4 clients of a dual-stack socket come as ::ffff:a.b.c.d, written out in full by this library.
  const mapped = '0000:0000:0000:0000:0000:ffff:';
  if (!text.startsWith(mapped)) return text;
  const high = Number.parseInt(text.slice(30, 34), 16);
  const low = Number.parseInt(text.slice(35, 39), 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function isWebSocketHandshake(headers: readonly string[]): boolean {
  return (
    (findField(headers, 'upgrade') ?? '').toLowerCase() === 'websocket' &&
    listHasToken(findField(headers, 'connection') ?? '', 'upgrade')
  );
}

/**
 * The declarations of the version in use leave out that an app closes every connection it has, WebSockets, too. Its
 * thread can end then.
 */
type ClosableApp = TemplatedApp & { close(): void };

type Take = (res: HttpResponse, req: HttpRequest, upgrade: Upgrade | null) => void;

function bridgeWebSockets(app: TemplatedApp, take: Take): void {
  app.ws<Bridged>('/*', {
    maxPayloadLength: 16 * 1024 * 1024,
    idleTimeout: 120,
    maxBackpressure: 16 * 1024 * 1024,
    sendPingsAutomatically: false,
    upgrade: (res, req, context) => take(res, req, { context, key: req.getHeader('sec-websocket-key') }),
    open: (socket) => socket.getUserData().bridge.opened(socket),
    message: (socket, message, isBinary) => socket.getUserData().bridge.message(Buffer.from(message), isBinary),
    drain: (socket) => socket.getUserData().bridge.drained(),
    ping: (socket, message) => socket.getUserData().bridge.ping(Buffer.from(message)),
    pong: (socket, message) => socket.getUserData().bridge.pong(Buffer.from(message)),
    close: (socket, code, message) => socket.getUserData().bridge.closed(code, Buffer.from(message)),
  });
}

export function listenUws(options: ListenerOptions): Promise<Listener> {
  const uws = loadUws();
  const open = new OpenRequests<UwsExchange>();
  const reached = createLocalAddress(options.host);
  const fields = new RepeatedTexts(toBytes);
  let port = options.port;
  const take: Take = (res, req, upgrade) => {
    const method = req.getCaseSensitiveMethod();
    const query = req.getQuery() as string | undefined;
    const path = toBytes(req.getUrl());
    const uri = query === undefined ? path : `${path}?${toBytes(query)}`;
    const headers: string[] = [];
    req.forEach((name, value) => {
      const place = headers.length;
      headers.push(fields.read(place, name), fields.read(place + 1, value));
    });
    const clientIp = textOf(res.getRemoteAddressAsText());
    const head: RequestHead = {
      method,
      uri,
      protocol: 'HTTP/1.1',
      headers,
      clientIp,
      clientPort: 0, // the library does not know it; records leave it out
      serverIp: reached(clientIp),
      serverPort: port,
    };
    const checked = checkRequestHead(method, uri, 'HTTP/1.1', headers, options.limits());
    // The library takes a key of the right length for a handshake, whatever else the head says.
    const handshake = upgrade !== null && isWebSocketHandshake(headers) ? upgrade : null;
    const refusal = checked.refusal ?? (handshake !== null && checked.framing.kind !== 'none' ? upgradeWithBody : null);
    const exchange = new UwsExchange(res, head, checked.framing, refusal, handshake, open);
    open.add(exchange);
    if (refusal === null) options.handler.onRequest(exchange);
    // What follows a refused head may be anything, and the library would take it for the next request while it still
    // reads this packet. A turn later it has found the refused one unanswered, and closed the connection.
    else setImmediate(() => options.handler.onRequest(exchange));
  };
  const app = uws.App() as ClosableApp;
  uws._cfg('silent'); // no product name in responses; must follow App(), before it the library has no loop to configure
  bridgeWebSockets(app, take);
  app.any('/*', (res, req) => take(res, req, null));

  return new Promise((resolve, reject) => {
    app.listen(options.host, options.port, (token: us_listen_socket | false) => {
      if (token === false) {
        reject(
          new Error(
            `cannot listen on ${options.host}:${options.port} (taken, or not permitted): ` +
              'choose another port with WAF_PORT',
          ),
        );
        return;
      }
      port = uws.us_socket_local_port(token);
      const stop = async (drainMs: number, onClosed?: () => void): Promise<void> => {
        open.isStopping = true;
        await oneTurn();
        uws.us_listen_socket_close(token);
        onClosed?.();
        await open.drain(drainMs);
        app.close();
      };
      resolve({ port, stop });
    });
  });
}
