// Rate limits: the default zone (every client, every path), and the zones of the settings, each for the requests under
// a path, counted by client, by the value of a header field, or all together. A request takes a place in every zone
// that it is in, in the order of the settings; the first that is full refuses it.
//
// A zone by header counts a request without that field by its client: leaving the field out must not be a way around.
import { parseWindow } from '#settings/words';
import { isTwice } from '../../http/alike-fields.js';
import { joinedField } from '../../http/header-fields.js';
import type { ProxyConfig } from '../../contract/index.js';
import { compileAutoBan, type AutoBan } from '../bans/auto-ban.js';
import type { Decision } from '../decision.js';
import type { Gate, GateRequest, GateWorker } from '../gate.js';
import { isAnyUnder, prefixOf } from '../reading.js';
import { addWait, allOf, ask, compileLimit, everybody, limitBound, type Counted, type Limit } from './limit.js';

type Zone = ProxyConfig['rlZones'][number];

interface CompiledZone {
  readonly limit: Limit;
  /** '' = every path. */
  readonly prefix: string;
  readonly counts: 'ip' | 'global' | 'header';
  /** Lower case; of a zone by header. */
  readonly field: string;
}

interface Zones {
  readonly zones: readonly CompiledZone[];
  readonly autoBan: AutoBan | null;
}

function compileZone({ name, matchPath, key, events, window, dryRun, headers }: Zone, isShared: boolean): CompiledZone {
  const isByHeader = key.startsWith('header:');
  const limit = compileLimit({
    kind: 'zone',
    name,
    counts: `${key} ${matchPath}`,
    events,
    windowSeconds: parseWindow(window) ?? 60,
    isDryRun: dryRun,
    isShared,
    isTold: headers,
  });
  return {
    limit,
    prefix: prefixOf(matchPath),
    counts: isByHeader ? 'header' : key === 'global' ? 'global' : 'ip',
    field: isByHeader ? key.slice('header:'.length).toLowerCase() : '',
  };
}

export const rateZones: Gate<Zones> = {
  name: 'rate-zones',
  appliesTo: 'protected',
  bound: limitBound,
  compile: (config) => {
    if (!config.rlEnabled) return null;
    // no zone of the settings has an empty path
    const common = { matchPath: '', key: 'ip', dryRun: config.rlDryRun, headers: config.rlHeaders };
    const own = { ...common, name: 'default', events: config.rlEvents, window: config.rlWindow };
    const zones = [own, ...config.rlZones].map((zone) => compileZone(zone, config.rlDistributed));
    return { zones, autoBan: compileAutoBan(config) };
  },
  wait: (request, worker) => {
    const { zones } = worker.compiled;
    const places: Promise<void>[] = [];
    const paths = zones.length === 1 ? [] : worker.paths.readings(request.head.uri, request.site);
    for (const zone of zones)
      if (isAnyUnder(zone.prefix, paths))
        addWait(zone.limit, countedBy(zone, request, worker), request, worker, places);
    return allOf(places);
  },
  decide: (request, site, worker) => {
    const { zones, autoBan } = worker.compiled;
    const { head } = request;
    const paths = zones.length === 1 ? [] : worker.paths.readings(head.uri, request.site);
    let recorded: Decision | null = null;
    for (const zone of zones) {
      if (!isAnyUnder(zone.prefix, paths)) continue;
      if (zone.counts === 'header' && !zone.limit.isDryRun && isTwice(head.headers, zone.field)) return twice(zone);
      const counted = countedBy(zone, request, worker);
      const decision = ask(zone.limit, counted, request, site, worker, zone.counts === 'ip' ? autoBan : null);
      if (decision === null) continue;
      // one that is only recorded must not shield the request from the zones behind it
      if (decision.kind !== 'throttle' || !decision.isDryRun) return decision;
      recorded ??= decision;
    }
    return recorded;
  },
};

/** Who sends the field twice would be counted by one value, and known to the application by the other. */
const twice = ({ limit, field }: CompiledZone): Decision => ({
  kind: 'deny',
  status: 400,
  shape: 'page',
  rule: {
    id: limit.ruleId,
    message: 'A field that a rate limit counts by was sent more than once',
    match: `Matched \`more than one' against variable \`REQUEST_HEADERS:${field}'`,
    data: field,
    severity: '4',
    tags: ['gatehouse/rate-limit'],
  },
});

function countedBy({ counts, field }: CompiledZone, { head }: GateRequest, { client, text }: GateWorker): Counted {
  if (counts === 'global') return everybody;
  const value = counts === 'header' ? joinedField(head.headers, field) : null;
  if (value === null) {
    client.read(head.clientIp);
    return client;
  }
  text.readText(value);
  return text;
}
