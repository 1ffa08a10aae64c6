// What block means: the addresses of a finding go on the deny list of all nodes, with their end and the requests that
// led to it; whoever takes them off there ends it. Never banned: people who work here, proxies in front of us, what
// the settings exempt from bans, and an inner address that others come from, too: behind a proxy that nobody told us
// about it is everybody's.
import type { Settings } from '#settings';
import { createAddressSet } from '../addresses/address-set.js';
import { systemActor } from '../http-kit/index.js';
import type { Tx } from '../db/client.js';
import { addressesOfPeople } from '../edge/store.js';
import type { Parts } from '../parts.js';
import { isInnerNetwork } from '../threat-intel/inner-networks.js';
import { toDenied } from '../addresses/denied.js';
import { addDenials } from '../measures/store.js';
import type { Finding } from './engine/finding.js';
import { noteBlock, type ThreatRow } from './store.js';

export const blockSource = 'api-abuse' as const;

export interface BlockParts extends Pick<Parts, 'audit'> {
  /** Other principals that were seen from an address. */
  readonly othersAt: (address: string, principal: string) => number;
}

/** Null: the mode is monitor. Else when the ban ends, or that nobody was banned. */
export async function blockOffender(
  tx: Tx,
  { audit, othersAt }: BlockParts,
  settings: Pick<Settings, 'api_protect_mode' | 'api_block_seconds' | 'rl_trusted_proxies' | 'flood_autoban_exempt'>,
  row: ThreatRow,
  finding: Finding,
  now: Date,
): Promise<{ readonly until: Date | null } | null> {
  if (settings.api_protect_mode !== 'block' || row.status === 'dismissed') return null;
  const people = (await addressesOfPeople(tx, now)).filter((address) => !('reason' in toDenied(address)));
  const safe = createAddressSet([...people, ...settings.rl_trusted_proxies, ...settings.flood_autoban_exempt]);
  const notes: string[] = [];
  const networks: string[] = [];
  for (const address of finding.clientIps) {
    const parsed = toDenied(address);
    if ('reason' in parsed) continue;
    const others = othersAt(address, finding.principal);
    const shared = others === 0 ? 'nobody else was seen there' : `${others} other principals were seen there`;
    if (safe.overlaps(parsed.network)) notes.push(`${address} was not banned: it is exempt from bans`);
    else if (others > 0 && isInnerNetwork(parsed.network))
      notes.push(`${address} was not banned: it is an inner address, and ${shared}`);
    else {
      networks.push(parsed.network);
      notes.push(`${address} was banned: ${shared}`);
    }
  }
  const until = networks.length === 0 ? null : new Date(now.getTime() + settings.api_block_seconds * 1000);
  await noteBlock(tx, row.id, until, notes.join('; '));
  if (until === null) return { until };
  const ids = finding.evidence.slice(0, 3).map(({ request_id: id }) => id);
  const reason = `API abuse, ${row.kind} at ${row.method} ${row.template}, requests ${ids.join(', ')}`.slice(0, 500);
  const given = { subjects: networks, source: blockSource, reason, addedBy: systemActor.name, expiresAt: until };
  await addDenials(tx, given, now);
  await audit.record(tx, {
    actor: systemActor,
    action: 'api-threat.block',
    summary: `banned ${networks.length === 1 ? networks[0] : `${networks.length} addresses`}: ${reason}`,
    details: { networks: networks.slice(0, 20), threat: row.id, until: until.toISOString() },
  });
  return { until };
}
