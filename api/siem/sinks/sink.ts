// What delivers to one kind of system. A sink is given a batch in order and says how far it came; it never throws and
// never tries twice by itself: order, pauses and dead letters are those of whoever calls it.
import type { Outbound, OutboundReply } from '../../outbound/outbound.js';
import type { Connector } from '../connector.js';
import type { SecurityEvent } from '../event.js';

/** One event after redaction. */
export type Delivery = SecurityEvent;

export type Outcome =
  /** The first `taken` of them are there for good. `refused`: those of them that were not taken, and never will be. */
  | { readonly kind: 'taken'; readonly taken: number; readonly refused: readonly Refused[] }
  /** From `taken` on it has to be tried again, not before `afterMs` where the receiver named a pause. */
  | {
      readonly kind: 'later';
      readonly taken: number;
      readonly refused: readonly Refused[];
      readonly reason: string;
      readonly afterMs: number | null;
    }
  /** All of them were refused together; which of them is the reason has to be found by halves. */
  | { readonly kind: 'unfit'; readonly reason: string };

export interface Refused {
  /** Place in the batch. */
  readonly index: number;
  readonly reason: string;
}

export interface SinkParts {
  readonly outbound: Outbound;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface Sink {
  /** Of one batch. */
  readonly eventsMax: number;
  readonly bytesMax: number;
  deliver(connector: Connector, batch: readonly Delivery[], parts: SinkParts): Promise<Outcome>;
}

export const sinkTimeoutMs = 10_000;
const answerBytesMax = 4 * 1024 * 1024;

export const taken = (count: number): Outcome => ({ kind: 'taken', taken: count, refused: [] });
export const later = (reason: string, afterMs: number | null = null): Outcome => ({
  kind: 'later',
  taken: 0,
  refused: [],
  reason,
  afterMs,
});

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The pause that an answer asks for (RFC 9110 section 10.2.3): seconds, or a date. */
export function pauseOf(reply: Pick<OutboundReply, 'headers'>, nowMs: number): number | null {
  const given = reply.headers['retry-after'];
  if (given === undefined) return null;
  const ms = /^\d{1,6}$/.test(given) ? Number(given) * 1000 : Date.parse(given) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** A document of HTML: the page of a gateway between, which answers 200 in the name of a receiver that took nothing. */
export const isPage = ({ body }: Pick<OutboundReply, 'body'>): boolean =>
  /^\s*<(?:!doctype|html)/i.test(body.subarray(0, 200).toString('latin1'));

/** A POST with the secrets of a connector: by https, or to a place that the operator named in OUTBOUND_ALLOW. */
export async function post(
  { outbound }: SinkParts,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<OutboundReply> {
  if (!url.startsWith('https:') && !(await outbound.isAllowListed(url)))
    throw new Error(`${new URL(url).host} has to be reached by https, or be named in OUTBOUND_ALLOW`);
  return outbound.send(url, {
    method: 'POST',
    headers,
    body,
    timeoutMs: sinkTimeoutMs,
    bytesMax: answerBytesMax,
    redirectsMax: 0,
  });
}

/**
 * What an HTTP status means where the protocol says nothing closer: the body is at fault (400, 413, 422), or the
 * moment, or the configuration, which an operator fixes while the events wait.
 */
export function outcomeOfStatus(reply: OutboundReply, count: number, nowMs: number): Outcome {
  if (reply.status >= 200 && reply.status < 300) return taken(count);
  const told = reply.body.toString('utf8').replaceAll(/\s+/g, ' ').trim().slice(0, 300);
  const reason = `${new URL(reply.url).host} answered ${reply.status}${told === '' ? '' : `: ${told}`}`;
  if ([400, 413, 422].includes(reply.status)) return { kind: 'unfit', reason };
  return later(reason, pauseOf(reply, nowMs));
}
