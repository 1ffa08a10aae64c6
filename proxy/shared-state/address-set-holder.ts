import { buildAddressSet, openAddressSet, type AddressSet } from './address-set.js';

/**
 * A list on its way to a worker. Versions count up within one process; the table is shared memory, one for all workers.
 */
export interface AddressTable {
  readonly version: number;
  readonly table: SharedArrayBuffer;
}

/**
 * What a worker holds: `swap` is one assignment between two requests, so a look-up sees the old list or the new one,
 * never both.
 */
export class AddressSetHolder {
  private current: AddressSet = openAddressSet(buildAddressSet([]));
  /** Of the list in force; 0 = none was given yet. */
  version = 0;

  /** Lists may arrive out of order; an older one is ignored. Returns whether it is in force now. */
  swap(version: number, buffer: SharedArrayBuffer): boolean {
    if (version <= this.version) return false;
    const next = openAddressSet(buffer);
    this.current = next;
    this.version = version;
    return true;
  }

  contains(address: string): boolean {
    return this.current.contains(address);
  }

  get intervals(): number {
    return this.current.intervals;
  }
}
