// Limits against floods: of all clients together, and of the burst of one client.
//
// Together: guards this program and what is behind it, so it counts requests of unprotected sites as well; nobody is
// banned for it, because the one that is refused is not the one that floods.
import { parseWindow } from '#settings/words';
import { compileAutoBan, type AutoBan } from '../bans/auto-ban.js';
import type { Gate } from '../gate.js';
import { ask, compileLimit, everybody, limitBound, type Limit } from './limit.js';

export const floodGlobal: Gate<Limit> = {
  name: 'flood-global',
  appliesTo: 'all',
  bound: limitBound,
  compile: (config) =>
    config.floodGlobalEnabled
      ? compileLimit({
          kind: 'flood',
          name: 'flood_global',
          events: config.floodGlobalEvents,
          windowSeconds: parseWindow(config.floodGlobalWindow) ?? 1,
          isDryRun: config.floodDryRun,
        })
      : null,
  decide: (request, site, worker) => ask(worker.compiled, everybody, request, site, worker, null),
};

interface Burst {
  readonly limit: Limit;
  readonly autoBan: AutoBan | null;
}

export const floodBurst: Gate<Burst> = {
  name: 'flood-burst',
  appliesTo: 'protected',
  bound: limitBound,
  compile: (config) =>
    config.floodBurstEnabled
      ? {
          limit: compileLimit({
            kind: 'flood',
            name: 'flood_burst',
            events: config.floodBurstEvents,
            windowSeconds: parseWindow(config.floodBurstWindow) ?? 1,
            isDryRun: config.floodDryRun,
          }),
          autoBan: compileAutoBan(config),
        }
      : null,
  decide: (request, site, worker) => {
    const { client, compiled } = worker;
    client.read(request.head.clientIp);
    return ask(compiled.limit, client, request, site, worker, compiled.autoBan);
  },
};
