// What an enrolled node is: its certificate and key, the CA by which it knows control planes, where they are, and the
// keys that all nodes share. One file, replaced as a whole, so that no crash leaves a key without its certificate.
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { writeAtomically } from '../main/atomic-file.js';
import { keysOfTable, type InstallationKeys } from './installation-keys.js';

/** In the certificate of every control plane, whatever its address is (RFC 6761: no such name is ever in DNS). */
export const controlPlaneName = 'control-plane.gatehouse.invalid';

/**
 * The application protocol (ALPN, RFC 7301) of a tunnel: after the handshake the control plane is the HTTP/2 client.
 */
export const tunnelProtocol = 'gatehouse-tunnel/1';

export interface NodeIdentity {
  readonly version: 1;
  /** Unique in the installation. */
  readonly name: string;
  /** Of control planes: `https://host:port`. */
  readonly addresses: readonly string[];
  /** PEM, as are the next two. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  /** See installation-keys.ts. */
  readonly keys: Readonly<Record<string, string>>;
}

export const identityFile = (dataDir: string): string => join(dataDir, 'node', 'identity.json');

/** How the node proves who it is, and knows a control plane. */
export type NodeTls = Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> & { readonly servername: string };

export class IdentityStore {
  readonly keys: InstallationKeys;

  private constructor(
    private readonly path: string,
    private identity: NodeIdentity,
  ) {
    this.keys = keysOfTable(identity.keys);
  }

  /** null: the node never enrolled. Throws Error, in words for people, where the file cannot be used. */
  static read(dataDir: string): IdentityStore | null {
    const path = identityFile(dataDir);
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    try {
      return new IdentityStore(path, check(JSON.parse(text)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(
        `${path} is not usable (${reason}). Make a new token with "gatehouse node token" and join again, ` +
          'or delete the file if this node has no control plane.',
        { cause: error },
      );
    }
  }

  /** Writes the identity of a node that has just enrolled. */
  static async create(dataDir: string, identity: NodeIdentity): Promise<IdentityStore> {
    const path = identityFile(dataDir);
    const store = new IdentityStore(path, check(identity));
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await store.write(identity);
    return store;
  }

  get current(): NodeIdentity {
    return this.identity;
  }

  get tls(): NodeTls {
    const { ca, certificate: cert, key } = this.identity;
    return { ca, cert, key, servername: controlPlaneName };
  }

  /** In milliseconds since 1970. */
  get validity(): { readonly fromMs: number; readonly toMs: number } {
    const { validFrom, validTo } = new X509Certificate(this.identity.certificate);
    return { fromMs: Date.parse(validFrom), toMs: Date.parse(validTo) };
  }

  async replace(change: Partial<NodeIdentity>): Promise<void> {
    await this.write(check({ ...this.identity, ...change }));
  }

  private async write(identity: NodeIdentity): Promise<void> {
    await writeAtomically(this.path, `${JSON.stringify(identity, null, 2)}\n`);
    this.identity = identity;
  }
}

/** Throws what is wrong with it, where something is. */
function check(value: unknown): NodeIdentity {
  const identity = value as NodeIdentity;
  if (identity.version !== 1) throw new RangeError('it is of another release');
  if (typeof identity.name !== 'string' || identity.name === '') throw new RangeError('it has no name');
  if (!Array.isArray(identity.addresses) || identity.addresses.length === 0) throw new RangeError('it has no address');
  for (const address of identity.addresses)
    if (!URL.canParse(address) || new URL(address).protocol !== 'https:')
      throw new RangeError(`the address ${String(address)} is not an https URL`);
  const certificate = new X509Certificate(identity.certificate);
  if (!certificate.checkPrivateKey(createPrivateKey(identity.key)))
    throw new RangeError('the key does not belong to the certificate');
  if (!certificate.verify(new X509Certificate(identity.ca).publicKey))
    throw new RangeError('the certificate is not from that CA');
  return identity;
}
