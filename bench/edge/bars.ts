// Bars of the cases of this folder: a measure, what it has to be, and whether it is. A case whose bars do not all hold
// fails, and with it the run.
import type { BenchContext } from '../context.js';
import { HarnessProblem } from '../processes.js';

/** `most`: no more than that; `exact`: that and nothing else. */
export type Bar = { readonly most: number } | { readonly exact: number };

const holds = (value: number, bar: Bar): boolean =>
  Number.isFinite(value) && ('most' in bar ? value <= bar.most : value === bar.exact);
const show = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(2));

export class Bars {
  private readonly broken: string[] = [];

  constructor(
    private readonly context: BenchContext,
    /** As the case is called. */
    private readonly name: string,
  ) {}

  /** Prints and records a measure with its bar. A measure that is no number is a broken one. */
  check(what: string, unit: string, value: number, bar: Bar): void {
    const wanted = 'most' in bar ? `at most ${show(bar.most)}` : `exactly ${show(bar.exact)}`;
    const text = `${what}: ${show(value)} ${unit}, wanted ${wanted}`;
    const isHeld = holds(value, bar);
    if (!isHeld) this.broken.push(text);
    this.context.progress(`${this.name}: ${isHeld ? 'held  ' : 'BROKEN'} ${text}`);
    this.context.recorder.add(`${this.name} / ${what}`, unit, 'lower', value);
    this.context.recorder.note(`${this.name}: ${isHeld ? 'held' : 'BROKEN'}: ${text}`);
  }

  /** Prints and records a measure without a bar. */
  tell(what: string, unit: string, value: number): void {
    this.context.progress(`${this.name}: told   ${what}: ${show(value)} ${unit}`);
    this.context.recorder.add(`${this.name} / ${what}`, unit, 'none', value);
  }

  /** Throws HarnessProblem that names every bar that was broken. */
  finish(): void {
    if (this.broken.length > 0) throw new HarnessProblem(`bars that do not hold: ${this.broken.join('; ')}`);
  }
}
