// A node that comes and goes says goodbye when it stops, and learns at its start whether it belongs to the fleet still.
import { generateKeyPairSync } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { identityFile, type IdentityStore, type NodeIdentity } from './identity.js';
import { askNodePort, NodePortRefusal } from './node-port.js';

/** A process that is to end waits no longer. */
const leaveMsMax = 3_000;

/**
 * Tells one control plane that the node leaves, and deletes its identity. Resolves with whether it left: a node that
 * was added by an operator stays one, and one that reaches no control plane is forgotten by them.
 */
export async function leaveFleet(dataDir: string, identity: IdentityStore): Promise<boolean> {
  const limit = AbortSignal.timeout(leaveMsMax);
  for (const address of identity.current.addresses)
    try {
      await askNodePort(address, '/node/v1/leave', identity.tls, {}, limit);
      await rm(identityFile(dataDir), { force: true });
      return true;
    } catch (error) {
      if (error instanceof NodePortRefusal || limit.aborted) return false;
    }
  return false;
}

/**
 * Whether the control planes know the node still: its certificate is renewed at that. A node that reaches none of them
 * takes it for granted. False: its certificate is over, or it was revoked.
 */
export async function isStillMember(identity: IdentityStore): Promise<boolean> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = { public_key: publicKey.export({ type: 'spki', format: 'pem' }) as string };
  for (const address of identity.current.addresses)
    try {
      const answer = await askNodePort(address, '/node/v1/renew', identity.tls, body);
      const { certificate, addresses } = answer as Pick<NodeIdentity, 'certificate' | 'addresses'>;
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
      const known = [...new Set([...identity.current.addresses, ...addresses])];
      await identity.replace({ certificate, key, addresses: known });
      return true;
    } catch (error) {
      if (error instanceof NodePortRefusal && error.status === 401) return false;
    }
  return true;
}

/** Deletes who the node was. */
export const forgetIdentity = (dataDir: string): Promise<void> => rm(identityFile(dataDir), { force: true });
