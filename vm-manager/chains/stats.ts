// Counts over chains, the object of the API. All of them count collapsed chains before any are cut off.
import type { ChainKind, Chain } from './chain.js';

export interface ChainStats {
  readonly chains: number;
  readonly danger_chains: number;
  readonly toxic_combinations: number;
  readonly cross_service: number;
  readonly lateral_movement: number;
  readonly runtime_proven_chains: number;
  readonly capabilities_classified: number;
  readonly max_chain_risk: number;
}

export const noStats: ChainStats = {
  chains: 0,
  danger_chains: 0,
  toxic_combinations: 0,
  cross_service: 0,
  lateral_movement: 0,
  runtime_proven_chains: 0,
  capabilities_classified: 0,
  max_chain_risk: 0,
};

/** The counts of some chains; candidates are counted by who knows them. */
export function countChains(chains: Iterable<Chain>): ChainStats {
  const kinds: Record<ChainKind, number> = {
    'toxic-combination': 0,
    'kill-chain': 0,
    'cross-service': 0,
    'lateral-movement': 0,
  };
  let [all, danger, proven, most] = [0, 0, 0, 0];
  for (const chain of chains) {
    all++;
    kinds[chain.kind]++;
    if (chain.danger) danger++;
    if (chain.proven > 0) proven++;
    most = Math.max(most, chain.score);
  }
  return {
    chains: all,
    danger_chains: danger,
    toxic_combinations: kinds['toxic-combination'],
    cross_service: kinds['cross-service'],
    lateral_movement: kinds['lateral-movement'],
    runtime_proven_chains: proven,
    capabilities_classified: 0,
    max_chain_risk: most,
  };
}

type Sum = { -readonly [Name in keyof ChainStats]: ChainStats[Name] };

/** Adds counts to a sum in its place. */
export function addInto(sum: Sum, more: ChainStats): void {
  sum.chains += more.chains;
  sum.danger_chains += more.danger_chains;
  sum.toxic_combinations += more.toxic_combinations;
  sum.cross_service += more.cross_service;
  sum.lateral_movement += more.lateral_movement;
  sum.runtime_proven_chains += more.runtime_proven_chains;
  sum.capabilities_classified += more.capabilities_classified;
  sum.max_chain_risk = Math.max(sum.max_chain_risk, more.max_chain_risk);
}

export function addStats(one: ChainStats, other: ChainStats): ChainStats {
  const sum = { ...one };
  addInto(sum, other);
  return sum;
}
