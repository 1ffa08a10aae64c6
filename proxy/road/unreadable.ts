import { renderPage, type Page } from '../http/pages.js';
import type { Unreadable } from '../listeners/listener.js';
import type { RoadContext } from './context.js';

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
