// What a weakness weighs that is no finding yet: the middle of what findings of its severity have.
import type { Severity } from '../findings/words.js';

export const severityWeights: Readonly<Record<Severity, number>> = {
  critical: 90,
  high: 70,
  medium: 45,
  low: 20,
  info: 0,
};
