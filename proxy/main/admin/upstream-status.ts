// What all workers know of the upstreams, as one answer. Each worker asks for itself and sees its own requests fail, so
// they may differ for a moment: what some worker does without is shown as it has it, with how many do so.
import type { TargetView } from '../../upstream/several/group.js';
import type { SiteUpstreams } from '../../worker/messages.js';

export interface UpstreamStatus extends TargetView {
  /** That have it in their turn, of `workers`. */
  readonly workersUp: number;
  readonly workers: number;
}

export function upstreamsOf(reports: readonly SiteUpstreams[]): Map<string, UpstreamStatus[]> {
  const sites = new Map<string, UpstreamStatus[]>();
  for (const { site, upstreams } of reports) {
    const known = sites.get(site);
    const merged = upstreams.map((view, index): UpstreamStatus => {
      const before = known?.[index];
      const worse = before === undefined || before.url !== view.url || before.state === 'up' ? view : before;
      const isUp = view.state === 'up' ? 1 : 0;
      return { ...worse, workersUp: (before?.workersUp ?? 0) + isUp, workers: (before?.workers ?? 0) + 1 };
    });
    sites.set(site, merged);
  }
  return sites;
}

export const countDown = (sites: ReadonlyMap<string, readonly UpstreamStatus[]>): number =>
  [...sites.values()].flat().filter(({ state }) => state !== 'up').length;
