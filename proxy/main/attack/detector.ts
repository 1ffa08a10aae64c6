// When a node is under attack (attack_mode auto): the requests of the last sixty seconds are more than
// attack_spike_factor times the learned baseline, and at least attack_min_rpm. It is left when they are fewer than half
// of that for a minute, so that a rate that swings about the line does not switch it on and off.
//
// Minutes under attack are not learned. One that lasts for six hours is taken for what is usual from now on, little by
// little (baseline.ts bounds how fast): a site that grew for good must not stay in attack mode for ever.
//
// Pure: requests and clocks are given. Memory: sixty numbers and a baseline.
import { Baseline, type SavedBaseline } from './baseline.js';

const windowSeconds = 60;
const leaveShare = 0.5;
const leaveAfterMs = 60_000;
const usualAfterMs = 6 * 3_600_000;
const minuteMs = 60_000;

export interface AttackPolicy {
  readonly mode: 'off' | 'auto' | 'on';
  /** Times the baseline. */
  readonly spikeFactor: number;
  /** Requests per minute below which nothing is an attack. */
  readonly minRpm: number;
}

export interface AttackTransition {
  readonly kind: 'enter' | 'leave';
  /** Wall clock. */
  readonly atMs: number;
  /** Requests of the last sixty seconds. */
  readonly rpm: number;
  readonly baselineRpm: number;
  readonly thresholdRpm: number;
  /** `rate`: what came; `setting`: somebody changed attack_mode meanwhile. */
  readonly cause: 'rate' | 'setting';
}

export interface AttackMoment {
  /** Monotonic, ms. */
  readonly nowMs: number;
  readonly wallMs: number;
  /** Requests since the last look. */
  readonly requests: number;
}

export class AttackDetector {
  private readonly counts = new Float64Array(windowSeconds);
  private second = -1;
  private nextSampleMs = Number.NaN;
  private calmSinceMs: number | null = null;
  private enteredMs: number | null = null;
  readonly baseline: Baseline;
  rpm = 0;
  /** Found by the rate; what a setting says stands beside it. */
  isUnderAttack = false;

  constructor(saved: SavedBaseline | null = null) {
    this.baseline = new Baseline(saved);
  }

  /** Requests per minute beyond which it is an attack; null: not known yet. */
  threshold({ spikeFactor, minRpm }: AttackPolicy): number | null {
    return this.baseline.isLearned ? Math.max(minRpm, spikeFactor * this.baseline.rpm) : null;
  }

  /** At best once a second. What changed, or null. */
  look(moment: AttackMoment, policy: AttackPolicy): AttackTransition | null {
    this.count(moment);
    this.sample(moment, policy);
    if (policy.mode !== 'auto') return this.isUnderAttack ? this.leave(moment, policy, 'setting') : null;
    const threshold = this.threshold(policy);
    if (threshold === null) return null;
    if (this.isUnderAttack) return this.maybeLeave(moment, policy, threshold);
    const isSpike = this.rpm >= policy.minRpm && this.rpm > policy.spikeFactor * this.baseline.rpm;
    return isSpike ? this.enter(moment, threshold) : null;
  }

  private count({ nowMs, requests }: AttackMoment): void {
    const second = Math.floor(nowMs / 1000);
    const passed = this.second < 0 ? windowSeconds : Math.min(windowSeconds, second - this.second);
    for (let back = 0; back < passed; back += 1) this.counts[(second - back) % windowSeconds] = 0;
    this.second = second;
    this.counts[second % windowSeconds] = (this.counts[second % windowSeconds] as number) + requests;
    this.rpm = this.counts.reduce((sum, count) => sum + count, 0);
  }

  private sample({ nowMs, wallMs }: AttackMoment, { spikeFactor, minRpm }: AttackPolicy): void {
    if (!(nowMs >= this.nextSampleMs)) {
      if (Number.isNaN(this.nextSampleMs)) this.nextSampleMs = nowMs + minuteMs;
      return;
    }
    // A process that stood still knows nothing of the minutes in between.
    this.nextSampleMs = Math.max(this.nextSampleMs + minuteMs, nowMs);
    const lastsMs = this.enteredMs === null ? 0 : nowMs - this.enteredMs;
    if (!this.isUnderAttack || lastsMs > usualAfterMs)
      this.baseline.learn(Math.round(this.rpm), wallMs, minRpm / spikeFactor);
  }

  private enter({ nowMs, wallMs }: AttackMoment, thresholdRpm: number): AttackTransition {
    const { rpm } = this;
    this.isUnderAttack = true;
    this.enteredMs = nowMs;
    this.calmSinceMs = null;
    return { kind: 'enter', atMs: wallMs, rpm, baselineRpm: this.baseline.rpm, thresholdRpm, cause: 'rate' };
  }

  private maybeLeave(moment: AttackMoment, policy: AttackPolicy, threshold: number): AttackTransition | null {
    if (this.rpm > threshold * leaveShare) {
      this.calmSinceMs = null;
      return null;
    }
    this.calmSinceMs ??= moment.nowMs;
    return moment.nowMs - this.calmSinceMs >= leaveAfterMs ? this.leave(moment, policy, 'rate') : null;
  }

  private leave({ wallMs }: AttackMoment, policy: AttackPolicy, cause: AttackTransition['cause']): AttackTransition {
    this.isUnderAttack = false;
    this.enteredMs = null;
    this.calmSinceMs = null;
    const { rpm, baseline } = this;
    const thresholdRpm = this.threshold(policy) ?? policy.minRpm;
    return { kind: 'leave', atMs: wallMs, rpm, baselineRpm: baseline.rpm, thresholdRpm, cause };
  }
}
