// A site must not lead to the listeners of its own node: every request to it would come back. Whoever activates a
// generation is told so; what gets round this check (another node, a balancer in between) ends at
// road/limits/loop-guard.ts.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseIpv6 } from '#engine';
import type { Problem, ProxyConfig } from '../contract/index.js';

export interface OwnListener {
  readonly host: string;
  readonly port: number;
  /** What listens there, for the message. */
  readonly name: string;
}

/** A name that nobody answers for must not hold up a change. */
const lookupMsMax = 1000;

/** An IPv4 address in its own form, however it is written (RFC 4291 section 2.5.5.2). */
function withoutMapping(address: string): string {
  const words = parseIpv6(address);
  if (words === null || words[0] !== 0 || words[1] !== 0 || words[2] !== 0xffff) return address.toLowerCase();
  return [24, 16, 8, 0].map((shift) => (words[3] >>> shift) & 255).join('.');
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address);
}

/** A system takes the unspecified address of a connection for its own. */
const isUnspecified = (address: string): boolean => address === '0.0.0.0' || address === '::';

function isOwnAddress(address: string): boolean {
  if (isLoopback(address) || isUnspecified(address)) return true;
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return own.some((one) => withoutMapping(one.address) === address);
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [withoutMapping(host)];
  const expired = new Promise<[]>((resolve) => setTimeout(() => resolve([]), lookupMsMax).unref());
  const found = lookup(host, { all: true }).catch(() => []); // a name without an address leads nowhere
  return (await Promise.race([found, expired])).map(({ address }) => withoutMapping(address));
}

/** Whether a connection to `address` reaches a listener on `host`. */
async function reaches(address: string, host: string): Promise<boolean> {
  const listening = await addressesOf(host);
  if (listening.some(isUnspecified)) return isOwnAddress(address);
  return listening.some((one) => one === address || (isLoopback(one) && isUnspecified(address)));
}

/** Every upstream with its place in the configuration. */
function upstreamsOf({ sites }: ProxyConfig): { readonly path: string; readonly url: URL }[] {
  return sites.flatMap(({ upstream, upstreams }, site) => {
    const listed = upstreams.map(({ url }, index) => ({ path: `/config/sites/${site}/upstreams/${index}/url`, url }));
    const all = listed.length === 0 ? [{ path: `/config/sites/${site}/upstream`, url: upstream }] : listed;
    return all.flatMap(({ path, url }) => (URL.canParse(url) ? [{ path, url: new URL(url) }] : []));
  });
}

/** Upstreams that are listeners of this node; empty when there are none. Names are looked up; never rejects. */
export async function findOwnListeners(config: ProxyConfig, listeners: readonly OwnListener[]): Promise<Problem[]> {
  const problems = await Promise.all(
    upstreamsOf(config).map(async ({ path, url }): Promise<Problem[]> => {
      const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
      const candidates = listeners.filter((listener) => listener.port === port);
      if (candidates.length === 0) return [];
      const addresses = await addressesOf(url.hostname.replace(/^\[|\]$/g, ''));
      for (const { host, name } of candidates)
        for (const address of addresses)
          if (await reaches(address, host))
            return [
              {
                path,
                message: `leads to ${name} (${host}:${port}), so that its requests would come back for ever`,
                fix: 'name the address of the application behind this node',
              },
            ];
      return [];
    }),
  );
  return problems.flat();
}
