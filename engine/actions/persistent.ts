// Actions on persistent collections and the identity of the transaction.
import type { ActionIR } from '../program/ir.js';
import { leadingInteger } from '../transaction/memory-store.js';
import { openRecord, recordOf } from '../transaction/persistent-records.js';
import type { Transaction } from '../transaction/transaction.js';
import { expand } from '../variables/index.js';
import { variableName } from './setvar.js';

type Of<Kind extends ActionIR['kind']> = Extract<ActionIR, { kind: Kind }>;

/**
 * `initcol:ip=%{REMOTE_ADDR}`: opens (and creates) the record; a second one for the same collection replaces the first.
 */
export function runInitcol(action: Of<'initcol'>, transaction: Transaction): void {
  const key = expand(action.key, transaction);
  if (key !== '') openRecord(transaction, action.collection, key);
}

/**
 * `setsid`, `setuid`, `setrsc`: name the session, user or resource and open its record. Sessions and users belong to a
 * WEBAPPID.
 */
export function runIdentity(action: Of<'setsid' | 'setuid' | 'setrsc'>, transaction: Transaction): void {
  const value = expand(action.value, transaction);
  if (action.kind === 'setsid') transaction.sessionId = value;
  else if (action.kind === 'setuid') transaction.userId = value;
  if (value === '') return;
  const collection = action.kind === 'setsid' ? 'SESSION' : action.kind === 'setuid' ? 'USER' : 'RESOURCE';
  openRecord(transaction, collection, `${transaction.settings.webAppId}_${value}`);
}

/** `expirevar:ip.x=60`; TX lives as long as the transaction, so there is nothing to expire. */
export function runExpirevar(action: Of<'expirevar'>, transaction: Transaction): void {
  const record = recordOf(transaction, action.collection);
  record?.expire(variableName(action.key, transaction), leadingInteger(expand(action.seconds, transaction)));
}

/** `deprecatevar:ip.x=60/300`: 60 less for every 300 seconds that passed. */
export function runDeprecatevar(action: Of<'deprecatevar'>, transaction: Transaction): void {
  recordOf(transaction, action.collection)?.deprecate(
    variableName(action.key, transaction),
    action.amount,
    action.everySeconds,
  );
}

/** ENV names are kept lower-case like every record; the process environment is never touched. */
export function runSetenv(action: Of<'setenv'>, transaction: Transaction): void {
  transaction.env = new Map(transaction.env).set(action.name.toLowerCase(), expand(action.value, transaction));
}
