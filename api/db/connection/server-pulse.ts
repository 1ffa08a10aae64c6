// Whether a PostgreSQL server answers at all. A connection that says nothing may belong to a long statement, to one
// that waits for a lock, or to a server that stands still (stopped, its host gone, a network that swallows packets):
// the system would tell after a quarter of an hour. So once a statement has waited for a while, the server is asked on
// a connection of its own for the first byte of its protocol, which takes neither a login nor a place among its
// connections. When it owes that as well, every connection to it ends, and the next ones are refused here at once,
// until it answers. Rejected: a limit on statements, which cannot know how long a migration or an import may take.
import { connect, type Socket } from 'node:net';

export interface PulseTimes {
  /** So long a statement waits before the server is asked, ms. */
  readonly silentMs: number;
  /** So long the server may take for one byte, ms; twice in a row before it counts as standing still. */
  readonly answerMs: number;
  /** Between two looks, ms. */
  readonly everyMs: number;
}

export const pulseTimes: PulseTimes = { silentMs: 2000, answerMs: 2500, everyMs: 500 };
const missesMax = 2;

/** SSLRequest of the PostgreSQL protocol: eight bytes, answered by one before anything else. */
export const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** A connection, as far as its silence counts. */
export interface Heartbeat {
  /** Something was written to it. */
  asked(): void;
  /** Something came from it. */
  heard(): void;
  gone(): void;
}

/** Where a server listens: a port of a host, or the path of a socket. */
export type ServerPlace = { readonly host: string; readonly port: number } | { readonly path: string };

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** That the server does not answer; findOutage reads the code. */
export const standsStill = (): Error =>
  Object.assign(new Error('The database does not answer: its server, or the network to it, stands still.'), {
    code: 'CONNECT_TIMEOUT',
  });

export class ServerPulse {
  /** The server owes an answer: connections to it are not worth waiting for. */
  isStill = false;
  private readonly waitingSince = new Map<Socket, number | null>();
  private timer: NodeJS.Timeout | null = null;
  private isAsking = false;
  private misses = 0;
  private answeredMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly place: ServerPlace,
    private readonly times: PulseTimes = pulseTimes,
  ) {}

  watch(socket: Socket): Heartbeat {
    const { waitingSince } = this;
    waitingSince.set(socket, null);
    this.timer ??= setInterval(() => void this.look(), this.times.everyMs).unref();
    return {
      asked: () => {
        if (waitingSince.get(socket) === null) waitingSince.set(socket, performance.now());
      },
      heard: () => {
        if (waitingSince.has(socket)) waitingSince.set(socket, null);
      },
      gone: () => {
        waitingSince.delete(socket);
        this.rest();
      },
    };
  }

  /** Nobody is connected, and nobody needs to hear that the server is back. */
  private rest(): void {
    if (this.waitingSince.size > 0 || this.isStill || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
    this.misses = 0;
  }

  private get hasSilent(): boolean {
    const before = performance.now() - this.times.silentMs;
    if (this.answeredMs > before) return false; // a long statement is not to cost it a process every time
    for (const since of this.waitingSince.values()) if (since !== null && since < before) return true;
    return false;
  }

  private async look(): Promise<void> {
    if (this.isAsking) return;
    if (!this.isStill && !this.hasSilent) {
      this.misses = 0;
      return;
    }
    this.isAsking = true;
    const answers = await answersAtAll(this.place, this.times.answerMs);
    this.isAsking = false;
    this.misses = answers ? 0 : this.misses + 1;
    if (answers) {
      this.isStill = false;
      this.answeredMs = performance.now();
    } else if (this.misses >= missesMax && (this.isStill || this.hasSilent)) {
      this.isStill = true;
      for (const socket of [...this.waitingSince.keys()]) socket.destroy(standsStill());
    }
    this.rest();
  }
}

/** Whether the first byte of the protocol comes in time. */
async function answersAtAll(place: ServerPlace, msMax: number): Promise<boolean> {
  const socket = connect(place);
  let hasAnswered = false;
  await new Promise<void>((resolve) => {
    const alarm = setTimeout(resolve, msMax).unref();
    const settle = (): void => {
      clearTimeout(alarm);
      resolve();
    };
    socket.on('connect', () => socket.write(sslRequest));
    socket.on('data', () => {
      hasAnswered = true;
      settle();
    });
    socket.on('error', settle);
    socket.on('close', settle);
  });
  // When this thread stood still, the answer may be here and unread.
  for (let turns = 0; turns < 3 && !hasAnswered; turns++) await turn();
  socket.destroy();
  return hasAnswered;
}

/** One pulse for each server that connections lead to. */
export class ServerPulses {
  private readonly pulses = new Map<string, ServerPulse>();

  constructor(private readonly times: PulseTimes = pulseTimes) {}

  of(place: ServerPlace): ServerPulse {
    const key = JSON.stringify(place);
    const known = this.pulses.get(key) ?? new ServerPulse(place, this.times);
    this.pulses.set(key, known);
    return known;
  }
}
