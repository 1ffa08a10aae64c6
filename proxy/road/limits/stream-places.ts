// Places for responses that last: WebSockets and event streams. Each keeps a connection to the upstream for as long as
// its client likes, so a few hundred visitors of a chat would hold all connections that a worker may have, and nobody
// else would be served. They have places of their own instead: a number for the worker, and a quarter of it for one
// client.
import { ClientShares } from './client-shares.js';

const clientShare = 0.25;

export class StreamPlaces {
  private readonly taken = new ClientShares();

  /** False: all `placesMax` are taken, or all that this client may have. What was taken is given back once. */
  take(client: string, placesMax: number): boolean {
    const { taken } = this;
    if (taken.total >= placesMax || taken.of(client) >= Math.ceil(placesMax * clientShare)) return false;
    taken.add(client, 1);
    return true;
  }

  giveBack(client: string): void {
    this.taken.add(client, -1);
  }
}
