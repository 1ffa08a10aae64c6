// Where the texts of a transaction come from. What records show of a request is masked by the name of its variable and
// by its shape; a rule that copies a credential into TX, quotes a group of its match, or encodes it takes both away. So
// the engine remembers, of every text that rules make of request data, what it was made of, and says so with the match.
import type { MacroRef, Template } from '../program/ir.js';
import type { Transaction } from './transaction.js';

/** One piece of request data that something was made of. */
export interface Origin {
  /** Full name as ModSecurity prints it: `ARGS:password`, `REQUEST_BODY`. */
  readonly name: string;
  /** The data, as far as it is known when the text is made. */
  readonly text: string;
  /** Changed, cut out or put together: what masks look for may be gone. False = the text stands there as it is. */
  readonly isDerived: boolean;
}

export type Origins = readonly Origin[];
export const noOrigins: Origins = [];
/** More say nothing more. */
const originsMax = 16;
/** Longer data is cut here; whether something in the rest is to be masked cannot be said. */
export const originTextMax = 65_536;

/** Collections that outlive the transaction: who wrote a value there is not known any more. */
const stored: ReadonlySet<string> = new Set(['IP', 'GLOBAL', 'RESOURCE', 'SESSION', 'USER', 'ENV']);

/**
 * Transformations that leave what masks look for as it is (names before values, digits in a row): all others make their
 * input's text a derived one.
 */
const transparent: ReadonlySet<string> = new Set([
  ...['none', 'lowercase', 'uppercase', 'urlDecode', 'urlDecodeUni', 'htmlEntityDecode', 'jsDecode', 'cssDecode'],
  ...['compressWhitespace', 'removeNulls', 'replaceNulls', 'removeComments', 'replaceComments', 'removeCommentsChar'],
  ...['trim', 'trimLeft', 'trimRight', 'normalizePath', 'normalizePathWin', 'utf8toUnicode', 'escapeSeqDecode'],
]);

export function areTransparent(transformations: readonly string[]): boolean {
  return transformations.every((name) => transparent.has(name));
}

/** Names of members, sizes and counts are no data that masks hide. */
function isSilent(variable: string): boolean {
  return variable.endsWith('_NAMES') || variable.endsWith('_SIZE') || variable.endsWith('_LENGTH');
}

/** Variables that only say what the engine, the connection or a rule are. */
const ownVariables: ReadonlySet<string> = new Set([
  ...['RULE', 'MATCHED_VAR_NAME', 'HIGHEST_SEVERITY', 'MODSEC_BUILD', 'UNIQUE_ID', 'DURATION', 'REQUEST_METHOD'],
  ...['REQUEST_PROTOCOL', 'REMOTE_ADDR', 'REMOTE_PORT', 'REMOTE_HOST', 'SERVER_ADDR', 'SERVER_PORT', 'SERVER_NAME'],
  ...['REQBODY_PROCESSOR', 'REQBODY_ERROR', 'REQBODY_PROCESSOR_ERROR', 'STATUS', 'RESPONSE_STATUS', 'WEBAPPID'],
  ...['MULTIPART_STRICT_ERROR', 'MULTIPART_UNMATCHED_BOUNDARY', 'AUTH_TYPE', 'RESPONSE_CONTENT_TYPE'],
]);

function derived(origins: Origins): Origins {
  if (origins.length === 0) return origins;
  return origins.map((origin) =>
    origin.isDerived ? origin : { name: origin.name, text: origin.text, isDerived: true },
  );
}

/** Of two texts; nearly always one of them was made of nothing. */
export function joinOrigins(left: Origins, right: Origins): Origins {
  if (left.length === 0) return right;
  if (right.length === 0 || left.length >= originsMax) return left; // a thousand values may match one rule
  const more = right.filter(
    (one) => !left.some(({ name, isDerived }) => name === one.name && isDerived === one.isDerived),
  );
  return more.length === 0 ? left : [...left, ...more].slice(0, originsMax);
}

type Kind = 'TX' | 'MATCHED_VAR' | 'MATCHED_VARS' | 'member of TX' | 'RULE' | 'silent' | 'stored' | 'data';

function classify(variable: string): Kind {
  if (variable === 'TX' || variable === 'MATCHED_VAR' || variable === 'MATCHED_VARS') return variable;
  if (variable.startsWith('MATCHED_VAR')) return 'member of TX';
  if (variable === 'RULE') return variable;
  if (isSilent(variable) || ownVariables.has(variable) || /^(?:TIME|MULTIPART_(?!PART|FILE|NAME))/.test(variable))
    return 'silent';
  return stored.has(variable) || variable === 'SESSIONID' || variable === 'USERID' ? 'stored' : 'data';
}

/** Names of variables come from rules, so there are few. */
const kinds = new Map<string, Kind>();

function kindOf(variable: string): Kind {
  let kind = kinds.get(variable);
  if (kind === undefined) kinds.set(variable, (kind = classify(variable)));
  return kind;
}

/** What the value `text` of a variable was made of. */
export function originsOf(transaction: Transaction, variable: string, key: string | null, text: string): Origins {
  switch (kindOf(variable)) {
    case 'TX':
      return key === null ? noOrigins : (transaction.txOrigins?.get(key) ?? noOrigins);
    case 'MATCHED_VAR':
      return transaction.matchedOrigins;
    case 'MATCHED_VARS':
      return transaction.ruleOrigins;
    case 'member of TX': // it may be named after data
      return transaction.matchedVarsHoldTx ? transaction.ruleOrigins : noOrigins;
    case 'RULE':
      return originsOfRule(transaction, key);
    case 'silent':
      return noOrigins;
    case 'stored':
      return /^-?\d{1,2}$/.test(text) ? noOrigins : [unknownSecret(variable)];
    case 'data': {
      const name = key === null || key === '' ? variable : `${variable}:${key}`;
      return [{ name, text: text.slice(0, originTextMax), isDerived: false }];
    }
  }
}

/** What it was made of is not known (any more), so that it counts as the worst. Small counts are none. */
function unknownSecret(variable: string): Origin {
  return { name: `${variable}:unknown_secret`, text: '', isDerived: true };
}

/** RULE.msg and RULE.logdata quote what the rule itself quotes. */
function originsOfRule({ rule }: Transaction, key: string | null): Origins {
  if (key !== 'msg' && key !== 'logdata') return noOrigins;
  const template = rule?.links[0]?.[key] ?? null;
  return template?.some((part) => typeof part !== 'string') === true ? [unknownSecret('RULE')] : noOrigins;
}

/**
 * A value matched: what `raw`, the value before its transformations, was made of is what MATCHED_VAR, and what is
 * captured of it (`captures` groups), is made of from now on.
 */
export function noteMatch(
  transaction: Transaction,
  variable: string,
  key: string | null,
  raw: string,
  isTransparent: boolean,
  captures: number,
): void {
  const origins = originsOf(transaction, variable, key, raw);
  transaction.matchedOrigins = isTransparent ? origins : derived(origins);
  transaction.ruleOrigins = joinOrigins(transaction.ruleOrigins, transaction.matchedOrigins);
  if (captures === 0 || (origins.length === 0 && transaction.txOrigins === null)) return;
  const cut = derived(origins);
  for (let index = 0; index < captures; index += 1) setTxOrigins(transaction, String(index), cut);
}

export function setTxOrigins(transaction: Transaction, key: string, origins: Origins): void {
  if (origins.length > 0) (transaction.txOrigins ??= new Map<string, Origins>()).set(key, origins);
  else transaction.txOrigins?.delete(key);
}

const collections: ReadonlySet<string> = new Set([
  ...['ARGS', 'ARGS_GET', 'ARGS_POST', 'REQUEST_HEADERS', 'REQUEST_COOKIES', 'RESPONSE_HEADERS', 'FILES'],
  ...['MULTIPART_PART_HEADERS', 'XML', 'TX'],
]);

type Read = (reference: MacroRef, transaction: Transaction) => string;

/**
 * What a template's text is made of at this moment. `read` answers one macro. Of two pieces in one text, or of a piece
 * beside words, the mask still sees each, so that nothing becomes derived by standing in a template.
 */
export function originsOfTemplate(transaction: Transaction, template: Template | null, read: Read): Origins {
  let origins = noOrigins;
  if (template === null) return origins;
  for (const part of template) {
    if (typeof part === 'string') continue;
    const { variable, key } = part;
    const text = variable === 'TX' || variable.startsWith('MATCHED_') ? '' : read(part, transaction);
    // The first of all, or of those that an expression takes: of which name is not said.
    const isAnyMember = collections.has(variable) && (key === null || key.startsWith('/'));
    origins = joinOrigins(
      origins,
      isAnyMember ? [unknownSecret(variable)] : originsOf(transaction, variable, key, text),
    );
  }
  return origins;
}

/** Macros of other variables than TX, whose own origins are looked at in any case. */
export function quotesData(template: Template): boolean {
  for (const part of template) if (typeof part !== 'string' && part.variable !== 'TX') return true;
  return false;
}

/** What the texts of two templates stand for elsewhere, without what was around them. */
export function writtenOrigins(transaction: Transaction, key: Template, value: Template, read: Read): Origins {
  const ofKey = originsOfTemplate(transaction, key, read);
  return derived(joinOrigins(ofKey, originsOfTemplate(transaction, value, read)));
}
