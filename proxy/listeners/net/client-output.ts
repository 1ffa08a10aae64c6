// What goes to a client: said in pieces, written once. A loaded worker answers a dozen clients in one turn of the event
// loop; written back to back at its end, their answers wake the other side once (upstream/outbox.ts has the figures for
// the other direction). A turn with a single answer ends right behind it.
import type { Socket } from 'node:net';
import { outbox, type OutboxWriter } from '../../upstream/outbox.js';

/** Text that waits for the end of the turn; beyond it leaves at once. */
const unsentBytesMax = 16 * 1024;

export class ClientOutput implements OutboxWriter {
  /** Leaves at the end of this turn. */
  private unsent = '';

  /** `onSlow`: the client takes less than it is given; "drain" of the socket says when it has caught up. */
  constructor(
    private readonly socket: Socket,
    private readonly onSlow: () => void,
  ) {}

  /** Latin1. False: the client is slow. */
  write(text: string): boolean {
    if (this.unsent === '') outbox.add(this);
    this.unsent += text;
    if (this.unsent.length > unsentBytesMax) this.flush();
    return !this.socket.writableNeedDrain;
  }

  /** Text and bytes in one write, behind what was said before. The socket may hold the bytes. */
  writeBoth(text: string, bytes: Buffer): boolean {
    const { socket, unsent } = this;
    this.unsent = '';
    if (!socket.writable) return true;
    socket.cork();
    if (unsent !== '' || text !== '') socket.write(unsent + text, 'latin1');
    const isFlowing = socket.write(bytes);
    socket.uncork();
    if (!isFlowing) this.onSlow();
    return isFlowing;
  }

  flush(): void {
    const { socket, unsent } = this;
    this.unsent = '';
    if (unsent !== '' && socket.writable && !socket.write(unsent, 'latin1')) this.onSlow();
  }

  /** Said and not taken by the system yet. */
  get waitingBytes(): number {
    return this.unsent.length + this.socket.writableLength;
  }

  /** What the system took, of everything that was said. */
  get sentBytes(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }
}
