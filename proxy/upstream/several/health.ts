// What is known of one upstream: by checks that ask it (probe.ts), and by what became of the requests it got. Either
// can take it out of the turn, and neither alone brings it back: a check sees one path, requests see what clients ask.
export interface HealthRules {
  readonly unhealthyAfter: number;
  readonly healthyAfter: number;
  /** Failed requests in a row; 0 = requests say nothing. */
  readonly failuresMax: number;
  readonly ejectionMs: number;
}

export type HealthState = 'up' | 'down' | 'ejected';

const ejectionsMax = 10;

export class Health {
  private isUp = true;
  private good = 0;
  private bad = 0;
  private failures = 0;
  private ejections = 0;
  private ejectedUntilMs = Number.NEGATIVE_INFINITY;
  /** Why it is not up, or was not at last; '' when it always was. */
  detail = '';
  checked = 0;

  constructor(private readonly rules: HealthRules) {}

  /** A check ended; '' when it was good, else why not. */
  checkEnded(problem: string): void {
    this.checked += 1;
    if (problem === '') {
      this.good += 1;
      this.bad = 0;
      if (!this.isUp && this.good >= this.rules.healthyAfter) this.isUp = true;
      return;
    }
    this.bad += 1;
    this.good = 0;
    this.detail = problem;
    if (this.bad >= this.rules.unhealthyAfter) this.isUp = false;
  }

  requestAnswered(): void {
    this.failures = 0;
    this.ejections = 0;
  }

  /** True: with this one it is left out for a while. `nowMs`: of the monotonic clock. */
  requestFailed(problem: string, nowMs: number): boolean {
    this.failures += 1;
    if (this.rules.failuresMax === 0 || this.failures < this.rules.failuresMax) return false;
    this.detail = problem;
    if (nowMs < this.ejectedUntilMs) return false; // of those that were under way when it was left out
    this.ejections = Math.min(this.ejections + 1, ejectionsMax);
    this.ejectedUntilMs = nowMs + this.rules.ejectionMs * this.ejections;
    return true;
  }

  state(nowMs: number): HealthState {
    if (!this.isUp) return 'down';
    return nowMs < this.ejectedUntilMs ? 'ejected' : 'up';
  }
}
