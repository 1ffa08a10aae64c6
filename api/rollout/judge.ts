// Whether the nodes that have a new version do as well as the others. Pure. A rollout is stopped by what is certain
// (the lower bound of Wilson's interval at 99 % is beyond the limit), and goes on only where nothing is beyond it.
import { sharesOf, type Figures } from './figures.js';

export interface Limits {
  /** How long a ring is watched. */
  readonly hold_seconds: number;
  /** Requests that a ring must have answered before it is judged. */
  readonly requests_min: number;
  /** Percentage points above the others. */
  readonly error_points_max: number;
  readonly block_points_max: number;
  /** Mean time of a request, as a multiple of that of the others. */
  readonly latency_factor_max: number;
}

export const limitsDefault: Limits = {
  hold_seconds: 300,
  requests_min: 200,
  error_points_max: 1,
  block_points_max: 2,
  latency_factor_max: 2,
};

export type Judgement =
  | { readonly kind: 'good' | 'stop'; readonly note: string; readonly against: 'others' | 'before' }
  /** Nothing can be said yet. */
  | { readonly kind: 'wait'; readonly note: string; readonly against: 'others' | 'before' | null };

export interface Compared {
  /** Of the ring since it has the new version. */
  readonly ring: Figures;
  /** Of the nodes that do not have it, in the same time. */
  readonly others: Figures;
  /** Of the ring, before it had it. */
  readonly before: Figures;
}

/** Differences of less are the scheduler's, whatever multiple they are. */
const latencyMsMin = 20;

export function judge({ ring, others, before }: Compared, limits: Limits): Judgement {
  const { requests_min: least } = limits;
  const wait = (note: string): Judgement => ({ kind: 'wait', note, against: null });
  if (ring.requests < least) return wait(`${ring.requests} of ${least} requests that a judgement needs`);
  const against = others.requests >= least ? 'others' : 'before';
  const reference = against === 'others' ? others : before;
  if (reference.requests < least)
    return wait(`nothing to compare with: the other nodes have had ${others.requests} of ${least} requests`);
  const findings = [
    share('errors', ring.failed, ring.requests, reference.failed / reference.requests, limits.error_points_max),
    share('blocked', ring.blocked, ring.requests, reference.blocked / reference.requests, limits.block_points_max),
    latency(ring, reference, limits.latency_factor_max),
  ];
  const worst = findings.find(({ isCertain }) => isCertain) ?? findings.find(({ isBeyond }) => isBeyond);
  if (worst === undefined) return { kind: 'good', note: '', against };
  const than = against === 'others' ? 'on the other nodes' : 'on the same nodes before';
  const note = `${worst.text} ${than}`;
  return worst.isCertain
    ? { kind: 'stop', note, against }
    : { kind: 'wait', note: `${note}; not certain yet`, against };
}

interface Finding {
  readonly isBeyond: boolean;
  readonly isCertain: boolean;
  readonly text: string;
}

const percent = (rate: number): string => `${(rate * 100).toFixed(1)} %`;

function share(what: string, count: number, requests: number, reference: number, pointsMax: number): Finding {
  const limit = reference + pointsMax / 100;
  return {
    isBeyond: count / requests > limit,
    isCertain: wilsonLower(count, requests) > limit,
    text: `${what}: ${percent(count / requests)}, against ${percent(reference)}`,
  };
}

function latency(ring: Figures, reference: Figures, factorMax: number): Finding {
  const [mine, theirs] = [sharesOf(ring).latency_ms ?? 0, sharesOf(reference).latency_ms ?? 0];
  const isBeyond = theirs > 0 && mine > theirs * factorMax && mine - theirs > latencyMsMin;
  // a mean over enough requests is taken as it is: single requests that hang are what it is to show
  return { isBeyond, isCertain: isBeyond, text: `latency: ${mine.toFixed(1)} ms, against ${theirs.toFixed(1)} ms` };
}

const z = 2.576;

/** E. B. Wilson, 1927: the least rate that `count` of `total` is compatible with, at 99 %. */
export function wilsonLower(count: number, total: number): number {
  if (total === 0) return 0;
  const p = count / total;
  const spread = z * Math.sqrt((p * (1 - p) + (z * z) / (4 * total)) / total);
  return (p + (z * z) / (2 * total) - spread) / (1 + (z * z) / total);
}
