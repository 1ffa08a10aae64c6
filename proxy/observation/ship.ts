// Windows of discovery on their way to the control plane, in order, each until it is acknowledged, under an id of its
// own. Runs in main. Bounded by bytes: beyond that the newest window is left out and counted.
import type { ControlPlaneClient } from '../records/control-plane-client.js';

export interface ObservationQueueOptions {
  readonly node: string;
  /** Where it goes; absent: to discovery. */
  readonly path?: string;
  readonly controlPlane: Pick<ControlPlaneClient, 'post'>;
  readonly stop: AbortSignal;
  readonly onProblem: (message: string) => void;
  readonly queueBytesMax?: number;
}

const queueBytesMaxDefault = 16 * 1024 * 1024;
const retryMinMs = 500;
const retryMaxMs = 15_000;

export class ObservationQueue {
  readonly counters = { shipped: 0, dropped: 0, refused: 0 };
  private readonly waiting: string[] = [];
  private waitingBytes = 0;
  private sending: Promise<void> | null = null;
  private isClosing = false;

  constructor(private readonly options: ObservationQueueOptions) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** `text`: an ObservationBatch as JSON. Never waits, never throws. */
  add(text: string): void {
    if (this.waitingBytes + text.length > (this.options.queueBytesMax ?? queueBytesMaxDefault)) {
      this.counters.dropped += 1;
      return;
    }
    this.waiting.push(text);
    this.waitingBytes += text.length;
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
    });
  }

  /** Each of what waits is tried once more; resolves after that, or when the options' `stop` is aborted. */
  async drain(): Promise<void> {
    this.isClosing = true;
    await this.sending;
  }

  private async sendAll(): Promise<void> {
    const { stop } = this.options;
    let waitMs = retryMinMs;
    while (!stop.aborted) {
      const text = this.waiting[0];
      if (text === undefined) return;
      const { status, text: answer, retryAfterMs } = await this.post(text);
      // 404: a control plane of an older release, which does not know of discovery.
      const isRefused = status === 400 || status === 404 || status === 413 || status === 422;
      if (status === 200 || isRefused) {
        this.waiting.shift();
        this.waitingBytes -= text.length;
        waitMs = retryMinMs;
        if (isRefused) this.refused(status, answer);
        else this.counters.shipped += 1;
        continue;
      }
      if (this.isClosing) return;
      await pause(Math.max(waitMs, Math.min(retryMaxMs, retryAfterMs)), stop);
      waitMs = Math.min(retryMaxMs, waitMs * 2);
    }
  }

  private post(text: string): ReturnType<ControlPlaneClient['post']> {
    const { node, controlPlane, stop, path = '/api/dataplane/observations' } = this.options;
    const body = `{"node":${JSON.stringify(node)},"batch":${text}}`;
    return controlPlane.post(path, body, stop);
  }

  private refused(status: number, answer: string): void {
    this.counters.refused += 1;
    const what = this.options.path ?? 'what discovery saw';
    this.options.onProblem(`the control plane refused ${what} (${status}): ${answer.slice(0, 300)}`);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
}
