// Connections of which something has to be read before their protocol begins: a PROXY header, a ClientHello. What was
// read too far is put back, so that whoever comes next finds the bytes as if nobody had looked.
import type { Socket } from 'node:net';
import type { ListenerOptions } from '../listener.js';
import { factsOf, type ConnectionFacts } from './connection-facts.js';
import { readProxyHeader } from './proxy-header.js';

/** Takes a piece of a connection; null: more has to come. */
export type Step = (chunk: Buffer) => Done | null;

export interface Done {
  /** Put back, for whoever comes next. */
  readonly rest: Buffer;
  /** Called behind it, with the socket paused, and nobody listening to it any more. */
  readonly next: () => void;
}

const noBytes = Buffer.alloc(0);

export class Fronts {
  private readonly waiting = new Set<Socket>();

  get size(): number {
    return this.waiting.size;
  }

  /** Reads until `step` has enough; `onTimeout` after `ms`, all of it together: the socket is destroyed behind it. */
  read(socket: Socket, ms: number, step: Step, onTimeout: () => void): void {
    const { waiting } = this;
    waiting.add(socket);
    const timer = setTimeout(() => {
      leave();
      onTimeout();
      socket.destroy();
    }, ms);
    const gone = (): void => {
      leave();
      socket.destroy();
    };
    const leave = (): void => {
      clearTimeout(timer);
      waiting.delete(socket);
      socket.off('data', received);
      socket.off('end', gone);
      socket.off('close', gone);
      socket.off('error', ignore);
    };
    const received = (chunk: Buffer): void => {
      const done = step(chunk);
      if (done === null) return;
      socket.pause();
      leave();
      if (done.rest.length > 0) socket.unshift(done.rest);
      done.next();
    };
    socket.on('data', received);
    socket.on('end', gone);
    socket.on('close', gone);
    socket.on('error', ignore);
  }

  destroyAll(): void {
    for (const socket of this.waiting) socket.destroy();
  }
}

/** "close" follows an error. */
const ignore = (): void => {};

/** A step that reads a PROXY header; `next` gets what it says, `refused` the reason why it says nothing. */
export function proxyHeaderStep(
  socket: Socket,
  next: (facts: ConnectionFacts) => void,
  refused: (reason: string) => void,
): Step {
  let came: Buffer = noBytes;
  return (chunk) => {
    came = came.length === 0 ? chunk : Buffer.concat([came, chunk]);
    const reading = readProxyHeader(came);
    if (reading.kind === 'more') return null;
    if (reading.kind === 'refused') return { rest: noBytes, next: () => refused(reading.reason) };
    const facts = { ...factsOf(socket), ...reading.addresses };
    return { rest: came.subarray(reading.bytes), next: () => next(facts) };
  };
}

/**
 * Finds out whose connection this is: at once, or, where its peer is a trusted proxy that has to say it, once its PROXY
 * header is there. What has none is closed, and so is what the guard does not let in.
 */
export function identify(
  socket: Socket,
  fronts: Fronts,
  options: Pick<ListenerOptions, 'sendsProxyHeader' | 'onConnectionRefused' | 'timeouts' | 'guard'>,
  next: (facts: ConnectionFacts) => void,
): void {
  const facts = factsOf(socket);
  const enter = (known: ConnectionFacts): void => {
    const left = options.guard?.enter(known.clientIp);
    if (left === null) {
      socket.on('error', ignore);
      socket.resetAndDestroy();
      return;
    }
    if (left !== undefined) socket.on('close', left);
    next(known);
  };
  if (options.sendsProxyHeader?.(facts.clientIp) !== true) {
    enter(facts);
    return;
  }
  const refused = (reason: string): void => {
    options.onConnectionRefused?.('proxy_header', facts.clientIp, reason);
    socket.destroy();
  };
  const { clientHeadMs } = options.timeouts;
  const proceed = (known: ConnectionFacts): void => {
    enter(known);
    socket.resume();
  };
  fronts.read(socket, clientHeadMs, proxyHeaderStep(socket, proceed, refused), () =>
    options.onConnectionRefused?.('proxy_header', facts.clientIp, 'the PROXY header did not come in time'),
  );
}
