import type { ActionIR } from '../program/ir.js';
import { limits } from '../transaction/limits.js';
import { joinOrigins, noOrigins, quotesData, setTxOrigins, writtenOrigins } from '../transaction/origins.js';
import { leadingInteger } from '../transaction/memory-store.js';
import { recordOf } from '../transaction/persistent-records.js';
import type { Transaction } from '../transaction/transaction.js';
import { expand, readMacro } from '../variables/index.js';

type SetvarAction = Extract<ActionIR, { kind: 'setvar' }>;

/** Variable names are case-insensitive: kept lower-case, cut at `variableNameMax`. */
export function variableName(template: SetvarAction['key'], transaction: Transaction): string {
  const only = template[0];
  // Nearly every name is one literal, already lower-case.
  const name = template.length === 1 && typeof only === 'string' ? only : expand(template, transaction);
  const cut = name.length > limits.variableNameMax ? name.slice(0, limits.variableNameMax) : name;
  return cut.toLowerCase();
}

/**
 * The limit holds for names made from macros: rules name finitely many themselves, and a request that fills TX must not
 * keep the scores from being written.
 */
function setTx(transaction: Transaction, template: SetvarAction['key'], name: string, value: string): void {
  const { tx } = transaction;
  const isNamedByRule = template.length === 1 && typeof template[0] === 'string';
  if (isNamedByRule || tx.sizeMax < limits.txVariablesMax || tx.has(name)) tx.set(name, value);
}

/** What the variable is made of from now on; a sum is made of what it was made of, too. */
function noteWrite(action: SetvarAction, transaction: Transaction, name: string): void {
  const { key, value, operation } = action;
  // Nearly every write adds up scores while TX holds nothing of the request: nothing is allocated for those.
  if (transaction.txOrigins === null && !quotesData(key) && !quotesData(value)) return;
  const before = operation === 'set' ? noOrigins : (transaction.txOrigins?.get(name) ?? noOrigins);
  setTxOrigins(transaction, name, joinOrigins(before, writtenOrigins(transaction, key, value, readMacro)));
}

/**
 * `setvar:tx.name=value`, `=+n`, `=-n`, `!name`. Numbers are read as C's stoi does (leading integer, else 0). A write
 * to a persistent collection that was not opened (initcol, setsid …) is ignored.
 */
export function runSetvar(action: SetvarAction, transaction: Transaction): void {
  const name = variableName(action.key, transaction);
  if (name === '') return;
  const value = action.operation === 'unset' ? '' : expand(action.value, transaction);
  if (action.collection === 'TX') {
    if (action.operation === 'unset') setTxOrigins(transaction, name, noOrigins);
    else noteWrite(action, transaction, name);
    if (action.operation === 'unset') transaction.tx.delete(name);
    else if (action.operation === 'set') setTx(transaction, action.key, name, value);
    else {
      const delta = leadingInteger(value);
      setTx(
        transaction,
        action.key,
        name,
        String(leadingInteger(transaction.tx.get(name) ?? '') + (action.operation === 'add' ? delta : -delta)),
      );
    }
    return;
  }
  if (action.collection === 'ENV') {
    const env = new Map(transaction.env);
    if (action.operation === 'unset') env.delete(name);
    else env.set(name, value);
    transaction.env = env;
    return;
  }
  const record = recordOf(transaction, action.collection);
  if (record === null) return;
  if (action.operation === 'unset') record.unset(name);
  else if (action.operation === 'set') record.set(name, value);
  else record.add(name, action.operation === 'add' ? leadingInteger(value) : -leadingInteger(value));
}
