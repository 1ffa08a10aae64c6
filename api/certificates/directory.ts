// A directory of an authority (RFC 8555) through acme-client, which is loaded when the first order needs it and not
// before. Directories stand in the environment of the operator, never in settings; so these are no outgoing calls in
// the sense of api/outbound, and one on a private network is meant.
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { Client } from 'acme-client';
import type { AcmeDirectory, AcmeEnv } from '../env.js';
import type { Parts } from '../parts.js';
import { findAccount, keepAccount } from './store.js';

export type AcmeClient = typeof import('acme-client');
export type DirectoryParts = Pick<Parts, 'database' | 'sealing' | 'now' | 'acme'>;

const requestMsMax = 30_000;

let loading: Promise<AcmeClient> | null = null;

/** `caFile`: as of the first call of the process. */
export function loadAcme({ caFile }: Pick<AcmeEnv, 'caFile'>): Promise<AcmeClient> {
  return (loading ??= load(caFile).catch((error: unknown) => {
    loading = null; // a file that is fixed is read at the next order
    throw error;
  }));
}

async function load(caFile: string | null): Promise<AcmeClient> {
  // its default, as in admit/limits/leases/lease-store.ts of the proxy: put together it has no other name
  const { default: acme } = await import('acme-client');
  const ca = caFile === null ? [] : [...rootCertificates, await readFile(caFile, 'latin1')];
  const { defaults } = acme.axios;
  defaults.timeout = requestMsMax;
  defaults.maxRedirects = 0;
  // The schedule here retries; one of the library's own would hold the lock of the names for minutes.
  Object.assign(defaults, { acmeSettings: { retryMaxAttempts: 1, retryDefaultDelay: 0.2 } });
  if (ca.length > 0) defaults.httpsAgent = new Agent({ ca });
  return acme;
}

const accountPlace = (url: string): string => `certificates:/accounts/${url}`;

/** Names for tests and private networks reach nobody, and authorities refuse the account for them. */
const isReachable = (email: string): boolean =>
  /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(email) && !/\.(local|localhost|internal|invalid|test|example|lan)$/i.test(email);

/**
 * Rejects with a sentence where nothing, or no directory, answers there. Asked before each order, because acme-client
 * loses the reason when a connection fails.
 */
async function requireReachable({ axios }: AcmeClient, { name, url }: AcmeDirectory): Promise<void> {
  const agent = axios.defaults.httpsAgent as Agent | undefined;
  const status = await new Promise<number>((resolve, reject) => {
    const options = { signal: AbortSignal.timeout(requestMsMax), ...(agent === undefined ? {} : { agent }) };
    const sent = request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.message || error.code || error.name;
      reject(new Error(`The directory ${name} (${url}) cannot be reached: ${reason}.`, { cause: error }));
    });
    sent.end();
  });
  if (status !== 200)
    throw new Error(`The directory ${name} (${url}) cannot be used: it answered with error ${status}.`);
}

/**
 * What an authority says of a key id or HMAC key that it does not take has as many wordings as there are authorities,
 * and few of them say "external account". A lost connection (a code, or a TypeError of acme-client) stays what it is.
 */
function withBinding(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TypeError || 'code' in error) return error;
  if (/contact|e-?mail/i.test(error.message)) return error;
  return new Error(`The authority took no account with what ACME_EAB has: ${error.message}`, { cause: error });
}

/** With the account of this installation at that directory, which is made at the first order. */
export async function openDirectory(parts: DirectoryParts, directory: AcmeDirectory): Promise<Client> {
  const { database, sealing, now, acme: env } = parts;
  const acme = await loadAcme(env);
  const { url, eab } = directory;
  await requireReachable(acme, directory);
  const kept = await findAccount(database.sql, url);
  const options = {
    directoryUrl: url,
    backoffAttempts: 30,
    backoffMin: 250,
    backoffMax: 10_000,
    ...(eab === null ? {} : { externalAccountBinding: { kid: eab.kid, hmacKey: eab.hmacKey } }),
  };
  if (kept !== undefined)
    return new acme.Client({
      ...options,
      accountKey: sealing.open(kept.key_sealed, accountPlace(url)),
      accountUrl: kept.account_url,
    });
  const accountKey = (await acme.crypto.createPrivateEcdsaKey('P-256')).toString();
  const client = new acme.Client({ ...options, accountKey });
  const contact = isReachable(env.email) ? { contact: [`mailto:${env.email}`] } : {};
  await client.createAccount({ termsOfServiceAgreed: true, ...contact }).catch((error: unknown) => {
    throw eab === null ? error : withBinding(error);
  });
  const row = { directory_url: url, key_sealed: sealing.seal(accountKey, accountPlace(url)) };
  await keepAccount(database.sql, { ...row, account_url: client.getAccountUrl() }, new Date(now()));
  return client;
}
