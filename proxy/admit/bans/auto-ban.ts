// Clients that go on although they are limited are banned, within the request that crosses the line, for all workers
// (shared-state/ban-table.ts). The control plane takes the ban over from there (api/bans): into the deny list of all
// nodes, with its end, its reasons, and a way back.
//
// Never banned: addresses in front of us (trusted proxies), those that the settings name, and those that the control
// plane names (people who work on it at the moment). A request that a ban or the deny list refuses never comes here, so
// that refusals do not make bans longer.
//
// An address that is many clients: behind a proxy that nobody told us about (rl_trust_proxy is off) every client has
// the proxy's address. Where limited requests of one address carry many different forwarding fields, it is limited, and
// never banned: the event says so. Somebody can have that on purpose by inventing such fields; 429 is what they get.
// One abuser behind such a proxy brings a single value, and the ban meets the proxy: the event of a ban whose request
// came on behalf of somebody else says so. People see both in the console (api/edge/unnamed-proxies.ts).
import { joinedField } from '../../http/header-fields.js';
import type { ProxyConfig } from '../../contract/index.js';
import { addressOf, clientKey } from '../../road/client-address.js';
import { networkOf } from '../../shared-state/client-key.js';
import type { BanPolicy } from '../../shared-state/ban-table.js';
import { buildAddressSet, openAddressSet, type AddressSet } from '../../shared-state/address-set.js';
import type { DecisionRule, Denial } from '../decision.js';
import type { GateRequest, GateWorker } from '../gate.js';

/** Rules by which people find it; no rule set has them. */
export const banRuleId = 1_006_200;
export const collapsedRuleId = 1_006_201;

export interface AutoBan extends BanPolicy {
  readonly exempt: AddressSet;
  /** Nobody told us whose forwarding fields to believe. */
  readonly looksForProxies: boolean;
}

/** A ban on its way to main and the control plane. */
export interface BanRecord {
  readonly network: string;
  readonly clientIp: string;
  /** The limit whose refusals led to it. */
  readonly zone: string;
  readonly requestId: string;
  readonly atMs: number;
  readonly untilMs: number;
  /** 1: its first. */
  readonly offence: number;
  readonly threshold: number;
  readonly windowSeconds: number;
}

/** Different forwarding fields with limited requests of one address. */
const clientsBehindProxy = 16;

/** null: nobody is banned automatically. */
export function compileAutoBan(config: ProxyConfig): AutoBan | null {
  if (!config.floodAutobanEnabled) return null;
  return {
    threshold: config.floodAutobanThreshold,
    windowMs: config.floodAutobanWindowSec * 1000,
    firstMs: config.floodAutobanDurationSec * 1000,
    exempt: openAddressSet(buildAddressSet([...config.trustedProxies, ...config.floodAutobanExempt])),
    looksForProxies: config.trustedProxies.length === 0,
  };
}

/**
 * One more limited request of this client. null: it is limited, and no more. `many`: it is not counted for a
 * ban, because its address looks like many clients.
 */
export function punish(
  autoBan: AutoBan,
  zone: string,
  request: GateRequest,
  worker: GateWorker,
): Denial | 'many' | null {
  const { tables, client, clock } = worker;
  const { clientIp, headers } = request.head;
  if (autoBan.exempt.contains(clientIp) || tables.banSafe.contains(clientIp)) return null;
  if (worker.crawlers.isVerified(clientIp)) return null;
  const nowMs = clock.sharedMs(request.startedMs);
  client.read(clientIp);
  const { low, high } = client;
  const isMany = autoBan.looksForProxies && isManyClients(autoBan, low, high, nowMs, headers, worker);
  if (isMany) return 'many';
  const ban = tables.bans.offend(low, high, nowMs, autoBan);
  if (ban === null) return null;
  if (!ban.isNew) return refuseBanned(clientIp, ban.untilMs - nowMs, worker.budget.spend(nowMs));
  const record: BanRecord = {
    network: networkOf(clientIp),
    clientIp,
    zone,
    requestId: request.requestId,
    atMs: request.atMs,
    untilMs: Math.round(request.atMs + ban.untilMs - nowMs),
    offence: ban.offence,
    threshold: autoBan.threshold,
    windowSeconds: autoBan.windowMs / 1000,
  };
  worker.onBan(record);
  return { kind: 'deny', status: 403, shape: 'page', rule: ruleOf(record, namesAnotherClient(headers, clientIp)) };
}

/** The answer to a client whose ban stands for another `leftMs`; `isTold`: its event carries the rule. */
export function refuseBanned(clientIp: string, leftMs: number, isTold: boolean): Denial {
  return {
    kind: 'deny',
    status: 403,
    shape: 'page',
    rule: isTold
      ? {
          id: banRuleId,
          message: 'The client is banned',
          match: `Matched the bans of this node against variable \`REMOTE_ADDR' (Value: \`${clientIp}')`,
          data: `${clientIp} seconds_left=${Math.ceil(leftMs / 1000)}`,
          severity: '2',
          tags: ['gatehouse/auto-ban'],
        }
      : null,
  };
}

function isManyClients(
  autoBan: AutoBan,
  low: number,
  high: number,
  nowMs: number,
  headers: readonly string[],
  { tables, text }: GateWorker,
): boolean {
  const forwarded = joinedField(headers, 'x-forwarded-for') ?? joinedField(headers, 'forwarded');
  if (forwarded === null) return false;
  text.readText(forwarded);
  return tables.bans.noteDistinct(low, high, nowMs, text.low, autoBan.windowMs) >= clientsBehindProxy;
}

/** Whether a forwarding field says that the request comes from further away than from the client that we see. */
function namesAnotherClient(headers: readonly string[], clientIp: string): boolean {
  const forwarded = joinedField(headers, 'x-forwarded-for');
  if (forwarded === null) return joinedField(headers, 'forwarded')?.includes(clientIp) === false;
  const first = forwarded.split(',', 64).find((hop) => hop.trim() !== '');
  const address = first === undefined ? null : addressOf(first.trim());
  return address !== null && clientKey(address) !== clientKey(clientIp);
}

function ruleOf(
  { network, zone, threshold, windowSeconds, offence, atMs, untilMs }: BanRecord,
  mayBeProxy: boolean,
): DecisionRule {
  return {
    id: banRuleId,
    message: `The client went on although it was limited, and is banned${mayBeProxy ? bannedProxy : ''}`,
    match: `Matched the automatic ban against variable \`REMOTE_ADDR' (Value: \`${network}')`,
    data:
      `${network} zone=${zone} limited=${threshold} window_seconds=${windowSeconds} offence=${offence} ` +
      `ban_seconds=${Math.round((untilMs - atMs) / 1000)}`,
    severity: '2',
    tags: mayBeProxy ? ['gatehouse/auto-ban', clientAddressTag] : ['gatehouse/auto-ban'],
  };
}

/** By which people find events whose client may be a proxy that the settings do not name. */
export const clientAddressTag = 'gatehouse/client-address';
const bannedProxy =
  '. Its request was forwarded for another client: if it is your proxy or CDN, every client behind it is banned. ' +
  'Lift the ban, name the address in rl_trusted_proxies and turn rl_trust_proxy on';

/** What stands in the event where a ban was withheld. */
export const manyClients = {
  id: collapsedRuleId,
  message:
    'This address looks like a proxy with many clients behind it: they are limited together, and it is not banned. ' +
    'If it is yours, name it in rl_trusted_proxies and turn rl_trust_proxy on',
  tags: ['gatehouse/auto-ban', clientAddressTag],
} as const;
