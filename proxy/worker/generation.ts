// What serves traffic: a ruleset and a configuration, prepared together, swapped together, retired together.
import { BlockList, isIP } from 'node:net';
import type { ProxyConfig } from '../contract.js';
import type { LoadedInspection } from '../inspection/inspection.js';
import { createRouter, type Router } from '../road/route.js';

export interface Generation {
  readonly id: number;
  /** Of the artifact, hex; '' when this generation has no ruleset. */
  readonly sha256: string;
  /** The bytes behind `sha256`, for threads that load them later. */
  readonly artifact: SharedArrayBuffer | null;
  readonly config: ProxyConfig;
  readonly router: Router;
  readonly inspection: LoadedInspection | null;
  readonly trusted: BlockList | null;
  /** Requests that pinned it. */
  inFlight: number;
  /** Set when a successor serves; called when the last request is through. */
  onIdle: (() => void) | null;
}

export function createGeneration(
  { id, sha256, artifact, config }: Pick<Generation, 'id' | 'sha256' | 'artifact' | 'config'>,
  inspection: LoadedInspection | null,
): Generation {
  return {
    id,
    sha256,
    artifact,
    config,
    router: createRouter(config),
    inspection,
    trusted: trustedList(config.trustedProxies),
    inFlight: 0,
    onIdle: null,
  };
}

function trustedList(networks: readonly string[]): BlockList | null {
  if (networks.length === 0) return null;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

export function isTrusted(generation: Generation, ip: string): boolean {
  const { trusted } = generation;
  if (trusted === null) return false;
  const family = isIP(ip);
  return family !== 0 && trusted.check(ip, family === 6 ? 'ipv6' : 'ipv4');
}

/** One request less; the last one out lets a retired generation go. */
export function releaseGeneration(generation: Generation): void {
  generation.inFlight -= 1;
  if (generation.inFlight === 0 && generation.onIdle !== null) {
    const { onIdle } = generation;
    generation.onIdle = null;
    onIdle();
  }
}
