// What /graph answers, as schemas: exactly the fields of the specification.
import { Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { chainKinds } from '../chains/chain.js';
import { stages } from '../chains/classification/stages.js';

const closed = { additionalProperties: false } as const;
const Text = Type.String();
const Score = Type.Integer({ minimum: 0, maximum: 100 });

export const HopView = Type.Object(
  {
    vuln_id: Text,
    title: Text,
    severity: Text,
    stage: OneOf(stages),
    stage_label: Text,
    technique: Text,
    mitre: Type.String({ pattern: '^T\\d{4}(\\.\\d{3})?$' }),
    reachable: Type.Boolean(),
    confirmed: Type.Boolean(),
    score: Score,
    location: Nullable(Text),
    mitigated: Type.Optional(
      Type.Boolean({ description: 'a proven virtual patch stands before it; absent: none does' }),
    ),
  },
  closed,
);

export const ChainView = Type.Object(
  {
    id: Type.String({ description: 'chain:<application>:<kind-suffix>' }),
    name: Text,
    kind: OneOf(chainKinds),
    app: Type.Object(
      {
        id: Text,
        name: Text,
        environment: Nullable(Text),
        criticality: Nullable(Text),
        internet_facing: Type.Boolean(),
      },
      closed,
    ),
    pivot_to: Type.Optional(Type.Object({ id: Text, name: Text, criticality: Nullable(Text) }, closed)),
    score: Score,
    danger: Type.Boolean(),
    proven_hops: Type.Integer(),
    runtime_proven: Type.Boolean(),
    hops: Type.Array(HopView),
    mitre: Type.Array(Text),
  },
  closed,
);

export const StatsView = Type.Object(
  {
    chains: Type.Integer(),
    danger_chains: Type.Integer(),
    toxic_combinations: Type.Integer(),
    cross_service: Type.Integer(),
    lateral_movement: Type.Integer(),
    runtime_proven_chains: Type.Integer(),
    capabilities_classified: Type.Integer(),
    max_chain_risk: Type.Integer(),
  },
  closed,
);

export const ChainsView = Type.Object({ chains: Type.Array(ChainView), stats: StatsView }, closed);

export const FixView = Type.Object(
  {
    vuln_id: Text,
    title: Text,
    application_id: Text,
    application: Text,
    severity: Text,
    score: Score,
    chains_broken: Type.Integer({ description: 'fewer chains when it is fixed, everything worked out again' }),
    danger_chains_broken: Type.Integer(),
    max_chain_risk_before: Type.Integer(),
    max_chain_risk_after: Type.Integer(),
    listed_chains: Type.Integer({ description: 'of the chains that are listed, those that it stands in' }),
    reformed_chains: Type.Integer({ description: 'of these, those that stand again by another finding' }),
  },
  closed,
);

/** The scope of the question. */
export const ScopeQuery = Type.Object(
  {
    application_id: Type.Optional(Type.String({ maxLength: 20, description: 'only chains that start there' })),
    internet_only: Type.Optional(Type.Boolean({ default: false, description: 'only internet-facing applications' })),
  },
  closed,
);
