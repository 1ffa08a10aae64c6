// Where rules run again after `skip` and `skipAfter`: the compiled engine visits few of a phase's items, so it jumps.
import type { Phase, Program, RuleIR } from '../program/ir.js';
import type { Transaction } from '../transaction/transaction.js';

/** Behind every item. */
const neverAgain = 0x7fffffff;

export class Skips {
  /** Item → where its own skipAfter leads; 0 = not asked yet. An item belongs to one phase. */
  private readonly known: Int32Array;

  constructor(private readonly program: Program) {
    this.known = new Int32Array(program.items.length);
  }

  /** The item at which rules run again after what the rule at `index` said; consumes the skip. */
  take(transaction: Transaction, phase: Phase, index: number): number {
    const { skipAfter, skipRules } = transaction;
    transaction.skipAfter = null;
    transaction.skipRules = 0;
    const rule = this.program.items[index] as RuleIR;
    if (skipAfter === null || skipRules > 0 || rule.skipAfter !== skipAfter)
      return this.find(phase, index, skipAfter, skipRules);
    // Where a rule's own skipAfter leads is always the same.
    const known = this.known[index] as number;
    if (known !== 0) return known;
    const found = this.find(phase, index, skipAfter, 0);
    this.known[index] = found;
    return found;
  }

  private find(phase: Phase, index: number, marker: string | null, count: number): number {
    const list = this.program.phases[phase] as readonly number[];
    let position = list.indexOf(index) + 1;
    let skipAfter = marker;
    let left = count;
    for (; position < list.length; position += 1) {
      const item = this.program.items[list[position] as number];
      if (skipAfter !== null) {
        if (item?.kind === 'marker' ? item.name === skipAfter : String(item?.id) === skipAfter) skipAfter = null;
      } else if (left === 0) break;
      else if (item?.kind === 'rule') left -= 1;
    }
    return position < list.length ? (list[position] as number) : neverAgain;
  }
}
