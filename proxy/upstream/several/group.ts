// The upstreams of one site, asked by turns: smooth weighted round robin over those that are up. When none is, all are
// tried as if they were: a check that asks for the wrong path must not take a site away that would answer.
import type { ProxyError } from '../../contract/errors.js';
import type { AttemptRoute } from '../attempt.js';
import type { UpstreamExchange, UpstreamHandler, UpstreamRequest } from '../exchange.js';
import type { UpstreamPool } from '../pool.js';
import type { Health, HealthState } from './health.js';

export interface Target {
  readonly url: string;
  /** For Host, where the site does not keep the client's. */
  readonly authority: string;
  readonly weight: number;
  readonly pool: UpstreamPool;
  readonly health: Health;
}

export interface TargetView {
  readonly url: string;
  readonly weight: number;
  readonly state: HealthState;
  readonly detail: string;
}

export interface GroupOptions {
  readonly targets: readonly [Target, ...Target[]];
  readonly preservesHost: boolean;
  /** One of them is left out now. */
  readonly onEjected: (target: Target) => void;
  /** A request goes to another one, because the first did not take it. */
  readonly onFailover: () => void;
}

/** The request with another Host; its head begins with the request line and that field (road/forward-head.ts). */
function withHost(request: UpstreamRequest, authority: string): UpstreamRequest {
  const line = request.head.indexOf('\r\n') + 2;
  const end = request.head.indexOf('\r\n', line);
  return { ...request, head: `${request.head.slice(0, line)}Host: ${authority}${request.head.slice(end)}` };
}

export class UpstreamGroup {
  /** Of the smooth weighted round robin, by target. */
  private readonly current: number[];

  constructor(private readonly options: GroupOptions) {
    this.current = options.targets.map(() => 0);
  }

  /** As UpstreamPool.dispatch, at the one whose turn it is. */
  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamExchange {
    const tried = new Set<Target>();
    let target = this.next(tried) ?? this.options.targets[0];
    const route: AttemptRoute = {
      answered: () => target.health.requestAnswered(),
      failed: (error) => this.failed(target, error),
      elsewhere: (same) => {
        const next = this.next(tried);
        if (next === null) return null;
        target = next;
        this.options.onFailover();
        return { pool: next.pool, request: this.forTarget(same, next) };
      },
    };
    return target.pool.dispatch(this.forTarget(request, target), handler, route);
  }

  private forTarget(request: UpstreamRequest, { authority }: Target): UpstreamRequest {
    return this.options.preservesHost ? request : withHost(request, authority);
  }

  private failed(target: Target, { code, message }: ProxyError): void {
    if (code === 'PXY_UPSTREAM_BUSY') return; // it has more than it can take, and gets less only by being slow
    if (target.health.requestFailed(message, performance.now())) this.options.onEjected(target);
  }

  /** Notes it as tried. Null: all that are up were tried. */
  private next(tried: Set<Target>): Target | null {
    const nowMs = performance.now();
    const { targets } = this.options;
    const areAllDown = targets.every(({ health }) => health.state(nowMs) !== 'up');
    let best = -1;
    let total = 0;
    for (const [index, target] of targets.entries()) {
      if (tried.has(target) || (!areAllDown && target.health.state(nowMs) !== 'up')) continue;
      total += target.weight;
      const credit = (this.current[index] as number) + target.weight;
      this.current[index] = credit;
      if (best === -1 || credit > (this.current[best] as number)) best = index;
    }
    const chosen = targets[best];
    if (chosen === undefined) return null;
    this.current[best] = (this.current[best] as number) - total;
    tried.add(chosen);
    return chosen;
  }

  view(): TargetView[] {
    const nowMs = performance.now();
    return this.options.targets.map(({ url, weight, health }) => {
      const state = health.state(nowMs);
      return { url, weight, state, detail: state === 'up' ? '' : health.detail };
    });
  }
}
