// Whose X-Forwarded-For the API believes (API_TRUSTED_PROXIES): addresses, networks, and the three names and the form
// with a netmask that Express made customary.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createAddressSet } from '../addresses/address-set.js';
import { toNetwork } from '../addresses/network.js';

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** `255.255.0.0` → 16; null when its bits are not ones before zeros. */
function bitsOfMask(mask: string): number | null {
  const octets = mask.split('.').map(Number);
  if (octets.length !== 4 || octets.some((octet) => !Number.isInteger(octet) || octet < 0 || octet > 255)) return null;
  const bits = octets.map((octet) => octet.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(bits) ? bits.indexOf('0') + (bits.includes('0') ? 0 : 33) : null;
}

function networksOf(entry: string): readonly string[] {
  const known = named[entry];
  if (known !== undefined) return known;
  const [base = '', mask = ''] = entry.split('/');
  const bits = mask.includes('.') ? bitsOfMask(mask) : null;
  const network = bits === null ? entry : `${base}/${bits}`;
  if ('reason' in toNetwork(network))
    throw new Error(`API_TRUSTED_PROXIES has ${JSON.stringify(entry)}: it must be an address or a network`);
  return [network];
}

/** The console's proof of itself: a secret of `.env` that both have. On a shared machine an address proves nothing. */
export const consoleHeader = 'x-gatehouse-console';
const claims = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'];

export interface Forwarding {
  /** Whether the word of `address` is taken for who stands behind it; `hop` 0 is the peer itself. */
  isBelieved(address: string, hop: number): boolean;
  /** Takes away what a peer says of others that is neither a trusted proxy nor the console. Before all else. */
  forgetClaims(request: Pick<IncomingMessage, 'headers' | 'socket'>): void;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Throws Error for an entry that cannot be read. */
export function createForwarding(entries: readonly string[], consoleToken: string | null): Forwarding {
  const isTrusted = createAddressSet(entries.flatMap(networksOf)).has;
  const wanted = consoleToken === null ? null : digest(consoleToken);
  const isConsole = (given: string | string[] | undefined): boolean =>
    wanted !== null && typeof given === 'string' && timingSafeEqual(digest(given), wanted);
  return {
    // a peer that may not speak for others has lost its claims by then
    isBelieved: (address, hop) => hop === 0 || isTrusted(address),
    forgetClaims({ headers, socket }) {
      const mayClaim = isConsole(headers[consoleHeader]) || isTrusted(socket.remoteAddress ?? '');
      delete headers[consoleHeader];
      if (mayClaim) return;
      for (const name of claims) delete headers[name];
    },
  };
}
