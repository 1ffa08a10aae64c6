// Hosts and ports of a database URL with IPv6 addresses: postgres.js takes what stands before the first colon
// for the host, which of `[2001:db8::5]:5432` is the bracket.

const defaultPort = 5432;

export interface ServerAddresses {
  readonly host: string[];
  readonly port: number[];
}

/**
 * For postgres.js, in place of what it makes of the URL; empty where no host stands in brackets. `url`: postgres://…,
 * one host or several with commas between them, each with a port or without.
 */
export function serverAddressesOf(url: string): ServerAddresses | Record<string, never> {
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  if (!hosts.includes('[')) return {};
  const parts = hosts.split(',').map((part) => /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(part));
  if (parts.includes(null)) return {};
  return {
    host: parts.map((part) => decodeURIComponent(part?.[1] ?? part?.[2] ?? '')),
    port: parts.map((part) => Number(part?.[3] ?? defaultPort)),
  };
}

/** null: there is one. `found`: hosts and ports of `postgres(url)`. */
export function serversOf(url: string, found: ServerAddresses): readonly { host: string; port: number }[] | null {
  const { host, port } = { ...found, ...serverAddressesOf(url) };
  return host.length < 2 ? null : host.map((name, index) => ({ host: name, port: port[index] ?? defaultPort }));
}
