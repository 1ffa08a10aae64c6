// So many of one thing at once and within some minutes, of one person and of all together: what is dear to make is
// made for everybody, and not a hundred times for one. Counted by each process for itself.
import { ApiError } from '../problem.js';

export interface CrowdBounds {
  /** In the plural, as in `reports`. */
  readonly what: string;
  /** In the making at the same time. */
  readonly atOnce: { readonly perPerson: number; readonly all: number };
  /** Begun within so many minutes; absent: any number. */
  readonly within?: { readonly minutes: number; readonly perPerson: number; readonly all: number };
}

/** What is told while one more is refused; Retry-After in seconds. */
const refusal = (words: string, seconds: number): ApiError =>
  new ApiError('too_many_requests', `${words} Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`, {
    headers: { 'retry-after': String(seconds) },
  });

/** How long something that is in the making may still take, in seconds. */
const making = 5;

export class Crowd {
  readonly #bounds: CrowdBounds;
  readonly #now: () => number;
  readonly #making = new Map<string, number>();
  #makingAll = 0;
  /** The oldest first; no more than `within.all`. */
  #begun: { readonly person: string; readonly at: number }[] = [];

  /** `now` in milliseconds of any clock that does not go back. */
  constructor(bounds: CrowdBounds, now: () => number = () => performance.now()) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Why this person may not begin one more now; null: they may. */
  refusalFor(person: string): ApiError | null {
    const { what, atOnce, within } = this.#bounds;
    if ((this.#making.get(person) ?? 0) >= atOnce.perPerson)
      return refusal(`${atOnce.perPerson} of your ${what} are in the making, which is the most.`, making);
    if (this.#makingAll >= atOnce.all)
      return refusal(`${atOnce.all} ${what} are in the making, which is the most.`, making);
    if (within === undefined) return null;
    const windowMs = within.minutes * 60_000;
    const now = this.#now();
    this.#begun = this.#begun.filter(({ at }) => at > now - windowMs);
    const secondsOf = ({ at }: { readonly at: number }): number => Math.max(1, Math.ceil((at + windowMs - now) / 1000));
    const own = this.#begun.filter((one) => one.person === person);
    const [oldest] = own;
    if (oldest !== undefined && own.length >= within.perPerson)
      return refusal(`You have made ${within.perPerson} ${what} within ${within.minutes} minutes.`, secondsOf(oldest));
    const [first] = this.#begun;
    if (first !== undefined && this.#begun.length >= within.all)
      return refusal(`${within.all} ${what} were made within ${within.minutes} minutes.`, secondsOf(first));
    return null;
  }

  /** Throws `too_many_requests` with Retry-After, and does nothing then. */
  async within<T>(person: string, work: () => Promise<T>): Promise<T> {
    const refused = this.refusalFor(person);
    if (refused !== null) throw refused;
    this.#making.set(person, (this.#making.get(person) ?? 0) + 1);
    this.#makingAll++;
    if (this.#bounds.within !== undefined) this.#begun.push({ person, at: this.#now() });
    try {
      return await work();
    } finally {
      this.#makingAll--;
      const left = (this.#making.get(person) ?? 1) - 1;
      if (left > 0) this.#making.set(person, left);
      else this.#making.delete(person);
    }
  }
}
