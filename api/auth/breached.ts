// Passwords known from breaches, by k-anonymity: only the first five hex digits of the SHA-1 leave this server.
import { createHash } from 'node:crypto';
import type { Outbound } from '../outbound/outbound.js';

export type BreachAnswer =
  | { readonly kind: 'known'; readonly count: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreachable'; readonly reason: string };

export interface BreachServiceState {
  /** `unknown`: not asked since the start of this process. */
  readonly status: 'unknown' | 'ok' | 'away';
  /** When the service was asked last. */
  readonly at: Date | null;
}

export interface BreachCheck {
  (password: string): Promise<BreachAnswer>;
  readonly state: () => BreachServiceState;
}

/**
 * `rangeUrl` ends where the five digits go. An unreachable service is an answer of its own: the caller decides and
 * audits.
 */
export function createBreachCheck(outbound: Outbound, rangeUrl: string, now: () => number): BreachCheck {
  let state: BreachServiceState = { status: 'unknown', at: null };
  const check = async (password: string): Promise<BreachAnswer> => {
    const answer = await askRange(outbound, rangeUrl, password);
    state = { status: answer.kind === 'unreachable' ? 'away' : 'ok', at: new Date(now()) };
    return answer;
  };
  return Object.assign(check, { state: () => state });
}

async function askRange(outbound: Outbound, rangeUrl: string, password: string): Promise<BreachAnswer> {
  // gatehouse:ignore weak-hash the range service knows passwords by their SHA-1
  const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
  try {
    const reply = await outbound.send(`${rangeUrl}${hash.slice(0, 5)}`, {
      headers: { 'add-padding': 'true', accept: 'text/plain' },
      bytesMax: 4 * 1024 * 1024,
      timeoutMs: 3000,
    });
    if (reply.status !== 200) return { kind: 'unreachable', reason: `it answered ${reply.status}` };
    for (const line of reply.body.toString('latin1').split(/\r?\n/)) {
      const [suffix, count] = line.split(':');
      // padding lines have a count of 0
      if (suffix?.toUpperCase() === hash.slice(5) && Number(count) > 0) return { kind: 'known', count: Number(count) };
    }
    return { kind: 'unknown' };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind: 'unreachable', reason: error.message };
  }
}
