/** Random choices that are the same for the same seed (Marsaglia's xorshift with 32 bits). */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = (seed * 2_654_435_761) | 0 || 1;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return (this.state >>> 0) % bound;
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  text(letters: string, length: number): string {
    return Array.from({ length }, () => letters[this.below(letters.length)]).join('');
  }
}
