// How many connections every client has, over all workers of the node: one row a client, one column a worker, in memory
// that all workers share. A worker that dies takes its column with it (`forget`), so that a crash locks nobody out.
//
// Memory: 131,072 clients, 2.6 MB and 1 MB more for each worker. Beyond: in a full bucket the client whose last
// connection came first gives way, and is counted anew from its next one.
import type { ClientKey } from './client-key.js';
import { KeyTable } from './key-table.js';

export const connectionEntries = 2 ** 17;

/** A row without connections for so long is forgotten; none of those that last longer is counted any more. */
const keptSeconds = 7 * 86_400;

export class ClientConnections {
  private readonly table: KeyTable;

  constructor(
    buffer: SharedArrayBuffer,
    private readonly workers: number,
  ) {
    this.table = new KeyTable(buffer, workers);
  }

  get seeds(): readonly [number, number] {
    return this.table.seeds;
  }

  /**
   * One more connection of a client to worker `index`, unless it has `max` already (over all workers). Returns whether
   * there was room. `nowMs` is of the clock of all threads.
   */
  enter({ low, high }: Pick<ClientKey, 'low' | 'high'>, index: number, max: number, nowMs: number): boolean {
    const { table } = this;
    const nowSeconds = Math.floor(nowMs / 1000);
    const bucket = table.enter(low);
    try {
      let at = table.find(bucket, low, high, nowSeconds);
      if (at >= 0 && this.sum(at) >= max) return false;
      if (at < 0) at = table.claim(bucket, low, high, nowSeconds);
      table.set(index, at, table.get(index, at) + 1);
      table.endAt(at, nowSeconds + keptSeconds);
      return true;
    } finally {
      table.leave(bucket);
    }
  }

  /** A connection that had entered is over. */
  leave({ low, high }: Pick<ClientKey, 'low' | 'high'>, index: number, nowMs: number): void {
    const { table } = this;
    const bucket = table.enter(low);
    try {
      const at = table.find(bucket, low, high, Math.floor(nowMs / 1000));
      if (at < 0) return;
      table.set(index, at, Math.max(0, table.get(index, at) - 1));
      if (this.sum(at) === 0) table.endAt(at, 0);
    } finally {
      table.leave(bucket);
    }
  }

  /** Connections of a client at the moment. */
  count({ low, high }: Pick<ClientKey, 'low' | 'high'>, nowMs: number): number {
    const { table } = this;
    const bucket = table.enter(low);
    try {
      const at = table.find(bucket, low, high, Math.floor(nowMs / 1000));
      return at < 0 ? 0 : this.sum(at);
    } finally {
      table.leave(bucket);
    }
  }

  /** Worker `index` is gone, and its connections with it. */
  forget(index: number): void {
    this.table.clearColumn(index);
  }

  private sum(at: number): number {
    let total = 0;
    for (let column = 0; column < this.workers; column += 1) total += this.table.get(column, at);
    return total;
  }
}
