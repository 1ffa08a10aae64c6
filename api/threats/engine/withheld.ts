// What answers about an object showed to a client that nothing entitled to that object: it counts as shown only once
// the access turns out to be all right. Otherwise a thief would be shown the rest by what it took first. Bounded.
import type { NewTie } from './tie.js';
import { objectKey, type Memory, type ObjectKey } from './memory.js';

export type AccessOutcome = 'theft' | 'fine' | 'ownerless' | 'open';

interface Waiting {
  readonly principal: string;
  readonly via: readonly ObjectKey[];
  readonly ties: NewTie[];
  atMs: number;
}

const waitingMax = 20_000;
const tiesMax = 500;
const outcomesMax = 50_000;

export class Withheld {
  private readonly waiting = new Map<string, Waiting>();
  /** By principal and object: where it waits. */
  private readonly places = new Map<string, string>();
  private readonly outcomes = new Map<string, AccessOutcome>();

  constructor(private readonly memory: Memory) {}

  /** A tie by way of `via`; true: it has to wait. */
  add(tie: NewTie, via: readonly ObjectKey[]): boolean {
    const { principal } = tie;
    if (via.every((key) => this.memory.knows(key, principal))) return false;
    const place = `${principal}\0${via.map(objectKey).join(' ')}`;
    const entry = this.waiting.get(place) ?? { principal, via, ties: [], atMs: tie.atMs };
    this.waiting.set(place, entry);
    entry.atMs = Math.max(entry.atMs, tie.atMs);
    if (entry.ties.length < tiesMax) {
      entry.ties.push(tie);
      this.places.set(`${principal}\0${objectKey(tie)}`, place);
    }
    if (this.waiting.size > waitingMax) for (const [first, oldest] of this.waiting) return this.forget(first, oldest);
    return true;
  }

  private forget(place: string, { principal, ties }: Waiting): true {
    this.waiting.delete(place);
    for (const tie of ties) this.places.delete(`${principal}\0${objectKey(tie)}`);
    return true;
  }

  /** Whether something that showed the object to the principal waits for its access to be judged. */
  holds(key: ObjectKey, principal: string): boolean {
    return this.places.has(`${principal}\0${objectKey(key)}`);
  }

  /** How the access to an object was judged. */
  noteOutcome(objects: readonly ObjectKey[], principal: string, outcome: AccessOutcome): void {
    for (const key of objects) {
      const name = `${principal}\0${objectKey(key)}`;
      this.outcomes.delete(name);
      this.outcomes.set(name, outcome);
    }
    while (this.outcomes.size > outcomesMax)
      for (const first of this.outcomes.keys()) if (this.outcomes.delete(first)) break;
  }

  /** Ties that turned out to be all right; those of thefts are forgotten. */
  settle(untilMs: number): NewTie[] {
    const granted: NewTie[] = [];
    for (const [place, entry] of this.waiting) {
      if (entry.atMs > untilMs) continue;
      const outcomes = entry.via.map((key) => this.outcomeOf(key, entry.principal));
      if (outcomes.includes('open')) continue;
      if (!outcomes.includes('theft')) granted.push(...entry.ties);
      this.forget(place, entry);
    }
    return granted;
  }

  private outcomeOf(key: ObjectKey, principal: string): AccessOutcome {
    if (this.memory.knows(key, principal)) return 'fine';
    const outcome = this.outcomes.get(`${principal}\0${objectKey(key)}`) ?? 'ownerless';
    if (outcome !== 'ownerless') return outcome;
    return this.memory.isLikelyOwn(key, principal) ? 'fine' : 'theft';
  }
}
