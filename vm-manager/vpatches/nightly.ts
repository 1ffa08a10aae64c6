// Proofs are kept fresh: each patch in force is proven again every night, and within a minute after other rules came
// into force. Where no node answers nothing is decided, until the last proof is two days old.
import { systemActor } from '#http-kit';
import type { Host } from '../host.js';
import type { Judged } from './prove.js';
import { judge, keepProof } from './prove.js';
import { claim, goStale, inForceStates, release, type PatchRow } from './store.js';

const nightMs = 24 * 3_600_000;
const tooOldMs = 2 * nightMs;
/** A round of the job proves so many; the others have their turn a minute later. */
const roundMax = 20;

type Due = PatchRow & { readonly proven_at: Date | null };

/** A line about what was done. */
export async function proveDue(host: Host, now: Date): Promise<string> {
  const { firewall, sql } = host;
  if (firewall === undefined) return 'there is no firewall';
  const artifact = await firewall.current();
  // in force is what was put there; a stale one is tried as well, so that it is told when it holds again
  const due = await sql<Due[]>`
    select p.*, (select max(at) from vm_vpatch_proofs h where h.vpatch_id = p.id and h.holds) as proven_at
    from vm_vpatches p
      left join lateral (select at, artifact_sha256 from vm_vpatch_proofs l where l.vpatch_id = p.id
        order by id desc limit 1) latest on true
    where p.state in ${sql(inForceStates)}
      and (latest.at is null or latest.at <= ${new Date(now.getTime() - nightMs)}
        or latest.artifact_sha256 is distinct from ${artifact})
      and (p.busy_until is null or p.busy_until < ${now})
    order by latest.at nulls first, p.id limit ${roundMax}`;
  let [held, failed] = [0, 0];
  for (const row of due) {
    const holds = await proveOne(host, row, now);
    if (holds === true) held++;
    if (holds === false) failed++;
  }
  return `${held} virtual patches hold, ${failed} do not`;
}

const isSilent = ({ trial }: Judged): boolean => !trial.nodes.some(({ state }) => state !== 'silent');

async function proveOne(host: Host, row: Due, now: Date): Promise<boolean | null> {
  const { firewall, sql } = host;
  if (firewall === undefined) return null;
  try {
    await claim(sql, row, now);
  } catch {
    return null; // somebody is at it
  }
  try {
    const judged = await judge(firewall, row, null);
    if (isSilent(judged) && judged.reason !== null) {
      const age = now.getTime() - (row.proven_at?.getTime() ?? 0);
      if (age < tooOldMs || row.state === 'stale') return null;
      await sql.begin((tx) => goStale(tx, row, 'no node answered for two days', systemActor, now));
      return false;
    }
    const proof = await sql.begin((tx) =>
      keepProof(tx, row, judged, { kind: 'nightly', before: null }, systemActor, now),
    );
    return proof.holds;
  } finally {
    await release(sql, row.id);
  }
}
