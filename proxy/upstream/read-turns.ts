// What one turn of the event loop reads of sockets that send much. libuv reads a socket up to 32 times in a turn as
// long as its buffer comes back full (uv__read in its src/unix/stream.c), 2 MB with buffers of 64 KiB, and it does so
// for each socket that has something: six large replies were read for 12 MB in a turn, and others waited. Here a
// socket has its bytes of a turn, and all sockets of the thread together have theirs. Whoever is behind them is not
// read any more in this turn and stands in line; the turns that follow let a few at a time go on, so that the length
// of a turn does not grow with the number of large replies.

/** A read below it is not counted: it did not fill the buffer, so libuv reads that socket no more in this turn. */
export const largeReadBytes = 8 * 1024;
/** Of one socket in one turn. */
export const connectionTurnBytes = 256 * 1024;
/** Of all sockets of the thread in one turn; beyond it each read is the last of its socket. */
export const threadTurnBytes = 1024 * 1024;
/** So many of those who wait go on in a turn: with 64 KiB each has at least one read, they have half of its bytes. */
export const turnsGrantedMax = 8;

/** A socket that is read. The first three fields belong to ReadTurns and begin as 0, 0 and false. */
export interface TurnReader {
  /** The turn that `readBytes` are of. */
  readTurn: number;
  readBytes: number;
  /** It waits in line: whoever would begin to read its socket leaves that to `takeTurn`. */
  isOutOfTurn: boolean;
  /** It may be read again, unless something else speaks against it; must not throw. */
  takeTurn(): void;
}

export class ReadTurns {
  private turn = 1;
  private bytes = 0;
  private isTurnBegun = false;
  private waiting: TurnReader[] = [];

  /**
   * `bytes` were read of it. False: its reading is to stop now, and `takeTurn` is called in one of the next turns.
   */
  mayGoOn(reader: TurnReader, bytes: number): boolean {
    if (reader.isOutOfTurn) return false;
    if (bytes < largeReadBytes) return true;
    this.beginTurn();
    this.bytes += bytes;
    reader.readBytes = reader.readTurn === this.turn ? reader.readBytes + bytes : bytes;
    reader.readTurn = this.turn;
    if (reader.readBytes < connectionTurnBytes && this.bytes < threadTurnBytes) return true;
    reader.isOutOfTurn = true;
    this.waiting.push(reader);
    return false;
  }

  private beginTurn(): void {
    if (this.isTurnBegun) return;
    this.isTurnBegun = true;
    setImmediate(this.endTurn); // runs behind everything that this turn reads
  }

  private readonly endTurn = (): void => {
    this.turn += 1;
    this.bytes = 0;
    this.isTurnBegun = false;
    const granted = this.waiting.splice(0, turnsGrantedMax);
    if (this.waiting.length > 0) this.beginTurn();
    for (const reader of granted) {
      reader.isOutOfTurn = false;
      reader.takeTurn();
    }
  };
}

/** Of this thread. */
export const readTurns = new ReadTurns();
