// Constant folding. The paranoia level, thresholds and switches of an artifact are TX variables set once at the top of
// phase 1; nearly two hundred rules only ask for them. This pass runs the rule list abstractly (TxState), phase by
// phase, and finds (a) items that can never match or are always skipped, (b) items that always match, (c) operator
// arguments whose macros are constants, (d) SecActions that only set constants and can be done once, at load.
//
// Safety. Every "never" and "always" holds on every road through the list: roads meet at markers by `join`, a rule that
// may be skipped or removed at run time (ctl:ruleRemove…) only ever makes knowledge weaker. A region skipped by a gate
// that some ctl may remove stays dead only where the same ctl removes the region's rule too. The oracle suite runs the
// whole program and must agree.
import { createMatcher } from '#engine/operators/index';
import { namesRule } from '#engine/removals';
import { transformations } from '#engine/transformations/index';
import type { ActionIR, ControlIR, LinkIR, OperatorIR, Program, RuleIR, TargetIR, Template } from '#engine/ir';
import { TxState, UNKNOWN, type Known } from './tx-state.js';

type Removal = Extract<ControlIR, { kind: `ruleRemove${string}` }>;
type Answer = 'always' | 'never' | 'maybe';

export interface FoldedProgram {
  /** Items left to run per phase; [0] unused. */
  readonly active: readonly (readonly number[])[];
  readonly certain: readonly number[];
  readonly initialTx: readonly (readonly [string, string])[];
  readonly constantArguments: readonly (readonly [number, number, string])[];
  /** For the report: item → why it is gone. */
  readonly folded: ReadonlyMap<number, FoldReason>;
}
export type FoldReason = 'never matches' | 'always skipped' | 'constant setvar' | 'skips nothing';

/** Folds a program. Pure; cost is linear in the rule list times the number of joins. */
export function foldConstants(program: Program): FoldedProgram {
  return new Folder(program).run();
}

interface Write {
  readonly key: string;
  readonly value: string | null;
}

class Folder {
  private readonly removals: { readonly control: Removal; readonly names: (rule: RuleIR) => boolean }[] = [];
  /** Joined states at rules that may end a phase early. */
  private exits: TxState | null = null;
  private readonly dead = new Map<number, 'never matches' | 'always skipped'>();
  private readonly certain = new Set<number>();
  private readonly constants = new Map<string, readonly [number, number, string]>();
  /** Items that could be done at load: their writes in order. */
  private readonly hoistable = new Map<number, readonly Write[]>();
  private terminated = false;

  constructor(private readonly program: Program) {}

  run(): FoldedProgram {
    let state = new TxState();
    let finished: TxState | null = null;
    for (let phase = 1; phase <= 5; phase += 1) {
      // Phase 5 also follows any earlier phase directly (an interruption, or a caller that needed no more).
      if (phase === 5) for (const other of [finished, this.exits]) if (other !== null) state = state.join(other);
      state = this.runPhase(phase, state);
      finished = finished === null ? state : finished.join(state);
    }
    const hoisted = this.settleHoists();
    const folded = new Map<number, FoldReason>(this.dead);
    for (const index of hoisted.items) folded.set(index, 'constant setvar');
    for (const list of this.program.phases) dropIdleGates(this.program, list, folded);
    return {
      active: this.program.phases.map((list) => list.filter((index) => this.program.items[index]?.kind === 'rule' && !folded.has(index))),
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
    const arrive = (states: TxState[] | undefined): void => {
      for (const other of states ?? []) state = state === null ? other : state.join(other);
      if (states !== undefined && states.length > 0) openers = null;
    };
    for (let position = 0; position < list.length; position += 1) {
      const index = list[position] as number;
      const item = this.program.items[index];
      arrive(atPosition.get(position));
      if (item === undefined) continue;
      if (item.kind === 'marker') {
        arrive(atMarker.get(item.name));
        continue;
      }
      const guard: readonly ((rule: RuleIR) => boolean)[] | null = openers;
      if (state === null || (guard !== null && guard.every((names) => names(item)))) {
        this.dead.set(index, 'always skipped');
        continue;
      }
      const before: TxState = state;
      const step = this.runRule(item, before, guard === null);
      if (step.answer === 'never') continue;
      state = step.after;
      const leaves: TxState[] | null = jump(item, position, list, this.program, atMarker, atPosition);
      if (leaves !== null) {
        leaves.push(step.after.clone());
        if (step.answer === 'always') {
          const mayOpen = this.ruleRemovals(before).filter((names) => names(item));
          if (mayOpen.length === 0) state = null;
          else openers = mayOpen;
        }
      }
      arrive(item.skipAfter === null ? atMarker.get(String(item.id)) : undefined);
    }
    for (const states of [...atMarker.values(), ...atPosition.values()]) for (const other of states) state = state === null ? other : state.join(other);
    return state ?? entry;
  }

  /** One rule: whether its chain matches, and the state after it (joined with the state before unless it always matches). */
  private runRule(rule: RuleIR, before: TxState, reachable: boolean): { answer: Answer; after: TxState } {
    let state = before.clone();
    let after = before.clone();
    let answer: Answer = 'always';
    const writes: Write[] = [];
    let pure = rule.disruptive.kind === 'pass' && !rule.log && !rule.auditlog;
    for (let position = 0; position < rule.links.length; position += 1) {
      const link = rule.links[position] as LinkIR;
      const linkAnswer = this.answerLink(rule, position, link, state);
      if (linkAnswer === 'never') {
        answer = 'never';
        break;
      }
      if (linkAnswer === 'maybe') answer = 'maybe';
      pure = this.applyActions(link, state, writes) && pure;
      after = after.join(state);
    }
    const removable = this.ruleRemovals(before).some((names) => names(rule));
    // A removed TX target leaves a gate without the value that it was sure of.
    if (answer === 'always' && this.txTargetRemovals(before).some((names) => names(rule))) answer = 'maybe';
    if (answer === 'never') {
      // Links before the impossible one may still act.
      if (!this.hasEffects(rule)) {
        this.dead.set(rule.index, 'never matches');
        return { answer: 'never', after };
      }
      return { answer: 'maybe', after };
    }
    if (rule.disruptive.kind !== 'pass') {
      this.terminated = true;
      this.exits = this.exits === null ? after : this.exits.join(after);
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
    return [...state.removals].map((id) => this.removals[id] as (typeof this.removals)[number]).filter(({ control }) => !('target' in control)).map(({ names }) => names);
  }

  private txTargetRemovals(state: TxState): ((rule: RuleIR) => boolean)[] {
    return [...state.removals].map((id) => this.removals[id] as (typeof this.removals)[number]).filter(({ control }) => 'target' in control && control.target.variable === 'TX').map(({ names }) => names);
  }

  private hasEffects(rule: RuleIR): boolean {
    return rule.links.slice(0, -1).some((link) => link.actions.length > 0 || link.capture);
  }

  private answerLink(rule: RuleIR, position: number, link: LinkIR, state: TxState): Answer {
    if (link.operator === null) return 'always';
    const argument = constantText(link.operator.template, state) ?? (link.operator.template === null ? link.operator.argument : null);
    const key = `${rule.index}/${position}`;
    if (link.operator.template !== null && argument !== null) this.constants.set(key, [rule.index, position, argument]);
    if (link.exclusions.length > 0 || link.targets.length === 0) return 'maybe';
    let answer: Answer = 'never';
    for (const target of link.targets) {
      const one = answerTarget(target, link, argument, state);
      if (one === 'always') answer = answer === 'maybe' ? 'maybe' : 'always';
      if (one === 'maybe') answer = 'maybe';
    }
    if (answer === 'maybe' && link.targets.some((target) => answerTarget(target, link, argument, state) === 'always')) return 'always';
    return answer;
  }

  /** Runs a link's actions on the state; returns whether they are nothing but constant writes to TX. */
  private applyActions(link: LinkIR, state: TxState, writes: Write[]): boolean {
    let pure = !link.capture;
    for (const action of link.actions) pure = this.applyAction(action, link, state, writes) && pure;
    return pure;
  }

  private applyAction(action: ActionIR, link: LinkIR, state: TxState, writes: Write[]): boolean {
    if (action.kind === 'ctl') {
      const { control } = action;
      if (control.kind === 'ruleEngine') this.terminated = true;
      if (control.kind.startsWith('ruleRemove')) {
        this.removals.push({ control: control as Removal, names: namesRule(control as Removal) });
        state.removals.add(this.removals.length - 1);
      }
      return false;
    }
    if (action.kind !== 'setvar' || action.collection !== 'TX') return false;
    const key = constantText(action.key, state);
    if (key === null) {
      const first = action.key[0];
      state.writeDynamic(typeof first === 'string' ? first.toLowerCase() : '');
      return false;
    }
    const name = key.toLowerCase();
    const value = nextValue(action.operation, state.read(name), constantText(action.value, state), link);
    state.write(name, value);
    if (value === UNKNOWN) return false;
    writes.push({ key: name, value });
    return true;
  }

  /** Which constant SecActions may really move to load time: nobody who stays may read or write their keys before them. */
  private settleHoists(): { items: ReadonlySet<number>; tx: ReadonlyMap<string, string> } {
    const candidates = new Map(this.hoistable);
    for (;;) {
      const used = new Map<string, number>(); // key → earliest position of an item that stays and touches it
      let anyKey = Number.POSITIVE_INFINITY;
      for (const item of this.program.items) {
        if (item.kind !== 'rule' || this.dead.has(item.index) || candidates.has(item.index)) continue;
        const place = item.phase * 1e7 + item.index;
        const touched = touchedKeys(item);
        if (touched === null) anyKey = Math.min(anyKey, place);
        else for (const key of touched) used.set(key, Math.min(used.get(key) ?? Number.POSITIVE_INFINITY, place));
      }
      const lastWrite = new Map<string, number>();
      for (const [index, writes] of candidates) for (const { key } of writes) lastWrite.set(key, Math.max(lastWrite.get(key) ?? 0, 1e7 + index));
      const refused = [...candidates].filter(([, writes]) => writes.some(({ key }) => (used.get(key) ?? anyKey) < (lastWrite.get(key) as number) || anyKey < (lastWrite.get(key) as number)));
      if (refused.length === 0) break;
      for (const [index] of refused) candidates.delete(index);
    }
    const tx = new Map<string, string>();
    for (const [, writes] of [...candidates].sort(([a], [b]) => a - b)) {
      for (const { key, value } of writes) {
        if (value === null) tx.delete(key);
        else tx.set(key, value);
      }
    }
    return { items: new Set(candidates.keys()), tx };
  }
}

/** Gates that only skip, and whose region has nothing left to skip, are done for as well. */
function dropIdleGates(program: Program, list: readonly number[], folded: Map<number, FoldReason>): void {
  for (let position = list.length - 1; position >= 0; position -= 1) {
    const item = program.items[list[position] as number];
    if (item?.kind !== 'rule' || folded.has(item.index) || (item.skipAfter === null && item.skip === 0)) continue;
    const acts = item.log || item.auditlog || item.disruptive.kind !== 'pass' || item.severity !== null || item.links.some((link) => link.actions.length > 0 || link.capture);
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
function jump(rule: RuleIR, position: number, list: readonly number[], program: Program, atMarker: Map<string, TxState[]>, atPosition: Map<number, TxState[]>): TxState[] | null {
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

function answerTarget(target: TargetIR, link: LinkIR, argument: string | null, state: TxState): Answer {
  if (target.variable !== 'TX') return 'maybe';
  if (target.selector === null || target.selector.kind === 'xpath') return 'maybe';
  if (target.selector.kind === 'regex') return regexTarget(target.selector.source, state);
  const value = state.read(target.selector.name.toLowerCase());
  if (value === UNKNOWN) return 'maybe';
  const operator = link.operator as OperatorIR;
  if (target.count) return argument === null ? 'maybe' : holds(operator, argument, value === null ? '0' : '1', link);
  if (value === null) return 'never';
  return argument === null ? 'maybe' : holds(operator, argument, value, link);
}

/** A regex selector over TX finds nothing when no variable that may exist has such a name. */
function regexTarget(source: string, state: TxState): Answer {
  const { keys, complete } = state.possibleKeys();
  const prefix = /^\^([a-z0-9_-]+)/i.exec(source)?.[1]?.toLowerCase();
  if (prefix === undefined) return 'maybe';
  if (/^[0-9]/.test(prefix)) return 'maybe'; // captures
  if (keys.some((key) => key.startsWith(prefix))) return 'maybe';
  // An optional last character (`ab?`) makes the literal one shorter than it reads.
  const after = source.charAt(1 + prefix.length);
  if (after === '?' || after === '*' || after === '{') return 'maybe';
  if (source.includes('|')) return 'maybe';
  if (complete) return 'never';
  return state.possiblePrefixes().some((other) => other.startsWith(prefix) || prefix.startsWith(other)) ? 'maybe' : 'never';
}

function holds(operator: OperatorIR, argument: string, value: string, link: LinkIR): Answer {
  if (link.multiMatch) return 'maybe';
  let transformed = value;
  for (const name of link.transformations) {
    const transformation = transformations.get(name);
    if (transformation === undefined) return 'maybe';
    transformed = transformation.apply(transformed, { unicodeMap: null });
  }
  return createMatcher(operator, argument).matches(transformed) !== operator.negated ? 'always' : 'never';
}

/** The text of a template whose macros are all known TX variables, else null. An unset variable expands to nothing. */
function constantText(template: Template | null, state: TxState): string | null {
  if (template === null) return null;
  let text = '';
  for (const part of template) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    if (part.variable !== 'TX' || part.key === null) return null;
    const value = state.read(part.key.toLowerCase());
    if (value === UNKNOWN) return null;
    text += value ?? '';
  }
  return text;
}

function nextValue(operation: 'set' | 'add' | 'subtract' | 'unset', before: Known | null, value: string | null, link: LinkIR): Known | null {
  if (operation === 'unset') return null;
  if (value === null) return UNKNOWN;
  if (operation === 'set') return value;
  // A link with several targets may match, and add, several times.
  if (before === UNKNOWN || link.targets.length > 1) return UNKNOWN;
  const delta = Number.parseInt(value, 10) || 0;
  const base = before === null ? 0 : Number.parseInt(before, 10) || 0;
  return String(operation === 'add' ? base + delta : base - delta);
}

/** TX keys that a rule reads or writes; null = any (regex selectors, whole collection, keys made from macros). */
function touchedKeys(rule: RuleIR): ReadonlySet<string> | null {
  const keys = new Set<string>();
  let any = false;
  const template = (parts: Template | null | undefined): void => {
    for (const part of parts ?? []) {
      if (typeof part === 'string' || part.variable !== 'TX') continue;
      if (part.key === null) any = true;
      else keys.add(part.key.toLowerCase());
    }
  };
  for (const tag of rule.tags) for (const found of tag.matchAll(/%\{tx\.([^}]+)\}/gi)) keys.add((found[1] as string).toLowerCase());
  if (rule.disruptive.kind === 'redirect') template(rule.disruptive.url);
  for (const link of rule.links) {
    for (const target of [...link.targets, ...link.exclusions]) {
      if (target.variable !== 'TX') continue;
      if (target.selector?.kind === 'name') keys.add(target.selector.name.toLowerCase());
      else any = true;
    }
    template(link.operator?.template);
    template(link.msg);
    template(link.logdata);
    for (const action of link.actions) {
      if ('value' in action && typeof action.value !== 'string') template(action.value as Template);
      if ('seconds' in action) template(action.seconds);
      if (!('key' in action)) continue;
      template(action.key);
      if (action.kind === 'initcol' || action.collection !== 'TX') continue;
      if (action.key.every((part) => typeof part === 'string')) keys.add(action.key.join('').toLowerCase());
      else any = true;
    }
  }
  return any ? null : keys;
}
