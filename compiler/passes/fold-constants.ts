// Constant folding. The paranoia level, thresholds and switches of an artifact are TX variables set once at the top of
// phase 1; nearly two hundred rules only ask for them. This pass runs the rule list abstractly (TxState), phase by
// phase, and finds (a) items that can never match or are always skipped, (b) items that always match, (c) operator
// arguments whose macros are constants, (d) SecActions that only set constants and can be done once, at load.
//
// Safety. Every "never" and "always" holds on every road through the list: roads meet at markers by `join`, a rule that
// may be skipped or removed at run time (ctl:ruleRemove…) only ever makes knowledge weaker. A region skipped by a gate
// that some ctl may remove stays dead only where the same ctl removes the region's rule too. The oracle suite runs the
// whole program and must agree.
import {
  givenVariables,
  limits,
  namesRule,
  seesEarlierRules,
  transformationContext,
  type ActionIR,
  policyVariable,
  type ControlIR,
  type FoldedIR,
  type LinkIR,
  type Program,
  type RuleIR,
} from '#engine/compile';
import { answerTarget, constantText, matchesOnce, nextValue, writesOwnArgument, type Answer } from './answers.js';
import { settleHoists, type Write } from './hoist.js';
import { TxState, UNKNOWN, type Known } from './tx-state.js';

type Removal = Extract<ControlIR, { kind: `ruleRemove${string}` }>;

export interface FoldedProgram extends FoldedIR {
  /** For the report: item → why it is gone. */
  readonly folded: ReadonlyMap<number, FoldReason>;
}
export type FoldReason = 'never matches' | 'always skipped' | 'constant setvar' | 'skips nothing';

/**
 * What is known of TX.gatehouse_policy at the beginning: its value, null = it is not set, UNKNOWN = anything. A program
 * that does not ask for it is folded alike whatever is assumed.
 */
export type AssumedPolicy = Known | null;

/** Folds a program. Pure; cost is linear in the rule list times the number of joins. */
export function foldConstants(program: Program, policy: AssumedPolicy = UNKNOWN): FoldedProgram {
  return new Folder(program).run(policy);
}

/** The program folded for each of its policies, and for requests that name none; [] where it does not ask for one. */
export function foldPolicies(program: Program): { readonly key: string | null; readonly folded: FoldedProgram }[] {
  const keys = policyKeysOf(program);
  return keys.length === 0 ? [] : [null, ...keys].map((key) => ({ key, folded: foldConstants(program, key) }));
}

/** What TX.gatehouse_policy is compared with by name (compiler/policy/site-policies.ts writes such rules). */
function policyKeysOf(program: Program): string[] {
  const keys = new Set<string>();
  for (const item of program.items) {
    if (item.kind !== 'rule') continue;
    for (const { targets, operator } of item.links)
      if (
        operator?.name === 'streq' &&
        targets.some(({ selector }) => selector?.kind === 'name' && selector.name.toLowerCase() === policyVariable)
      )
        keys.add(operator.argument);
  }
  return [...keys];
}

class Folder {
  private readonly removals: { readonly control: Removal; readonly names: (rule: RuleIR) => boolean }[] = [];
  private readonly removalIds = new Map<Removal, number>();
  /** Joined states at rules that may end a phase early. */
  private exits: TxState | null = null;
  /** …and at those among them that let a later phase run (allow:phase, allow:request). */
  private allowances: TxState | null = null;
  private readonly dead = new Map<number, 'never matches' | 'always skipped'>();
  private readonly certain = new Set<number>();
  private readonly constants = new Map<string, readonly [number, number, string]>();
  /** Items that could be done at load: their writes in order. */
  private readonly hoistable = new Map<number, readonly Write[]>();
  private terminated = false;
  /** Some rule looks at what another matched: then no match may vanish, even one without any other effect. */
  private readonly matchesAreSeen: boolean;
  private readonly unicodeMap: ReadonlyMap<number, number> | null;

  constructor(private readonly program: Program) {
    this.matchesAreSeen = seesEarlierRules(program);
    this.unicodeMap = transformationContext(program).unicodeMap;
  }

  run(policy: AssumedPolicy): FoldedProgram {
    let state = new TxState(new Map(givenVariables.map((name) => [name, UNKNOWN])));
    state.write(policyVariable, policy);
    let finished: TxState | null = null;
    for (let phase = 1; phase <= 5; phase += 1) {
      // Phase 5 also follows any earlier phase directly (an interruption, or a caller that needed no more).
      for (const other of phase === 5 ? [finished, this.exits] : [this.allowances])
        if (other !== null) state = state.join(other);
      state = this.runPhase(phase, state);
      finished = finished === null ? state : finished.join(state);
    }
    const hoisted = settleHoists(this.program, this.hoistable, new Set(this.dead.keys()));
    const folded = new Map<number, FoldReason>(this.dead);
    for (const index of hoisted.items) folded.set(index, 'constant setvar');
    if (!this.matchesAreSeen) for (const list of this.program.phases) dropIdleGates(this.program, list, folded);
    return {
      active: this.program.phases.map((list) =>
        list.filter((index) => this.program.items[index]?.kind === 'rule' && !folded.has(index)),
      ),
      certain: [...this.certain].filter((index) => !folded.has(index)).sort((a, b) => a - b),
      initialTx: [...hoisted.tx],
      constantArguments: [...this.constants.values()].filter(([item]) => !folded.has(item)),
      folded,
    };
  }

  private runPhase(phase: number, entry: TxState): TxState {
    const list = this.program.phases[phase] ?? [];
    const atMarker = new Map<string, TxState[]>();
    const atPosition = new Map<number, TxState[]>();
    let state: TxState | null = entry;
    /** Inside a region whose gate always skips but may itself be removed: the removals that would open it. */
    let openers: readonly ((rule: RuleIR) => boolean)[] | null = null;
    /** Jumps that have not landed: what lies under them may be skipped. */
    const pending = new Set<TxState[]>();
    const arrive = (states: TxState[] | undefined): void => {
      if (states === undefined || states.length === 0) return;
      for (const other of states) state = state === null ? other : state.join(other);
      pending.delete(states);
      openers = null;
    };
    const visit = (item: RuleIR, position: number): void => {
      const guard: readonly ((rule: RuleIR) => boolean)[] | null = openers;
      if (state === null || (guard !== null && guard.every((names) => names(item)))) {
        this.dead.set(item.index, 'always skipped');
        return;
      }
      const before: TxState = state;
      const step = this.runRule(item, before, guard === null && pending.size === 0);
      if (step.answer === 'never') return;
      state = step.after;
      const leaves: TxState[] | null = jump(item, position, list, this.program, atMarker, atPosition);
      if (leaves === null) return;
      leaves.push(step.after.clone());
      pending.add(leaves);
      if (step.answer === 'always') {
        const mayOpen = this.ruleRemovals(before).filter((names) => names(item));
        if (mayOpen.length === 0) state = null;
        else openers = mayOpen;
      }
    };
    for (let position = 0; position < list.length; position += 1) {
      const item = this.program.items[list[position] as number];
      arrive(atPosition.get(position));
      if (item?.kind === 'marker') arrive(atMarker.get(item.name));
      else if (item !== undefined) {
        visit(item, position);
        // skipAfter may also name a rule: whoever skips to it goes on behind it.
        arrive(atMarker.get(String(item.id)));
      }
    }
    for (const states of [...atMarker.values(), ...atPosition.values()])
      for (const other of states) state = state === null ? other : state.join(other);
    return state ?? entry;
  }

  /**
   * One rule: whether its chain matches, and the state after it (joined with the state before unless it always
   * matches).
   */
  private runRule(rule: RuleIR, before: TxState, reachable: boolean): { answer: Answer; after: TxState } {
    let state = before.clone();
    let after = before.clone();
    let answer: Answer = 'always';
    const writes: Write[] = [];
    let pure =
      rule.disruptive.kind === 'pass' && !rule.log && !rule.auditlog && rule.severity === null && !this.matchesAreSeen;
    let impossibleAt = 0;
    for (let position = 0; position < rule.links.length; position += 1) {
      const link = rule.links[position] as LinkIR;
      const linkAnswer = this.answerLink(rule, position, link, state);
      if (linkAnswer === 'never') {
        answer = 'never';
        impossibleAt = position;
        break;
      }
      if (linkAnswer === 'maybe') answer = 'maybe';
      pure = this.applyActions(link, state, writes) && pure;
      if (!matchesOnce(link)) {
        pure = false;
        state = this.applyAgain(link, state);
      }
      after = after.join(state);
    }
    const removable = this.ruleRemovals(before).some((names) => names(rule));
    // A removed TX target leaves a gate without the value that it was sure of.
    if (answer === 'always' && this.txTargetRemovals(before).some((names) => names(rule))) answer = 'maybe';
    if (answer === 'never') {
      // Links before the impossible one may still act.
      if (!this.hasEffects(rule) && (impossibleAt === 0 || !this.matchesAreSeen)) {
        this.dead.set(rule.index, 'never matches');
        return { answer: 'never', after };
      }
      return { answer: 'maybe', after };
    }
    if (rule.disruptive.kind !== 'pass') {
      this.terminated = true;
      this.exits = this.exits === null ? after : this.exits.join(after);
      if (rule.disruptive.kind === 'allow')
        this.allowances = this.allowances === null ? after : this.allowances.join(after);
    }
    if (answer === 'always') this.certain.add(rule.index);
    if (answer === 'always' && !removable && reachable) {
      if (pure && rule.phase === 1 && !this.terminated) this.hoistable.set(rule.index, writes);
      return { answer, after: state };
    }
    return { answer, after };
  }

  /** What run-time removals of whole rules may be in force. */
  private ruleRemovals(state: TxState): ((rule: RuleIR) => boolean)[] {
    return [...state.removals]
      .map((id) => this.removals[id] as (typeof this.removals)[number])
      .filter(({ control }) => !('target' in control))
      .map(({ names }) => names);
  }

  private txTargetRemovals(state: TxState): ((rule: RuleIR) => boolean)[] {
    return [...state.removals]
      .map((id) => this.removals[id] as (typeof this.removals)[number])
      .filter(({ control }) => 'target' in control && control.target.variable === 'TX')
      .map(({ names }) => names);
  }

  private hasEffects(rule: RuleIR): boolean {
    return rule.links.slice(0, -1).some((link) => link.actions.length > 0 || link.capture);
  }

  private answerLink(rule: RuleIR, position: number, link: LinkIR, state: TxState): Answer {
    if (link.operator === null) return 'always';
    const argument =
      constantText(link.operator.template, state) ?? (link.operator.template === null ? link.operator.argument : null);
    const key = `${rule.index}/${position}`;
    if (link.operator.template !== null && argument !== null && !writesOwnArgument(link))
      this.constants.set(key, [rule.index, position, argument]);
    if (link.exclusions.length > 0 || link.targets.length === 0) return 'maybe';
    let answer: Answer = 'never';
    for (const target of link.targets) {
      const one = answerTarget(target, link, argument, state, this.unicodeMap);
      if (one === 'always') answer = answer === 'maybe' ? 'maybe' : 'always';
      if (one === 'maybe') answer = 'maybe';
    }
    if (
      answer === 'maybe' &&
      link.targets.some((target) => answerTarget(target, link, argument, state, this.unicodeMap) === 'always')
    )
      return 'always';
    return answer;
  }

  /** Runs a link's actions on the state; returns whether they are nothing but constant writes to TX. */
  private applyActions(link: LinkIR, state: TxState, writes: Write[]): boolean {
    let pure = !link.capture;
    for (const action of link.actions) pure = this.applyAction(action, state, writes) && pure;
    return pure;
  }

  /** setvar runs for every value that matches: what holds however often that was. */
  private applyAgain(link: LinkIR, once: TxState): TxState {
    for (let state = once; ; ) {
      const again = state.clone();
      this.applyActions(link, again, []);
      const joined = state.join(again);
      if (joined.equals(state)) return state;
      state = joined;
    }
  }

  private applyAction(action: ActionIR, state: TxState, writes: Write[]): boolean {
    if (action.kind === 'ctl') {
      const { control } = action;
      if (control.kind === 'ruleEngine') this.terminated = true;
      if (control.kind.startsWith('ruleRemove')) state.removals.add(this.removalId(control as Removal));
      return false;
    }
    if (action.kind !== 'setvar' || action.collection !== 'TX') return false;
    const key = constantText(action.key, state);
    if (key === null) {
      const first = action.key[0];
      state.writeDynamic(typeof first === 'string' ? first.toLowerCase() : '');
      return false;
    }
    if (key === '') return true; // a name that macros left empty is ignored at run time
    const name = key.slice(0, limits.variableNameMax).toLowerCase();
    const value = nextValue(action.operation, state.read(name), constantText(action.value, state));
    state.write(name, value);
    if (value === UNKNOWN) return false;
    writes.push({ key: name, value });
    return true;
  }

  private removalId(control: Removal): number {
    let id = this.removalIds.get(control);
    if (id === undefined) {
      id = this.removals.push({ control, names: namesRule(control) }) - 1;
      this.removalIds.set(control, id);
    }
    return id;
  }
}

/** Gates that only skip, and whose region has nothing left to skip, are done for as well. */
function dropIdleGates(program: Program, list: readonly number[], folded: Map<number, FoldReason>): void {
  for (let position = list.length - 1; position >= 0; position -= 1) {
    const item = program.items[list[position] as number];
    if (item?.kind !== 'rule' || folded.has(item.index) || (item.skipAfter === null && item.skip === 0)) continue;
    const acts =
      item.log ||
      item.auditlog ||
      item.disruptive.kind !== 'pass' ||
      item.severity !== null ||
      item.links.some((link) => link.actions.length > 0 || link.capture);
    if (acts) continue;
    let left = item.skipAfter === null ? item.skip : Number.POSITIVE_INFINITY;
    let isIdle = true;
    for (let next = position + 1; next < list.length && left > 0 && isIdle; next += 1) {
      const other = program.items[list[next] as number];
      if (other?.kind === 'marker') {
        if (other.name === item.skipAfter) break;
        continue;
      }
      left -= 1;
      if (other !== undefined && !folded.has(other.index)) isIdle = false;
      if (String(other?.id) === item.skipAfter) break;
    }
    if (isIdle) folded.set(item.index, 'skips nothing');
  }
}

/** Where a match of `rule` continues: the list of states to join there, or null when it just goes on. */
function jump(
  rule: RuleIR,
  position: number,
  list: readonly number[],
  program: Program,
  atMarker: Map<string, TxState[]>,
  atPosition: Map<number, TxState[]>,
): TxState[] | null {
  if (rule.skipAfter !== null) {
    const states = atMarker.get(rule.skipAfter) ?? [];
    atMarker.set(rule.skipAfter, states);
    return states;
  }
  if (rule.skip > 0) {
    let left = rule.skip;
    let next = position + 1;
    while (next < list.length && left > 0) {
      if (program.items[list[next] as number]?.kind === 'rule') left -= 1;
      next += 1;
    }
    const states = atPosition.get(next) ?? [];
    atPosition.set(next, states);
    return states;
  }
  return null;
}
