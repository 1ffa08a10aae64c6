// What the planner may know of an operator beforehand: texts of which one must occur in every value that it holds on.
import type { OperatorIR } from '../program/ir.js';
import { pmPhrases } from './text/pm.js';

/** Operators whose argument must occur in every value that matches. */
const argumentOccurs = new Set(['contains', 'containsWord', 'strmatch', 'streq', 'beginsWith', 'endsWith']);

/**
 * For the planner: every value for which the operator's un-negated answer is yes contains at least one of these
 * literals. A necessary condition, so it may stand in a scan database in front of the operator (compare bytes
 * caselessly where `literalsAreCaseless`). Null = no such list: macros, an argument that matches the empty value, or an
 * operator without literals. `within` has none: any piece of its argument matches.
 */
export function literalsOf(operator: OperatorIR): readonly string[] | null {
  if (operator.template !== null) return null;
  if (operator.name === 'pm' || operator.name === 'pmFromFile') {
    return (operator.phrases ?? (operator.name === 'pm' ? pmPhrases(operator.argument) : [])).filter(
      (phrase) => phrase !== '',
    );
  }
  return argumentOccurs.has(operator.name) && operator.argument !== '' ? [operator.argument] : null;
}

/** Whether the literals of this operator are found whatever the case of their ASCII letters. */
export function literalsAreCaseless(operator: OperatorIR): boolean {
  return operator.name === 'pm' || operator.name === 'pmFromFile';
}
