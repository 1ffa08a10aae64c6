// What a list from elsewhere must never deny. Behind a load balancer every client has a private address, so one
// careless "bogon" entry (public lists carry them, meant for routers) would shut everybody out; and a list that covers
// much of the internet is a mistake or an attack, whoever signed it. People may still import such networks by hand.
import { rangeOf } from '../addresses/address.js';
import { createAddressSet } from '../addresses/address-set.js';

const inner = createAddressSet([
  '10.0.0.0/8', // private use, RFC 1918
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10', // shared, RFC 6598
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local
  '::/16', // loopback and its neighbours
  'fc00::/7', // unique local, RFC 4193
  'fe80::/10', // link-local
]);

/** A sixteenth of all IPv4 addresses: lists of bad networks name a tenth of that. */
const publicAddressesMax = 2 ** 28;
const firstMulticast = 224 * 2 ** 24;
const firstPublic = 2 ** 24;

/** Whether a canonical network holds an inner address: private, shared, loopback, link-local, unique local. */
export const isInnerNetwork = (network: string): boolean => inner.overlaps(network);

export interface Admitted {
  readonly networks: readonly string[];
  /** Left out because they are inner ones. */
  readonly leftOut: readonly string[];
}

/**
 * Canonical networks of a list from elsewhere → those to deny. Throws Error for a list that covers too much of the
 * internet.
 */
export function admitNetworks(given: readonly string[]): Admitted {
  const networks: string[] = [];
  const leftOut: string[] = [];
  let addresses = 0;
  for (const network of given) {
    if (isInnerNetwork(network)) {
      leftOut.push(network);
      continue;
    }
    networks.push(network);
    const range = rangeOf(network);
    if (range.family === 4 && range.from >= firstPublic && range.from < firstMulticast)
      addresses += range.to - range.from + 1;
  }
  const share = (count: number): number => Math.round((count / 2 ** 32) * 100);
  if (addresses > publicAddressesMax)
    throw new Error(
      `it would deny ${share(addresses)} % of all IPv4 addresses; ` +
        `${share(publicAddressesMax)} % is the most that is taken from a list`,
    );
  return { networks, leftOut };
}
