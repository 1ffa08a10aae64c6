// How many connections one client may have (flood_connections_…), asked when a connection is taken: before a byte of it
// was read, so that a client with thousands of them costs no more than its share. Trusted proxies are many clients and
// have no cap. What a dry run finds is counted, and refused to nobody.
import type { ProxyConfig } from '../contract/index.js';
import type { ConnectionGuard } from '../listeners/listener.js';
import { buildAddressSet, openAddressSet, type AddressSet } from '../shared-state/address-set.js';
import type { ClientConnections } from '../shared-state/client-connections.js';
import { ClientKey, networkOf } from '../shared-state/client-key.js';
import { Metrics } from '../metrics/metrics.js';

export interface ConnectionCapParts {
  readonly connections: ClientConnections;
  readonly workerId: number;
  readonly config: () => ProxyConfig;
  /** The clock of all threads, ms. */
  readonly nowMs: () => number;
  readonly metrics: Pick<Metrics, 'count'>;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

const nothing = (): void => {};
const logEveryMs = 1000;

export function createConnectionCap(parts: ConnectionCapParts): ConnectionGuard {
  const { connections, workerId, config, nowMs, metrics, log } = parts;
  const key = new ClientKey(connections.seeds);
  let trusted: { readonly of: ProxyConfig; readonly set: AddressSet } | null = null;
  let loggedMs = Number.NEGATIVE_INFINITY;
  const isTrusted = (current: ProxyConfig, address: string): boolean => {
    if (trusted?.of !== current)
      trusted = { of: current, set: openAddressSet(buildAddressSet(current.trustedProxies)) };
    return trusted.set.contains(address);
  };
  const tell = (address: string, max: number, isDryRun: boolean): void => {
    metrics.count('connectionsCapped', { outcome: isDryRun ? 'recorded' : 'enforced' });
    const atMs = nowMs();
    if (atMs - loggedMs < logEveryMs) return;
    loggedMs = atMs;
    log({ client: networkOf(address), max, would_block: isDryRun }, 'a client has as many connections as it may have');
  };
  return {
    enter(address) {
      const current = config();
      if (!current.floodConnectionsEnabled || isTrusted(current, address)) return nothing;
      const { floodConnectionsMax: max, floodDryRun: isDryRun } = current;
      key.read(address);
      const { low, high } = key;
      if (!connections.enter({ low, high }, workerId, max, nowMs())) {
        tell(address, max, isDryRun);
        return isDryRun ? nothing : null;
      }
      return () => connections.leave({ low, high }, workerId, nowMs());
    },
  };
}
