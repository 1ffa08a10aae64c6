// An upstream that is down would otherwise write one line per request: beyond the quota lines are counted, not written.
import type { LogLevel } from './messages.js';

const linesPerSecondMax = 20;

type Write = (level: LogLevel, fields: Readonly<Record<string, unknown>>, message: string) => void;

export class LogQuota {
  private second = 0;
  private used = 0;
  private suppressed = 0;

  constructor(private readonly send: Write) {}

  readonly write: Write = (level, fields, message) => {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.second) {
      if (this.suppressed > 0)
        this.send('warn', { suppressed: this.suppressed }, 'more lines than the log takes in a second were left out');
      this.second = second;
      this.used = 0;
      this.suppressed = 0;
    }
    this.used += 1;
    if (this.used > linesPerSecondMax) this.suppressed += 1;
    else this.send(level, fields, message);
  };
}
