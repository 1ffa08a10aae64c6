import { renderPage, type Page } from '../../http/pages.js';
import type { Unreadable } from '../../listeners/listener.js';
import type { RoadContext } from '../context.js';

/**
 * The page for bytes that a listener's parser refused before there was a request: no head, only the status, and what
 * the listener knows besides.
 */
export function refuseUnreadable(context: RoadContext, status: number, found?: Unreadable): Page {
  const requestId = context.makeRequestId(context.now());
  context.metrics.count('refused', { status: String(status), reason: 'unreadable' });
  context.log('info', { requestId, status, ...found }, 'bytes that are no request were refused');
  return renderPage(status, requestId, { headers: [] });
}

/** A request that is refused before any rule has seen it. */
interface RefusableRequest {
  readonly context: RoadContext;
  readonly requestId: string;
  readonly head: { readonly clientIp: string };
  readonly response: { readonly isBegun: boolean };
  readonly upstream: { abort(): void } | null;
  refuse(status: number, reason: 'head' | 'unreadable', isLast: boolean): void;
  cut(action: 'aborted'): void;
}

/** Refused with an entry in the log: what no rule has seen is seen nowhere else. */
export function refuseRequest(
  request: RefusableRequest,
  part: 'head' | 'unreadable',
  status: number,
  reason: string,
): void {
  const { context, requestId, head } = request;
  context.log('info', { requestId, status, reason, clientIp: head.clientIp }, 'a request was refused');
  request.refuse(status, part, true);
}

/** Its body is not what the head announced. Not called once it is over. */
export function refuseBody(request: RefusableRequest, reason: string): void {
  request.upstream?.abort();
  if (request.response.isBegun) request.cut('aborted');
  else refuseRequest(request, 'unreadable', 400, reason);
}
