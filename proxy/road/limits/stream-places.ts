// Places for responses that last: WebSockets and event streams. Each keeps a connection to the upstream for as long as
// its client likes, so a few hundred visitors of a chat would hold all connections that a worker may have, and nobody
// else would be served. They have places of their own instead: a number for the worker, and a quarter of it for one
// client.
import { ActiveList, type ActiveMember } from '../../worker/active-list.js';
import { ClientShares } from './client-shares.js';

const clientShare = 0.25;

/** A WebSocket or event stream that is open. */
export interface OpenStream extends ActiveMember {
  /** Of its client, as the gates have it. */
  readonly address: string;
  /** The gates keep its client out by now; where they do not hold, it goes on. */
  clientDenied(): void;
  /** The node ends: whoever can be told so is. */
  goAway(): void;
}

export class StreamPlaces {
  readonly open = new ActiveList<OpenStream>();
  isLeaving = false;
  private readonly taken = new ClientShares();

  /** False: all `placesMax` are taken, or all that this client may have. What was taken is given back once. */
  take(client: string, placesMax: number): boolean {
    const { taken } = this;
    if (taken.total >= placesMax || taken.of(client) >= Math.ceil(placesMax * clientShare)) return false;
    taken.add(client, 1);
    return true;
  }

  /** Gates are asked as a stream begins, and it may last for days: clients that are denied meanwhile are found here. */
  endDenied(isDenied: (address: string) => boolean): void {
    if (this.open.size === 0) return;
    for (const stream of this.open.all()) if (isDenied(stream.address)) stream.clientDenied();
  }

  /** From now on, those that are open and those that open. */
  goAway(): void {
    this.isLeaving = true;
    for (const stream of this.open.all()) stream.goAway();
  }

  giveBack(client: string): void {
    this.taken.add(client, -1);
  }
}
