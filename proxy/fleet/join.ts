// A node joins: it learns whom it talks to by the hash in its token, makes a key, and gets a certificate for it. Only
// the public half of the key travels. The token goes out after the control plane has proved that it has a certificate
// of the CA that the token names.
import { X509Certificate, generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { connect, type DetailedPeerCertificate } from 'node:tls';
import { controlPlaneName, IdentityStore, identityFile, type NodeIdentity } from './identity.js';
import { isAuthorityProof, nonceBytes, sharedToken } from './join-secret.js';
import { askNodePort, NodePortRefusal } from './node-port.js';

/** `gh1.ID.SECRET.HASH`: the hash is SHA-256 of the CA's certificate (DER), in base64url. */
export interface JoinToken {
  readonly text: string;
  readonly caSha256: string;
}

export class JoinError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'JoinError';
  }

  /** A control plane refused: to ask again changes nothing. */
  get isFinal(): boolean {
    return this.cause instanceof NodePortRefusal && this.cause.status < 500;
  }
}

/** Throws JoinError for what is no token. */
export function readJoinToken(text: string): JoinToken {
  const found = /^gh1\.[\w-]{8,64}\.[\w-]{22,64}\.([\w-]{43})$/.exec(text.trim());
  if (found === null)
    throw new JoinError('That is not a token of "gatehouse node token": it starts with gh1. and has four parts.');
  return { text: text.trim(), caSha256: found[1] ?? '' };
}

export interface JoinOptions {
  readonly dataDir: string;
  /** `https://host:port` of control planes; the first that answers is asked. */
  readonly addresses: readonly string[];
  /** A token, or the secret that control planes and nodes share (join-secret.ts). */
  readonly token: string | { readonly secret: string };
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Resolves with what the node is from now on. Throws JoinError, in words for people. */
export async function joinFleet(options: JoinOptions): Promise<NodeIdentity> {
  const { dataDir, addresses, name, labels } = options;
  if (existsSync(identityFile(dataDir)))
    throw new JoinError(
      `This node has joined already (${identityFile(dataDir)}). To join again, stop it and delete that file.`,
    );
  const token = typeof options.token === 'string' ? readJoinToken(options.token) : options.token;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = {
    name,
    labels,
    public_key: publicKey.export({ type: 'spki', format: 'pem' }) as string,
  };
  const failures: string[] = [];
  for (const address of addresses) {
    const answer = await askOne(address, token, body).catch((error: unknown) => {
      if (error instanceof NodePortRefusal)
        throw new JoinError(`${address} refused: ${error.message}`, { cause: error });
      failures.push(`${address}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    });
    if (answer === null) continue;
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const identity = { ...(answer as Omit<NodeIdentity, 'key' | 'version'>), version: 1 as const, key };
    const known = { ...identity, addresses: [...new Set([...addresses, ...identity.addresses])] };
    return (await IdentityStore.create(dataDir, known)).current;
  }
  throw new JoinError(`No control plane answered.\n${failures.map((line) => `  ${line}`).join('\n')}`);
}

/** The same body may be sent again: a control plane that issued and whose answer got lost issues again. */
async function askOne(address: string, token: JoinToken | { readonly secret: string }, body: object): Promise<unknown> {
  const chain = await chainOfAddress(address);
  const { ca, text } = 'secret' in token ? await proved(address, chain, token.secret) : named(address, chain, token);
  return askNodePort(address, '/node/v1/join', { ca, servername: controlPlaneName }, { token: text, ...body });
}

interface Believed {
  /** PEM. */
  readonly ca: string;
  /** The token to send there. */
  readonly text: string;
}

/** The CA that the token names, if the server shows it. */
function named(address: string, chain: readonly X509Certificate[], { text, caSha256 }: JoinToken): Believed {
  const found = chain.find((one) => hashOf(one) === caSha256);
  if (found !== undefined) return { ca: found.toString(), text };
  throw new JoinError(
    `${address} is not the control plane of this token: it does not show the CA that the token names. ` +
      'Either the address is wrong, or something on the way answers in its place.',
  );
}

/** The CA that the server shows, once it has proved that it knows the secret and means this one. */
async function proved(address: string, chain: readonly X509Certificate[], secret: string): Promise<Believed> {
  const authority = chain.find(({ ca }) => ca);
  if (authority === undefined) throw new JoinError(`${address} is no control plane: it shows no CA of Gatehouse.`);
  const ca = authority.toString();
  const nonce = randomBytes(nonceBytes).toString('base64url');
  const answer = await askNodePort(address, '/node/v1/authority', { ca, servername: controlPlaneName }, { nonce });
  const { proof } = (answer ?? {}) as { readonly proof?: unknown };
  const sha256 = hashOf(authority);
  if (isAuthorityProof(proof, secret, nonce, sha256)) return { ca, text: sharedToken(secret, sha256) };
  throw new JoinError(
    `${address} did not prove that it knows NODES_JOIN_SECRET. Either the secret is another one there, or something ` +
      'on the way answers in its place.',
  );
}

const connectMsMax = 10_000;

/** What the server shows: nothing is said on this connection, and nothing is believed yet. */
function chainOfAddress(address: string): Promise<X509Certificate[]> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 443),
      servername: controlPlaneName,
      ALPNProtocols: ['http/1.1'],
      // gatehouse:ignore tls-not-verified the chain is compared with the digest in the token
      rejectUnauthorized: false,
      timeout: connectMsMax,
    });
    socket.once('timeout', () => socket.destroy(new Error('it did not answer in time')));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const chain = chainOf(socket.getPeerCertificate(true));
      socket.destroy();
      resolve(chain);
    });
  });
}

function chainOf(first: DetailedPeerCertificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let one = first, depth = 0; depth < 5 && one?.raw !== undefined; one = one.issuerCertificate, depth += 1)
    chain.push(new X509Certificate(one.raw));
  return chain;
}

const hashOf = ({ fingerprint256 }: X509Certificate): string =>
  Buffer.from(fingerprint256.replaceAll(':', ''), 'hex').toString('base64url');
