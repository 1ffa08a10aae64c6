// What a listener has open, and how it ends. Who keeps a connection may have sent the next request before hearing of
// the stop, so "no request is open" does not mean that none is on its way. Until nobody has asked anything for a moment
// the kept connections are served, and every answer says "Connection: close"; what is idle after that is closed, as
// HTTP lets a server do (RFC 9112 section 9.5). nginx closes idle connections at once, or after its
// keepalive_min_timeout.
import { expireAfter, type Watch } from '../time/late-timers.js';
import { ActiveList, type ActiveMember } from '../worker/active-list.js';

/** A round trip around the world and a busy client; people's next click comes later, and on a new connection. */
const quietMs = 1000;

/**
 * What has come is taken: connections that wait in the kernel's queue, which closing would reset, and requests in the
 * sockets.
 */
export const oneTurn = (): Promise<void> => new Promise((resolve) => void setTimeout(() => setImmediate(resolve), 0));

/** Connections that the kernel holds until they are taken. */
export const backlog = 511;

/** Takes those that the kernel holds already, one a turn; `taken`: how many the listener has taken in all. */
export async function takeWaiting(taken: () => number): Promise<void> {
  for (let turn = 0, before = -1; turn < backlog && taken() > before; turn += 1) {
    before = taken();
    await oneTurn();
  }
}

export class OpenRequests<T extends ActiveMember> {
  /** Set by the listener: every answer that begins from then on is the last of its connection. */
  isStopping = false;
  /** Set by the listener: one client is to come back, perhaps to another worker (connection-share.ts). */
  isCrowded = (): boolean => false;
  private readonly open = new ActiveList<T>();
  private quiet: NodeJS.Timeout | null = null;
  private endedWhileStopping = 0;
  /** Ends a drain at once: nothing can come any more. */
  finish = (): void => {};

  add(exchange: T): void {
    this.open.add(exchange);
  }

  delete(exchange: T): void {
    this.open.delete(exchange);
    if (this.quiet === null) return;
    this.endedWhileStopping += 1;
    this.quiet.refresh();
  }

  /** Resolves when all is through and quiet, after `drainMs` at the latest, or with `finish`. */
  async drain(drainMs: number): Promise<void> {
    let limit: Watch | undefined;
    await new Promise<void>((resolve) => {
      this.finish = resolve;
      limit = expireAfter(drainMs, resolve);
      this.quiet = setTimeout(() => void this.lookAgain(), quietMs);
    });
    limit?.stop();
    if (this.quiet !== null) clearTimeout(this.quiet);
    this.quiet = null;
  }

  /** A thread that was busy has not read all that came. */
  private async lookAgain(): Promise<void> {
    const { endedWhileStopping } = this;
    await oneTurn();
    // else the next end winds the clock up again
    if (this.open.size === 0 && this.endedWhileStopping === endedWhileStopping) this.finish();
  }
}
