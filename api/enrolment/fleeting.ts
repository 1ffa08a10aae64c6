// Nodes that come and go (autoscaling): those that joined with a token for several nodes. They leave by themselves when
// they stop; one that is away for too long is forgotten, and belongs again as soon as it comes back.
import { createHash } from 'node:crypto';
import { sharedTokenId, sharedTokenSecret } from '#proxy/contract';
import type { Database, Queryable, Tx } from '../db/client.js';
import { systemActor, type Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { revokeNode, type EnrolledNode, type SeveralNodes } from './store.js';

export type FleetingParts = Pick<Parts, 'database' | 'audit' | 'now'>;

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Of nodes that left: how long the database has their rows, and with them who joined when. */
const keptDays = 30;
const forgottenAtOnceMax = 500;
/** The token of the secret ends when the secret is taken out of the environment, never by itself. */
const sharedTokenYears = 50;

/**
 * Makes the token of NODES_JOIN_SECRET what the environment says, at the start of a control plane: nodes that know the
 * secret make the same token. `shared` null: no secret is set, and the token is gone.
 */
export async function adoptSharedToken(
  database: Database,
  shared: (SeveralNodes & { readonly secret: string }) | null,
  now: Date,
): Promise<void> {
  const { sql } = database;
  if (shared === null) {
    await sql`delete from join_tokens where id = ${sharedTokenId}`;
    return;
  }
  const hash = createHash('sha256').update(sharedTokenSecret(shared.secret)).digest('hex');
  const until = new Date(now.getTime() + sharedTokenYears * 365 * dayMs);
  await sql`
    insert into join_tokens (id, secret_sha256, created_at, created_by, expires_at, nodes_max, forget_after_minutes)
    values (${sharedTokenId}, ${hash}, ${now}, 'NODES_JOIN_SECRET', ${until}, ${shared.nodesMax},
      ${shared.forgetAfterMinutes})
    on conflict (id) do update set secret_sha256 = excluded.secret_sha256, expires_at = excluded.expires_at,
      nodes_max = excluded.nodes_max, forget_after_minutes = excluded.forget_after_minutes`;
}

/** The node leaves the fleet; false: it is one that an operator added, and removes. */
export async function leaveFleet(tx: Tx, node: EnrolledNode, now: Date): Promise<boolean> {
  return node.token_id !== null && (await revokeNode(tx, node.name, now)) !== null;
}

/** Forgets who is away for too long, and clears away what ended long ago. Returns the names of who was forgotten. */
async function forgetAway(tx: Tx, now: Date, since: Date): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    update enrolled_nodes set forgotten_at = ${now} where id in (
      select n.id from enrolled_nodes n left join data_nodes d on d.url = 'node:' || n.name
      where n.revoked_at is null and n.forgotten_at is null and n.forget_after_minutes is not null
        and greatest(n.joined_at, d.last_seen_at, ${since}::timestamptz)
          < ${now}::timestamptz - n.forget_after_minutes * interval '1 minute'
      order by n.joined_at limit ${forgottenAtOnceMax})
    returning name`;
  const names = rows.map(({ name }) => name);
  for (const name of names) await tx`delete from data_nodes where url = ${`node:${name}`}`;
  await clear(tx, now);
  return names;
}

async function clear(tx: Queryable, now: Date): Promise<void> {
  // the certificate of one that was forgotten is over: it can come back by a token only
  await tx`
    update enrolled_nodes n set revoked_at = ${now} where forgotten_at is not null and revoked_at is null
      and not exists (select 1 from node_certificates c where c.node_id = n.id and c.expires_at > ${now})`;
  await tx`
    delete from enrolled_nodes
    where token_id is not null and revoked_at < ${new Date(now.getTime() - keptDays * dayMs)}`;
}

/** A control plane that was away itself counts from its own start: it cannot know who was there meanwhile. */
export function createForgetJob({ database, audit, now }: FleetingParts): Job {
  const since = new Date(now());
  return {
    name: 'nodes.forget',
    everyMs: minuteMs,
    run: async ({ nowMs }) =>
      database.sql.begin(async (tx) => {
        const names = await forgetAway(tx, new Date(nowMs), since);
        if (names.length === 0) return 'every node was heard of';
        const summary = `forgot ${names.length} nodes that were away: ${names.slice(0, 20).join(', ')}`;
        await audit.record(tx, { actor: systemActor, action: 'nodes.forget', summary, details: { nodes: names } });
        return summary;
      }),
  };
}
