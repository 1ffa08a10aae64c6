// Verdicts on their way to nodes: at once when one changes, and every fifteen seconds to each node that has another
// list than this one (it was away, or began anew).
import { createHash } from 'node:crypto';
import type { Job } from '../../http-kit/index.js';
import type { Parts } from '../../parts.js';
import type { NodeGates } from '../node-gates.js';
import { listVerdicts, pruneVerdicts, verdictsMax } from './store.js';

export type VerdictParts = Pick<Parts, 'database'> & { readonly nodeGates: NodeGates | null };

/** Returns how many nodes were told. A node that does not answer, or is of an earlier release, is left for later. */
export async function pushVerdicts({ database, nodeGates }: VerdictParts, now: Date): Promise<number> {
  if (nodeGates === null) return 0;
  const rows = await listVerdicts(database.sql, '', now, verdictsMax);
  const verdicts = rows.map(({ network, action, expires_at: end }) => ({ network, action, untilMs: end.getTime() }));
  const sha256 = createHash('sha256').update(JSON.stringify(verdicts)).digest('hex');
  const told = await nodeGates.withFigures(async ({ node, answer }) => {
    const had = answer?.verdicts?.sha256;
    if (had === undefined || had === sha256 || (had === '' && verdicts.length === 0)) return 0;
    await nodeGates.giveVerdicts(node, { verdicts });
    return 1;
  });
  return told.reduce<number>((sum, one) => sum + one, 0);
}

export function createVerdictJob(parts: VerdictParts): Job {
  return {
    name: 'verdicts',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs }) {
      if (parts.nodeGates === null) return 'no data plane is connected';
      const now = new Date(nowMs);
      await pruneVerdicts(parts.database.sql, now);
      const told = await pushVerdicts(parts, now);
      return told === 0 ? 'nothing new' : `${told} nodes were told`;
    },
  };
}
