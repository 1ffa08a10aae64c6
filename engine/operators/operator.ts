import type { OperatorIR } from '../program/ir.js';

/** An operator bound to one argument. Values are latin1 strings. Must not throw on any value. */
export interface Matcher {
  /** The un-negated answer; negation is the caller's. */
  readonly matches: (value: string) => boolean;
  /**
   * For operators with captures (rx, rxGlobal, pm, detectSQLi, …): TX:0–9 of the match, or null when it does not match.
   * At most 10 entries; an unset group is the empty string. Absent = the operator never captures.
   */
  readonly capture?: (value: string) => readonly string[] | null;
  /** What is probably wrong with an argument that can be used; the compiler shows it. Absent = nothing. */
  readonly warning?: string;
}

/**
 * Built once per OperatorIR at load (or per distinct expanded argument for macros). Throws `OperatorArgumentError` on a
 * bad argument.
 */
export interface Operator {
  readonly name: string; // canonical, without "@"
  readonly create: (operator: OperatorIR, argument: string) => Matcher;
}

export class OperatorArgumentError extends Error {}
