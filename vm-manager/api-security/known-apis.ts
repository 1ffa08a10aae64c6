import { ApiError } from '#http-kit';
import type { ApiPort } from '../apis/port.js';
import type { Host } from '../host.js';

/** Throws 503 where this server has no inventory. */
export function requireApis({ apis }: Pick<Host, 'apis'>): ApiPort {
  if (apis === undefined) throw new ApiError('not_ready', 'This server has no firewall that knows of APIs.');
  return apis;
}
