// Addresses of this server that a target asks for when it fetches what a request names. Each has a token that only the
// scan knows; a request for another one gets 404. They live as long as the process, and not long.
import { randomBytes } from 'node:crypto';

const issuedMax = 10_000;
const waitMs = 600_000;

export interface IssuedCall {
  readonly token: string;
  readonly url: string;
  readonly answer: string;
  readonly wasAsked: () => boolean;
}

export interface CallbackList {
  issue(): IssuedCall;
  /** What the one who asks gets; null: no such token. */
  take(token: string): string | null;
}

export function createCallbacks(base: () => string, now: () => number = Date.now): CallbackList {
  const issued = new Map<string, { readonly answer: string; readonly atMs: number; asked: boolean }>();
  return {
    issue() {
      for (const [token, { atMs }] of issued)
        if (issued.size >= issuedMax || now() - atMs > waitMs) issued.delete(token);
        else break;
      const token = randomBytes(12).toString('hex');
      const one = { answer: randomBytes(8).toString('hex'), atMs: now(), asked: false };
      issued.set(token, one);
      return { token, url: `${base()}/${token}`, answer: one.answer, wasAsked: () => one.asked };
    },
    take(token) {
      const one = issued.get(token);
      if (one === undefined || now() - one.atMs > waitMs) return null;
      one.asked = true;
      return one.answer;
    },
  };
}
