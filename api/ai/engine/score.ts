// A feature vector, weights and a threshold become a verdict. Pure: the same arguments give the same verdict, today and
// when it is replayed. A change of what comes out is a new version beside the old one, never a change of an old one.
import { confidenceOf, fuse, gainsOf, ladderOf, pointsOf, rungOf, type LayerPoints, type Rung } from './fusion.js';
import { anomalySignals } from './layers/anomaly.js';
import { apiAbuseSignals } from './layers/api-abuse.js';
import { botSignals } from './layers/bot.js';
import { signatureSignals } from './layers/signature.js';
import { layers, type FeatureVector, type Layer, type Signal, type Weights } from './vector.js';

export interface Scored {
  readonly verdict: Rung;
  readonly risk: number;
  readonly confidence: number;
  readonly layers: LayerPoints;
  /** Strongest first. */
  readonly signals: readonly Signal[];
}

const byStrength = (one: Signal, other: Signal): number =>
  other.points - one.points || (one.code < other.code ? -1 : 1);

/** What a layer says of a client. */
export const layerSignals: Readonly<Record<Layer, (vector: FeatureVector) => Signal[]>> = {
  signature: signatureSignals,
  anomaly: anomalySignals,
  api_abuse: apiAbuseSignals,
  bot: botSignals,
};

/** Of signals that are known. */
export function judge(
  signals: readonly Signal[],
  vector: Pick<FeatureVector, 'requests' | 'missing'>,
  weights: Weights,
  threshold: number,
): Scored {
  const points = pointsOf(signals);
  const risk = fuse(points, gainsOf(weights));
  return {
    verdict: rungOf(risk, ladderOf(threshold)),
    risk,
    confidence: confidenceOf(vector.requests, points, vector.missing.length),
    layers: points,
    signals: [...signals].sort(byStrength),
  };
}

function scoreFirst(vector: FeatureVector, weights: Weights, threshold: number): Scored {
  const signals = layers
    .filter((layer) => !vector.missing.includes(layer))
    .flatMap((layer) => layerSignals[layer](vector));
  return judge(signals, vector, weights, threshold);
}

/** By the version that stored verdicts name. */
export const scorers = { 'fusion-1': scoreFirst } as const;
export type ScorerVersion = keyof typeof scorers;
export const scorerVersion: ScorerVersion = 'fusion-1';
export const score = scorers[scorerVersion];
