// Entries of the deny list that end: a line of its text is a network, or a network, a blank and the moment from which
// on it is not denied any more, in milliseconds since 1970 UTC. Whoever has the text lifts a ban by itself when it is
// over, whether or not anybody can be reached then; the text stays as it is until its sender changes it.

/** A line of the list, taken apart. */
export interface ListedNetwork {
  readonly network: string;
  /** Milliseconds since 1970; Infinity: it does not end. */
  readonly endsMs: number;
}

/** Throws RangeError for a moment that is none. */
export function readListed(line: string): ListedNetwork {
  const at = line.indexOf(' ');
  if (at < 0) return { network: line, endsMs: Infinity };
  const end = line.slice(at + 1);
  if (!/^\d{1,15}$/.test(end))
    throw new RangeError(`"${line.slice(0, 80)}" does not end at a moment; write milliseconds since 1970, or nothing`);
  return { network: line.slice(0, at), endsMs: Number(end) };
}

/** The same as text. */
export const writeListed = ({ network, endsMs }: ListedNetwork): string =>
  endsMs === Infinity ? network : `${network} ${endsMs}`;

/**
 * What of a list ends, and when. Memory: as many entries as lines of the text that end, so the bound of the text is its
 * bound.
 */
export class ExpiringNetworks {
  private readonly endOf = new Map<string, number>();
  /** Latest first, so that what ends next is popped; entries that were changed meanwhile are passed over. */
  private order: ListedNetwork[] = [];
  /** In the text, and over. */
  private readonly over = new Set<string>();

  get overCount(): number {
    return this.over.size;
  }

  /** Takes up new lines of the text; returns the networks of those that are in force at `nowMs`. */
  add(listed: Iterable<ListedNetwork>, nowMs: number): string[] {
    const inForce: string[] = [];
    let isNew = false;
    for (const one of listed) {
      if (one.endsMs <= nowMs) {
        this.over.add(one.network);
        continue;
      }
      inForce.push(one.network);
      if (one.endsMs === Infinity) continue;
      this.endOf.set(one.network, one.endsMs);
      this.order.push(one);
      isNew = true;
    }
    if (isNew) this.order.sort((left, right) => right.endsMs - left.endsMs);
    return inForce;
  }

  /** Lines that were taken out of the text; returns those of their networks that were in force until now. */
  remove(networks: readonly string[]): string[] {
    return networks.filter((network) => {
      this.endOf.delete(network);
      return !this.over.delete(network);
    });
  }

  /** Those that end now, once. */
  takeDue(nowMs: number): string[] {
    const due: string[] = [];
    for (let last = this.order.at(-1); last !== undefined && last.endsMs <= nowMs; last = this.order.at(-1)) {
      this.order.pop();
      if (this.endOf.get(last.network) !== last.endsMs) continue; // it was taken out, or ends at another moment
      this.endOf.delete(last.network);
      this.over.add(last.network);
      due.push(last.network);
    }
    return due;
  }

  /** When something ends next; Infinity: never. */
  get nextMs(): number {
    return this.order.at(-1)?.endsMs ?? Infinity;
  }
}
