// Notes which request code runs for: what http, https and http2 servers do with one happens in its context.
import { Server as HttpServer, IncomingMessage } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import http2 from 'node:http2';
import { sensorState } from '../state.js';
import { runAs, Visit, type Head } from './visit.js';

type Emit = (this: unknown, name: string | symbol, ...given: unknown[]) => boolean;
interface Emitter {
  emit: Emit;
}
interface Pushing {
  push: (chunk: unknown, encoding?: BufferEncoding) => boolean;
}

const hasBody = (head: Head): boolean =>
  head.headers['content-length'] !== undefined || head.headers['transfer-encoding'] !== undefined;

/** Whose body a message is; a member of the message, so that nothing is made for each of them. */
const owner = Symbol('gatehouse.sensor.visit');

/** Parts of the body are noted as the parser gives them, whoever reads them later, and however. */
function watchBodies(prototype: Pushing): void {
  const push = prototype.push;
  prototype.push = function pushNoted(this: Pushing & { [owner]?: Visit }, chunk, encoding) {
    const visit = this[owner];
    if (visit !== undefined) visit.take(chunk);
    return push.call(this, chunk, encoding);
  };
}

/** The same for a stream of a class that is no export. */
function watchBody(visit: Visit, message: Pushing): void {
  const push = message.push;
  message.push = function pushNoted(chunk, encoding) {
    visit.take(chunk);
    return Reflect.apply(push, this, [chunk, encoding]);
  };
}

function begin(message: unknown): Visit {
  const head = message as Head & Partial<Pushing>;
  const visit = new Visit(head);
  if (message instanceof IncomingMessage && hasBody(head)) (message as { [owner]?: Visit })[owner] = visit;
  return visit;
}

function watch(prototype: Emitter): void {
  const emit = prototype.emit;
  prototype.emit = function emitWithin(name, ...given) {
    if (name !== 'request' && name !== 'checkContinue') return Reflect.apply(emit, this, [name, ...given]);
    if (!sensorState.isOn) return Reflect.apply(emit, this, [name, ...given]);
    return runAs(begin(given[0]), given[1], () => Reflect.apply(emit, this, [name, ...given]));
  };
}

/** http2's compatible requests keep their body in a stream of their own, which is noted like a message. */
function watchHttp2(server: Emitter): void {
  const emit = server.emit;
  server.emit = function emitWithin(name, ...given) {
    if (name !== 'request' || !sensorState.isOn) return Reflect.apply(emit, this, [name, ...given]);
    const message = given[0] as { readonly stream?: Pushing; readonly headers?: object };
    const visit = new Visit(message as Head);
    if (message.stream !== undefined) watchBody(visit, message.stream);
    return runAs(visit, given[1], () => Reflect.apply(emit, this, [name, ...given]));
  };
}

export function watchServers(): void {
  watchBodies(IncomingMessage.prototype);
  watch(HttpServer.prototype as unknown as Emitter);
  // https.Server is a tls.Server and inherits nothing of http.Server
  watch(HttpsServer.prototype as unknown as Emitter);
  const makers = http2 as unknown as Record<string, (...given: unknown[]) => Emitter>;
  for (const name of ['createServer', 'createSecureServer']) {
    const make = makers[name];
    if (make === undefined) continue;
    makers[name] = function makeWatched(...given) {
      const server = Reflect.apply(make, this, given);
      watchHttp2(server);
      return server;
    };
  }
}
