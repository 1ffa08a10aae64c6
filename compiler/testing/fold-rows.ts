// Small rule lists and what folding makes of each rule: rows for its suites.
import type { Test } from 'tap';
import { foldConstants, type FoldedProgram } from '../passes/fold-constants.js';
import { programOf } from './rule-text.js';

/**
 * For every rule its fate: a reason of FoldReason (a certain gate counts as 'constant setvar': a rule done at load,
 * with nothing to write), 'certain' (it always matches when reached) or 'kept'.
 */
export interface FoldRow {
  readonly name: string;
  readonly rules: string;
  /** Rule id → fate. */
  readonly fates: Readonly<Record<number, string>>;
  readonly tx?: Readonly<Record<string, string>>;
  /** Rule id → constant argument of its head. */
  readonly constants?: Readonly<Record<number, string>>;
}

export const quiet = 'nolog,noauditlog,pass';
export const set = (id: number, writes: string, phase = 1): string =>
  `SecAction "id:${id},phase:${phase},${quiet},${writes}"\n`;
export const hit = (id: number, phase = 1): string => `SecRule ARGS "@rx x" "id:${id},phase:${phase},deny"\n`;
export const gate = (id: number, condition: string, marker = 'END', phase = 1): string =>
  `SecRule ${condition} "id:${id},phase:${phase},${quiet},skipAfter:${marker}"\n`;
export const ask = (id: number, condition: string, phase = 1): string =>
  `SecRule ${condition} "id:${id},phase:${phase},deny"\n`;
export const end = 'SecMarker END\n';

function fatesOf(rules: string): {
  folded: FoldedProgram;
  fate: (id: number) => string;
  idOf: (item: number) => number;
} {
  const program = programOf(`SecRuleEngine On\n${rules}`);
  const folded = foldConstants(program);
  const idOf = (item: number): number => {
    const found = program.items[item];
    return found?.kind === 'rule' ? found.id : 0;
  };
  const fate = (id: number): string => {
    const item = program.items.findIndex((other) => other.kind === 'rule' && other.id === id);
    const active = folded.active.flat().includes(item);
    const reason = folded.folded.get(item) ?? (folded.certain.includes(item) ? 'certain' : 'kept');
    return active === folded.folded.has(item) ? `${reason}, but active: ${String(active)}` : reason;
  };
  return { folded, fate, idOf };
}

export function expectFates(t: Test, rows: readonly FoldRow[]): void {
  for (const { name, rules, fates, tx, constants } of rows) {
    const { folded, fate, idOf } = fatesOf(rules);
    t.same(Object.fromEntries(Object.keys(fates).map((id) => [id, fate(Number(id))])), fates, name);
    if (tx !== undefined) t.same(Object.fromEntries(folded.initialTx), tx, `${name}: TX at load`);
    if (constants !== undefined)
      t.same(
        Object.fromEntries(folded.constantArguments.map(([item, , argument]) => [idOf(item), argument])),
        constants,
        `${name}: constant arguments`,
      );
  }
}
