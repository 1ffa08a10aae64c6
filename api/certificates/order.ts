// One order at one directory, from the names to the chain: account, order, proofs that nodes answer, request for the
// certificate, download. Nothing of it is stored here but the challenges while they are open.
import type { Authorization, Client } from 'acme-client';
import type { AcmeDirectory } from '../env.js';
import { callDnsHook } from './acme/dns-hook.js';
import { loadAcme, openDirectory, type DirectoryParts } from './directory.js';
import { challengePlace, pushChallenges, type PushParts } from './push.js';
import { addChallenge, forgetAccount, removeChallenges, type CertificateRow } from './store.js';

export type OrderParts = DirectoryParts & PushParts;

export interface Issued {
  /** PEM, leaf first. */
  readonly chain: string;
  /** PEM. */
  readonly key: string;
}

const challengeMsMax = 3_600_000;

type Challenge = Authorization['challenges'][number];
type Undo = () => Promise<unknown>;

/** The authority has forgotten the account, or closed it (RFC 8555 section 6.7). */
const isAccountGone = (error: unknown): boolean =>
  /account\b.*(not found|does not exist|deactivated|revoked)|accountDoesNotExist|unable to find .*account/i.test(
    (error as Error).message,
  );

/** Rejects with what the authority said. With an account that it does not know any more a new one is made, once. */
export async function order(...asked: Parameters<typeof orderOnce>): Promise<Issued> {
  try {
    return await orderOnce(...asked);
  } catch (error) {
    const [parts, , directory] = asked;
    // what acme-client makes of a connection that fails in the midst of an order
    if (error instanceof TypeError) throw new Error('The connection to the directory was lost.', { cause: error });
    if (!isAccountGone(error)) throw error;
    await forgetAccount(parts.database.sql, directory.url);
    return orderOnce(...asked);
  }
}

/** `signal`: no new step is begun once it is aborted. */
async function orderOnce(
  parts: OrderParts,
  row: Pick<CertificateRow, 'id' | 'names' | 'challenge'>,
  directory: AcmeDirectory,
  signal?: AbortSignal,
): Promise<Issued> {
  const acme = await loadAcme(parts.acme);
  const client = await openDirectory(parts, directory);
  const names = row.names.split(' ');
  signal?.throwIfAborted();
  const begun = await client.createOrder({ identifiers: names.map((value) => ({ type: 'dns' as const, value })) });
  const undo: Undo[] = [];
  try {
    for (const authorization of await client.getAuthorizations(begun)) {
      if (authorization.status === 'valid') continue;
      signal?.throwIfAborted();
      await prove(parts, row, client, authorization, undo, signal);
    }
    const [key, request] = await acme.crypto.createCsr(
      { altNames: names },
      await acme.crypto.createPrivateEcdsaKey('P-256'),
    );
    const finished = await client.finalizeOrder(begun, request);
    return { chain: await client.getCertificate(finished), key: key.toString() };
  } finally {
    for (const step of undo) await step().catch(() => {}); // what is left of a proof proves nothing any more
    await removeChallenges(parts.database.sql, row.id);
    await pushChallenges(parts);
  }
}

async function prove(
  parts: OrderParts,
  row: Pick<CertificateRow, 'id' | 'challenge'>,
  client: Client,
  authorization: Authorization,
  undo: Undo[],
  signal?: AbortSignal,
): Promise<void> {
  const { value: name } = authorization.identifier;
  const challenge = authorization.challenges.find(({ type }) => type === row.challenge);
  if (challenge === undefined) {
    const offered = authorization.challenges.map(({ type }) => type).join(', ');
    throw new Error(`The authority does not offer ${row.challenge} for ${name}; it offers ${offered}.`);
  }
  const text = await client.getChallengeKeyAuthorization(challenge);
  if (row.challenge === 'dns-01') await presentInDns(parts, name, text, undo, signal);
  else await presentAtNodes(parts, row, authorization, challenge, text);
  await client.completeChallenge(challenge);
  try {
    await client.waitForValidStatus(challenge);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

async function presentInDns(
  { acme: { dnsHook } }: OrderParts,
  name: string,
  value: string,
  undo: Undo[],
  signal?: AbortSignal,
): Promise<void> {
  if (dnsHook === null)
    throw new Error('Challenge dns-01 needs a program that sets records: name it in ACME_DNS_HOOK.');
  undo.push(() => callDnsHook(dnsHook, 'cleanup', name, value));
  await callDnsHook(dnsHook, 'present', name, value, signal);
}

async function presentAtNodes(
  parts: OrderParts,
  { id: certificateId, challenge: kind }: Pick<CertificateRow, 'id' | 'challenge'>,
  authorization: Authorization,
  { token }: Challenge,
  text: string,
): Promise<void> {
  const { database, sealing, now } = parts;
  const expires_at = new Date(now() + challengeMsMax);
  if (kind === 'http-01')
    await addChallenge(database.sql, {
      id: token,
      certificate_id: certificateId,
      kind,
      name: token,
      body: text,
      key_sealed: null,
      expires_at,
    });
  else {
    const acme = await loadAcme(parts.acme);
    const [key, certificate] = await acme.crypto.createAlpnCertificate(
      authorization,
      text,
      await acme.crypto.createPrivateEcdsaKey('P-256'),
    );
    await addChallenge(database.sql, {
      id: token,
      certificate_id: certificateId,
      kind: 'tls-alpn-01',
      name: authorization.identifier.value.toLowerCase(),
      body: certificate.toString(),
      key_sealed: sealing.seal(key.toString(), challengePlace(token)),
      expires_at,
    });
  }
  if ((await pushChallenges(parts)) === 0)
    throw new Error('No data-plane node answers, so the authority cannot check the names.');
}
