// Rules of the form "note every header name in TX, then look whether one of the notes is on a list" act in every
// request (CRS 920450): ten captures, ten setvars, a walk over TX. Their whole outcome is a function of the values that
// the head reads, and requests of one client carry the same header names, so the outcome is remembered: when the chain
// is known to fail, its TX writes are repeated and the rule does not run. A chain that matches always runs.
import { seesEarlierRules } from '../../program/chain-links.js';
import type { LinkIR, Program, RuleIR, Template } from '../../program/ir.js';
import { limits } from '../../transaction/limits.js';
import type { Transaction } from '../../transaction/transaction.js';
import type { KeySelector } from '../../transaction/tx-variables.js';
import { expand, variables } from '../../variables/index.js';
import type { CollectionVariable } from '../../variables/variable.js';

const outcomesMax = 512;
const keyBytesMax = 4096;
const recentMax = 8;

interface RecentKey {
  readonly argument: string;
  readonly names: readonly (readonly string[])[]; // parallel to the variables
  readonly key: string;
}

type Writes = readonly (readonly [string, string])[];

export class TxMemo {
  private outcomes = new Map<string, Writes>();
  private readonly recent: RecentKey[] = [];
  private nextRecent = 0;

  constructor(
    private readonly variables: readonly CollectionVariable[],
    private readonly notes: KeySelector,
    private readonly captures: boolean,
    private readonly argument: Template,
  ) {}

  /** What the outcome depends on, as one text: the second link's argument and the names that the head will read. */
  keyOf(transaction: Transaction): string {
    const argument = expand(this.argument, transaction);
    const { recent } = this;
    for (let index = 0; index < recent.length; index += 1) {
      const one = recent[index] as RecentKey;
      if (one.argument === argument && this.isSame(one.names, transaction)) return one.key;
    }
    return this.makeKey(transaction, argument);
  }

  private isSame(names: readonly (readonly string[])[], transaction: Transaction): boolean {
    for (let at = 0; at < names.length; at += 1) {
      const before = names[at] as readonly string[];
      const now = (this.variables[at] as CollectionVariable).first(transaction).names;
      if (before.length !== now.length) return false;
      for (let index = 0; index < now.length; index += 1) if (before[index] !== now[index]) return false;
    }
    return true;
  }

  private makeKey(transaction: Transaction, argument: string): string {
    // Lengths keep parts apart: names may hold any byte.
    let key = `${argument.length}:${argument}`;
    const names: string[][] = [];
    for (const variable of this.variables) {
      const list = variable.first(transaction).names;
      for (let index = 0; index < list.length; index += 1)
        key += `${(list[index] as string).length}:${list[index] as string}`;
      key += '|';
      names.push([...list]);
    }
    // Comparing names costs less than joining them.
    if (key.length <= keyBytesMax) {
      this.recent[this.nextRecent] = { argument, names, key };
      this.nextRecent = (this.nextRecent + 1) % recentMax;
    }
    return key;
  }

  /** Repeats a remembered failure; false = the rule must run. */
  repeat(transaction: Transaction, key: string): boolean {
    const writes = this.outcomes.get(key);
    if (writes === undefined || transaction.tx.sizeMax + writes.length > limits.txVariablesMax) return false;
    for (const [name, value] of writes) transaction.tx.set(name, value);
    return true;
  }

  /** Call after the rule ran and its chain failed. */
  remember(transaction: Transaction, key: string): void {
    // Where TX is full some notes are missing.
    if (key.length > keyBytesMax || transaction.tx.sizeMax >= limits.txVariablesMax) return;
    const writes: (readonly [string, string])[] = transaction.tx.select(this.notes);
    const captured = this.captures ? transaction.tx.get('0') : undefined;
    if (captured !== undefined && writes.length > 0) writes.push(['0', captured]);
    if (this.outcomes.size >= outcomesMax) this.outcomes = new Map();
    this.outcomes.set(key, writes);
  }
}

/** Null unless the rule has exactly this form and nobody else writes such TX variables. */
export function createTxMemo(rule: RuleIR, program: Program): TxMemo | null {
  const [head, second] = rule.links;
  if (rule.links.length !== 2 || head === undefined || second === undefined) return null;
  const prefix = notePrefix(head);
  // The last looks through all rules: asked where the form is right.
  if (prefix === null || !readsNotes(second, prefix) || seesEarlierRules(program)) return null;
  const read: CollectionVariable[] = [];
  for (const target of head.targets) {
    const variable = variables.get(target.variable);
    if (
      variable?.kind !== 'collection' ||
      variable.shows !== 'name' ||
      variable.second !== null ||
      target.count ||
      target.selector !== null
    )
      return null;
    read.push(variable);
  }
  const others = program.items.filter((item): item is RuleIR => item.kind === 'rule' && item !== rule);
  if (others.some((other) => other.links.some((link) => mayWrite(link, prefix)))) return null;
  return new TxMemo(read, { takes: (key) => key.startsWith(prefix) }, head.capture, second.operator?.template ?? []);
}

/** The literal beginning of the TX variables that the head writes, or null when the head does anything else. */
function notePrefix(head: LinkIR): string | null {
  const { operator, actions } = head;
  if (
    operator === null ||
    operator.template !== null ||
    operator.negated ||
    head.multiMatch ||
    head.exclusions.length > 0
  )
    return null;
  // Of captures only TX:0 is repeated, so the pattern must have no groups: the one that takes everything.
  if (head.capture && (operator.name !== 'rx' || operator.argument !== '^.*$')) return null;
  const [action] = actions;
  if (actions.length !== 1 || action?.kind !== 'setvar' || action.collection !== 'TX' || action.operation !== 'set')
    return null;
  const first = action.key[0];
  if (
    typeof first !== 'string' ||
    first === '' ||
    !ofTheMatch(action.key, head.capture) ||
    !ofTheMatch(action.value, head.capture)
  )
    return null;
  return first.toLowerCase();
}

/** Without `capture` TX:0 is of a rule before. */
function ofTheMatch(template: Template, captures: boolean): boolean {
  return template.every(
    (part) =>
      typeof part === 'string' ||
      part.variable === 'MATCHED_VAR' ||
      (captures && part.variable === 'TX' && part.key === '0'),
  );
}

function readsNotes(link: LinkIR, prefix: string): boolean {
  const [target] = link.targets;
  const source = target?.selector?.kind === 'regex' ? target.selector.source : null;
  const reads =
    link.targets.length === 1 && target?.variable === 'TX' && !target.count && source?.toLowerCase() === `^${prefix}`;
  return (
    reads &&
    link.exclusions.length === 0 &&
    link.operator !== null &&
    (link.operator.template ?? []).every(
      (part) =>
        typeof part === 'string' || (part.variable === 'TX' && part.key !== null && !part.key.startsWith(prefix)),
    )
  );
}

function mayWrite(link: LinkIR, prefix: string): boolean {
  return link.actions.some((action) => {
    if (action.kind !== 'setvar' || action.collection !== 'TX') return false;
    const first = action.key[0];
    const beginning = typeof first === 'string' ? first.toLowerCase() : '';
    return beginning.startsWith(prefix) || (action.key.length > 1 && prefix.startsWith(beginning));
  });
}
