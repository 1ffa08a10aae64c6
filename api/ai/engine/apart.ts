// When a verdict on an address is one on somebody behind it: principals that explain it alone are judged by themselves,
// and the address by what is left, so that others behind it go on.
//
// That must be no way out for an attacker. A principal explains a verdict only where what it did by itself comes to the
// same rung or a higher one. It has to be somebody: a subject of a verified token, a credential that the application
// took within the window, or one beside others that it took. And there are `apartMax` at most: whoever takes a new name
// after each verdict is judged as one address again.
import type { Sums } from '../clients/client-table.js';
import { rank } from './fusion.js';
import type { Scored } from './score.js';
import type { FeatureVector } from './vector.js';

/** Principals that are judged apart from one address. */
const apartMax = 3;
/** A credential that so many addresses use without a fault belongs to many people: a verdict on it would reach them. */
const sharedMin = 4;

export interface JudgedPrincipal {
  readonly vector: FeatureVector;
  readonly scored: Scored;
  /** The application answered a request of it without an error. */
  readonly wasAccepted: boolean;
}

/** Whether a credential is used by many: a key within a program that everybody has, a cookie that is nobody's. */
export const isShared = ({ principal }: Pick<FeatureVector, 'principal'>): boolean =>
  principal !== undefined && principal.addresses_clean >= sharedMin;

/**
 * Keys of the principals that explain the verdict on an address. `whole`: of the address with all that is behind it;
 * `rest`: what it did without some of them. Empty: the address is judged as a whole.
 */
export function apartFrom(
  whole: Scored,
  known: ReadonlySet<string>,
  principals: ReadonlyMap<string, JudgedPrincipal>,
  rest: (without: ReadonlySet<string>) => ReadonlyMap<string, Sums>,
): ReadonlySet<string> {
  const found = new Set<string>();
  let areAccepted = true;
  for (const key of known) {
    const one = principals.get(key);
    if (one === undefined || rank(one.scored.verdict) < rank(whole.verdict) || isShared(one.vector)) continue;
    found.add(key);
    areAccepted &&= one.wasAccepted || one.vector.principal?.kind === 'jwt';
  }
  if (found.size === 0 || found.size > apartMax) return new Set();
  return areAccepted || hasSessions(rest(found)) ? found : new Set();
}

/** Whether the application took credentials of others. */
function hasSessions(sites: ReadonlyMap<string, Sums>): boolean {
  for (const sums of sites.values()) if (sums.sessions.distinct > 0) return true;
  return false;
}
