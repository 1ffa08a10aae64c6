// Rules of a few words with what must come of them: cases of the rule language.
import type { Test } from 'tap';
import { createInterpreter } from '../evaluate/interpreter.js';
import type { EngineSettings, MacroRef, MarkerIR, RuleIR } from '../program/ir.js';
import { exchange, type Exchange, operator, program, target } from './program.js';

export const tx = (key: string): MacroRef => ({ variable: 'TX', key });
export const macro = (variable: string, key: string | null = null): MacroRef => ({ variable, key });
export const args = target('ARGS');
export const deny = { kind: 'deny', status: 403 } as const;
export const any = operator('unconditionalMatch');

export interface RuleCase {
  readonly what: string;
  readonly items: readonly (RuleIR | MarkerIR)[];
  readonly request?: Exchange;
  readonly settings?: Partial<EngineSettings>;
  readonly matched: readonly number[];
  readonly tx?: Readonly<Record<string, string | undefined>>;
  readonly verdict?: 'pass' | 'flag' | 'block';
  readonly status?: number | null;
}
/** Two arguments. */
export const two = { uri: '/?a=one&b=two' };

/** One subtest a case, on the interpreter. */
export function runCases(t: Test, cases: readonly RuleCase[]): void {
  for (const { what, items, request, settings, matched, tx: expected, verdict, status } of cases)
    t.test(what, (t) => {
      const result = exchange(createInterpreter(program(items, settings)), request);
      t.same(result.matched, matched);
      for (const [name, value] of Object.entries(expected ?? {}))
        t.equal(result.transaction.tx.get(name), value, `TX:${name}`);
      if (verdict !== undefined) t.equal(result.verdict.kind, verdict);
      if (status !== undefined) t.equal(result.verdict.interruption?.status ?? null, status);
      t.end();
    });
}
