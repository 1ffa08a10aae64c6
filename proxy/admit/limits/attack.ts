// While under attack every client has a tight burst cap (attack_burst_events within attack_burst_window), besides the
// limits that it has anyhow. Whether the node is under attack is main's to find out (main/attack/detector.ts); here it
// is one look into memory that all threads share. `on`: always.
import { parseWindow } from '#settings/words';
import { compileAutoBan, type AutoBan } from '../bans/auto-ban.js';
import type { Gate } from '../gate.js';
import { ask, compileLimit, limitBound, type Limit } from './limit.js';

interface Attack {
  readonly limit: Limit;
  readonly isAlways: boolean;
  readonly autoBan: AutoBan | null;
}

export const attackMode: Gate<Attack> = {
  name: 'attack-mode',
  appliesTo: 'protected',
  bound: limitBound,
  compile: (config) =>
    config.attackMode === 'off'
      ? null
      : {
          limit: compileLimit({
            kind: 'attack',
            name: 'attack_burst',
            events: config.attackBurstEvents,
            windowSeconds: parseWindow(config.attackBurstWindow) ?? 1,
            isDryRun: false,
          }),
          isAlways: config.attackMode === 'on',
          autoBan: compileAutoBan(config),
        },
  decide: (request, site, worker) => {
    const { client, compiled, tables } = worker;
    if (!compiled.isAlways && !tables.attack.isUp) return null;
    client.read(request.head.clientIp);
    return ask(compiled.limit, client, request, site, worker, compiled.autoBan);
  },
};
