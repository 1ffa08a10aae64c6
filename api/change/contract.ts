// The door between the control plane's HTTP side and the road of a change. Whoever implements `ApplySettings` compiles,
// stores the artifact and activates it on every data-plane node; flow.ts calls it while holding the `apply` lock, so it
// never runs twice at once, and does what follows: mark the version active, audit, answer.
import { Type, type Static } from '@sinclair/typebox';
import type { Settings } from '#settings';

/** A stored version: its settings (secrets sealed), and what it was applied with last. */
export interface VersionToServe {
  readonly id: number;
  readonly settings: Settings;
  /** null: never applied, or before artifacts were kept. */
  readonly artifactSha256: string | null;
  /** Of the rules that the managed feed gave; '' = none, null = never applied, or before they were kept. */
  readonly managedSha256: string | null;
}

/** What an activation puts in force beside the settings, by the hashes of what is kept. */
export interface AppliedWith {
  readonly artifactSha256: string;
  readonly managedSha256: string;
}

export interface ApplyRequest {
  /** What is to serve. */
  readonly version: VersionToServe;
  /** What serves now; null before the first apply. */
  readonly active: VersionToServe | null;
  /** Stop after the replay impact; activate nothing. */
  readonly dryRun: boolean;
  /** Larger than every generation before. */
  readonly generation: number;
  /**
   * To be called right before the first node is asked to activate: from there on a crash has to be healed. The
   * generation is larger than the one given when a node was ahead of it.
   */
  readonly markPending: (what: AppliedWith, generation?: number) => Promise<void>;
}

/** What a node is held against. */
export interface Expected {
  readonly versionId: number;
  /** Digest of what the version's settings mean in the environment of today. */
  readonly config: string;
}

const ReplayRow = Type.Object({
  request_id: Type.String(),
  method: Type.String(),
  /** Path with sensitive values masked. */
  uri: Type.String(),
  rule_ids: Type.Array(Type.Integer()),
  score_before: Type.Number(),
  score_after: Type.Number(),
});

const ReplayImpactSchema = Type.Object({
  samples: Type.Integer({ description: 'recorded requests that were chosen, the newest' }),
  replayed: Type.Integer({
    description: 'those that were run through both artifacts before the time was up; a dry run has more of both',
  }),
  newly_blocked: Type.Integer(),
  newly_allowed: Type.Integer(),
  newly_blocked_examples: Type.Array(ReplayRow),
  newly_allowed_examples: Type.Array(ReplayRow),
});
export type ReplayImpact = Static<typeof ReplayImpactSchema>;

const ApplyDiagnosticSchema = Type.Object({
  severity: Type.Union([Type.Literal('error'), Type.Literal('warning'), Type.Literal('note')]),
  code: Type.String(),
  message: Type.String(),
  file: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  excerpt: Type.String(),
  path: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'JSON pointer into the settings, when the problem is one of a setting',
    }),
  ),
  hint: Type.Optional(Type.String({ description: 'how to fix it' })),
});
export type ApplyDiagnostic = Static<typeof ApplyDiagnosticSchema>;

const ApplyNodeSchema = Type.Object({
  url: Type.String(),
  state: Type.Union([Type.Literal('active'), Type.Literal('behind'), Type.Literal('unreachable')]),
  generation: Type.Union([Type.Integer(), Type.Null()]),
  detail: Type.String(),
});
export type ApplyNode = Static<typeof ApplyNodeSchema>;

/**
 * Milliseconds by step, in the order of the road; steps that were not taken are absent. Those with a dot are parts of
 * the step in front of it.
 */
export type StepTimes = Readonly<Record<string, number>>;

interface Findings extends AppliedWith {
  readonly diagnostics: readonly ApplyDiagnostic[];
  readonly impact: ReplayImpact | null;
  /** Why there is no impact; null where there is one. */
  readonly impactMissing: string | null;
  /** Settings that ask for something, by the value in effect, and that nothing enforces yet. */
  readonly notEnforcedYet: readonly string[];
  readonly tookMs: number;
  readonly steps?: StepTimes;
}

export type ApplyOutcome =
  | ({ readonly kind: 'active'; readonly nodes: readonly ApplyNode[]; readonly generation?: number } & Findings)
  /** Artifact and configuration are the ones that serve already: no node was asked anything. */
  | ({ readonly kind: 'unchanged'; readonly nodes: readonly ApplyNode[] } & Findings)
  /** `unchanged`: applying it would leave every node alone, as long as they serve what they should. */
  | ({ readonly kind: 'dry_run'; readonly unchanged: boolean } & Findings)
  /** The settings cannot become an artifact: nothing was touched. */
  | { readonly kind: 'refused'; readonly reason: string; readonly diagnostics: readonly ApplyDiagnostic[] }
  /** The data plane did not take it: what served before serves still. */
  | { readonly kind: 'failed'; readonly reason: string; readonly nodes: readonly ApplyNode[] };

/** Throws only on bugs: every expected refusal is an outcome. */
export type ApplySettings = (request: ApplyRequest) => Promise<ApplyOutcome>;

export const ApplyReplySchema = Type.Object({
  applied: Type.Boolean(),
  dry_run: Type.Boolean(),
  unchanged: Type.Boolean({
    description:
      'the data plane serves exactly this already; it was left alone ' +
      '(dry run: it would be, where every node serves what it should)',
  }),
  version: Type.Integer(),
  generation: Type.Union([Type.Integer(), Type.Null()]),
  artifact_sha256: Type.String(),
  diagnostics: Type.Array(ApplyDiagnosticSchema),
  impact: Type.Union([ReplayImpactSchema, Type.Null()]),
  impact_missing: Type.Union([Type.String(), Type.Null()], {
    description: 'why there is no impact, in a sentence; null where there is one',
  }),
  not_enforced_yet: Type.Array(Type.String(), {
    description: 'settings that are on, or have a value of their own, and that nothing enforces yet',
  }),
  nodes: Type.Array(ApplyNodeSchema),
  took_ms: Type.Number(),
  steps: Type.Record(Type.String(), Type.Integer(), {
    description:
      'milliseconds of each step: gather (what serves, the nodes, recorded requests; beside the compile), ' +
      'compile with its parts, replay, store (what the disk took beyond the replay), activate',
  }),
});
export type ApplyReply = Static<typeof ApplyReplySchema>;
