// The report "Attack Chains and Toxic Combinations" as data: four figures and the fifty gravest chains by score. What
// it looks like is the business of the renderers; what it says is decided here once.
import type { ChainKind } from '../chains/chain.js';
import { startOf } from '../chains/chain.js';
import type { RankedChains } from '../chains/group.js';
import { chainName, stagePath } from '../chains/present.js';
import { tintOf, type Tint } from '../chains/score.js';

export interface ReportRow {
  readonly tint: Tint;
  readonly name: string;
  readonly kind: ChainKind;
  readonly application: string;
  readonly stage_path: string;
  readonly score: number;
}

export interface ChainReport {
  readonly title: string;
  /** The one application that it is about, or the organisation. */
  readonly scope: string;
  /** ISO 8601; the only thing in which two reports over the same findings differ. */
  readonly generated_at: string;
  readonly kpis: {
    readonly total_chains: number;
    readonly toxic_combinations: number;
    readonly danger_chains: number;
    readonly max_chain_risk: number;
  };
  readonly chains: readonly ReportRow[];
}

/** What people read for a kind. */
export const kindNames: Readonly<Record<ChainKind, string>> = {
  'kill-chain': 'Kill chain',
  'toxic-combination': 'Toxic combination',
  'cross-service': 'Cross-service',
  'lateral-movement': 'Lateral movement',
};

/** The figures count every chain of the scope; the table has the best fifty by score. */
export function chainReport(
  { byScore, stats }: RankedChains,
  about: { readonly title: string; readonly scope: string; readonly now: Date },
): ChainReport {
  return {
    title: about.title,
    scope: about.scope,
    generated_at: about.now.toISOString(),
    kpis: {
      total_chains: stats.chains,
      toxic_combinations: stats.toxic_combinations,
      danger_chains: stats.danger_chains,
      max_chain_risk: stats.max_chain_risk,
    },
    chains: byScore.map((chain) => ({
      tint: tintOf(chain),
      name: chainName(chain),
      kind: chain.kind,
      application: startOf(chain).application.name,
      stage_path: stagePath(chain),
      score: chain.score,
    })),
  };
}
