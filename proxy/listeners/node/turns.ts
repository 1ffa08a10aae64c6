// Pipelining: one request of a connection after another, and what may follow the last.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestExchange } from './request-exchange.js';

interface Served {
  /** The latest that was begun. */
  exchange: RequestExchange | null;
  /** Of the latest request, begun or not. */
  response: ServerResponse;
}

/**
 * The requests of a connection, one after another: a pipelined one begins when the answer before it is out. The library
 * would begin it at once, and tells nobody but the one whose turn it is that the client has gone.
 */
export class Turns {
  private readonly served = new WeakMap<object, Served>(); // by connection

  constructor(
    private readonly begin: (
      request: IncomingMessage,
      response: ServerResponse,
      isExpectant: boolean,
    ) => RequestExchange,
  ) {}

  take(request: IncomingMessage, response: ServerResponse, isExpectant = false): void {
    const served = this.served.get(request.socket);
    if (served === undefined) {
      const first: Served = { exchange: null, response };
      this.served.set(request.socket, first);
      first.exchange = this.begin(request, response, isExpectant);
      return;
    }
    const before = served.response;
    served.response = response;
    const start = (): void => {
      if (served.exchange?.isLastOfConnection === true) return; // RFC 9112 section 9.6: not to be processed
      served.exchange = this.begin(request, response, isExpectant);
    };
    if (response.socket === null) before.once('finish', start);
    else start();
  }

  isBusy(socket: Socket): boolean {
    return this.served.get(socket)?.response.writableFinished === false;
  }

  /**
   * What follows the latest request of this connection is no request. True: that one is whole, so it gets its own
   * answer first, never the refusal of what came after it; the connection ends then. So it does where an answer said
   * so.
   */
  outliveGarbage(socket: Socket): boolean {
    const served = this.served.get(socket);
    if (served === undefined) return false;
    const { response } = served;
    if (served.exchange?.isLastOfConnection === true) return true;
    // an answer that says "close" is the last thing a client hears
    if (response.writableEnded) return !response.shouldKeepAlive;
    if (!response.req.complete) return false;
    response.shouldKeepAlive = false;
    return true;
  }
}
