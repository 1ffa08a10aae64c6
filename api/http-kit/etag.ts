// Strong ETags and If-Match (RFC 9110 §13.1.1): of two writers who read the same state exactly one wins.
import { ApiError } from './problem.js';

/**
 * Throws `precondition_failed` (412) unless If-Match is absent, `*`, or lists `current` (with its quotes). Weak tags
 * never match.
 */
export function checkIfMatch(header: string | undefined, current: string): void {
  if (header === undefined || header.trim() === '*') return;
  const listed = header.split(',').map((tag) => tag.trim());
  if (listed.includes(current)) return;
  throw new ApiError(
    'precondition_failed',
    'It was changed after you had read it. Read it again, make your change to what is there now, and send that.',
    { headers: { etag: current } },
  );
}
