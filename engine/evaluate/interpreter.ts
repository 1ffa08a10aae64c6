// The oracle: every rule of the phase in order, every target, every transformation, every operator, no cleverness.
// Whatever the compiled engine does must be what this does. Read it, with evaluator.ts, as the definition of the rule
// language.
import { phaseIsOver } from '../actions/index.js';
import { RuleEvaluator } from './evaluator.js';
import type { Inspector } from '../transaction/inspector.js';
import type { MarkerIR, Phase, Program, RuleIR } from '../program/ir.js';
import type { RemovalTable } from './removals.js';
import { isRuleRemoved } from './removals.js';
import { createSession } from '../transaction/session.js';
import { Transaction } from '../transaction/transaction.js';

class Interpreter {
  private readonly evaluator: RuleEvaluator;

  constructor(private readonly program: Program) {
    this.evaluator = new RuleEvaluator(program);
  }

  readonly runPhase = (transaction: Transaction, phase: Phase, removals: RemovalTable): void => {
    for (const index of this.program.phases[phase] ?? []) {
      const item = this.program.items[index] as RuleIR | MarkerIR;
      if (transaction.skipAfter !== null) {
        // A missing marker skips to the end of the phase.
        if (item.kind === 'marker' ? item.name === transaction.skipAfter : String(item.id) === transaction.skipAfter)
          transaction.skipAfter = null;
        continue;
      }
      if (item.kind === 'marker') continue;
      if (transaction.skipRules > 0) {
        transaction.skipRules -= 1;
        continue;
      }
      if (transaction.ruleRemovals.length > 0 && isRuleRemoved(transaction, item)) continue;
      this.evaluator.runRule(item, transaction, removals);
      if (phaseIsOver(transaction)) return;
    }
  };
}

/**
 * The plain engine for a program. Throws OperatorArgumentError (or Error) when the program names what the engine does
 * not have; never throws on a request.
 */
export function createInterpreter(program: Program): Inspector {
  return createSession(program, () => new Transaction(), new Interpreter(program).runPhase);
}
