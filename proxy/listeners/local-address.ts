// The address of this machine that a client has reached, where a library does not say it and the listener takes all
// addresses (0.0.0.0, ::). It is inferred: a loopback client has reached the loopback address, a neighbour the address
// in its own network, everybody else the first address that is not internal. A log that says 0.0.0.0 says nothing.
import { networkInterfaces } from 'node:os';
import { parseIpv4 } from '#engine';

interface Interface4 {
  readonly address: string;
  readonly base: number;
  readonly hosts: number;
}

interface Addresses {
  readonly ipv4: readonly Interface4[];
  readonly ipv6: string | null;
}

function readAddresses(): Addresses {
  const ipv4: Interface4[] = [];
  let ipv6: string | null = null;
  for (const one of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
    if (one.internal) continue;
    if (one.family === 'IPv6') ipv6 ??= one.address;
    else {
      const hosts = 2 ** (32 - Number(one.cidr?.split('/')[1] ?? 32));
      ipv4.push({ address: one.address, base: Math.floor(parseIpv4(one.address) / hosts), hosts });
    }
  }
  return { ipv4, ipv6 };
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === '';

/** Interfaces come and go, and asking for them costs as much as a request. */
const freshForMs = 30_000;

/** For one listener: the address that a client with this one has reached. `host` is what it was told to listen on. */
export function createLocalAddress(
  host: string,
  read: () => Addresses = readAddresses,
  now: () => number = Date.now,
): (clientIp: string) => string {
  if (!isWildcard(host)) return () => host;
  let known = { atMs: -Infinity, addresses: { ipv4: [], ipv6: null } as Addresses };
  return (clientIp) => {
    if (clientIp.startsWith('127.')) return '127.0.0.1';
    if (clientIp === '::1' || clientIp === '0000:0000:0000:0000:0000:0000:0000:0001') return '::1';
    const nowMs = now();
    if (nowMs - known.atMs > freshForMs) known = { atMs: nowMs, addresses: read() };
    const { ipv4, ipv6 } = known.addresses;
    const client = parseIpv4(clientIp);
    if (client < 0) return ipv6 ?? host;
    const near = ipv4.find(({ base, hosts }) => Math.floor(client / hosts) === base);
    return near?.address ?? ipv4[0]?.address ?? host;
  };
}
