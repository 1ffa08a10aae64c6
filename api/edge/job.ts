// Every fifteen seconds: bans that nodes made by themselves become measures, with their end and reason, so that every
// node has them; bans that were lifted are lifted on nodes that did not hear of it; addresses of people who work here
// are sent to nodes, so that none of them is banned.
import { isIP } from 'node:net';
import { systemActor, type Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { NodeBan, NodeGates } from './node-gates.js';
import { addBans, addressesOfPeople, findLifted } from './store.js';

export type BanJobParts = Pick<Parts, 'database' | 'audit' | 'measuresChanged'> & {
  readonly nodeGates: NodeGates | null;
};

export function createBanJob(parts: BanJobParts): Job {
  return {
    name: 'bans',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs }) {
      if (parts.nodeGates === null) return 'no data plane is connected';
      const now = new Date(nowMs);
      const lines: string[] = [];
      for (const { node, answer } of await parts.nodeGates.bans())
        if (answer !== null) lines.push(await takeOver(parts, parts.nodeGates, node, answer, now));
      const people = await addressesOfPeople(parts.database.sql, now);
      await parts.nodeGates.spare(people.filter((address) => isIP(address) !== 0));
      return lines.filter((line) => line !== '').join('; ') || 'nothing new';
    },
  };
}

async function takeOver(
  { database: { sql }, audit, measuresChanged }: BanJobParts,
  nodeGates: NodeGates,
  node: string,
  bans: readonly NodeBan[],
  now: Date,
): Promise<string> {
  await nodeGates.lift(await findLifted(sql, node, bans), node);
  const added = await sql.begin(async (tx) => {
    const rows = (await addBans(tx, node, bans)).filter((row) => row.expires_at > now);
    const [first] = rows;
    if (first === undefined) return 0;
    await audit.record(tx, {
      actor: systemActor,
      action: 'ban.add',
      summary: rows.length === 1 ? `banned ${first.subject}: ${first.reason}` : `banned ${rows.length} clients`,
      details: { networks: rows.slice(0, 20).map(({ subject }) => subject), node },
    });
    return rows.length;
  });
  if (added > 0) await measuresChanged();
  return added === 0 ? '' : `${added} bans of ${node}`;
}
