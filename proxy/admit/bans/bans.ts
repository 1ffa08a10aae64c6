// Clients that this node banned (auto-ban.ts) are not let in until the ban is over. Behind a trusted proxy it is the
// client that is banned, not the proxy.
import { banEntries } from '../../shared-state/ban-table.js';
import type { Gate } from '../gate.js';
import { refuseBanned } from './auto-ban.js';

export const bans: Gate = {
  name: 'bans',
  appliesTo: 'protected',
  bound: {
    of: 'clients that are banned or were within a day, one table for all workers (5.8 MB)',
    max: banEntries,
    unit: 'entries',
    beyond: 'the one whose ban would be forgotten first gives way',
  },
  // Bans outlive the setting that made them, as entries of the deny list do; they end by themselves or are lifted.
  decide: ({ head, startedMs }, _site, worker) => {
    const { client, tables, clock } = worker;
    client.read(head.clientIp);
    const nowMs = clock.sharedMs(startedMs);
    const untilMs = tables.bans.bannedUntil(client.low, client.high, nowMs);
    return untilMs === 0 ? null : refuseBanned(head.clientIp, untilMs - nowMs, worker.budget.spend(nowMs));
  },
};
