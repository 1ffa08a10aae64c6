// What a list from elsewhere must never deny. Behind a load balancer every client has a private address, so one
// careless "bogon" entry (public lists carry them, meant for routers) would shut everybody out; and a list that covers
// much of the internet is a mistake or an attack, whoever signed it. People may still import such networks by hand.
import ipaddr from 'ipaddr.js';

/** Private use (RFC 1918), shared (RFC 6598), loopback, link-local. */
const innerIpv4 = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
].map(toRange);

/** A sixteenth of all IPv4 addresses: lists of bad networks name a tenth of that. */
const publicAddressesMax = 2 ** 28;
const firstMulticast = 224 * 2 ** 24;
const firstPublic = 2 ** 24;

/** First and last address of a canonical IPv4 network, as numbers. */
export function toRange(network: string): { readonly from: number; readonly to: number } {
  const [base = '', bits = '32'] = network.split('/');
  let from = 0;
  let octet = 0;
  for (let at = 0; at < base.length; at++) {
    const code = base.charCodeAt(at);
    if (code === 46) {
      from = from * 256 + octet;
      octet = 0;
    } else octet = octet * 10 + code - 48;
  }
  from = from * 256 + octet;
  return { from, to: from + 2 ** (32 - Number(bits)) - 1 };
}

/**
 * Whether a canonical network (parse.ts) holds an address of the inner kind: private, shared, loopback, link-local,
 * unique local.
 */
export function isInnerNetwork(network: string): boolean {
  if (!network.includes(':')) {
    const { from, to } = toRange(network);
    return innerIpv4.some((inner) => from <= inner.to && to >= inner.from);
  }
  // parse.ts takes no IPv6 network wider than /16, so the first group is whole; `::…` is loopback and its neighbours
  if (network.startsWith('::')) return true;
  const range = ipaddr.parse(network.split('/')[0] ?? '').range();
  return range === 'uniqueLocal' || range === 'linkLocal' || range === 'loopback';
}

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
    if (network.includes(':')) continue;
    const { from, to } = toRange(network);
    if (from >= firstPublic && from < firstMulticast) addresses += to - from + 1;
  }
  if (addresses > publicAddressesMax)
    throw new Error(
      `it would deny ${Math.round((addresses / 2 ** 32) * 100)} % of all IPv4 addresses; ${Math.round((publicAddressesMax / 2 ** 32) * 100)} % is the most that is taken from a list`,
    );
  return { networks, leftOut };
}
