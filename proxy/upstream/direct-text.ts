// Text to a socket past Node.js' streams. A stream keeps a request of its own for every write, calls back when it is
// through, and looks at its state on the next tick: 2 to 3 µs beside the 4 that the system takes. A socket that waits
// for nothing needs none of that, so the text goes to the system at once; what the system does not take (the socket is
// full, the other side is gone) goes to the stream, which waits, counts and reports errors as ever.
import type { Socket } from 'node:net';
import { textSender } from '#engine';

/** null: everything goes by the stream. */
const send = textSender();
/** The call takes no more at once. */
const directCharsMax = 32 * 1024 - 1;

/** What Node.js keeps below a socket of TCP; null once that is closed. */
interface SocketHandle {
  readonly fd: number;
}

export class DirectText {
  /** Bytes that the stream knows nothing of. */
  sentBytes = 0;

  /** `socket`: plain TCP and no one else's; over TLS its bytes are not the ones that are said. */
  constructor(private readonly socket: Socket) {}

  /** latin1, behind everything written to the socket before. False: the other side is slow. */
  write(text: string): boolean {
    const { socket } = this;
    if (send === null || text.length > directCharsMax || socket.writableLength > 0 || socket.connecting)
      return socket.write(text, 'latin1');
    // Asked each time: once the socket is closed the number may be another one's.
    const { _handle: handle } = socket as unknown as { readonly _handle?: SocketHandle | null };
    if (handle === undefined || handle === null || !socket.writable) return socket.write(text, 'latin1');
    const taken = send(handle.fd, text);
    this.sentBytes += taken;
    return taken === text.length || socket.write(taken === 0 ? text : text.slice(taken), 'latin1');
  }
}
