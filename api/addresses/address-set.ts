// Which addresses outgoing calls may reach. Everything that is not plain public unicast is refused, including the
// IPv6 forms that carry an IPv4 address (mapped, NAT64, 6to4, Teredo): they lead to the same inner networks.
import ipaddr from 'ipaddr.js';

export interface AllowList {
  /** True when this address was allow-listed. */
  hasAddress(address: string): boolean;
  /** True when the host name was allow-listed by name. */
  hasHost(host: string): boolean;
}

/** Entries are addresses, networks in CIDR form, or host names. Throws on an entry that is none of these. */
export function createAllowList(entries: readonly string[]): AllowList {
  const networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  const hosts = new Set<string>();
  for (const entry of entries) {
    if (ipaddr.isValidCIDR(entry)) networks.push(ipaddr.parseCIDR(entry));
    else if (ipaddr.isValid(entry)) networks.push([ipaddr.parse(entry), entry.includes(':') ? 128 : 32]);
    else if (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(entry)) hosts.add(entry.toLowerCase());
    else
      throw new Error(`OUTBOUND_ALLOW has ${JSON.stringify(entry)}: it must be an address, a network or a host name`);
  }
  return {
    hasAddress(text) {
      if (!ipaddr.isValid(text)) return false;
      const address = ipaddr.process(text);
      return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
    },
    hasHost: (host) => hosts.has(host.toLowerCase()),
  };
}

/** Null when the address is public, else what it is (`loopback`, `linkLocal`, `private` …). */
export function refusalOf(text: string): string | null {
  if (!ipaddr.isValid(text)) return 'not an address';
  const range = ipaddr.process(text).range();
  return range === 'unicast' ? null : range;
}
