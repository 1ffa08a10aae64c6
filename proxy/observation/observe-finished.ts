// Which requests of the road discovery hears of: those that the application answered, and those that a gate refused for
// want of credentials, because that is an endpoint's protection. What rules or gates blocked is an attack, no API. An
// answered request counts whatever was flagged about it. It teaches parameters and data unless rules flagged it, or
// gates other than that of specifications.
import type { Action } from '../metrics/families.js';
import type { FinishedRequest } from '../road/finish.js';
import type { TrafficObserver } from './observer.js';

/** Operations of GraphQL are endpoints below the one path that they share: `/graphql/query:GetUser`. */
function uriOf(uri: string, operation: string | null): string {
  if (operation === null) return uri;
  const end = uri.indexOf('?');
  const path = (end === -1 ? uri : uri.slice(0, end)).replace(/\/$/, '');
  return `${path}/${operation}${end === -1 ? '' : uri.slice(end)}`;
}

/** Fills in the observer's one request and has it counted. */
export function observeFinished(observer: TrafficObserver, finished: FinishedRequest, action: Action): void {
  const { site, response, head, exchange } = finished;
  if (site === null || (action !== 'served' && response.status !== 401)) return;
  const { request } = observer;
  const body = finished.body?.inspected ?? null;
  request.site = site.name;
  request.method = head.method;
  request.uri = uriOf(head.uri, finished.inspection?.graphql?.operation ?? null);
  request.headers = head.headers;
  request.clientIp = head.clientIp;
  request.requestId = finished.requestId;
  request.status = response.status;
  request.responseHeaders = response.fields;
  request.requestBytes = exchange.framing.kind === 'length' ? exchange.framing.bytes : (body?.length ?? 0);
  request.responseBytes = response.bytes;
  request.latencyUs = (performance.now() - finished.startedMs) * 1000;
  request.body = body;
  request.responseBody = finished.replySample?.take(response.fields) ?? null;
  request.detectsPii = finished.generation.config.piiDetect;
  request.atMs = finished.atMs;
  request.isSuspicious = finished.isBlocked || finished.isSuspicious === true;
  request.isAnswered = action === 'served' && !finished.isBlocked && response.status < 400;
  observer.observe();
}
