// Persistent collections in this process's memory: a bounded map of records, each with real expiry. The clock is an
// argument of `open`, so tests move time by themselves.
import { limits } from './limits.js';
import type { CollectionStore, PersistentRecord } from './store.js';

interface Variable {
  value: string;
  /** Infinity = with its record. */
  expiresAtMs: number;
  updatedAtMs: number;
}
interface StoredRecord {
  readonly variables: Map<string, Variable>;
  expiresAtMs: number;
}

/**
 * Leading decimal integer of a text as C's stoi reads it; 0 when there is none, or one too large. (Operators compare as
 * atoll does, which saturates: operators/numeric.ts.)
 */
export function leadingInteger(text: string): number {
  const number = Number.parseInt(text, 10);
  return Number.isSafeInteger(number) ? number : 0;
}

class MemoryRecord implements PersistentRecord {
  constructor(
    private readonly stored: StoredRecord,
    private readonly nowMs: number,
    private readonly timeoutMs: number,
  ) {}

  private live(key: string): Variable | null {
    const variable = this.stored.variables.get(key);
    if (variable === undefined) return null;
    if (variable.expiresAtMs > this.nowMs) return variable;
    this.stored.variables.delete(key);
    return null;
  }

  get(key: string): string | null {
    return this.live(key)?.value ?? null;
  }

  set(key: string, value: string): void {
    const variable = this.live(key);
    this.stored.expiresAtMs = this.nowMs + this.timeoutMs;
    if (variable !== null) {
      variable.value = value;
      variable.updatedAtMs = this.nowMs;
    } else if (this.stored.variables.size < limits.storeVariablesMax) {
      this.stored.variables.set(key, { value, expiresAtMs: Infinity, updatedAtMs: this.nowMs });
    }
  }

  add(key: string, delta: number): void {
    this.set(key, String(leadingInteger(this.get(key) ?? '') + delta));
  }

  unset(key: string): void {
    this.stored.variables.delete(key);
  }

  expire(key: string, seconds: number): void {
    const variable = this.live(key);
    if (variable === null) return;
    variable.expiresAtMs = this.nowMs + seconds * 1000;
    if (seconds <= 0) this.unset(key);
  }

  deprecate(key: string, amount: number, everySeconds: number): void {
    const variable = this.live(key);
    if (variable === null || everySeconds <= 0) return;
    const steps = Math.floor((this.nowMs - variable.updatedAtMs) / (everySeconds * 1000));
    if (steps <= 0) return;
    variable.value = String(Math.max(0, leadingInteger(variable.value) - steps * amount));
    // Only whole steps are consumed: the started one goes on counting.
    variable.updatedAtMs += steps * everySeconds * 1000;
  }

  *entries(): IterableIterator<readonly [string, string]> {
    for (const key of [...this.stored.variables.keys()]) {
      const variable = this.live(key);
      if (variable !== null) yield [key, variable.value];
    }
  }
}

/**
 * A CollectionStore for one process. `recordsMax` bounds its memory: the record opened longest ago is dropped first.
 * A record is forgotten `timeoutSeconds` after its last write (SecCollectionTimeout).
 */
export function createMemoryStore(
  recordsMax: number = limits.storeRecordsMax,
): CollectionStore & { readonly size: number } {
  const records = new Map<string, StoredRecord>();
  return {
    get size(): number {
      return records.size;
    },
    open(collection, key, nowMs, timeoutSeconds): PersistentRecord {
      const name = `${collection}\n${key}`;
      let stored = records.get(name);
      if (stored !== undefined) records.delete(name);
      if (stored === undefined || stored.expiresAtMs <= nowMs) {
        stored = { variables: new Map(), expiresAtMs: nowMs + timeoutSeconds * 1000 };
        for (const oldest of records.keys()) {
          if (records.size < recordsMax) break;
          records.delete(oldest);
        }
      }
      records.set(name, stored);
      return new MemoryRecord(stored, nowMs, timeoutSeconds * 1000);
    },
  };
}
