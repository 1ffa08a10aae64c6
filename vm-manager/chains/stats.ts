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
export function countChains(chains: readonly Chain[]): ChainStats {
  const of = (kind: ChainKind): number => chains.filter((chain) => chain.kind === kind).length;
  return {
    chains: chains.length,
    danger_chains: chains.filter(({ danger }) => danger).length,
    toxic_combinations: of('toxic-combination'),
    cross_service: of('cross-service'),
    lateral_movement: of('lateral-movement'),
    runtime_proven_chains: chains.filter(({ proven }) => proven > 0).length,
    capabilities_classified: 0,
    max_chain_risk: chains.reduce((most, { score }) => Math.max(most, score), 0),
  };
}

export function addStats(one: ChainStats, other: ChainStats): ChainStats {
  return {
    chains: one.chains + other.chains,
    danger_chains: one.danger_chains + other.danger_chains,
    toxic_combinations: one.toxic_combinations + other.toxic_combinations,
    cross_service: one.cross_service + other.cross_service,
    lateral_movement: one.lateral_movement + other.lateral_movement,
    runtime_proven_chains: one.runtime_proven_chains + other.runtime_proven_chains,
    capabilities_classified: one.capabilities_classified + other.capabilities_classified,
    max_chain_risk: Math.max(one.max_chain_risk, other.max_chain_risk),
  };
}
