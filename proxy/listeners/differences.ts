// Where the listeners do not behave alike, with the reason. The contract suite expects exactly this and nothing
// else: a difference that is not listed fails, and so does a listed one that has gone.
import type { ListenerKind } from './listener.js';

/**
 * Of a request: a status; `closed`: no answer, connection closed; `silent`: no answer, closed by the idle timeout (10
 * s).
 * Of a part of a response: whether the client gets it.
 */
export type Outcome = number | 'closed' | 'silent' | 'relayed' | 'dropped';

export interface Difference {
  readonly listener: ListenerKind;
  /** Name of the case in the contract suite. */
  readonly case: string;
  readonly outcome: Outcome;
  readonly reason: string;
}

const waits =
  'the library takes the head for one that is not complete yet, and waits until its idle timeout; nothing ' +
  'reaches this program that could be answered';
const lenient = 'the library looks for the digits only; harmless, because the body goes on with a length of its own';
const closes = 'the library closes such a connection itself, without an answer and without a callback';

export const differences: readonly Difference[] = [
  { listener: 'uws', case: 'HTTP/1.0', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'HTTP/0.9', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'HTTP/2.0 in a request line', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'no Host', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'absolute form, same host', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'absolute form, other host', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'asterisk form', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'a field name with an underscore', outcome: 'silent', reason: waits },
  {
    listener: 'uws',
    case: 'a field name with a dot',
    outcome: 'silent',
    reason: 'the library knows letters, digits and hyphens in field names only; it waits for ever at anything else',
  },
  { listener: 'uws', case: 'space before the colon', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'a space in a field name', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'a folded field', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'bare line feeds', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'a bare line feed between fields', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'a bare carriage return in a value', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'NUL in a value', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'a control character in the target', outcome: 'silent', reason: waits },
  { listener: 'uws', case: 'a space in the target', outcome: 'silent', reason: waits },
  {
    listener: 'uws',
    case: 'more than 48 fields',
    outcome: 'silent',
    reason: 'the library has room for 48 fields and waits for ever for what does not fit',
  },
  { listener: 'uws', case: 'an unknown method', outcome: 'closed', reason: closes },
  {
    listener: 'node',
    case: 'an unknown method',
    outcome: 400,
    reason: 'the library knows the methods of a list (WebDAV and PURGE among them) and answers others itself',
  },
  { listener: 'uws', case: 'Content-Length and chunked', outcome: 'closed', reason: closes },
  { listener: 'uws', case: 'a length and a coding', outcome: 'closed', reason: closes },
  { listener: 'uws', case: 'a signed length', outcome: 'closed', reason: closes },
  { listener: 'uws', case: 'a list of lengths', outcome: 'closed', reason: closes },
  { listener: 'uws', case: 'a chunk size that is no number', outcome: 'closed', reason: closes },
  { listener: 'uws', case: 'a chunk size with 0x', outcome: 'closed', reason: closes },
  {
    listener: 'uws',
    case: 'a chunk extension',
    outcome: 'silent',
    reason:
      'the library does not know chunk extensions and never finishes such a body (408 on the road); no client in ' +
      'use sends them',
  },
  {
    listener: 'uws',
    case: 'a chunk without its line end',
    outcome: 200,
    reason:
      'the library does not check the two bytes after a chunk; harmless, because the body goes on with a length ' +
      'of its own',
  },
  { listener: 'uws', case: 'a bare line feed behind a chunk size', outcome: 200, reason: lenient },
  { listener: 'uws', case: 'a space behind a chunk size', outcome: 200, reason: lenient },
  {
    listener: 'uws',
    case: 'a chunk without a size',
    outcome: 200,
    reason:
      'the library takes it for the last chunk; harmless for the same reason, and what follows is not a head it ' +
      'could read',
  },
  { listener: 'uws', case: 'a chunk size beyond 64 bits', outcome: 'closed', reason: closes },
  { listener: 'uws', case: 'a request in the trailers', outcome: 'closed', reason: closes },
  { listener: 'uws', case: 'CONNECT', outcome: 'silent', reason: waits },
  {
    listener: 'uws',
    case: 'a field without a name',
    outcome: 200,
    reason: 'the library drops such a field; it is neither inspected nor forwarded',
  },
  {
    listener: 'uws',
    case: 'two pipelined requests',
    outcome: 'closed',
    reason:
      'the library closes a connection on which a second request comes before the first is answered; browsers ' +
      'and proxies do not pipeline',
  },
  { listener: 'uws', case: 'a vertical tab in Transfer-Encoding', outcome: 'silent', reason: waits },
  {
    listener: 'uws',
    case: 'an interim response',
    outcome: 'dropped',
    reason:
      'the library writes one status line per request, with the first byte of what follows, and nothing before it',
  },
  {
    listener: 'uws',
    case: 'trailers',
    outcome: 'dropped',
    reason: 'the library ends chunked bodies itself, always with an empty trailer section',
  },
];

/**
 * What is not single cases; the README tells the two that applications notice, and points here. `both`: so on either,
 * on purpose.
 */
export const notes: readonly { readonly listener: ListenerKind | 'both'; readonly what: string }[] = [
  {
    listener: 'both',
    what:
      'trailers of requests are read to find the end and dropped, as RFC 9110 section 6.5 lets intermediaries: ' +
      'attackers write them, and they come after the phases that inspect header fields',
  },
  {
    listener: 'both',
    what:
      'trailers of responses are relayed by net and node, less the fields that may not stand there ' +
      '(response-fields.ts); ' +
      'rules do not see them. A client that says TE: trailers is passed on as one only where they can be relayed',
  },
  {
    listener: 'both',
    what:
      '100 Continue is answered here, because the body is read before the upstream hears of the request (by net and ' +
      'node when the body is wanted, by uws always, and by uws only in lower case); 102, 103 and other interim ' +
      'responses of an upstream are relayed by net and node as they come, before rules have seen the response behind',
  },
  { listener: 'uws', what: 'field names reach the application in lower case (HTTP field names are caseless)' },
  {
    listener: 'uws',
    what:
      'field values lose bytes ≥ 0x80 at their ends, and bytes that are not UTF-8 become EF BF BD; inspected and ' +
      'forwarded are the same bytes, always',
  },
  {
    listener: 'uws',
    what:
      'a request head of more than 4 KB (large cookies, say) is served only when it comes with one read; else the ' +
      'connection is closed without an answer: what the library keeps of a head is of a fixed size',
  },
  { listener: 'uws', what: 'an idle connection is closed after 10 s, whatever client_idle_ms says' },
  { listener: 'uws', what: "the client's port is not known (0 in the audit log)" },
  {
    listener: 'uws',
    what:
      'the head of a response whose length is unknown leaves with its first byte, not before (an event stream ' +
      'opens with its first event)',
  },
  {
    listener: 'uws',
    what:
      'WebSockets are bridged message by message, without compression, and closed when nothing came for two ' +
      'minutes; net and node tunnel bytes',
  },
  {
    listener: 'node',
    what:
      'a request that offers another protocol than websocket (h2c) is answered over HTTP/1.1 and its connection ' +
      'ends; with a chunked body it is refused',
  },
  {
    listener: 'node',
    what: 'a client that takes no byte of its response for client_idle_ms is cut off, by net, too; by uws after 10 s',
  },
  {
    listener: 'uws',
    what:
      'what a client sends behind a request whose answer said "Connection: close" may still be read as a request, ' +
      'and is inspected as one; net and node read it away',
  },
  {
    listener: 'uws',
    what:
      'a request head that dribbles in is only limited by the idle timeout; net and node answer 408 after ' +
      'client_head_ms',
  },
  {
    listener: 'uws',
    what: 'a listener that stops closes WebSockets as soon as nothing else is open; net and node give them drain_ms',
  },
  {
    listener: 'node',
    what:
      'what the parser refuses before there is a request is answered 400, 408 or 431 (by net, too, and where ' +
      'there was a request line it is recorded as a request); uws closes such a connection',
  },
  {
    listener: 'net',
    what:
      'a request that offers another protocol than websocket (h2c) is answered as if it had not, and the ' +
      'connection kept',
  },
  {
    listener: 'net',
    what: 'how it reads requests beside llhttp, the parser of node: net/llhttp-differences.ts',
  },
  {
    listener: 'uws',
    what:
      'its connections are not counted: it does not ask clients of a crowded worker to come back ' +
      '(connection-share.ts); ' +
      'net and node do',
  },
  {
    listener: 'uws',
    what:
      'it takes connections by itself: there is no cap on those of one client (flood_connections_…), and of the ' +
      'waiting times only flood_read_body counts; its own ten seconds of idling stand for the others',
  },
  { listener: 'node', what: 'before Node 22.12 one thread can listen on a port: one worker serves' },
];
