// Asks one upstream again and again whether it is well, over a connection of its own: where all others are busy, it is
// not therefore down.
import type { UpstreamHandler, UpstreamOptions } from '../exchange.js';
import { UpstreamPool } from '../pool.js';

export interface ProbeRules {
  /** '' = nothing is asked. */
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** `200` or `200-399`. */
  readonly expectedStatus: string;
}

/** Why a status is not what was expected; '' when it is. */
export function problemOfStatus(status: number, expected: string): string {
  const [from = expected, to = from] = expected.split('-');
  if (status >= Number(from) && status <= Number(to)) return '';
  return `the check was answered ${status}, not ${expected}`;
}

export class Probe {
  private readonly pool: UpstreamPool;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  /** `onEnd`: '' for a good answer, else what was wrong. The first check leaves at once. */
  constructor(
    options: UpstreamOptions,
    private readonly authority: string,
    private readonly rules: ProbeRules,
    private readonly onEnd: (problem: string) => void,
  ) {
    const { timeoutMs } = rules;
    this.pool = new UpstreamPool({
      ...options,
      connectionsMax: 1,
      waitersMax: 0,
      connectTimeoutMs: timeoutMs,
      headTimeoutMs: timeoutMs,
      bodyIdleTimeoutMs: timeoutMs,
    });
    this.check();
  }

  private check(): void {
    const { path, expectedStatus } = this.rules;
    let isEnded = false;
    const end = (problem: string): void => {
      if (isEnded || this.isStopped) return;
      isEnded = true;
      exchange.abort(); // the status was all that was asked for
      this.onEnd(problem);
      this.timer = setTimeout(() => this.check(), this.rules.intervalMs).unref();
    };
    const handler: UpstreamHandler = {
      onInterim: () => {},
      onHead: ({ status }) => end(problemOfStatus(status, expectedStatus)),
      onData: () => {},
      onEnd: () => {},
      onError: ({ message }) => end(message),
      onDrain: () => {},
    };
    const head =
      `GET ${path} HTTP/1.1\r\nHost: ${this.authority}\r\nUser-Agent: health-check\r\n` +
      'Accept: */*\r\nConnection: close\r\n\r\n';
    const exchange = this.pool.dispatch({ method: 'GET', head, body: null, isStreaming: false }, handler);
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.pool.close();
  }
}
