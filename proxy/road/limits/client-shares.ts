// What each client holds of something that all clients of a worker share. An entry lives as long as its client holds
// anything, so that the table is never longer than the requests under way.
export class ClientShares {
  private readonly held = new Map<string, number>();
  /** Of all clients together. */
  total = 0;

  /** Takes (or gives back, below zero) and returns what this client holds then. */
  add(client: string, amount: number): number {
    this.total += amount;
    const held = (this.held.get(client) ?? 0) + amount;
    if (held === 0) this.held.delete(client);
    else this.held.set(client, held);
    return held;
  }

  of(client: string): number {
    return this.held.get(client) ?? 0;
  }

  get clients(): number {
    return this.held.size;
  }
}
