// What the settings say of the detection engine.
import type { Settings } from '#settings';
import { ladderOf, type Ladder } from './fusion.js';
import type { Weights } from './vector.js';

export interface Policy {
  readonly action: 'monitor' | 'block';
  readonly threshold: number;
  readonly ladder: Ladder;
  readonly weights: Weights;
  readonly windowMs: number;
  readonly blockMs: number;
}

type AiSettings = Pick<Settings, Extract<keyof Settings, `ai_${string}`>>;

/** null: it is switched off. Throws RangeError for a threshold that settings of an earlier release may still have. */
export function policyOf(settings: AiSettings): Policy | null {
  if (!settings.ai_enabled) return null;
  return {
    action: settings.ai_action,
    threshold: settings.ai_risk_threshold,
    ladder: ladderOf(settings.ai_risk_threshold),
    weights: {
      signature: settings.ai_w_signature,
      anomaly: settings.ai_w_anomaly,
      api_abuse: settings.ai_w_api_abuse,
      bot: settings.ai_w_bot,
    },
    windowMs: settings.ai_window_sec * 1000,
    blockMs: settings.ai_block_seconds * 1000,
  };
}
