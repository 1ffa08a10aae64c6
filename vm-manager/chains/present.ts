// Chains as the API answers them: exactly the fields of the specification.
import { createHash } from 'node:crypto';
import type { Candidate } from './candidate.js';
import { startOf, type Chain, type ChainKind } from './chain.js';
import { stageLabels, type Stage } from './classification/stages.js';
import { techniqueNames } from './classification/techniques.js';
import type { RankedChains } from './group.js';
import type { ChainStats } from './stats.js';

export interface HopAnswer {
  readonly vuln_id: string;
  readonly title: string;
  readonly severity: string;
  readonly stage: Stage;
  readonly stage_label: string;
  readonly technique: string;
  readonly mitre: string;
  readonly reachable: boolean;
  readonly confirmed: boolean;
  readonly score: number;
  readonly location: string | null;
  /** Only where a proven virtual patch stands before it. */
  readonly mitigated?: true;
}

export interface ChainAnswer {
  readonly id: string;
  readonly name: string;
  readonly kind: ChainKind;
  readonly app: {
    readonly id: string;
    readonly name: string;
    readonly environment: string | null;
    readonly criticality: string | null;
    readonly internet_facing: boolean;
  };
  readonly pivot_to?: { readonly id: string; readonly name: string; readonly criticality: string | null };
  readonly score: number;
  readonly danger: boolean;
  readonly proven_hops: number;
  readonly runtime_proven: boolean;
  readonly hops: readonly HopAnswer[];
  readonly mitre: readonly string[];
}

export interface ChainsAnswer {
  readonly chains: readonly ChainAnswer[];
  readonly stats: ChainStats;
}

const lateralDigits = 10;
const lastOf = (chain: Chain): Candidate => chain.hops.at(-1) as Candidate;

/** `chain:<app>:<kind-suffix>`; the suffix of lateral movement is a hash over the finding ids joined by ">". */
export function chainId(chain: Chain): string {
  const start = `chain:${startOf(chain).application.id}`;
  if (chain.kind === 'kill-chain') return `${start}:kill-chain`;
  if (chain.kind === 'toxic-combination') return `${start}:toxic-${chain.rule?.slug ?? ''}`;
  if (chain.kind === 'cross-service') return `${start}:cross-${lastOf(chain).view.application.id}`;
  const path = chain.hops.map(({ finding }) => finding.id).join('>');
  return `${start}:lateral-${createHash('sha256').update(path).digest('hex').slice(0, lateralDigits)}`;
}

const stageOf = ({ capability }: Candidate): string => stageLabels[capability.stage];

/** The stages of a chain in their order, each once where hops of one stage follow each other. */
export const stagePath = (chain: Chain): string =>
  chain.hops
    .map(stageOf)
    .filter((label, index, labels) => label !== labels[index - 1])
    .join(' → ');

/** The stage path, and the application that it is about; for several applications, which stage is where. */
export function chainName(chain: Chain): string {
  const application = startOf(chain).application.name;
  if (chain.kind === 'kill-chain') return `${stagePath(chain)} on ${application}`;
  if (chain.kind === 'toxic-combination') return `${chain.rule?.name ?? ''}: ${stagePath(chain)} on ${application}`;
  return chain.hops.map((hop) => `${stageOf(hop)} on ${hop.view.application.name}`).join(' → ');
}

export function hopAnswer({ finding, capability, confirmed, risk }: Candidate): HopAnswer {
  return {
    vuln_id: finding.id,
    title: finding.title,
    severity: finding.severity,
    stage: capability.stage,
    stage_label: stageLabels[capability.stage],
    technique: techniqueNames[capability.mitre],
    mitre: capability.mitre,
    reachable: finding.reachable,
    confirmed,
    score: risk,
    location: finding.location ?? null,
    ...(finding.mitigated === true ? { mitigated: true as const } : {}),
  };
}

export function chainAnswer(chain: Chain): ChainAnswer {
  const { application, isInternetFacing } = startOf(chain);
  const target = lastOf(chain).view.application;
  return {
    id: chainId(chain),
    name: chainName(chain),
    kind: chain.kind,
    app: {
      id: application.id,
      name: application.name,
      environment: application.environment,
      criticality: application.criticality,
      internet_facing: isInternetFacing,
    },
    ...(chain.kind === 'cross-service'
      ? { pivot_to: { id: target.id, name: target.name, criticality: target.criticality } }
      : {}),
    score: chain.score,
    danger: chain.danger,
    proven_hops: chain.proven,
    runtime_proven: chain.proven > 0,
    hops: chain.hops.map(hopAnswer),
    mitre: [...new Set(chain.hops.map(({ capability }) => capability.mitre))],
  };
}

export const chainsAnswer = ({ chains, stats }: RankedChains): ChainsAnswer => ({
  chains: chains.map(chainAnswer),
  stats,
});
