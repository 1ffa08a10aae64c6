// What the parser hands to the binder: the shape of the text, with places, before any name has a meaning.
import type { Fragment, Token } from '../text/fragment.js';
import type { Span } from '../text/source.js';

export interface SelectorNode {
  readonly kind: 'name' | 'regex' | 'xpath';
  readonly body: Fragment;
}

export interface TargetNode extends Span {
  readonly name: Fragment;
  readonly selector: SelectorNode | null;
  readonly modifier: 'none' | 'count' | 'exclude';
}

export interface OperatorNode extends Span {
  readonly name: Fragment;
  readonly negated: boolean;
  /** True when the text had no `@name`: the whole of it is a regular expression. */
  readonly implicit: boolean;
  readonly argument: Fragment;
}

export interface ActionNode extends Span {
  readonly name: Fragment;
  /** null when the action has no `:value`. */
  readonly value: Fragment | null;
}

export interface RuleNode extends Span {
  readonly kind: 'rule' | 'action'; // SecRule, SecAction
  readonly name: Fragment;
  readonly targets: readonly TargetNode[];
  readonly operator: OperatorNode | null; // null for SecAction
  readonly actions: readonly ActionNode[];
}

export interface DirectiveNode extends Span {
  readonly kind: 'directive';
  readonly name: Fragment;
  /** Lower-case name, for the table. */
  readonly key: string;
  readonly args: readonly Token[];
}

/** A directive that was reported already; kept because a chain must not go on across it. */
export interface DamagedNode extends Span {
  readonly kind: 'damaged';
  /** It looks as if it continues in the next rule; then that one's missing id is no news. */
  readonly chains: boolean;
}

export type Node = RuleNode | DirectiveNode | DamagedNode;
