// Measures on principals, main's side: of several on one principal the strongest holds; beyond `principalMeasuresMax`
// the rest waits until others end.
import { measureActions, type MeasureAction } from '../../shared-state/measure-line.js';
import { principalMeasuresMax, type PrincipalChange } from '../../shared-state/measure-tables.js';

export interface OnPrincipal {
  /** `kind:id` (features/principals.ts). */
  readonly subject: string;
  readonly action: MeasureAction;
}

export class PrincipalList {
  private readonly actionsOn = new Map<string, MeasureAction[]>();
  private readonly waiting = new Set<string>();
  /** What workers have. */
  readonly inForce = new Map<string, MeasureAction>();

  constructor(private readonly max = principalMeasuresMax) {}

  /** Principals that wait for a place. */
  get leftOut(): number {
    return this.waiting.size;
  }

  count(action: MeasureAction): number {
    let count = 0;
    for (const one of this.inForce.values()) if (one === action) count += 1;
    return count;
  }

  /** Takes out and puts in; returns the changes for workers. */
  change(come: readonly OnPrincipal[], gone: readonly OnPrincipal[]): PrincipalChange {
    const touched = new Set<string>();
    for (const { subject, action } of gone) {
      const left = (this.actionsOn.get(subject) ?? []).filter((one) => one !== action);
      if (left.length === 0) this.actionsOn.delete(subject);
      else this.actionsOn.set(subject, left);
      touched.add(subject);
    }
    for (const { subject, action } of come) {
      const known = this.actionsOn.get(subject) ?? [];
      if (!known.includes(action)) this.actionsOn.set(subject, [...known, action]);
      touched.add(subject);
    }
    const change = { set: [] as (readonly [string, MeasureAction])[], gone: [] as string[] };
    for (const subject of touched) this.settle(subject, change);
    while (this.inForce.size < this.max && this.waiting.size > 0) {
      const [next] = this.waiting;
      this.settle(next as string, change);
    }
    return change;
  }

  private settle(subject: string, change: { set: (readonly [string, MeasureAction])[]; gone: string[] }): void {
    const actions = this.actionsOn.get(subject) ?? [];
    const strongest = measureActions.find((one) => actions.includes(one));
    const before = this.inForce.get(subject);
    this.waiting.delete(subject);
    if (strongest === undefined) {
      if (this.inForce.delete(subject)) change.gone.push(subject);
    } else if (before === undefined && this.inForce.size >= this.max) this.waiting.add(subject);
    else if (strongest !== before) {
      this.inForce.set(subject, strongest);
      change.set.push([subject, strongest]);
    }
  }
}
