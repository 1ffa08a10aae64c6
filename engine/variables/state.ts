// Variables that rules write, and what the engine says of itself and of the last match.
import type { Collection } from '../transaction/collection.js';
import { recordOf } from '../transaction/persistent-records.js';
import type { Transaction } from '../transaction/transaction.js';
import { names, scalar, values, type RecordVariable, type Variable } from './variable.js';

/**
 * MODSEC_BUILD: the ModSecurity release (3.0.14) whose semantics this engine follows, as libmodsecurity prints it: two
 * digits each for major, minor and patch, then the tag's 100 (3.0.9 says 030009100). Rule sets compare it as a number.
 */
const modsecBuild = '030014100';

const nothing: readonly (readonly [string, string])[] = [];

function persistent(name: string): RecordVariable {
  return {
    kind: 'record',
    name,
    phase: 1,
    find: (transaction, key) => recordOf(transaction, name)?.get(key) ?? null,
    entries: (transaction) => recordOf(transaction, name)?.entries() ?? nothing,
  };
}

const matchedVars = (transaction: Transaction): Collection => transaction.matchedVars;

export const stateVariables: readonly Variable[] = [
  {
    kind: 'record',
    name: 'TX',
    phase: 1,
    find: (t, key) => t.tx.get(key) ?? null,
    entries: (t) => t.tx,
    select: (t, selector) => t.tx.select(selector),
  },
  { kind: 'record', name: 'ENV', phase: 1, find: (t, key) => t.env.get(key) ?? null, entries: (t) => t.env },
  // GEO has no data: the engine carries no geolocation database.
  { kind: 'record', name: 'GEO', phase: 1, find: () => null, entries: () => nothing },
  persistent('IP'),
  persistent('GLOBAL'),
  persistent('RESOURCE'),
  persistent('SESSION'),
  persistent('USER'),
  scalar('SESSIONID', 1, (t) => t.sessionId),
  scalar('USERID', 1, (t) => t.userId),
  scalar('WEBAPPID', 1, (t) => t.settings.webAppId),
  scalar('MATCHED_VAR', 1, (t) => t.matchedVar),
  scalar('MATCHED_VAR_NAME', 1, (t) => t.matchedVarName),
  values('MATCHED_VARS', 1, matchedVars),
  names('MATCHED_VARS_NAMES', 1, matchedVars),
  scalar('HIGHEST_SEVERITY', 1, (t) => String(t.highestSeverity)),
  scalar('MODSEC_BUILD', 1, () => modsecBuild),
  // RE2 and Hyperscan have no match limit to exceed.
  scalar('MSC_PCRE_ERROR', 1, () => ''),
  scalar('MSC_PCRE_LIMITS_EXCEEDED', 1, () => '0'),
  scalar('WEBSERVER_ERROR_LOG', 5, () => ''),
];
