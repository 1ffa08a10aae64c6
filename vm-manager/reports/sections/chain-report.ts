// The section "Attack Chains and Toxic Combinations": four figures and the fifty gravest chains by score. What it looks
// like is the business of the writers; what it says is decided here once.
import type { ChainKind } from '../../chains/chain.js';
import { startOf } from '../../chains/chain.js';
import type { RankedChains } from '../../chains/group.js';
import { chainName, stagePath } from '../../chains/present.js';
import { tintOf } from '../../chains/score.js';
import { countText } from '../drawn/charts.js';
import type { Section } from '../report.js';

/** What people read for a kind. */
const kindNames: Readonly<Record<ChainKind, string>> = {
  'kill-chain': 'Kill chain',
  'toxic-combination': 'Toxic combination',
  'cross-service': 'Cross-service',
  'lateral-movement': 'Lateral movement',
};

const summaryOf = (of: Readonly<Record<string, number>>): string[] => {
  const { total_chains: all = 0, danger_chains: danger = 0, toxic_combinations: toxic = 0, max_chain_risk: most } = of;
  if (all === 0) return ['No open findings can be combined to an attack chain.'];
  return [
    `Open findings combine to ${countText(all)} attack ${all === 1 ? 'chain' : 'chains'}; ` +
      `the highest score is ${most ?? 0} of 100.`,
    `${countText(danger)} of them ${danger === 1 ? 'is a danger chain' : 'are danger chains'}; ` +
      `${countText(toxic)} ${toxic === 1 ? 'is a toxic combination' : 'are toxic combinations'}.`,
  ];
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
    summary: summaryOf(kpis),
    method: [
      'Chains are derived from open findings of active applications: ways in, steps from one weakness to the next, ' +
        'and what an attacker gains. The figures count every chain of the scope; the table has the fifty chains ' +
        'with the highest score.',
    ],
    definitions: [
      ['Attack chain', 'at least two findings that an attacker can use one after the other'],
      ['Toxic combination', 'findings of one application that are worse together than each alone'],
      [
        'Danger chain',
        'a chain that begins in an application facing the internet, with a first step that is shown to be reachable ' +
          'or to work',
      ],
      [
        'Score',
        '0 to 100: the risk of the worst finding of the chain, raised by its length, by exposure to the internet, by ' +
          'proof and by the importance of the applications',
      ],
    ],
    members: { kpis, chains },
  };
}
