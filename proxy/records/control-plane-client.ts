// One POST to the control plane, over kept connections. A client of its own, because records are sent while everything
// else stops as well, and a failed attempt is an answer here, not an exception. Of several control planes the one that
// answered last is asked; one that does not answer gives way to the next with the next attempt.
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { NodeTls } from '../fleet/identity.js';

const answerCharsMax = 4096;

export interface ControlPlaneAnswer {
  /** 0: no answer; the text says why. */
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number;
}

/** Where control planes are, and what they know this node by. */
export interface ControlPlaneAddress {
  /** Such as `http://127.0.0.1:8095`. */
  readonly url: string;
  /** The shared token; '' where the certificate says who sends. */
  readonly token: string;
  /** Of a node that enrolled: asked for each request, because certificates are renewed. */
  readonly tls?: () => { readonly addresses: readonly string[]; readonly options: NodeTls };
}

export class ControlPlaneClient {
  private readonly agent: HttpAgent | HttpsAgent;
  private failures = 0;

  constructor(
    private readonly address: ControlPlaneAddress,
    private readonly timeoutMs: number,
  ) {
    const options = { keepAlive: true, maxSockets: 2 };
    // a session that is resumed would keep the certificate of before
    this.agent = this.url.startsWith('https:')
      ? new HttpsAgent({ ...options, maxCachedSessions: 0 })
      : new HttpAgent(options);
  }

  close(): void {
    this.agent.destroy();
  }

  private get url(): string {
    const { url, tls } = this.address;
    const addresses = tls?.().addresses ?? [];
    return addresses[this.failures % Math.max(1, addresses.length)] ?? url;
  }

  /** Never rejects. */
  post(path: string, body: string, stop: AbortSignal): Promise<ControlPlaneAnswer> {
    const target = new URL(path, this.url);
    const bytes = Buffer.from(body, 'utf8');
    const signal = AbortSignal.any([stop, AbortSignal.timeout(this.timeoutMs)]);
    return new Promise((resolve) => {
      const failed = (error: NodeJS.ErrnoException): void => {
        if (!stop.aborted) this.failures += 1;
        resolve({ status: 0, text: error.code ?? error.message, retryAfterMs: 0 });
      };
      const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, {
        ...this.address.tls?.().options,
        method: 'POST',
        agent: this.agent,
        signal,
        headers: {
          ...(this.address.token === '' ? {} : { authorization: `Bearer ${this.address.token}` }),
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
        response.once('end', () => {
          // it stands, and what it stands on does not: another one may have it
          if ((response.statusCode ?? 0) >= 500) this.failures += 1;
          resolve({
            status: response.statusCode ?? 0,
            text,
            retryAfterMs: (Number(response.headers['retry-after']) || 0) * 1000,
          });
        });
      });
      request.end(bytes);
    });
  }
}
