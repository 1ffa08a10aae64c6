// One POST to the control plane, over kept connections. A client of its own, because records are sent while everything
// else stops as well, and a failed attempt is an answer here, not an exception.
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

const answerCharsMax = 4096;

export interface ControlPlaneAnswer {
  /** 0: no answer; the text says why. */
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number;
}

export class ControlPlaneClient {
  private readonly agent: HttpAgent | HttpsAgent;

  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly timeoutMs: number,
  ) {
    const options = { keepAlive: true, maxSockets: 2 };
    this.agent = url.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options);
  }

  close(): void {
    this.agent.destroy();
  }

  /** Never rejects. */
  post(path: string, body: string, stop: AbortSignal): Promise<ControlPlaneAnswer> {
    const target = new URL(path, this.url);
    const bytes = Buffer.from(body, 'utf8');
    const signal = AbortSignal.any([stop, AbortSignal.timeout(this.timeoutMs)]);
    return new Promise((resolve) => {
      const failed = (error: NodeJS.ErrnoException): void =>
        resolve({ status: 0, text: error.code ?? error.message, retryAfterMs: 0 });
      const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, {
        method: 'POST',
        agent: this.agent,
        signal,
        headers: {
          authorization: `Bearer ${this.token}`,
          'content-type': 'application/json',
          'content-length': bytes.length,
        },
      });
      request.once('error', failed);
      request.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          if (text.length < answerCharsMax) text += piece;
        });
        response.once('error', failed);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text,
            retryAfterMs: (Number(response.headers['retry-after']) || 0) * 1000,
          }),
        );
      });
      request.end(bytes);
    });
  }
}
