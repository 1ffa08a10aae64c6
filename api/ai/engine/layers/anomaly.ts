// How far a client is from what its site is used to. Robust: expected and spread are median and median absolute
// deviation among clients (learning/baseline.ts), the distance is in such deviations: 3 is low, 6 is high.
import type { AnomalyFeature, Deviation, FeatureVector, Signal } from '../vector.js';
import { growing } from '../vector.js';

interface FeatureRow {
  readonly name: string;
  readonly cap: number;
  readonly attack: readonly string[];
  readonly owasp: readonly string[];
}

export const featureRows: Readonly<Record<AnomalyFeature, FeatureRow>> = {
  rate: { name: 'Requests a minute', cap: 100, attack: ['T1499.002'], owasp: ['API4:2023'] },
  errors: { name: 'Share of refused requests', cap: 45, attack: ['T1595.003'], owasp: ['API9:2023'] },
  request_size: { name: 'Size of requests', cap: 45, attack: [], owasp: ['API4:2023'] },
  response_size: { name: 'Size of answers', cap: 45, attack: ['T1530'], owasp: ['API6:2023'] },
  paths: { name: 'Different paths', cap: 60, attack: ['T1595.003'], owasp: ['API9:2023'] },
  novelty: { name: 'Paths that nobody asks for', cap: 60, attack: ['T1595.003'], owasp: ['API9:2023'] },
};

/** From this many deviations on: points. */
const steps = [
  [48, 100],
  [24, 70],
  [12, 45],
  [6, 25],
  [3, 10],
] as const;

/** How many deviations a measure is above what is expected; below is no anomaly. */
export const distanceOf = ({ observed, expected, spread }: Deviation): number =>
  Math.max(0, (observed - expected) / spread);

export function anomalySignals(vector: FeatureVector): Signal[] {
  const strongest = new Map<AnomalyFeature, Deviation>();
  for (const deviation of vector.deviations) {
    const before = strongest.get(deviation.feature);
    if (before === undefined || distanceOf(deviation) > distanceOf(before)) strongest.set(deviation.feature, deviation);
  }
  const signals: Signal[] = [];
  for (const deviation of strongest.values()) {
    const { feature, site, observed, expected, spread, source, support } = deviation;
    const z = distanceOf(deviation);
    const points = steps.find(([from]) => z >= from)?.[1] ?? 0;
    if (points === 0) continue;
    const { name, cap, attack, owasp } = featureRows[feature];
    signals.push({
      code: `anomaly.${feature}`,
      layer: 'anomaly',
      name,
      points: Math.min(cap, points),
      evidence: { site, observed, expected, spread, z: Math.round(z * 10) / 10, source, support },
      attack,
      owasp,
    });
  }
  if (vector.limited > 0)
    signals.push({
      code: 'anomaly.limited',
      layer: 'anomaly',
      name: 'Requests beyond a limit',
      points: growing(vector.limited, 40, 20),
      evidence: { requests: vector.limited, of: vector.requests },
      attack: ['T1499'],
      owasp: ['API4:2023'],
    });
  return signals;
}
