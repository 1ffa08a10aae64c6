// Which clients are limited most, for people: the Space-Saving summary (Metwally, Agrawal, El Abbadi 2005) of limited
// requests. 200 entries a worker; beyond, the smallest gives its place and its count to the new one, so that a count is
// too high by at most the smallest count, and whoever has more than a 200th of all is in the list.
import { networkOf } from '../shared-state/client-key.js';

export interface HeavyKey {
  readonly zone: string;
  readonly network: string;
  /** Limited requests, at most. */
  readonly limited: number;
}

const entriesMax = 200;
const separator = '\n';

export class HeavyKeys {
  private readonly counts = new Map<string, number>();

  constructor(private readonly max = entriesMax) {}

  note(zone: string, clientIp: string): void {
    const { counts } = this;
    const key = zone + separator + networkOf(clientIp);
    const known = counts.get(key);
    if (known !== undefined || counts.size < this.max) {
      counts.set(key, (known ?? 0) + 1);
      return;
    }
    let smallest = '';
    let least = Number.POSITIVE_INFINITY;
    for (const [other, count] of counts)
      if (count < least) {
        smallest = other;
        least = count;
      }
    counts.delete(smallest);
    counts.set(key, least + 1);
  }

  /** The heaviest first. */
  list(): HeavyKey[] {
    return [...this.counts]
      .map(([key, limited]) => {
        const at = key.indexOf(separator);
        return { zone: key.slice(0, at), network: key.slice(at + 1), limited };
      })
      .sort((left, right) => right.limited - left.limited);
  }
}
