// What goes to a client: said in pieces, written once. A loaded worker answers a dozen clients in one turn of the event
// loop; written back to back at its end, their answers wake the other side once (upstream/outbox.ts has the figures for
// the other direction). A turn with a single answer ends right behind it.
import type { Socket } from 'node:net';
import { DirectText } from '../../upstream/direct-text.js';
import { outbox, type OutboxWriter } from '../../upstream/outbox.js';

/** Text that waits for the end of the turn; beyond it leaves at once. */
const unsentBytesMax = 16 * 1024;

export class ClientOutput implements OutboxWriter {
  /** Leaves at the end of this turn. */
  private unsent = '';
  /** null: over TLS. */
  private readonly direct: DirectText | null;

  /** `onSlow`: the client takes less than it is given; "drain" of the socket says when it has caught up. */
  constructor(
    private readonly socket: Socket,
    isPlain: boolean,
    private readonly onSlow: () => void,
  ) {
    this.direct = isPlain ? new DirectText(socket) : null;
  }

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
    const { socket, unsent, direct } = this;
    this.unsent = '';
    if (unsent === '' || !socket.writable) return;
    const isFlowing = direct === null ? socket.write(unsent, 'latin1') : direct.write(unsent);
    if (!isFlowing) this.onSlow();
  }

  /** Said and not taken by the system yet. */
  get waitingBytes(): number {
    return this.unsent.length + this.socket.writableLength;
  }

  /** What the system took, of everything that was said. */
  get sentBytes(): number {
    return this.socket.bytesWritten - this.socket.writableLength + (this.direct?.sentBytes ?? 0);
  }
}
