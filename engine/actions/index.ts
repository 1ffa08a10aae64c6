// What happens after a match, the same for both engines. Order as in ModSecurity v3:
//   for every value that matches a link: captures, MATCHED_VAR…, setvar (also when the chain fails later on);
//   when the whole chain matched: the other actions, last link first; the log record; the disruptive action; skips.
import type { ActionIR, LinkIR, MacroRef, RuleIR, Template } from '../program/ir.js';
import { limits } from '../transaction/limits.js';
import { joinOrigins, noOrigins, noteMatch, originsOfTemplate, type Origins } from '../transaction/origins.js';
import { blockingScore, mayBeEvidence, noteEvidence } from '../second-opinion/evidence.js';
import type { RemovalTable } from '../evaluate/removals.js';
import { fullName } from '../variables/targets.js';
import type { Transaction } from '../transaction/transaction.js';
import { expand, readMacro } from '../variables/index.js';
import { runControl } from './ctl.js';
import { runDisruptive } from './disruptive.js';
import { runDeprecatevar, runExpirevar, runIdentity, runInitcol, runSetenv } from './persistent.js';
import { runSetvar } from './setvar.js';

const captureNames = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'] as const;

/** TX:0–9 of a match; groups that the pattern does not have keep what they held, as in ModSecurity v3. */
function storeCaptures(transaction: Transaction, captures: readonly string[]): void {
  const count = Math.min(captures.length, captureNames.length);
  for (let index = 0; index < count; index += 1)
    transaction.tx.set(captureNames[index] as string, captures[index] as string);
}

/**
 * Call before the head link of a rule runs its actions for the first matching value: a new rule begins, so MATCHED_VARS
 * starts empty. (Rules that do not match leave MATCHED_VAR alone, so engines need not call it for them.)
 */
export function beginRuleMatch(transaction: Transaction, rule: RuleIR): void {
  transaction.rule = rule;
  transaction.matchedVars.clear();
  transaction.matchedVarsHoldTx = false;
  transaction.ruleOrigins = noOrigins;
}

/** One value of a link that matched. */
export interface ValueMatch {
  readonly variable: string;
  readonly key: string | null;
  /** Before and after the transformations. */
  readonly raw: string;
  readonly value: string;
  /** The transformations leave what masks look for (transaction/origins.ts). */
  readonly isTransparent: boolean;
  /** null without `capture`, and for negated operators. */
  readonly captures: readonly string[] | null;
}

/** Takes over a match: captures, MATCHED_VAR and its like; runs the link's setvar actions. */
export function recordValueMatch(transaction: Transaction, link: LinkIR, match: ValueMatch): void {
  const { variable, key, value, captures } = match;
  if (captures !== null) storeCaptures(transaction, captures);
  noteMatch(transaction, variable, key, match.raw, match.isTransparent, captures?.length ?? 0);
  const name = fullName(variable, key);
  transaction.matchedVar = value;
  transaction.matchedVarName = name;
  if (variable === 'TX') transaction.matchedVarsHoldTx = true;
  if (transaction.matchedVars.size < limits.matchedVarsMax) transaction.matchedVars.add(name, value);
  if (transaction.evidence === null || !mayBeEvidence(transaction, link)) {
    runSetvars(link, transaction);
    return;
  }
  const before = blockingScore(transaction);
  runSetvars(link, transaction);
  noteEvidence(transaction, link, { variable: name, raw: match.raw, value }, before);
}

/** A SecAction link (no targets) matched: its setvars run, MATCHED_VAR stays. */
export function runSetvars(link: LinkIR, transaction: Transaction): void {
  for (const action of link.actions) if (action.kind === 'setvar') runSetvar(action, transaction);
}

function runOther(action: ActionIR, transaction: Transaction, removals: RemovalTable): void {
  switch (action.kind) {
    case 'setvar':
      return;
    case 'ctl':
      runControl(action.control, transaction, removals);
      return;
    case 'expirevar':
      runExpirevar(action, transaction);
      return;
    case 'deprecatevar':
      runDeprecatevar(action, transaction);
      return;
    case 'initcol':
      runInitcol(action, transaction);
      return;
    case 'setenv':
      runSetenv(action, transaction);
      return;
    default:
      runIdentity(action, transaction);
  }
}

/** msg or logdata of the rule: the head's, else that of the nearest link that has one. */
function firstTemplate(rule: RuleIR, field: 'msg' | 'logdata'): Template | null {
  for (const link of rule.links) if (link[field] !== null) return link[field];
  return null;
}

/** Macros of a tag; it is kept as text, because few have any. */
function tagTemplate(tag: string): Template {
  const parts: (string | MacroRef)[] = [];
  let from = 0;
  for (let start = tag.indexOf('%{'); start >= 0; start = tag.indexOf('%{', from)) {
    const end = tag.indexOf('}', start);
    if (end < 0) break;
    const inner = tag.slice(start + 2, end);
    const dot = inner.search(/[.:]/);
    if (start > from) parts.push(tag.slice(from, start));
    parts.push({
      variable: (dot < 0 ? inner : inner.slice(0, dot)).toUpperCase(),
      key: dot < 0 ? null : inner.slice(dot + 1).toLowerCase(),
    });
    from = end + 1;
  }
  return from < tag.length ? [...parts, tag.slice(from)] : parts;
}

/** Of everything that a record quotes. */
function quotedOrigins(
  transaction: Transaction,
  msg: Template | null,
  logdata: Template | null,
  tags: readonly (Template | null)[],
): Origins {
  let origins = joinOrigins(
    originsOfTemplate(transaction, msg, readMacro),
    originsOfTemplate(transaction, logdata, readMacro),
  );
  for (const tag of tags)
    if (tag !== null) origins = joinOrigins(origins, originsOfTemplate(transaction, tag, readMacro));
  return origins;
}

function recordRule(transaction: Transaction, rule: RuleIR): void {
  if (transaction.matched.length >= limits.matchedRulesMax) return;
  const isAction = (rule.links[rule.links.length - 1] as LinkIR).operator === null && rule.links.length === 1;
  const msg = firstTemplate(rule, 'msg');
  const logdata = firstTemplate(rule, 'logdata');
  const tags = rule.tags.map((tag) => (tag.includes('%{') ? tagTemplate(tag) : null));
  transaction.matched.push({
    rule,
    phase: transaction.phase,
    variable: isAction ? '' : transaction.matchedVarName,
    value: isAction ? '' : transaction.matchedVar,
    msg: msg === null ? '' : expand(msg, transaction),
    logdata: logdata === null ? '' : expand(logdata, transaction),
    tags: rule.tags.map((tag, index) => {
      const template = tags[index] ?? null;
      return template === null ? tag : expand(template, transaction);
    }),
    valueOrigins: isAction ? noOrigins : transaction.matchedOrigins,
    textOrigins: quotedOrigins(transaction, msg, logdata, tags),
  });
}

/**
 * Every link of the rule matched. Runs the remaining actions, records the rule when it logs, and the disruptive action.
 * Afterwards look at `transaction.skipRules`, `skipAfter`, `allowed`, `interruption` and `engineMode` (phaseIsOver).
 */
export function runRuleMatched(transaction: Transaction, rule: RuleIR, removals: RemovalTable): void {
  transaction.rule = rule;
  for (let index = rule.links.length - 1; index >= 0; index -= 1) {
    for (const action of (rule.links[index] as LinkIR).actions) runOther(action, transaction, removals);
  }
  const severity = rule.chainSeverity ?? rule.severity;
  if (severity !== null && severity < transaction.highestSeverity) transaction.highestSeverity = severity;
  if (rule.log) recordRule(transaction, rule);
  if (rule.disruptive.kind !== 'pass') runDisruptive(rule, transaction);
  if (rule.skip > 0) transaction.skipRules = rule.skip;
  if (rule.skipAfter !== null) transaction.skipAfter = rule.skipAfter;
}

/** True when no further rule of this phase may run: interrupted, allowed, or switched off. */
export function phaseIsOver(transaction: Transaction): boolean {
  if (transaction.phase === 5) return transaction.engineMode === 'Off';
  return transaction.interruption !== null || transaction.allowed !== 'none' || transaction.engineMode === 'Off';
}
