// The application behind the listeners under test: answers with what it saw; what the path says decides how.
import type { Page } from '../../http/pages.js';
import type { Outcome } from '../differences.js';
import type { Exchange, ListenerKind } from '../listener.js';

/** What the parts of the suite share: one listener, and what the application saw of it. */
export interface Suite {
  readonly kind: ListenerKind;
  port(): number;
  /** Where this listener differs, by case. */
  readonly own: ReadonlyMap<string, Outcome>;
  readonly unanswered: Unanswered;
  readonly seen: string[];
}

/** What the road says of bytes that are no request. */
export const onUnreadable = (status: number): Page => ({
  headers: ['X-Refused', String(status), 'Date', 'Sun, 22 Nov 2026 11:00:00 GMT'],
  body: `refused ${status}`,
});

/** Requests that get no answer. */
export interface Unanswered {
  taken: number;
  aborted: number;
}

/** Answers with what it saw; what the path says decides how. */
export function echo(exchange: Exchange, unanswered: Unanswered, seen: string[]): void {
  const { head, refusal } = exchange;
  seen.push(head.uri);
  if (refusal !== null) {
    exchange.respond(refusal.status, ['Content-Type', 'text/plain'], refusal.reason, true);
    return;
  }
  if (exchange.isUpgrade) {
    exchange.respond(500, [], 'a handshake', true);
    return;
  }
  const path = head.uri.split('?')[0];
  if (path === '/never') {
    unanswered.taken += 1;
    exchange.onAbort = () => (unanswered.aborted += 1);
    return;
  }
  if (path === '/204') exchange.respondBodyless(204, '', [], null);
  else if (path === '/304') exchange.respondBodyless(304, '', ['ETag', '"a"'], 7);
  else if (path === '/length') stream(exchange, 300_000, 300_000);
  else if (path === '/unknown') stream(exchange, null, 300_000);
  else if (path === '/cut') {
    exchange.startResponse(200, '', [], 100);
    exchange.write(Buffer.from('only this'));
    setTimeout(() => exchange.close(), 10);
  } else if (path === '/cut-unknown') {
    exchange.startResponse(200, '', [], null);
    exchange.write(Buffer.from('only this'));
    setTimeout(() => exchange.close(), 10);
  } else if (path === '/refused') exchange.respond(403, [], 'no', true);
  else if (path === '/slow') setTimeout(() => exchange.respond(200, [], 'slow', false), 30);
  else if (path === '/hints') {
    exchange.relayInterim(103, '', ['Link', '</a.css>; rel=preload']);
    exchange.respond(200, [], 'after', false);
  } else if (path === '/trailers') {
    exchange.startResponse(200, '', exchange.relaysTrailers ? ['Trailer', 'X-Sum'] : [], null);
    exchange.write(Buffer.from('before'));
    exchange.endResponse(['X-Sum', 'caf\u00e9', 'X-More', '2']);
  } else if (path === '/head') exchange.respondBodyless(200, 'Fine', ['X-A', 'caf\u00e9'], 1234);
  else if (exchange.framing.kind === 'none') exchange.respond(200, ['X-Seen', head.uri], '', false);
  else {
    let body = '';
    exchange.readBody((chunk, isLast) => {
      body += chunk.toString('latin1');
      chunk.fill(0x21);
      if (isLast) exchange.respond(200, [], body, false);
    });
  }
}

/** Writes in pieces, waiting for the client whenever it is slow. */
export function stream(exchange: Exchange, declared: number | null, bytes: number): void {
  exchange.startResponse(200, '', [], declared);
  let sent = 0;
  const more = (): void => {
    while (sent < bytes) {
      const piece = Buffer.alloc(Math.min(10_000, bytes - sent), 0x61 + ((sent / 10_000) % 26));
      sent += piece.length;
      const isFlowing = exchange.write(piece);
      piece.fill(0);
      if (!isFlowing) return;
    }
    exchange.onDrain = null;
    exchange.endResponse(null);
  };
  exchange.onDrain = more;
  more();
}

export function expectedBody(bytes: number): string {
  let text = '';
  for (let sent = 0; sent < bytes; sent += 10_000)
    text += String.fromCharCode(0x61 + ((sent / 10_000) % 26)).repeat(Math.min(10_000, bytes - sent));
  return text;
}

export function unchunk(text: string): string {
  let rest = text;
  let body = '';
  for (;;) {
    const end = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (!(size > 0)) return body;
    body += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 4 + size);
  }
}
