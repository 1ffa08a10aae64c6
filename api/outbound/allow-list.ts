// What the operator allowed by name: inner addresses and host names that outgoing calls may reach (OUTBOUND_ALLOW).
// Everything else that is not plain public unicast is refused, including the IPv6 forms that carry an IPv4 address
// (mapped, NAT64, 6to4, Teredo): they lead to the same inner networks.
import { kindOf } from '../addresses/address.js';
import { createAddressSet } from '../addresses/address-set.js';
import { toNetwork } from '../addresses/network.js';

export interface AllowList {
  /** True when this address was allow-listed. */
  hasAddress(address: string): boolean;
  /** True when the host name was allow-listed by name. */
  hasHost(host: string): boolean;
}

/** Entries are addresses, networks in CIDR form, or host names. Throws on an entry that is none of these. */
export function createAllowList(entries: readonly string[]): AllowList {
  const isNetwork = (entry: string): boolean => 'network' in toNetwork(entry);
  const addresses = createAddressSet(entries.filter(isNetwork));
  const hosts = new Set<string>();
  for (const entry of entries.filter((one) => !isNetwork(one))) {
    if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(entry))
      throw new Error(`OUTBOUND_ALLOW has ${JSON.stringify(entry)}: it must be an address, a network or a host name`);
    hosts.add(entry.toLowerCase());
  }
  return { hasAddress: (address) => addresses.has(address), hasHost: (host) => hosts.has(host.toLowerCase()) };
}

/** 2000::/3, and IPv4 addresses in the form of IPv6, which are judged as IPv4. */
const givenOut = /^(?:[23][0-9a-f]{3}:|(?:::|(?:0{1,4}:){5})ffff:)/i;

/** Null when the address is public, else what it is (`loopback`, `linkLocal`, `private` …). */
export function refusalOf(text: string): string | null {
  const kind = kindOf(text);
  if (kind === null) return 'not an address';
  if (kind !== 'unicast') return kind;
  // of IPv6 only 2000::/3 is given out for the internet; ::/96 and the like carry an IPv4 address
  return text.includes(':') && !givenOut.test(text) ? 'reserved' : null;
}
