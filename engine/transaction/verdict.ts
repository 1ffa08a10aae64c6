import type { SecondOpinion } from '../second-opinion/opinion.js';
import type { Interruption, MatchedRule } from './transaction.js';

/** What inspection concluded about one transaction; made by `finish`. */
export interface Verdict {
  /**
   * pass: nothing to act on; flag: DetectionOnly withheld an interruption, or one came in the logging phase, too late
   * to act; block: an interruption is in force.
   */
  readonly kind: 'pass' | 'flag' | 'block';
  /** In force (block) or withheld (flag), else null. */
  readonly interruption: Interruption | null;
  /** Rules that matched and log, in order; a chain appears once, under its head's id. */
  readonly matched: readonly MatchedRule[];
  /** TX.blocking_inbound_anomaly_score / …outbound…, 0 when the rule set has none. */
  readonly inboundScore: number;
  readonly outboundScore: number;
  /** null or absent: none was wanted, or there was nothing to have one about. */
  readonly opinion?: SecondOpinion | null;
  /** A limit was reached and part of the request or response was not inspected. */
  readonly truncated: boolean;
  /** Phases that ran, e.g. [1, 2, 5]. */
  readonly phases: readonly number[];
}
