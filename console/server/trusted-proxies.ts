// Whose word of the client is believed: addresses, networks, and names. Names are looked up again and again: a
// container has another address each time it is made. Of a name that is not known, nobody new is believed.
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

export interface TrustedProxies {
  /** Whether the program at this address is believed; IPv4 also as it is written in IPv6. */
  trusts(address: string): boolean;
  close(): void;
}

export type Lookup = (name: string) => Promise<readonly string[]>;

const againMs = 10_000;
/** A name that leads to more than this leads to anybody. */
const addressesMax = 64;

const lookUp: Lookup = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);
const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function listOf(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of addresses) {
    const [base = '', bits] = entry.split('/');
    if (bits === undefined) list.addAddress(base, familyOf(base));
    else list.addSubnet(base, Number(bits), familyOf(base));
  }
  return list;
}

function reportUnknown(name: string, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  console.error(
    `console: the address of "${name}" in DASHBOARD_PROXIES cannot be looked up (${reason}); check the name`,
  );
}

/**
 * `entries`: addresses, networks (10.0.0.0/24) and host names, checked before. Names are looked up now, without waiting
 * for them, and then every ten seconds; the last answer counts while a name server is away. `report`: once for each
 * name whose lookup fails, until it succeeds again.
 */
export function trustedProxies(
  entries: readonly string[],
  resolve: Lookup = lookUp,
  report: (name: string, error: unknown) => void = reportUnknown,
): TrustedProxies {
  const fixed = listOf(entries.filter((entry) => isIP(entry.split('/', 1)[0] ?? '') !== 0));
  const names = entries.filter((entry) => isIP(entry.split('/', 1)[0] ?? '') === 0);
  const found = new Map<string, BlockList>();
  const unknown = new Set<string>();
  const round = async (): Promise<void> => {
    for (const name of names) {
      const addresses = await resolve(name).catch((error: unknown) => {
        if (!unknown.has(name)) report(name, error);
        unknown.add(name);
        return null;
      });
      if (addresses !== null) unknown.delete(name);
      if (addresses !== null) found.set(name, listOf(addresses.slice(0, addressesMax)));
    }
  };
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  const again = (): void => {
    if (!isClosed) timer = setTimeout(() => void round().then(again), againMs).unref();
  };
  if (names.length > 0) void round().then(again);
  return {
    trusts: (address) => {
      const family = familyOf(address);
      if (isIP(address) === 0) return false;
      return fixed.check(address, family) || [...found.values()].some((list) => list.check(address, family));
    },
    close: () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
