// Which requests are under way in a worker, in memory that outlives it: when a worker runs out of memory or dies of a
// bug, main reads here what it was doing, and which request it was at. Where the system has files in memory, the
// table is one of them: it outlives the process, and a store costs what it costs elsewhere. Where there are none, or
// they went with the process (a container that was made anew), the next start writes the table to a file on disk as
// well (a few microseconds a request), for a while: a request that ends the process again is known then.
import { openSync, writeSync } from 'node:fs';
import { mapFile } from '#engine';

const slots = 256; // requests beyond are not recorded
const slotBytes = 512;
const headerBytes = 64;
export const flightTableBytes = headerBytes + slots * slotBytes;

/** Time after a start for which the file is written. */
const fileMsMax = 600_000;

/** What is recorded of a request. */
export interface Flight {
  readonly method: string;
  readonly uri: string;
  readonly client: string;
  readonly requestId: string;
}

const separator = '\n'; // stands in no part of a request head
const separatorCode = 10;
/** Longer texts are written by one call. */
const loopedCharsMax = 64;

/** What `write` with an encoding leads to, in half the time; the type declaration of Buffer leaves it out. */
interface LatinBuffer extends Buffer {
  latin1Write(text: string, offset: number, length: number): number;
}

export class FlightTable {
  private readonly bytes: LatinBuffer;
  private readonly free: number[] = [];
  private readonly file: number | null;

  /** `path`: of the file; null = none is written. Throws when it cannot be opened. */
  constructor(buffer: SharedArrayBuffer | ArrayBuffer, path: string | null = null) {
    this.bytes = Buffer.from(buffer) as unknown as LatinBuffer;
    this.bytes.fill(0);
    for (let slot = slots - 1; slot >= 0; slot -= 1) this.free.push(slot);
    this.file = path === null ? null : openSync(path, 'w', 0o600);
    if (this.file !== null) writeSync(this.file, this.bytes);
  }

  /** Returns the slot; -1 where all are taken. */
  begin(method: string, uri: string, client: string, requestId: string): number {
    const slot = this.free.pop();
    if (slot === undefined) return -1;
    const at = headerBytes + slot * slotBytes;
    const end = at + slotBytes;
    let next = this.write(method, at + 2, end);
    next = this.write(client, this.separate(next, end), end);
    next = this.write(requestId, this.separate(next, end), end);
    next = this.write(uri, this.separate(next, end), end);
    const length = next - at - 2;
    this.setLength(at, length);
    this.keep(at, length + 2);
    return slot;
  }

  /**
   * Latin1 from `at` on, as much as fits before `end`; returns where it ends. A short text is written byte by byte: the
   * parts as one string would be joined and copied first, and a call for each costs more than its bytes.
   */
  private write(text: string, at: number, end: number): number {
    if (text.length > loopedCharsMax) return at + this.bytes.latin1Write(text, at, end - at);
    const { bytes } = this;
    const count = Math.min(text.length, end - at);
    for (let index = 0; index < count; index += 1) bytes[at + index] = text.charCodeAt(index);
    return at + count;
  }

  private separate(at: number, end: number): number {
    if (at === end) return end;
    this.bytes[at] = separatorCode;
    return at + 1;
  }

  end(slot: number): void {
    if (slot === -1) return;
    const at = headerBytes + slot * slotBytes;
    this.setLength(at, 0);
    this.keep(at, 2);
    this.free.push(slot);
  }

  /** The worker is at this request now. Left standing when what follows never returns. */
  enter(slot: number): void {
    this.setLength(0, slot + 1);
    this.keep(0, 2);
  }

  leave(): void {
    this.enter(-1);
  }

  /** Sixteen bits, the low byte first: `writeUInt16LE` checks its arguments, six times a request. */
  private setLength(at: number, value: number): void {
    this.bytes[at] = value & 255;
    this.bytes[at + 1] = value >>> 8;
  }

  private keep(at: number, length: number): void {
    if (this.file === null || performance.now() > fileMsMax) return;
    writeSync(this.file, this.bytes, at, length, at);
  }

  flights(): Flights {
    return readFlights(this.bytes);
  }
}

/** The table of a worker, where its start says. */
export function openFlights({
  flights,
  flightFile,
  flightMap,
}: {
  readonly flights: SharedArrayBuffer;
  readonly flightFile: string | null;
  readonly flightMap: string | null;
}): FlightTable {
  const mapped = flightMap === null ? null : mapFile(flightMap, flightTableBytes);
  return new FlightTable(mapped ?? flights, flightFile);
}

export interface Flights {
  /** null: it was at none, but between requests. */
  readonly current: Flight | null;
  readonly others: readonly Flight[];
}

/** What a table says; of a damaged one, what can be read. */
export function readFlights(table: SharedArrayBuffer | Buffer): Flights {
  const bytes = Buffer.isBuffer(table) ? table : Buffer.from(table);
  const currentSlot = bytes.length < headerBytes ? -1 : bytes.readUInt16LE(0) - 1;
  let current: Flight | null = null;
  const others: Flight[] = [];
  for (let slot = 0; slot < slots; slot += 1) {
    const at = headerBytes + slot * slotBytes;
    const length = at + 2 <= bytes.length ? bytes.readUInt16LE(at) : 0;
    if (length === 0 || length > slotBytes - 2) continue;
    const text = bytes.toString('latin1', at + 2, at + 2 + length);
    const [method = '', client = '', requestId = '', uri = ''] = text.split(separator);
    const flight = { method, uri, client, requestId };
    if (slot === currentSlot) current = flight;
    else others.push(flight);
  }
  return { current, others };
}
