// The section "Attack Chains and Toxic Combinations": four figures and the fifty gravest chains by score. What it looks
// like is the business of the writers; what it says is decided here once.
import type { ChainKind } from '../chains/chain.js';
import { startOf } from '../chains/chain.js';
import type { RankedChains } from '../chains/group.js';
import { chainName, stagePath } from '../chains/present.js';
import { tintOf } from '../chains/score.js';
import type { Section } from './report.js';

/** What people read for a kind. */
const kindNames: Readonly<Record<ChainKind, string>> = {
  'kill-chain': 'Kill chain',
  'toxic-combination': 'Toxic combination',
  'cross-service': 'Cross-service',
  'lateral-movement': 'Lateral movement',
};

/** The figures count every chain of the scope; the table has the best fifty by score. */
export function chainSection({ byScore, stats }: RankedChains, title: string): Section {
  const kpis = {
    total_chains: stats.chains,
    toxic_combinations: stats.toxic_combinations,
    danger_chains: stats.danger_chains,
    max_chain_risk: stats.max_chain_risk,
  };
  const chains = byScore.map((chain) => ({
    tint: tintOf(chain),
    name: chainName(chain),
    kind: chain.kind,
    application: startOf(chain).application.name,
    stage_path: stagePath(chain),
    score: chain.score,
  }));
  return {
    title,
    figures: [
      ['Total chains', kpis.total_chains],
      ['Toxic combinations', kpis.toxic_combinations],
      ['Danger chains', kpis.danger_chains],
      ['Max chain risk', kpis.max_chain_risk],
    ],
    columns: [
      { name: 'Severity', width: 55 },
      { name: 'Chain', width: 270 },
      { name: 'Kind', width: 100 },
      { name: 'Application', width: 110 },
      { name: 'Stage path', width: 190 },
      { name: 'Score', width: 44 },
    ],
    rows: chains.map(({ tint, name, kind, application, stage_path: path, score }) => ({
      tint,
      cells: [tint, name, kindNames[kind], application, path, score],
    })),
    none: 'No chains.',
    members: { kpis, chains },
  };
}
