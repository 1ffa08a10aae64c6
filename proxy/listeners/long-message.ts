// A binary message of a WebSocket that is longer than messages that are looked at as a whole (`message_bytes_max`).
// It is no message to an application before its end, so that parts of it may go on once they have been looked at.
import type { MessageInspector } from './listener.js';

/** Of a part, so much is looked at again with the next one: what is readable may stand across their border. */
const overlapBytes = 4096;

export class LongMessage {
  private isFirst = true;
  /** Nothing yet says that it is no text. */
  private isOpen = true;
  private before: Buffer = Buffer.alloc(0);

  constructor(private readonly inspector: MessageInspector) {}

  /** Looks at the next part, `messageBytesMax` long or the last one. Whether it may go on, or why not. */
  take(part: Buffer): 'passes' | 'too-big' | 'blocked' {
    if (this.isOpen) {
      const kind = this.inspector.kindOfPart(part, this.isFirst);
      if (kind === 'text') return 'too-big';
      this.isOpen = kind === 'empty';
    }
    this.isFirst = false;
    const seen = this.before.length === 0 ? part : Buffer.concat([this.before, part]);
    if (!this.inspector.mayPass(seen, true)) return 'blocked';
    this.before = Buffer.from(seen.subarray(Math.max(0, seen.length - overlapBytes)));
    return 'passes';
  }
}
