// Layers become one risk, and a risk becomes a rung. Only + − × ÷ and rounding: IEEE 754 has one result for them on
// every machine and release, which `Math.pow` and `Math.exp` have not.
//
//   risk = 100 · (1 − Π (1 − gain · points / 100)),   gain = min(1, 2.5 · weight / sum of weights)
//
// Layers are evidence that is put together as independent (a noisy or), so that no signal can ever lower the risk. A
// plain weighted mean was rejected: at the weights of the specification nothing that rules alone see could pass 40.
// With them, a layer that is sure by itself reaches: signature 100 (BLOCK), API abuse 63 (CHALLENGE), anomaly 50
// (RATE_LIMIT), bot 38 (ALLOW); two that agree reach more than each. A weight of 0 takes a layer out; with all 0
// nothing has a risk.
import { layers, type Layer, type Signal, type Weights } from './vector.js';

/** Weights of the specification give the strongest layer a gain of 1. */
const gainPerShare = 2.5;

export const rungs = ['ALLOW', 'RATE_LIMIT', 'CHALLENGE', 'BLOCK'] as const;
export type Rung = (typeof rungs)[number];

/** Points of each layer, in the order of `layers`, at most 100 each. */
export type LayerPoints = Readonly<Record<Layer, number>>;

export function pointsOf(signals: readonly Pick<Signal, 'layer' | 'points'>[]): LayerPoints {
  const points: Record<Layer, number> = { signature: 0, anomaly: 0, api_abuse: 0, bot: 0 };
  for (const { layer, points: more } of signals) points[layer] = Math.min(100, points[layer] + more);
  return points;
}

/** How far a layer alone can take the risk, 0 to 1. */
export function gainsOf(weights: Weights): LayerPoints {
  const total = layers.reduce((sum, layer) => sum + weights[layer], 0);
  const of = (layer: Layer): number => (total > 0 ? Math.min(1, (gainPerShare * weights[layer]) / total) : 0);
  return { signature: of('signature'), anomaly: of('anomaly'), api_abuse: of('api_abuse'), bot: of('bot') };
}

/** 0 to 100, whole. */
export function fuse(points: LayerPoints, gains: LayerPoints): number {
  let innocent = 1;
  for (const layer of layers) innocent *= 1 - (gains[layer] * points[layer]) / 100;
  return Math.round(100 * (1 - innocent));
}

export interface Ladder {
  readonly BLOCK: number;
  readonly CHALLENGE: number;
  readonly RATE_LIMIT: number;
}

/**
 * The risks from which each rung holds: T, T−20 and T−35. The lower two are never below 1, so that a client without any
 * risk is never touched. Throws RangeError for a threshold that is no number from 1 to 100: with 0 everybody would be
 * blocked.
 */
export function ladderOf(threshold: number): Ladder {
  if (!(threshold >= 1 && threshold <= 100))
    throw new RangeError(`the threshold is ${threshold}: write a number from 1 to 100`);
  return { BLOCK: threshold, CHALLENGE: Math.max(1, threshold - 20), RATE_LIMIT: Math.max(1, threshold - 35) };
}

export function rungOf(risk: number, ladder: Ladder): Rung {
  if (risk >= ladder.BLOCK) return 'BLOCK';
  if (risk >= ladder.CHALLENGE) return 'CHALLENGE';
  return risk >= ladder.RATE_LIMIT ? 'RATE_LIMIT' : 'ALLOW';
}

export const rank = (rung: Rung): number => rungs.indexOf(rung);

/**
 * How much the verdict rests on, 0 to 100: many requests, and layers that agree. It changes no rung. `missing`: layers
 * that could not be asked.
 */
export function confidenceOf(requests: number, points: LayerPoints, missing: number): number {
  const agreeing = layers.filter((layer) => points[layer] > 0).length;
  if (agreeing === 0) return 0;
  const agreement = Math.min(1, 0.6 + 0.2 * (agreeing - 1));
  return Math.round(((100 * requests) / (requests + 10)) * agreement * (1 - 0.2 * Math.min(4, missing)));
}
