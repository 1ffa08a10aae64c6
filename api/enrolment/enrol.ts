// What a node gets when it joins, and when it renews. Both leave an audit entry or a row; neither trusts what the node
// says of itself beyond its name and labels.
import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { authorityProof, keyTableOf, nonceBytes } from '#proxy/contract';
import { ApiError, closed } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { Authority } from './authority.js';
import { leaveFleet } from './fleeting.js';
import { findNodeBySerial, joinWithToken, recordCertificate, type EnrolledNode } from './store.js';

/** A name in addresses, logs and metrics; a label of DNS (RFC 1123), or several. */
export const NodeName = Type.String({
  pattern: '^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$',
  description: 'letters (lower case), digits, dots and hyphens, 63 at most',
});
export const LabelsOf = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_-]{0,31}$' }),
  Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' }),
  { additionalProperties: false, maxProperties: 16, description: 'such as {"region": "eu-central", "ring": "canary"}' },
);

const Join = Type.Object(
  {
    token: Type.String({ maxLength: 300 }),
    name: NodeName,
    labels: LabelsOf,
    public_key: Type.String({ maxLength: 2000 }),
  },
  closed,
);
const Ask = Type.Object({ nonce: Type.String({ pattern: `^[\\w-]{${Math.ceil((nonceBytes * 4) / 3)}}$` }) }, closed);
const Renew = Type.Object({ public_key: Type.String({ maxLength: 2000 }) }, closed);

export type EnrolParts = Pick<Parts, 'database' | 'audit' | 'now' | 'nodeToken'>;

export interface Enrolment {
  join(body: unknown, sourceIp: string): Promise<object>;
  renew(node: EnrolledNode, body: unknown): Promise<object>;
  /** Proves to a node that has NODES_JOIN_SECRET that this control plane has it, too. */
  prove(body: unknown): object;
  leave(node: EnrolledNode, sourceIp: string): Promise<object>;
  /** The node that this certificate was issued to; null: none, or one that was revoked. */
  nodeOf(serial: string): Promise<EnrolledNode | null>;
}

export interface EnrolOptions {
  readonly parts: EnrolParts;
  readonly authority: Authority;
  /** Where nodes reach control planes: `https://host:port`. */
  readonly addresses: readonly string[];
  /** A node belongs to the fleet from now on. */
  readonly onJoined: (node: EnrolledNode) => Promise<void>;
  /** It does not any more. */
  readonly onLeft: (node: EnrolledNode) => Promise<void>;
  /** NODES_JOIN_SECRET; null: nodes need a token. */
  readonly joinSecret: string | null;
}

export function createEnrolment(options: EnrolOptions): Enrolment {
  const { parts, authority, addresses, onJoined, onLeft, joinSecret } = options;
  const { database, audit, now, nodeToken } = parts;
  const issue = async (name: string, publicKey: string) => {
    try {
      return await authority.issueForNode(name, publicKey, new Date(now()));
    } catch (error) {
      if (error instanceof RangeError) throw new ApiError('unfit', error.message);
      throw error;
    }
  };
  return {
    async join(body, sourceIp) {
      const given = read(Join, body);
      const at = new Date(now());
      const done = await database.sql.begin(async (tx) => {
        const joining = { ...given, publicKey: given.public_key, now: at };
        const outcome = await joinWithToken(tx, joining);
        if (outcome.kind === 'refused') throw new ApiError('not_authenticated', outcome.reason);
        const { node, isAgain } = outcome;
        // the certificate before the commit: a key that cannot be used must not use the token up
        const issued = await issue(node.name, given.public_key);
        await recordCertificate(tx, node.id, issued, at);
        if (!isAgain)
          await audit.record(tx, {
            actor: { id: null, name: `node ${node.name}`, role: 'system', sourceIp },
            action: 'nodes.join',
            summary: `node ${node.name} joined with a token of ${node.joined_by}`,
            details: { node: node.name, labels: node.labels, certificate_until: issued.expiresAt.toISOString() },
          });
        return { node, issued };
      });
      await onJoined(done.node);
      const { certificate: ca } = authority;
      const { certificate } = done.issued;
      return { name: done.node.name, addresses, ca, certificate, keys: keyTableOf(nodeToken) };
    },
    async renew(node, body) {
      const issued = await issue(node.name, read(Renew, body).public_key);
      await recordCertificate(database.sql, node.id, issued, new Date(now()));
      return { certificate: issued.certificate, addresses };
    },
    prove(body) {
      const { nonce } = read(Ask, body);
      if (joinSecret === null)
        throw new ApiError(
          'not_found',
          'Nodes cannot join by a secret here: NODES_JOIN_SECRET is not set. Use a token, or set it and restart.',
        );
      return { proof: authorityProof(joinSecret, nonce, authority.fingerprint) };
    },
    async leave(node, sourceIp) {
      const at = new Date(now());
      const isGone = await database.sql.begin(async (tx) => {
        if (!(await leaveFleet(tx, node, at))) return false;
        const actor = { id: null, name: `node ${node.name}`, role: 'system' as const, sourceIp };
        const summary = `node ${node.name} stopped and left`;
        await audit.record(tx, { actor, action: 'nodes.leave', summary, details: { node: node.name } });
        return true;
      });
      if (!isGone) throw new ApiError('conflict', `Node ${node.name} joined with a token of its own: revoke it.`);
      await onLeft(node);
      return { left: true };
    },
    nodeOf: (serial) => findNodeBySerial(database.sql, serial.toLowerCase(), new Date(now())),
  };
}

function read<S extends TSchema>(schema: S, body: unknown): Static<S> {
  if (Value.Check(schema, body)) return body;
  const [first] = [...Value.Errors(schema, body)];
  throw new ApiError('validation_failed', `${first?.path || 'The body'}: ${first?.message ?? 'does not fit'}.`);
}
