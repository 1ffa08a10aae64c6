// Every fifteen seconds: bans that nodes made by themselves go into the deny list, with their end and reason, so that
// every node has them; whom people unbanned is told to nodes that did not hear of it; addresses of people who work here
// are told to nodes, so that nobody bans them.
import { isIP } from 'node:net';
import { systemActor, type Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { addEachThreat } from '../threat-intel/store.js';
import type { NodeBan, NodeGates } from './node-gates.js';
import { addBans, addressesOfPeople, findLifted, findUnlisted, liftBans, pruneBans, type BanRow } from './store.js';

export type BanJobParts = Pick<Parts, 'database' | 'audit' | 'threatsChanged'> & {
  readonly nodeGates: NodeGates | null;
};

/** Of entries of the deny list that are bans. */
export const banSource = 'auto-ban';

export const reasonOf = ({ zone, threshold, window_seconds: seconds, offence, request_id: id }: BanRow): string =>
  `${threshold} limited requests in ${seconds} s by ${zone}, ban number ${offence}, request ${id}`;

export function createBanJob(parts: BanJobParts): Job {
  return {
    name: 'bans',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs }) {
      if (parts.nodeGates === null) return 'no data plane is connected';
      const now = new Date(nowMs);
      const { sql } = parts.database;
      const lines = [await liftUnlisted(parts, parts.nodeGates, now)];
      for (const { node, answer } of await parts.nodeGates.bans())
        if (answer !== null) lines.push(await takeOver(parts, parts.nodeGates, node, answer, now));
      await pruneBans(sql, now);
      await parts.nodeGates.spare((await addressesOfPeople(sql, now)).filter((address) => isIP(address) !== 0));
      return lines.filter((line) => line !== '').join('; ') || 'nothing new';
    },
  };
}

async function takeOver(
  { database: { sql }, audit, threatsChanged }: BanJobParts,
  nodeGates: NodeGates,
  node: string,
  bans: readonly NodeBan[],
  now: Date,
): Promise<string> {
  await nodeGates.lift(await findLifted(sql, node, bans), node);
  const added = await sql.begin(async (tx) => {
    const rows = (await addBans(tx, node, bans)).filter((row) => row.expires_at > now);
    const denials = rows.map((row) => ({ network: row.network, reason: reasonOf(row), expiresAt: row.expires_at }));
    await addEachThreat(tx, denials, { source: banSource, addedBy: systemActor.name }, now);
    if (rows.length > 0)
      await audit.record(tx, {
        actor: systemActor,
        action: 'ban.add',
        summary:
          rows.length === 1
            ? `banned ${rows[0]?.network}: ${reasonOf(rows[0] as BanRow)}`
            : `banned ${rows.length} clients`,
        details: { networks: rows.slice(0, 20).map(({ network }) => network), node },
      });
    return rows.length;
  });
  if (added > 0) await threatsChanged();
  return added === 0 ? '' : `${added} bans of ${node}`;
}

/** Taken off the deny list by somebody who did not come by way of the bans. */
async function liftUnlisted({ database: { sql } }: BanJobParts, nodeGates: NodeGates, now: Date): Promise<string> {
  const networks = await findUnlisted(sql, banSource, now);
  if (networks.length === 0) return '';
  await liftBans(sql, networks, 'deny list', now);
  await nodeGates.lift(networks);
  return `${networks.length} bans ended with their entry of the deny list`;
}
