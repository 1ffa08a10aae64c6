// Persistent collections behind a small store, so that memory now and shared state later are the same to the engine.

/** One open record, e.g. IP:203.0.113.9. Values are latin1 strings; numbers are decimal text. */
export interface PersistentRecord {
  get(key: string): string | null;
  set(key: string, value: string): void;
  add(key: string, delta: number): void;
  unset(key: string): void;
  /** Key disappears `seconds` after now. */
  expire(key: string, seconds: number): void;
  /** Subtract `amount` for every `everySeconds` that passed since the key's last update, not below 0. */
  deprecate(key: string, amount: number, everySeconds: number): void;
  entries(): Iterable<readonly [string, string]>;
}

/** `open` is synchronous: the request road has no await. A shared implementation keeps a local replica and merges. */
export interface CollectionStore {
  open(collection: string, key: string, nowMs: number, timeoutSeconds: number): PersistentRecord;
}
