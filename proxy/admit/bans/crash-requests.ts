// Requests that ended workers again and again (shared-state/crash-requests.ts) are not taken any more for a while, also
// on unprotected sites: what guards this program itself applies to all. 503 and not 403, because it is this program
// that cannot do it.
import { crashEntries } from '../../shared-state/crash-requests.js';
import type { Gate } from '../gate.js';

export const crashRuleId = 1_006_210;

export const crashRequests: Gate = {
  name: 'crash-requests',
  appliesTo: 'all',
  bound: {
    of: 'requests that ended workers, one table for all (45 KB)',
    max: crashEntries,
    unit: 'entries',
    beyond: 'the one that would be forgotten first gives way',
  },
  decide: ({ head, startedMs }, _site, { tables, text, clock, budget }) => {
    const nowMs = clock.sharedMs(startedMs);
    const { method, uri, clientIp: client } = head;
    const untilMs = tables.crashRequests.refusedUntil({ method, uri, client }, text, nowMs);
    if (untilMs === 0) return null;
    const rule = {
      id: crashRuleId,
      message: 'Requests like this one ended workers again and again',
      match: `Matched the crashes of this node against variable \`REQUEST_FILENAME' (Value: \`${method}')`,
      data: `${method} seconds_left=${Math.ceil((untilMs - nowMs) / 1000)}`,
      severity: '2',
      tags: ['gatehouse/crash-requests'],
    };
    return { kind: 'deny', status: 503, shape: 'page', rule: budget.spend(nowMs) ? rule : null };
  },
};
