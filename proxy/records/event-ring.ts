// Security events between two flushes. Bounded: when main (or the disk behind it) cannot keep up, events are dropped
// and counted; a request never waits for its own log line.
import type { SecurityEvent } from '../contract/index.js';

/** Collects events and hands them on in batches. */
export class EventRing {
  private pending: SecurityEvent[] = [];
  dropped = 0;
  recorded = 0;

  constructor(
    private readonly capacity: number,
    private readonly send: (batch: SecurityEvent[]) => void,
  ) {}

  record(event: SecurityEvent): void {
    if (this.pending.length >= this.capacity) {
      this.dropped += 1;
      return;
    }
    this.recorded += 1;
    this.pending.push(event);
  }

  /** Called by a timer; one message per batch. */
  flush(): void {
    if (this.pending.length === 0) return;
    const batch = this.pending;
    this.pending = [];
    this.send(batch);
  }
}
