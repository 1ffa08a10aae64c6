// Connections of clients read into one buffer. Node.js gives each read of an accepted socket 64 KiB of its own, cuts
// them to what came, and leaves the rest to the garbage collector; where the socket is made with a buffer (`onread`),
// as the connections to upstreams are, there is nothing to give and nothing to collect. A server does not offer that,
// so its socket hands what it stands on to one that was made so.
import { Socket } from 'node:net';

/** Of this thread: whoever gets bytes uses or copies them before it returns. */
const receiveBuffer = Buffer.allocUnsafeSlow(64 * 1024);

const nobody = (): void => {};

/** A socket whose bytes come to `onBytes`, borrowed, instead of as "data". That is set in the same turn. */
export class BorrowedReads {
  onBytes: (chunk: Buffer) => void = nobody;
  readonly socket: Socket;

  private constructor(handle: object) {
    const callback = (bytes: number): boolean => {
      this.onBytes(receiveBuffer.subarray(0, bytes));
      return true; // `pause` stops the reading by itself
    };
    const made = { handle, allowHalfOpen: true, onread: { buffer: receiveBuffer, callback } };
    this.socket = new Socket(made);
  }

  /**
   * Takes the place of a socket that a server accepted in this turn, and that nobody listens to. null: it cannot, and
   * the socket is as it was.
   */
  static of(accepted: Socket): BorrowedReads | null {
    const inner = accepted as unknown as Inner;
    const { _handle: handle, _server: server } = inner;
    if (typeof handle?.useUserBuffer !== 'function' || server === undefined || server === null) return null;
    inner._handle = null;
    inner._server = null;
    const reads = new BorrowedReads(handle);
    const outer = reads.socket as unknown as Inner;
    // The server counts the connection until this one is destroyed.
    outer.server = server;
    outer._server = server;
    return reads;
  }
}

/** What Node.js 20 to 24 keep in the socket of a server. */
interface Inner {
  _handle?: { readonly useUserBuffer?: unknown } | null;
  _server?: object | null;
  server?: object;
}
