// The protocol that browsers are driven by, over two pipes of the process: messages of JSON, each ended by a zero byte.
// No port is opened, so that nothing else on this machine can drive the browser.
import type { Readable, Writable } from 'node:stream';

export type Fields = Readonly<Record<string, unknown>>;
export interface CdpEvent {
  readonly method: string;
  readonly params: Fields;
  readonly sessionId: string | undefined;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly message?: string };
  readonly sessionId?: string;
}

interface Waiting {
  readonly done: (result: Fields) => void;
  readonly fail: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** A message that is longer ends the browser: it holds a page of a megabyte at most. */
const messageBytesMax = 32 * 1024 * 1024;
const answerMsMax = 15_000;
/** All that its pipes say of an end; what started it may know more. */
export const hasEnded = 'The browser has ended.';

/** The browser is away, or did not do what it was told in time. */
export class BrowserGone extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrowserGone';
  }
}

export class Cdp {
  readonly #to: Writable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onEvent: (event: CdpEvent) => void;
  readonly #onEnd: (why: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  #id = 0;
  #over: string | null = null;

  constructor(to: Writable, from: Readable, onEvent: (event: CdpEvent) => void, onEnd: (why: string) => void) {
    [this.#to, this.#onEvent, this.#onEnd] = [to, onEvent, onEnd];
    from.on('data', (chunk: Buffer) => this.#take(chunk));
    const end = (): void => this.end(hasEnded);
    for (const stream of [from, to]) stream.on('error', end).on('close', end);
  }

  /** Throws BrowserGone where the browser ends, refuses, or takes more than 15 s. */
  async send(method: string, params: Fields = {}, sessionId?: string): Promise<Fields> {
    if (this.#over !== null) throw new BrowserGone(this.#over);
    const id = ++this.#id;
    const answer = new Promise<Fields>((done, fail) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        fail(new BrowserGone(`${method} was not answered.`));
      }, answerMsMax);
      timer.unref();
      this.#waiting.set(id, { done, fail, timer });
    });
    this.#to.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`);
    return answer;
  }

  end(why: string): void {
    if (this.#over !== null) return;
    this.#over = why;
    for (const { fail, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      fail(new BrowserGone(why));
    }
    this.#waiting.clear();
    this.#onEnd(why);
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    for (let at = rest.indexOf(0); at >= 0; at = rest.indexOf(0)) {
      const whole = Buffer.concat([...this.#parts, rest.subarray(0, at)]).toString('utf8');
      [this.#parts, this.#bytes] = [[], 0];
      rest = rest.subarray(at + 1);
      this.#read(whole);
    }
    this.#parts.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes > messageBytesMax) this.end('The browser sent more than a message may hold.');
  }

  #read(text: string): void {
    if (this.#over !== null) return;
    let message: Message;
    try {
      message = JSON.parse(text) as Message;
    } catch {
      return this.end('The browser sent what cannot be read.');
    }
    const { id, method, params, result, error, sessionId } = message;
    if (id === undefined) {
      if (method !== undefined) this.#onEvent({ method, params: params ?? {}, sessionId });
      return;
    }
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error === undefined) waiting.done(result ?? {});
    else waiting.fail(new BrowserGone(error.message ?? 'The browser refused.'));
  }
}
