// One call to the collector: bytes of an official serialiser, through the guarded client, and what its answer means by
// the OTLP specification: taken, taken in part, refused for what it is, or to be tried again.
import type { Parts } from '../../parts.js';
import { isPage, outcomeOfStatus, post, reasonOf } from '../../siem/sinks/sink.js';
import type { Signal, Target } from './target.js';

export type Called =
  | { readonly kind: 'taken'; readonly rejected: number; readonly told: string | null }
  | { readonly kind: 'unfit'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string; readonly afterMs: number | null };

export type CallParts = Pick<Parts, 'outbound' | 'now'>;

/** OTLP/JSON. Credentials go by https alone, or to a host of OUTBOUND_ALLOW. Never rejects. */
export async function call(parts: CallParts, target: Target, signal: Signal, bytes: Uint8Array): Promise<Called> {
  try {
    const headers = { ...target.headers, 'content-type': 'application/json' };
    const reply = await post(parts, target.urlOf(signal), headers, Buffer.from(bytes).toString('utf8'));
    const outcome = outcomeOfStatus(reply, 1, parts.now());
    if (outcome.kind === 'taken' && isPage(reply))
      return { kind: 'later', reason: `${new URL(reply.url).host} answered with a page`, afterMs: null };
    return outcome.kind === 'taken' ? readPartial(reply.body.toString('utf8')) : outcome;
  } catch (error) {
    return { kind: 'later', reason: reasonOf(error), afterMs: null };
  }
}

/** `partialSuccess` of the answer; what is no JSON says nothing, and the status says that it was taken. */
function readPartial(text: string): Called {
  let rejected = 0;
  let told: string | null = null;
  try {
    const { partialSuccess: partial } = (JSON.parse(text) ?? {}) as { partialSuccess?: Record<string, unknown> };
    rejected = Math.max(0, Number(partial?.['rejectedSpans'] ?? partial?.['rejectedDataPoints'] ?? 0) || 0);
    told =
      typeof partial?.['errorMessage'] === 'string' && partial['errorMessage'] !== '' ? partial['errorMessage'] : null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { kind: 'taken', rejected, told };
}
