import type { DirectiveNode } from '../../tree/ast.js';
import type { BindContext } from '../bound-rule.js';
import type { Configuration } from '../configuration.js';

/** A directive other than SecRule, SecAction and Include. */
export interface Directive {
  /** As written in the reference; compared without regard to case. */
  readonly name: string;
  readonly argsMin: number;
  readonly argsMax: number;
  readonly apply: (node: DirectiveNode, configuration: Configuration, context: BindContext) => void;
}

/** The text of an argument; '' when it is absent (argsMin guards the rest). */
export function argument(node: DirectiveNode, index: number): string {
  return node.args[index]?.text ?? '';
}
