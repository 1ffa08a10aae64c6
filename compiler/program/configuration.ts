// What the directives fill while a configuration is read, before it becomes a Program.
import { defaultEngineSettings, type EngineSettings, type Phase, type TargetIR } from '#engine/compile';
import type { ActionNode } from '../tree/ast.js';
import type { ActionSet, BoundMarker, BoundRule } from './bound-rule.js';
import type { Span } from '../text/source.js';

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Which rules an update or removal means. */
export type RuleSelection =
  | { readonly kind: 'id'; readonly ranges: readonly (readonly [number, number])[] }
  | { readonly kind: 'tag' | 'msg'; readonly pattern: string; readonly matches: (text: string) => boolean };

export interface TargetUpdate {
  readonly selection: RuleSelection;
  readonly additions: readonly TargetIR[];
  readonly exclusions: readonly TargetIR[];
  /** Targets to take away first (third argument of SecRuleUpdateTarget…). */
  readonly replaced: readonly TargetIR[];
  readonly at: Span;
}
export interface ActionUpdate {
  readonly ids: readonly (readonly [number, number])[];
  readonly link: number; // 0 = the head of the chain
  readonly actions: readonly ActionNode[];
  readonly at: Span;
}
export interface Removal {
  readonly selection: RuleSelection;
  readonly at: Span;
}

export interface Configuration {
  readonly settings: Writable<EngineSettings>;
  readonly items: (BoundRule | BoundMarker)[];
  /** SecDefaultAction by phase. */
  readonly defaults: Map<Phase, ActionSet>;
  readonly targetUpdates: TargetUpdate[];
  readonly actionUpdates: ActionUpdate[];
  readonly removals: Removal[];
}

export function createConfiguration(): Configuration {
  return {
    settings: { ...defaultEngineSettings },
    items: [],
    defaults: new Map(),
    targetUpdates: [],
    actionUpdates: [],
    removals: [],
  };
}
