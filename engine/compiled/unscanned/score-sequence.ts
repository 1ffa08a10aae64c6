// Rules in a row that only add scores up (CRS 949xxx, 959xxx, 980xxx): their outcome is a function of the TX variables
// that they read, and is repeated while those are the same.
import { variableName } from '../../actions/setvar.js';
import type { RemovalTable } from '../../evaluate/removals.js';
import type { RuleIR, Template } from '../../program/ir.js';
import type { Transaction } from '../../transaction/transaction.js';
import { runActions } from './actions-only.js';
import type { QuickCheck } from './quick-check.js';

/** What decides whether a rule may be part of a sequence. */
interface Visited {
  readonly rule: RuleIR;
  readonly check: QuickCheck | null;
  readonly isActionsOnly: boolean;
}

/** Certain rules in a row that only compute in TX: a function of the TX variables that they read. */
export class ScoreSequence {
  private readonly values: (string | undefined)[];
  private readonly results: string[];
  private isKnown = false;

  constructor(
    private readonly rules: readonly RuleIR[],
    /** TX variables whose value at the beginning matters. */
    private readonly reads: readonly string[],
    private readonly writes: readonly string[],
  ) {
    this.values = reads.map(() => undefined);
    this.results = writes.map(() => '');
  }

  get length(): number {
    return this.rules.length;
  }

  get lastItem(): number {
    return (this.rules[this.rules.length - 1] as RuleIR).index;
  }

  run(transaction: Transaction, removals: RemovalTable): void {
    const { tx } = transaction;
    const { reads, values, writes, results } = this;
    let isKnown = this.isKnown;
    for (let index = 0; index < reads.length; index += 1) {
      const value = tx.get(reads[index] as string);
      if (value === values[index]) continue;
      values[index] = value;
      isKnown = false;
    }
    if (isKnown) {
      for (let index = 0; index < writes.length; index += 1) tx.set(writes[index] as string, results[index] as string);
      transaction.rule = this.rules[this.rules.length - 1] as RuleIR;
      return;
    }
    for (const rule of this.rules) runActions(rule, transaction, removals);
    for (let index = 0; index < writes.length; index += 1) results[index] = tx.get(writes[index] as string) as string;
    this.isKnown = true;
  }
}

/** By position: the sequence that begins there. */
export function findSequences(list: readonly Visited[]): (ScoreSequence | null)[] {
  const found: (ScoreSequence | null)[] = list.map(() => null);
  for (let first = 0; first < list.length; first += 1) {
    let end = first;
    while (end < list.length && computesOnly(list[end] as Visited)) end += 1;
    if (end - first < 2) continue;
    found[first] = createSequence(list.slice(first, end).map(({ rule }) => rule));
    first = end - 1;
  }
  return found;
}

function computesOnly({ rule, check, isActionsOnly }: Visited): boolean {
  if (!isActionsOnly || check !== null || rule.severity !== null || rule.skip > 0 || rule.skipAfter !== null)
    return false;
  return rule.links.every((link) =>
    link.actions.every(
      (action) =>
        action.kind === 'setvar' &&
        action.collection === 'TX' &&
        action.operation !== 'unset' &&
        isLiteral(action.key) &&
        action.value.every((part) => typeof part === 'string' || (part.key !== null && !part.key.startsWith('/'))),
    ),
  );
}

function isLiteral(template: Template): boolean {
  return template.length === 1 && typeof template[0] === 'string' && template[0] !== '';
}

function createSequence(rules: readonly RuleIR[]): ScoreSequence {
  const reads = new Set<string>();
  const writes = new Set<string>();
  const read = (name: string): void => {
    if (!writes.has(name)) reads.add(name);
  };
  // In the order in which they run; a name that was written before it is read is no input.
  for (const { links } of rules) {
    for (const action of links.flatMap((link) => link.actions)) {
      if (action.kind !== 'setvar') continue;
      const name = variableName(action.key, noTransaction);
      for (const part of action.value) if (typeof part !== 'string') read(part.key as string);
      if (action.operation !== 'set') read(name);
      writes.add(name);
    }
  }
  return new ScoreSequence(rules, [...reads], [...writes]);
}
/** A literal name is read without one. */
const noTransaction = null as unknown as Transaction;
