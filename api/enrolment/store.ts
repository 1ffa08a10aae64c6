// Enrolled nodes, their certificates, and the tokens by which they join.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { sharedTokenId } from '#proxy/contract';
import type { Queryable, Tx } from '../db/client.js';

export type Labels = Readonly<Record<string, string>>;

export interface EnrolledNode {
  readonly id: string;
  readonly name: string;
  readonly labels: Labels;
  readonly joined_at: Date;
  readonly joined_by: string;
  readonly revoked_at: Date | null;
  /** The token that several nodes may use; null: it came with a token of its own. */
  readonly token_id: string | null;
  /** Minutes away after which it is left out of the fleet; null: never. */
  readonly forget_after_minutes: number | null;
}

export interface NodeWithCertificate extends EnrolledNode {
  /** Of its newest certificate; null: there is none. */
  readonly expires_at: Date | null;
}

export interface JoinTokenRow {
  readonly id: string;
  readonly labels: Labels;
  readonly created_at: Date;
  readonly created_by: string;
  readonly expires_at: Date;
  readonly used_at: Date | null;
  /** Of the node that used it. */
  readonly node: string | null;
  /** How many nodes may belong to the fleet by it at once; null: one node, once. */
  readonly nodes_max: number | null;
  readonly forget_after_minutes: number | null;
  /** How many do now. */
  readonly nodes: number;
}

/** Of a token that several nodes may use. */
export interface SeveralNodes {
  readonly nodesMax: number;
  readonly forgetAfterMinutes: number | null;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** `fingerprint`: of the CA. The text is shown once; what is stored cannot be turned back into it. */
export async function insertJoinToken(
  sql: Queryable,
  fingerprint: string,
  given: {
    readonly labels: Labels;
    readonly createdBy: string;
    readonly now: Date;
    readonly expiresAt: Date;
    /** null: it is for one node. */
    readonly several: SeveralNodes | null;
  },
): Promise<{ readonly id: string; readonly text: string }> {
  const id = randomBytes(9).toString('base64url');
  const secret = randomBytes(32).toString('base64url');
  await sql`
    insert into join_tokens
      (id, secret_sha256, labels, created_at, created_by, expires_at, nodes_max, forget_after_minutes)
    values (${id}, ${sha256(secret)}, ${sql.json({ ...given.labels })}, ${given.now}, ${given.createdBy},
      ${given.expiresAt}, ${given.several?.nodesMax ?? null}, ${given.several?.forgetAfterMinutes ?? null})`;
  return { id, text: `gh1.${id}.${secret}.${fingerprint}` };
}

/** Newest first; what ended more than 30 days ago is left out. */
export async function listJoinTokens(sql: Queryable, now: Date): Promise<JoinTokenRow[]> {
  return sql<JoinTokenRow[]>`
    select t.id, t.labels, t.created_at, t.created_by, t.expires_at, t.used_at, n.name as node,
      t.nodes_max, t.forget_after_minutes,
      (select count(*)::int from enrolled_nodes m
        where m.token_id = t.id and m.revoked_at is null and m.forgotten_at is null) as nodes
    from join_tokens t left join enrolled_nodes n on n.id = t.node_id
    where t.expires_at > ${new Date(now.getTime() - 30 * 86_400_000)} order by t.created_at desc limit 200`;
}

/** Whether there was an unused one. */
export async function deleteJoinToken(sql: Queryable, id: string): Promise<boolean> {
  return (await sql`delete from join_tokens where id = ${id} and used_at is null`).count > 0;
}

export interface Joining {
  readonly token: string;
  readonly name: string;
  readonly labels: Labels;
  readonly publicKey: string;
  readonly now: Date;
}

export type JoinOutcome =
  | { readonly kind: 'joined'; readonly node: EnrolledNode; readonly isAgain: boolean }
  | { readonly kind: 'refused'; readonly reason: string };

const refused = (reason: string): JoinOutcome => ({ kind: 'refused', reason });
const noToken =
  'The token is unknown, expired, or was used by another node. Make a new one with "gatehouse node token".';

/**
 * Uses the token up and makes the node, in the caller's transaction. Labels of the token win over those that the node
 * asks for: who makes tokens decides where a node belongs.
 */
export async function joinWithToken(tx: Tx, joining: Joining): Promise<JoinOutcome> {
  const [, id = '', secret = ''] = joining.token.split('.');
  const key = sha256(joining.publicKey.replaceAll(/\s/g, ''));
  // `for update`: of two nodes with one token the second waits here, and finds it used
  const [token] = await tx<TokenState[]>`
    select id, labels, created_by, used_at, used_by_key, node_id, nodes_max, forget_after_minutes from join_tokens
    where id = ${id} and secret_sha256 = ${sha256(secret)} and expires_at > ${joining.now} for update`;
  if (token === undefined) return refused(noToken);
  if (token.nodes_max !== null) return joinAsOneOfSeveral(tx, joining, token, key);
  if (token.used_at !== null) {
    const again = token.used_by_key === key && token.node_id !== null ? await findNodeById(tx, token.node_id) : null;
    return again === null || again.revoked_at !== null
      ? refused(noToken)
      : { kind: 'joined', node: again, isAgain: true };
  }
  const node = await insertNode(tx, joining, token, key);
  await tx`
    update join_tokens set used_at = ${joining.now}, used_by_key = ${key}, node_id = ${node.id} where id = ${id}`;
  return { kind: 'joined', node, isAgain: false };
}

interface TokenState {
  readonly id: string;
  readonly labels: Labels;
  readonly created_by: string;
  readonly used_at: Date | null;
  readonly used_by_key: string | null;
  readonly node_id: string | null;
  readonly nodes_max: number | null;
  readonly forget_after_minutes: number | null;
}

async function joinAsOneOfSeveral(tx: Tx, joining: Joining, token: TokenState, key: string): Promise<JoinOutcome> {
  const [again] = await tx<EnrolledNode[]>`
    select * from enrolled_nodes where token_id = ${token.id} and key_sha256 = ${key} and revoked_at is null`;
  if (again !== undefined) return { kind: 'joined', node: again, isAgain: true };
  // a machine that is made anew under its old name, which the fleet has forgotten
  await tx`
    update enrolled_nodes set revoked_at = ${joining.now}
    where token_id = ${token.id} and name = ${joining.name} and forgotten_at is not null and revoked_at is null`;
  const [{ count } = { count: 0 }] = await tx<{ count: number }[]>`
    select count(*)::int as count from enrolled_nodes
    where token_id = ${token.id} and revoked_at is null and forgotten_at is null`;
  if (token.nodes_max !== null && count >= token.nodes_max)
    return refused(
      `${count} nodes belong to the fleet by this token, and it is for ${token.nodes_max} at once. Revoke nodes that ` +
        `are gone, or ${token.id === sharedTokenId ? 'raise NODES_JOIN_MAX' : 'make a token for more (--nodes-max)'}.`,
    );
  return { kind: 'joined', node: await insertNode(tx, joining, token, key), isAgain: false };
}

async function insertNode(tx: Tx, joining: Joining, token: TokenState, key: string): Promise<EnrolledNode> {
  const isOneOfSeveral = token.nodes_max !== null;
  const node: EnrolledNode = {
    id: randomUUID(),
    name: await freeName(tx, joining.name),
    labels: { ...joining.labels, ...token.labels },
    joined_at: joining.now,
    joined_by: token.created_by,
    revoked_at: null,
    token_id: isOneOfSeveral ? token.id : null,
    forget_after_minutes: isOneOfSeveral ? token.forget_after_minutes : null,
  };
  await tx`
    insert into enrolled_nodes (id, name, labels, joined_at, joined_by, token_id, key_sha256, forget_after_minutes)
    values (${node.id}, ${node.name}, ${tx.json({ ...node.labels })}, ${node.joined_at}, ${node.joined_by},
      ${node.token_id}, ${key}, ${node.forget_after_minutes})`;
  return node;
}

/** The name that was asked for, or the first of NAME-2, NAME-3 … that no node has. */
async function freeName(tx: Tx, wanted: string): Promise<string> {
  const taken = new Set(
    (await tx<{ name: string }[]>`select name from enrolled_nodes where revoked_at is null`).map(({ name }) => name),
  );
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) if (!taken.has(`${wanted}-${number}`)) return `${wanted}-${number}`;
}

async function findNodeById(sql: Queryable, id: string): Promise<EnrolledNode | null> {
  const [row] = await sql<EnrolledNode[]>`select * from enrolled_nodes where id = ${id}`;
  return row ?? null;
}

export async function recordCertificate(
  sql: Queryable,
  nodeId: string,
  issued: { readonly serial: string; readonly expiresAt: Date },
  now: Date,
): Promise<void> {
  await sql`delete from node_certificates where node_id = ${nodeId} and expires_at < ${now}`;
  await sql`
    insert into node_certificates (serial, node_id, issued_at, expires_at)
    values (${issued.serial}, ${nodeId}, ${now}, ${issued.expiresAt})`;
}

/**
 * The node that this certificate was issued to; null: none, or one that was revoked. One that was forgotten and comes
 * back belongs to the fleet again.
 */
export async function findNodeBySerial(sql: Queryable, serial: string, now: Date): Promise<EnrolledNode | null> {
  const [row] = await sql<(EnrolledNode & { readonly forgotten_at: Date | null })[]>`
    select n.* from node_certificates c join enrolled_nodes n on n.id = c.node_id
    where c.serial = ${serial} and c.expires_at > ${now} and n.revoked_at is null`;
  if (row === undefined) return null;
  if (row.forgotten_at !== null) await sql`update enrolled_nodes set forgotten_at = null where id = ${row.id}`;
  return row;
}

/** Nodes that belong to the fleet, by name. */
export async function listEnrolled(sql: Queryable): Promise<NodeWithCertificate[]> {
  return sql<NodeWithCertificate[]>`
    select n.*, (select max(c.expires_at) from node_certificates c where c.node_id = n.id) as expires_at
    from enrolled_nodes n where n.revoked_at is null and n.forgotten_at is null order by n.name`;
}

/** The node, which is none any more; null: there is none of that name. What was known of it goes, too. */
export async function revokeNode(tx: Tx, name: string, now: Date): Promise<EnrolledNode | null> {
  const [row] = await tx<EnrolledNode[]>`
    update enrolled_nodes set revoked_at = ${now} where name = ${name} and revoked_at is null returning *`;
  if (row === undefined) return null;
  await tx`delete from data_nodes where url = ${`node:${name}`}`;
  return row;
}

/** The node with its new labels; null: there is none of that name. */
export async function relabelNode(tx: Tx, name: string, labels: Labels): Promise<EnrolledNode | null> {
  const [row] = await tx<EnrolledNode[]>`
    update enrolled_nodes set labels = ${tx.json({ ...labels })}
    where name = ${name} and revoked_at is null returning *`;
  return row ?? null;
}
