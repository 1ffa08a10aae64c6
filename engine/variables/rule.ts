// RULE: what the rule that asks says of itself.
import type { Template } from '../program/ir.js';
import type { Transaction } from '../transaction/transaction.js';
import type { RecordVariable } from './variable.js';

type Expand = (template: Template, transaction: Transaction) => string;

function ruleField(transaction: Transaction, key: string, expand: Expand): string | null {
  const { rule } = transaction;
  const head = rule?.links[0];
  if (rule === null || head === undefined) return null;
  const text = (template: Template | null): string | null => (template === null ? null : expand(template, transaction));
  const number = (value: number | null): string | null => (value === null ? null : String(value));
  switch (key) {
    case 'id':
      return String(rule.id);
    case 'rev':
      return rule.rev;
    case 'ver':
      return rule.ver;
    case 'severity':
      return number(rule.severity);
    case 'maturity':
      return number(rule.maturity);
    case 'accuracy':
      return number(rule.accuracy);
    case 'phase':
      return String(rule.phase);
    case 'msg':
      return text(head.msg);
    case 'logdata':
      return text(head.logdata);
    default:
      return null;
  }
}
const ruleKeys = ['id', 'rev', 'ver', 'severity', 'maturity', 'accuracy', 'phase', 'msg', 'logdata'];

function ruleEntries(transaction: Transaction, expand: Expand): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (const key of ruleKeys) {
    const value = ruleField(transaction, key, expand);
    if (value !== null) found.push([key, value]);
  }
  return found;
}

/** `expand`: of the whole table, for the macros in messages; this file is a part of it. */
export function ruleVariable(expand: Expand): RecordVariable {
  return {
    kind: 'record',
    name: 'RULE',
    phase: 1,
    find: (transaction, key) => ruleField(transaction, key, expand),
    entries: (transaction) => ruleEntries(transaction, expand),
  };
}
