// How a request ends whose client, or whose upstream, stands still or is slower than it may be.
import { ProxyError } from '../../contract/errors.js';
import type { Action, RefusalReason } from '../../metrics/families.js';
import type { UpstreamExchange } from '../../upstream/exchange.js';
import { page, type Answer } from '../answers.js';
import type { SlowReason } from './relay.js';
import * as trouble from './report-trouble.js';

type Reported = Parameters<typeof trouble.reportSlowClient>[0];

export interface SlowRequest extends Reported {
  upstream: UpstreamExchange | null;
  readonly response: { readonly isBegun: boolean };
  readonly isOver: boolean;
  failed(error: ProxyError): void;
  cut(action: Action): void;
  refuse(status: number, reason: RefusalReason, isLast: boolean): void;
  endWith(answer: Answer, action: Action, isLast: boolean): void;
}

/** A body that nobody sends, or that nobody takes, any more. */
export function endStandstill(request: SlowRequest, who: 'client' | 'upstream'): void {
  request.upstream?.abort();
  if (who === 'upstream')
    request.failed(new ProxyError('PXY_UPSTREAM_BODY_TIMEOUT', 'the upstream took no more of the request body'));
  else if (request.response.isBegun) request.cut('aborted');
  else request.refuse(408, 'body_too_slow', true);
}

/** Slower than it may be, or the slowest where others need what it holds. */
export function endSlowClient(request: SlowRequest, side: 'response' | 'request', reason: SlowReason): void {
  if (request.isOver) return;
  trouble.reportSlowClient(request, side, reason);
  request.upstream?.abort();
  request.upstream = null;
  if (request.response.isBegun) request.cut('aborted');
  else if (reason === 'share') {
    request.context.metrics.count('refused', { status: '429', reason: 'client_share' });
    request.endWith(page(429, ['Retry-After', trouble.shareRetrySeconds]), 'refused', true);
  } else request.refuse(408, 'body_too_slow', true);
}
