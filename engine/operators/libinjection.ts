import { detectSqli, detectXss } from '../native/libinjection.js';
import type { Operator } from './operator.js';

/** libinjection finds SQL injection; TX:0 = its fingerprint. */
export const detectSQLi: Operator = {
  name: 'detectSQLi',
  create: () => ({
    matches: (value) => detectSqli(value) !== '',
    capture: (value) => {
      const fingerprint = detectSqli(value);
      return fingerprint === '' ? null : [fingerprint];
    },
  }),
};

/** libinjection finds cross-site scripting; TX:0 = the whole value, as in ModSecurity v3. */
export const detectXSS: Operator = {
  name: 'detectXSS',
  create: () => ({ matches: (value) => detectXss(value), capture: (value) => (detectXss(value) ? [value] : null) }),
};
