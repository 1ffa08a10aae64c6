// Keys for the event whose row has the focus: b blocks its client for a day, x excludes a rule, m copies it as
// Markdown. What was blocked can be taken back from the note that says so.
import { call, Refused } from '../../../client/http.js';
import { mayAs } from '../../../client/session.js';
import { tell, tellProblem } from '../../../kit/overlays.js';
import { workbenchText as text } from '../../../texts/events/workbench.js';
import type { SecurityEvent } from '../events.js';
import { copyAsMarkdown } from '../share/copy.js';

const daySeconds = 86_400;

/** What is refused is said; anything else is a fault of the console. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    tellProblem(error);
  }
}

const unblock = (subject: string): Promise<void> =>
  attempt(async () => {
    await call('DELETE /api/measures', { query: { subject, action: 'deny' } });
    tell(text.unblocked(subject));
  });

const block = (event: SecurityEvent): Promise<void> =>
  attempt(async () => {
    const { client_ip: network } = event;
    const body = { network, action: 'deny', reason: text.blockReason, expires_in_seconds: daySeconds } as const;
    await call('POST /api/bans', { body });
    tell(text.blocked(network), false, { label: text.undo, run: () => void unblock(network) });
  });

/** True when the key did something. */
export function doByKey(key: string, event: SecurityEvent, onExclude: (event: SecurityEvent) => void): boolean {
  if (key === 'm') {
    void copyAsMarkdown({ ...event, details: event.details ?? {} });
    return true;
  }
  if (!mayAs('operator') || event.client_ip === '') return false;
  if (key === 'b') void block(event);
  else if (key === 'x') onExclude(event);
  return key === 'b' || key === 'x';
}
