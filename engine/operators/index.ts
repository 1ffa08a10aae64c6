// The operators that Gatehouse knows, as one table you can read. Not here on purpose, and refused by the compiler:
// operators that leave the process or need foreign data (rbl, geoLookup, gsbLookup, inspectFile, fuzzyHash,
// validateDTD, validateSchema, validateHash, rsub).
// Adding one: a file in the folder of its kind, a line here, vectors in the test.
import type { OperatorIR } from '../program/ir.js';
import { noMatch, unconditionalMatch } from './constant.js';
import { ipMatch, ipMatchFromFile } from './network/ip-match.js';
import { detectSQLi, detectXSS } from './libinjection.js';
import { eq, ge, gt, le, lt } from './numeric.js';
import { type Matcher, type Operator, OperatorArgumentError } from './operator.js';
import { pathBelow } from './text/path-below.js';
import { pm, pmFromFile } from './text/pm.js';
import { rxGlobal } from './regex/rx-global.js';
import { rx } from './regex/rx.js';
import { beginsWith, contains, containsWord, endsWith, streq, strmatch, within } from './text/compare.js';
import { validateByteRange } from './validate/validate-byte-range.js';
import { validateUrlEncoding } from './validate/validate-url-encoding.js';
import { validateUtf8Encoding } from './validate/validate-utf8-encoding.js';
import { verifyCC, verifyCPF, verifySSN, verifySVNR } from './validate/verify-number.js';

const list: readonly Operator[] = [
  beginsWith,
  contains,
  containsWord,
  detectSQLi,
  detectXSS,
  endsWith,
  eq,
  ge,
  gt,
  ipMatch,
  ipMatchFromFile,
  le,
  lt,
  noMatch,
  pathBelow,
  pm,
  pmFromFile,
  rx,
  rxGlobal,
  streq,
  strmatch,
  unconditionalMatch,
  validateByteRange,
  validateUrlEncoding,
  validateUtf8Encoding,
  verifyCC,
  verifyCPF,
  verifySSN,
  verifySVNR,
  within,
];

/** Every operator by its canonical name, without "@". */
export const operators: ReadonlyMap<string, Operator> = new Map(list.map((entry) => [entry.name, entry]));

/**
 * Binds an operator to its argument (macros already expanded). Slow: once per rule at load, or per distinct expanded
 * argument.
 * Throws OperatorArgumentError for an unknown operator or an argument it cannot use.
 */
export function createMatcher(operator: OperatorIR, argument: string): Matcher {
  const found = operators.get(operator.name);
  if (found === undefined)
    throw new OperatorArgumentError(
      `there is no operator @${operator.name}; known are ${[...operators.keys()].join(', ')}`,
    );
  return found.create(operator, argument);
}
