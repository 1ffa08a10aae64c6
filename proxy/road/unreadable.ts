import { renderPage, type Page } from '../http/pages.js';
import type { RoadContext } from './context.js';

/**
 * The page for bytes that a listener's parser refused before there was a request: no head, no address, only the status.
 */
export function refuseUnreadable(context: RoadContext, status: number): Page {
  const requestId = context.makeRequestId(context.now());
  context.metrics.count('refused', { status: String(status), reason: 'unreadable' });
  context.log('info', { requestId, status }, 'bytes that are no request were refused');
  return renderPage(status, requestId, { headers: [] });
}
