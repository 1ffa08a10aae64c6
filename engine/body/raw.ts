import type { BodyOutcome } from './body.js';

/** RAW: the body is opaque; only REQUEST_BODY (the caller's) sees it. */
export function processRaw(): BodyOutcome {
  return { error: null, truncated: false };
}
