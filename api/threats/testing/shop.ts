// A shop of people who behave, and of thieves: requests and answers as a data plane sees them, through the observer of
// its workers. Deterministic: every choice comes from one seed.
import { TrafficObserver, type ObservationBatch } from '#proxy/contract';

export const shopKey = new Uint8Array(32).fill(9);
export const shopStart = Date.parse('2026-03-01T12:00:00Z');

/** Numbers in [0, 1), always the same ones of a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Person {
  readonly number: number;
  readonly headers: readonly string[];
  readonly ip: string;
}

export type CredentialStyle = 'jwt' | 'api-key' | 'session';

/** `claims`: others beside the subject, as roles. */
export function person(number: number, style: CredentialStyle = 'jwt', others: object = {}): Person {
  const claims = Buffer.from(JSON.stringify({ sub: `user-${number}`, iat: 1, ...others })).toString('base64url');
  const headers = {
    jwt: ['Authorization', `Bearer eyJhbGciOiJIUzI1NiJ9.${claims}.c2ln`],
    'api-key': ['X-Api-Key', `key-of-${number}-with-some-length`],
    session: ['Cookie', `sessionid=session-of-${number}`],
  }[style];
  return { number, headers, ip: `198.51.${100 + (number >> 8)}.${number & 255}` };
}

export interface Asked {
  readonly method?: string;
  readonly uri: string;
  readonly status?: number;
  readonly reply?: unknown;
  readonly body?: unknown;
  readonly replyHeaders?: readonly string[];
  readonly html?: string;
  /** Longer than what a worker keeps of an answer: it is not read. */
  readonly isBig?: boolean;
}

export class Shop {
  readonly windows: ObservationBatch[] = [];
  requests = 0;
  nowMs = shopStart;
  /** Between two requests. */
  stepMs = 7;
  private readonly observer: TrafficObserver;

  constructor(key: Uint8Array = shopKey) {
    this.observer = new TrafficObserver({ key, send: (batch) => this.windows.push(batch) });
  }

  /** One request that is through; returns its id. */
  ask(who: Person | null, asks: Asked): string {
    const { method = 'GET', uri, status = 200, reply, body, replyHeaders = [], html, isBig = false } = asks;
    const { request } = this.observer;
    const requestId = `r${(this.requests += 1)}`;
    this.nowMs += this.stepMs;
    const json = ['Content-Type', 'application/json'];
    Object.assign(request, {
      site: 'shop',
      method,
      uri,
      headers: [...(who?.headers ?? []), ...(body === undefined ? [] : json)],
      clientIp: who?.ip ?? '203.0.113.80',
      requestId,
      status,
      responseHeaders: [...(html === undefined ? json : ['Content-Type', 'text/html']), ...replyHeaders],
      body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
      atMs: this.nowMs,
    });
    const asked = { method, uri, status, responseHeaders: request.responseHeaders, detectsPii: false };
    const text = status === 204 ? '' : (html ?? JSON.stringify(reply ?? {}));
    request.responseBytes = isBig ? 100_000 : text.length;
    const isKept = this.observer.wantsReply(asked, this.nowMs) && !isBig && text !== '';
    request.responseBody = isKept ? Buffer.from(text) : null;
    this.observer.observe();
    this.observer.flush(this.nowMs);
    return requestId;
  }

  /** What is left of the last window. */
  end(): ObservationBatch[] {
    this.observer.flush(this.nowMs, true);
    return this.windows;
  }
}
