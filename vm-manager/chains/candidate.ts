// From the findings of one application to its candidates: at most forty by priority, then classified, then grouped by
// stage. The forty are chosen before anything is classified, as the specification has it (rules 1 and 2): a finding
// that could be a hop stays out where forty others are more urgent.
import { classify, flagsOfFinding, type Classification } from './classification/classify.js';
import type { Capability } from './classification/capability.js';
import { stageRank, type Stage } from './classification/stages.js';
import {
  compareIds,
  comparePriorities,
  criticalityOf,
  effectiveRisk,
  isConfirmed,
  isCrownJewel,
  isInternetFacing,
  isOpen,
  type ChainApplication,
  type ChainFinding,
} from './finding.js';

export const candidatesMax = 40;

/** A finding that can be a hop. */
export interface Candidate {
  readonly finding: ChainFinding;
  readonly view: ApplicationView;
  readonly capability: Capability;
  readonly flags: number;
  readonly risk: number;
  readonly confirmed: boolean;
  /** 0 neither reachable nor proven, 1 reachable, 2 proven. */
  readonly proof: 0 | 1 | 2;
}

/** An application as chains see it. */
export interface ApplicationView {
  readonly application: ChainApplication;
  readonly isInternetFacing: boolean;
  readonly isCrownJewel: boolean;
  /** Parts of a thousand. */
  readonly criticality: number;
  /** Best first within each stage (`compareCandidates`). */
  readonly stages: ReadonlyMap<Stage, readonly Candidate[]>;
  readonly candidates: readonly Candidate[];
  /** Best of entry, execute and credential: where a chain to another application begins. */
  readonly source: Candidate | null;
  /** Best impact. */
  readonly sink: Candidate | null;
  /** Best pivot-capable finding of entry, execute and credential: where lateral movement begins. */
  readonly foothold: Candidate | null;
  /** Best pivot-capable finding of all. */
  readonly pivot: Candidate | null;
}

/** Best first: risk, proof, reachability, priority, stage, then the smaller identifier. */
export function compareCandidates(one: Candidate, other: Candidate): number {
  return (
    other.risk - one.risk ||
    Number(other.confirmed) - Number(one.confirmed) ||
    Number(other.finding.reachable) - Number(one.finding.reachable) ||
    comparePriorities(one.finding, other.finding) ||
    stageRank(one.capability.stage) - stageRank(other.capability.stage) ||
    compareIds(one.finding.id, other.finding.id)
  );
}

/** Order of hops in a chain: escalation first, then proof, reachability, priority, and the smaller identifier. */
export function compareHops(one: Candidate, other: Candidate): number {
  return (
    stageRank(one.capability.stage) - stageRank(other.capability.stage) ||
    Number(other.confirmed) - Number(one.confirmed) ||
    Number(other.finding.reachable) - Number(one.finding.reachable) ||
    comparePriorities(one.finding, other.finding) ||
    compareIds(one.finding.id, other.finding.id)
  );
}

/** The findings that are looked at: open ones, the forty of the highest priority, ties by risk, then identifier. */
export function chooseCandidates(findings: readonly ChainFinding[]): ChainFinding[] {
  return findings
    .filter(isOpen)
    .map((finding) => ({ finding, risk: effectiveRisk(finding) }))
    .sort(
      (one, other) =>
        comparePriorities(one.finding, other.finding) ||
        other.risk - one.risk ||
        compareIds(one.finding.id, other.finding.id),
    )
    .slice(0, candidatesMax)
    .map(({ finding }) => finding);
}

type Mutable = { -readonly [Key in keyof ApplicationView]: ApplicationView[Key] };

function classified(finding: ChainFinding, confirmed: boolean): Classification | null {
  const { title, cwe, severity, source, cves, location, own } = finding;
  if (own === undefined) return classify({ title, cwe, severity, confirmed, source, cves, location });
  return own === null ? null : { capability: own, flags: flagsOfFinding({ title, location }) };
}

function candidateOf(finding: ChainFinding, view: ApplicationView): Candidate | null {
  const confirmed = isConfirmed(finding);
  const found = classified(finding, confirmed);
  if (found === null) return null;
  const { capability, flags } = found;
  const proof = confirmed ? 2 : finding.reachable ? 1 : 0;
  return { finding, view, capability, flags, risk: effectiveRisk(finding), confirmed, proof };
}

/** An application with its findings, of which those of other applications and closed ones are left out. */
export function viewOf(application: ChainApplication, findings: readonly ChainFinding[]): ApplicationView {
  const view: Mutable = {
    application,
    isInternetFacing: isInternetFacing(application),
    isCrownJewel: isCrownJewel(application),
    criticality: criticalityOf(application),
    stages: new Map(),
    candidates: [],
    source: null,
    sink: null,
    foothold: null,
    pivot: null,
  };
  const own = findings.filter(({ applicationId }) => applicationId === application.id);
  const candidates = chooseCandidates(own)
    .map((finding) => candidateOf(finding, view))
    .filter((candidate) => candidate !== null)
    .sort(compareCandidates);
  const stages = new Map<Stage, Candidate[]>();
  for (const candidate of candidates) {
    const list = stages.get(candidate.capability.stage);
    if (list === undefined) stages.set(candidate.capability.stage, [candidate]);
    else list.push(candidate);
  }
  const starts = candidates.filter(({ capability }) => stageRank(capability.stage) <= stageRank('credential'));
  view.stages = stages;
  view.candidates = candidates;
  view.source = starts[0] ?? null;
  view.sink = stages.get('impact')?.[0] ?? null;
  view.foothold = starts.find(({ capability }) => capability.pivot !== null) ?? null;
  view.pivot = candidates.find(({ capability }) => capability.pivot !== null) ?? null;
  return view;
}
