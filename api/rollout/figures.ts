// What a node counts of its requests (`GET :2019/metrics`), as far as a rollout compares nodes by it.

/** Since the start of the node, or the difference of two of them. */
export interface Figures {
  readonly requests: number;
  /** By rules, gates and limits. */
  readonly blocked: number;
  /** At the upstream, or in this program. */
  readonly failed: number;
  /** Whole time of the requests that were timed. */
  readonly seconds: number;
  readonly timed: number;
}

export const noFigures: Figures = { requests: 0, blocked: 0, failed: 0, seconds: 0, timed: 0 };

const sampleOf = /^(gatehouse_[a-z_]+)\{([^}]*)\} (\S+)$/;

/** Of a Prometheus exposition (text format 0.0.4); families that are not there count as 0. */
export function figuresOf(exposition: string): Figures {
  const sum = { requests: 0, blocked: 0, failed: 0, seconds: 0, timed: 0 };
  for (const line of exposition.split('\n')) {
    const found = sampleOf.exec(line);
    if (found === null) continue;
    const [, name, labels = '', text] = found;
    const value = Number(text);
    if (!Number.isFinite(value)) continue;
    if (name === 'gatehouse_requests_total') {
      sum.requests += value;
      if (/action="(blocked|refused)"/.test(labels)) sum.blocked += value;
      if (labels.includes('action="failed"')) sum.failed += value;
    } else if (labels.includes('stage="request"')) {
      if (name === 'gatehouse_stage_duration_seconds_sum') sum.seconds += value;
      if (name === 'gatehouse_stage_duration_seconds_count') sum.timed += value;
    }
  }
  return sum;
}

const map = (one: Figures, other: Figures, of: (a: number, b: number) => number): Figures => ({
  requests: of(one.requests, other.requests),
  blocked: of(one.blocked, other.blocked),
  failed: of(one.failed, other.failed),
  seconds: of(one.seconds, other.seconds),
  timed: of(one.timed, other.timed),
});

export const sumOf = (all: readonly Figures[]): Figures =>
  all.reduce((sum, one) => map(sum, one, (a, b) => a + b), noFigures);

/** What came after `before`. A node that started again counts from 0: all that it has came after. */
export const since = (before: Figures, now: Figures): Figures =>
  now.requests < before.requests || now.timed < before.timed ? now : map(now, before, (a, b) => Math.max(0, a - b));

export interface Shares {
  readonly requests: number;
  /** 0 to 1, as is the next. */
  readonly block_rate: number;
  readonly error_rate: number;
  /** Mean, in milliseconds; null: no request was timed. */
  readonly latency_ms: number | null;
}

export const sharesOf = ({ requests, blocked, failed, seconds, timed }: Figures): Shares => ({
  requests,
  block_rate: requests === 0 ? 0 : blocked / requests,
  error_rate: requests === 0 ? 0 : failed / requests,
  latency_ms: timed === 0 ? null : (seconds / timed) * 1000,
});
