// Proxies in front whose word on the client is believed, as a set of addresses (shared-state/address-set.ts).
import { packNetworks, openAddressSet, type AddressSet } from '../shared-state/address-set.js';
import { coversMapped, readNetworks } from '../shared-state/networks.js';

/** `networks` as the settings have them: addresses, CIDRs, a zone behind an address where somebody wrote one. */
export function trustedProxySet(networks: readonly string[]): AddressSet | null {
  if (networks.length === 0) return null;
  const entries = readNetworks(networks.map((network) => network.replace(/%[^/]*/, '')));
  // "::/0" was written for everybody; clients of IPv4 come without the prefix that would place them in it.
  const isEverybody = entries.ipv6.some(coversMapped);
  return openAddressSet(packNetworks(isEverybody ? { ...entries, ipv4: readNetworks(['0.0.0.0/0']).ipv4 } : entries));
}
